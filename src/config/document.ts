/** yaml: keeps every scalar as text, so that no amount becomes a number and loses digits. */
import { Worker } from 'node:worker_threads'
import { type Document, isNode, isScalar, parseDocument, visit, type YAMLMap, type YAMLSeq } from 'yaml'

/** Every scalar is text; an empty value is null. */
export type Tree = null | string | Tree[] | { [key: string]: Tree }

const emptyScalars: ReadonlySet<string> = new Set(['', '~', 'null'])

/** A document, or why the source is none: without text from it, which may be a secret. */
export type Parsed = { readonly tree: Tree } | { readonly message: string }

/** Far more than any configuration or asset table has. */
export const maxSourceBytes = 1_000_000
/** Of words and entries. A table of the largest size has 110,000; each may take a kilobyte and more while it is parsed. */
const maxParts = 150_000
/** Far more than any of them has. The parser takes 20 µs per bracket, and the stack per level. */
const maxOpenBrackets = 200
/** A level of keys counts twice. */
const maxLevels = 100
/** Of the thread. The largest source takes 2 s. */
const parseTimeoutMs = 10_000
/** Of the thread, in MB. A table of the largest size takes less than 96. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 }

/** Parses a YAML source. `maxEntries`: of each list and of each mapping in it. */
export function parse(source: string, maxEntries: number): Parsed {
  const message = sizeError(source) ?? depthError(source)
  if (message !== undefined) return { message }
  try {
    return toTree(parseDocument(source, { schema: 'failsafe', uniqueKeys: false }), source, maxEntries)
  } catch (reason) {
    if (reason instanceof RangeError) return { message: 'lists and keys are nested too deeply' }
    throw reason
  }
}

/** The same in a thread of its own: neither its time nor a fault in it concerns this one. */
export function parseInThread(...source: Parameters<typeof parse>): Promise<Parsed> {
  // The sources have another ending than the package. What an operator makes Node load first is for the process, not for this thread.
  const thread = new Worker(new URL(`./document-thread${import.meta.url.slice(-3)}`, import.meta.url), {
    workerData: source,
    execArgv: [],
    env: {},
    resourceLimits,
  })
  thread.unref()
  const { promise, resolve } = Promise.withResolvers<Parsed>()
  const timer = setTimeout(() => resolve({ message: `takes more than ${parseTimeoutMs / 1000} s to parse` }), parseTimeoutMs)
  thread.once('message', resolve)
  thread.once('error', () => resolve({ message: 'cannot be parsed' }))
  thread.once('exit', () => resolve({ message: 'cannot be parsed' }))
  return promise.finally(() => {
    clearTimeout(timer)
    void thread.terminate()
  })
}

function sizeError(source: string): string | undefined {
  if (Buffer.byteLength(source) > maxSourceBytes) return `is larger than ${maxSourceBytes} bytes`
  const parts = source.matchAll(/[\s,[{](?=\S)/g)
  return parts.drop(maxParts).next().done ? undefined : `has more than ${maxParts} words and entries`
}

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

function toTree(document: Document.Parsed, source: string, maxEntries: number): Parsed {
  const message = syntaxErrorOf(document, source, maxEntries)
  if (message !== undefined) return { message }
  visit(document, {
    Scalar(key, node) {
      if (key !== 'key' && node.type === 'PLAIN' && emptyScalars.has(String(node.value ?? ''))) node.value = null
    },
  })
  return { tree: document.toJS() }
}

/** The first error. Uses the parser's codes, not its messages: these quote the source, which may contain a secret. */
function syntaxErrorOf(document: Document.Parsed, source: string, maxEntries: number): string | undefined {
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) return `line ${problem.linePos?.[0].line ?? 1} is not YAML: ${problem.code.toLowerCase().replaceAll('_', ' ')}`
  let syntaxError: string | undefined
  const refuse = (offset: number | undefined, what: string): symbol => {
    syntaxError = `line ${source.slice(0, offset).split('\n').length}${what}`
    return visit.BREAK
  }
  const refuseLarge = (_: unknown, { range, items }: YAMLSeq | YAMLMap, above: readonly unknown[]): symbol | undefined => {
    if (above.length > maxLevels) return refuse(range?.[0], ': lists and keys are nested too deeply')
    return items.length > maxEntries ? refuse(range?.[0], `: there are more than ${maxEntries} entries`) : undefined
  }
  visit(document, {
    Alias: (_, { range }) => refuse(range?.[0], ': aliases are not supported; please repeat the value'),
    Seq: refuseLarge,
    Map: (key, node, above) => {
      const { items } = node
      if (refuseLarge(key, node, above)) return visit.BREAK
      // The parser's own look for equal keys takes quadratic time.
      const names = new Set<string>()
      for (const { key } of items) {
        if (!isScalar(key)) return refuse(isNode(key) ? key.range?.[0] : 0, ': a key must be a text')
        const name = String(key.value)
        if (names.has(name)) return refuse(key.range?.[0], ' is not YAML: duplicate key')
        names.add(name)
      }
      return undefined
    },
  })
  return syntaxError
}
