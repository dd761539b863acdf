/** yaml: keeps every scalar as text, so that no amount becomes a number and loses digits. */
import { type Document, isNode, isScalar, parseDocument, visit } from 'yaml'
import type { Faults } from './faults.ts'

/** Every scalar is text; an empty value is null. */
export type Tree = null | string | Tree[] | { [key: string]: Tree }

const emptyScalars: ReadonlySet<string> = new Set(['', '~', 'null'])

/** Parses a YAML source. If it is not valid, adds a fault of the file as a whole and returns undefined. */
export function readDocument(source: string, faults: Faults): Tree | undefined {
  const tooDeep = depthError(source)
  const document = tooDeep === undefined ? parseDocument(source, { schema: 'failsafe' }) : undefined
  const syntaxError = document ? syntaxErrorOf(document, source) : tooDeep
  if (!document || syntaxError !== undefined) {
    faults.add([], syntaxError ?? '')
    return undefined
  }
  visit(document, {
    Scalar(key, node) {
      if (key !== 'key' && node.type === 'PLAIN' && emptyScalars.has(String(node.value ?? ''))) node.value = null
    },
  })
  return document.toJS()
}

/** Far more than any configuration has. The parser takes 20 µs per bracket and blocks the process at a reload. */
const maxOpenBrackets = 200

/** Counts brackets inside of strings too: there they usually come in pairs. */
function depthError(source: string): string | undefined {
  let open = 0
  for (const { 0: bracket, index } of source.matchAll(/[[\]{}]/g)) {
    open = bracket === '[' || bracket === '{' ? open + 1 : Math.max(0, open - 1)
    if (open > maxOpenBrackets)
      return `line ${source.slice(0, index).split('\n').length}: more than ${maxOpenBrackets} brackets are open`
  }
  return undefined
}

/** The first error. Uses the parser's codes, not its messages: these quote the source, which may contain a secret. */
function syntaxErrorOf(document: Document.Parsed, source: string): string | undefined {
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) return `line ${problem.linePos?.[0].line ?? 1} is not YAML: ${problem.code.toLowerCase().replaceAll('_', ' ')}`
  let syntaxError: string | undefined
  const refuse = (offset: number | undefined, message: string): symbol => {
    syntaxError = `line ${source.slice(0, offset).split('\n').length}: ${message}`
    return visit.BREAK
  }
  visit(document, {
    Alias: (_, node) => refuse(node.range?.[0], 'aliases are not supported; please repeat the value'),
    Pair: (_, { key }) => (isScalar(key) ? undefined : refuse(isNode(key) ? key.range?.[0] : 0, 'a key must be a text')),
  })
  return syntaxError
}
