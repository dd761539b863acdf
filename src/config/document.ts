/** yaml: keeps every scalar as text, so that no amount becomes a number and loses digits. */
import { Worker } from 'node:worker_threads'
import {
  type Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'

/** Every scalar is text; an empty value is null. */
export type Tree = null | string | Tree[] | { [key: string]: Tree }

const emptyScalars: ReadonlySet<string> = new Set(['', '~', 'null'])

/** What is wrong with the source itself: without text from it, which may be a secret. */
export interface SourceFault {
  /** Of a key or an item; empty for the source as a whole. */
  readonly path: readonly string[]
  readonly line?: number | undefined
  readonly message: string
}

export interface Parsed {
  /** What could be read. Undefined if that is nothing. What has a fault is null in it, or absent. */
  readonly tree?: Tree
  readonly faults: readonly SourceFault[]
  /** Of the paths that were asked for; of one that the source lacks: where it would be. */
  readonly lines: readonly (number | undefined)[]
}

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

/** Parses a YAML source. `maxEntries`: of each list and of each mapping in it. `paths`: whose lines are asked for. */
export function parse(source: string, maxEntries: number, paths: readonly (readonly string[])[] = []): Parsed {
  const fault = sizeFault(source) ?? depthFault(source)
  if (fault) return { faults: [fault], lines: [] }
  try {
    const sections = sectionsOf(source)
    const lines = paths.map((path) => sections.map((section) => lineOf(path, section)).find((line) => line !== undefined))
    return { ...toTree(sections, maxEntries), lines }
  } catch (reason) {
    if (reason instanceof RangeError) return unreadable('lists and keys are nested too deeply')
    throw reason
  }
}

function unreadable(message: string): Parsed {
  return { faults: [{ path: [], message }], lines: [] }
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
  const timer = setTimeout(() => resolve(unreadable(`takes more than ${parseTimeoutMs / 1000} s to parse`)), parseTimeoutMs)
  thread.once('message', resolve)
  thread.once('error', () => resolve(unreadable('cannot be parsed')))
  thread.once('exit', () => resolve(unreadable('cannot be parsed')))
  return promise.finally(() => {
    clearTimeout(timer)
    void thread.terminate()
  })
}

function sizeFault(source: string): SourceFault | undefined {
  if (Buffer.byteLength(source) > maxSourceBytes) return { path: [], message: `is larger than ${maxSourceBytes} bytes` }
  const parts = source.matchAll(/[\s,[{](?=\S)/g)
  return parts.drop(maxParts).next().done ? undefined : { path: [], message: `has more than ${maxParts} words and entries` }
}

/** Counts brackets inside of strings too: there they usually come in pairs. */
function depthFault(source: string): SourceFault | undefined {
  let open = 0
  for (const { 0: bracket, index } of source.matchAll(/[[\]{}]/g)) {
    open = bracket === '[' || bracket === '{' ? open + 1 : Math.max(0, open - 1)
    if (open > maxOpenBrackets)
      return {
        path: [],
        line: source.slice(0, index).split('\n').length,
        message: `more than ${maxOpenBrackets} brackets are open`,
      }
  }
  return undefined
}

// A source that is not YAML is read section by section: what the parser makes of the rest after its first error is a guess, but a new
// key or item at the beginning of a line is what it was meant to be. So each section has one error of syntax at most, and the others
// are checked as if nothing had happened.

/** The whole source, or one key or item of its outermost level. */
interface Section {
  readonly document: Document.Parsed
  readonly lineCounter: LineCounter
  readonly linesBefore: number
  /** Without empty ones at its end: the parser reports there what is not closed. */
  readonly lines: number
  readonly itemsBefore: number
  /** As far as it can be seen. */
  readonly path: readonly string[]
}

/** More are not looked at one by one. */
const maxSections = 1_000

function sectionsOf(source: string): readonly Section[] {
  const whole = toSection(source)
  if (!problemOf(whole)) return [whole]
  const texts = source.split(/^(?=[^\s#\]}])/m)
  if (texts.length > maxSections) return [whole]
  let [linesBefore, itemsBefore] = [0, 0]
  const sections = texts.map((text) => {
    const isItem = /^-\s/.test(text)
    const [, key] = /^["']?([A-Za-z]\w*)/.exec(text) ?? []
    const section = toSection(text, linesBefore, itemsBefore, isItem ? [String(itemsBefore)] : key === undefined ? [] : [key])
    linesBefore += text.split('\n').length - 1
    if (isItem) itemsBefore++
    return section
  })
  const kinds = sections.filter((section) => !problemOf(section)).map(({ document: { contents } }) => contents)
  const isOneKind =
    kinds.every((contents) => !contents || isMap(contents)) || kinds.every((contents) => !contents || isSeq(contents))
  return isOneKind && sections.some(problemOf) ? sections : [whole]
}

function toSection(text: string, linesBefore = 0, itemsBefore = 0, path: readonly string[] = []): Section {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { schema: 'failsafe', uniqueKeys: false, lineCounter })
  return { document, lineCounter, linesBefore, lines: text.trimEnd().split('\n').length, itemsBefore, path }
}

function problemOf({ document: { errors, warnings } }: Section) {
  return errors[0] ?? warnings[0]
}

function lineAt(offset: number, { lineCounter, linesBefore }: Section): number {
  return linesBefore + lineCounter.linePos(offset).line
}

function lineOf([name, ...others]: readonly string[], section: Section): number | undefined {
  if (name === undefined || problemOf(section)) return undefined
  const { contents } = section.document
  const at = isSeq(contents) ? String(Number(name) - section.itemsBefore) : name
  const offset = offsetOf([at, ...others], contents)
  return offset === undefined ? undefined : lineAt(offset, section)
}

/** Where the deepest key or item of the path begins that is there. */
function offsetOf([name, ...others]: readonly string[], node: unknown): number | undefined {
  if (name === undefined) return undefined
  if (isSeq(node)) {
    const item = node.items[Number(name)]
    return isNode(item) ? (offsetOf(others, item) ?? item.range?.[0]) : undefined
  }
  const pair = isMap(node) ? node.items.findLast(({ key }) => isScalar(key) && String(key.value) === name) : undefined
  if (!pair || !isNode(pair.key)) return undefined
  return offsetOf(others, pair.value) ?? pair.key.range?.[0]
}

/** More are not read by anybody. */
const maxFaults = 100

function toTree(sections: readonly Section[], maxEntries: number): Omit<Parsed, 'lines'> {
  const reader = new SectionReader(maxEntries)
  const trees = sections.map((section) => reader.read(section))
  const { faults } = reader
  const [tree] = trees
  if (trees.length === 1) return tree === undefined ? { faults } : { tree, faults }
  if (reader.isExhausted) return { faults }
  const items = sections.flatMap(({ path }, at) => {
    const part = trees[at]
    return Array.isArray(part) ? part : part === undefined && /^\d+$/.test(path[0] ?? '') ? [null] : []
  })
  if (items.length > 0) return { tree: items, faults }
  const keys = new Map<string, Tree>()
  for (const [at, section] of sections.entries()) {
    for (const [name, value] of Object.entries(trees[at] ?? {})) {
      if (keys.has(name)) faults.push({ path: [name], line: lineOf([name], section), message: duplicateKey })
      keys.set(name, value)
    }
  }
  return { tree: Object.fromEntries(keys), faults }
}

const duplicateKey = 'is not YAML: duplicate key'

type Above = readonly (Document | Node | Pair)[]

/** Uses the parser's codes, not its messages: these quote the source, which may contain a secret. */
class SectionReader {
  readonly faults: SourceFault[] = []
  /** Whether a section is so large that the rest is not worth a look. */
  isExhausted = false
  private readonly maxEntries: number

  constructor(maxEntries: number) {
    this.maxEntries = maxEntries
  }

  /** Undefined if it has no tree. */
  read(section: Section): Tree | undefined {
    const { document, path } = section
    const problem = problemOf(section)
    if (problem) {
      const message = `is not YAML: ${problem.code.toLowerCase().replaceAll('_', ' ')}`
      this.faults.push({ path, line: section.linesBefore + Math.min(problem.linePos?.[0].line ?? 1, section.lines), message })
      return undefined
    }
    this.check(section)
    if (this.isExhausted) return undefined
    visit(document, {
      Scalar(key, node) {
        if (key !== 'key' && node.type === 'PLAIN' && emptyScalars.has(String(node.value ?? ''))) node.value = null
      },
    })
    return document.toJS()
  }

  /** Takes out what has a fault, so that the rest can be read. */
  private check(section: Section): void {
    const add = (path: readonly string[], node: unknown, message: string): void => {
      const offset = isNode(node) ? node.range?.[0] : undefined
      if (this.faults.length < maxFaults) this.faults.push({ path, line: lineAt(offset ?? 0, section), message })
    }
    const exhausted = (node: YAMLSeq | YAMLMap, above: Above): symbol | undefined => {
      const isTooDeep = above.length > maxLevels
      if (!isTooDeep && node.items.length <= this.maxEntries) return undefined
      this.isExhausted = true
      const message = isTooDeep ? 'lists and keys are nested too deeply' : `there are more than ${this.maxEntries} entries`
      add(isTooDeep ? [] : pathOf(above, node, section), node, message)
      return visit.BREAK
    }
    visit(section.document, {
      Alias: (_, node, above) => {
        add(pathOf(above, node, section), node, 'aliases are not supported; please repeat the value')
        return section.document.createNode(null)
      },
      Seq: (_, node, above) => exhausted(node, above),
      Map: (_, node, above) => {
        if (exhausted(node, above)) return visit.BREAK
        const path = pathOf(above, node, section)
        // The parser's own look for equal keys takes quadratic time.
        const names = new Set<string>()
        for (const { key } of node.items) {
          if (!isScalar(key)) add(path, key ?? node, 'a key must be a text')
          else if (names.has(String(key.value))) add([...path, String(key.value)], key, duplicateKey)
          else names.add(String(key.value))
        }
        if (names.size < node.items.length) node.items = node.items.filter(({ key }) => isScalar(key))
        return undefined
      },
    })
  }
}

function pathOf(above: Above, node: Node, { itemsBefore }: Section): readonly string[] {
  const nodes = [...above, node]
  return nodes.flatMap((one, at) => {
    const around = nodes[at - 1]
    if (isPair(one)) return isScalar(one.key) ? [String(one.key.value)] : []
    if (!isSeq(around)) return []
    return [String(around.items.indexOf(one) + (around === nodes[1] ? itemsBefore : 0))]
  })
}
