/** yaml: keeps the text of every scalar, so that no amount passes through a number. */
import { type Document, isNode, isScalar, parseDocument, visit } from 'yaml'
import type { Faults } from './faults.ts'

/** Every scalar is text; what is left empty is null. */
export type Tree = null | string | Tree[] | { [key: string]: Tree }

const emptyScalars: ReadonlySet<string> = new Set(['', '~', 'null'])

/** Undefined where the source is not a document; then its flaws are faults of the file as a whole. */
export function readDocument(source: string, faults: Faults): Tree | undefined {
  const tooDeep = depthFlaw(source)
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

/** Far more than any configuration has: the parser takes 20 µs for each, and holds up the process at a reload. */
const maxOpenBrackets = 200

/** Counts brackets in texts too, where they come in pairs. */
function depthFlaw(source: string): string | undefined {
  let open = 0
  for (const { 0: bracket, index } of source.matchAll(/[[\]{}]/g)) {
    open = bracket === '[' || bracket === '{' ? open + 1 : Math.max(0, open - 1)
    if (open > maxOpenBrackets)
      return `line ${source.slice(0, index).split('\n').length}: more than ${maxOpenBrackets} brackets are open`
  }
  return undefined
}

/** The first flaw. The parser's own messages quote the source, which may hold a secret: its codes do not. */
function syntaxErrorOf(document: Document.Parsed, source: string): string | undefined {
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) return `line ${problem.linePos?.[0].line ?? 1} is not YAML: ${problem.code.toLowerCase().replaceAll('_', ' ')}`
  let syntaxError: string | undefined
  const refuse = (offset: number | undefined, message: string): symbol => {
    syntaxError = `line ${source.slice(0, offset).split('\n').length}: ${message}`
    return visit.BREAK
  }
  visit(document, {
    Alias: (_, node) => refuse(node.range?.[0], 'aliases are not taken; please write the value out'),
    Pair: (_, { key }) => (isScalar(key) ? undefined : refuse(isNode(key) ? key.range?.[0] : 0, 'a key must be a text')),
  })
  return syntaxError
}
