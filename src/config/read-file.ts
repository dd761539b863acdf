/** Reads the configuration file and the asset table, with their references to files and variables. */
import { closeSync, openSync, readSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { AssetTable } from '../domain/asset.ts'
import { assetsSchema, checkCoins, knownCoins, takeUnknownMembers, toAssetTable } from './asset-table.ts'
import { maxSourceBytes, type Parsed, type parse, type Tree } from './document.ts'
import { type ConfigFault, type Faults, type Found, publicName, toConfigFault, validate } from './faults.ts'
import { readPlainTable } from './plain-table.ts'

export interface FileReader extends Pick<Sources, 'environment'> {
  /** Files that were read, with their texts. */
  readonly texts: Map<string, string>
  /** What another process has read, in place of the files. */
  readonly given?: ReadonlyMap<string, string> | undefined
}

/** The table of the last source without references: most reloads do not change it. */
let parsedTable: { readonly source: string; readonly parsed: ParsedTable } | undefined

interface ParsedTable {
  readonly table: AssetTable
  readonly warnings: readonly string[]
}

/** Reads sources, and gives each out to be parsed. */
export type Reading<Result> = Generator<Parameters<typeof parse>, Result, Parsed>

const maxCoins = 10_000

/** Of a list, or of a section of the configuration: some checks take time by the square of it. */
export const maxEntries = 1_000

/** `name`: of the file, in the configuration, whose folder is `folder`. Undefined if the table has faults. */
export function* readTable(name: string, folder: string, reader: FileReader, faults: Faults): Reading<ParsedTable | undefined> {
  const file = resolve(folder, name)
  const source = readSource(file, reader, faults.under('assets'))
  if (source === undefined) return undefined
  if (source === parsedTable?.source) return parsedTable.parsed
  const parsed = yield* parseTable(file, source, reader, faults.inFile(name, 'assets'))
  if (parsed && !source.includes('${')) parsedTable = { source, parsed }
  return parsed
}

function* parseTable(file: string, source: string, reader: FileReader, faults: Faults): Reading<ParsedTable | undefined> {
  const tree = readPlainTable(source) ?? (yield* toTree([source, maxCoins], file, reader, faults))
  if (tree === undefined) return undefined
  const unknown = takeUnknownMembers(tree)
  const coins = validate(assetsSchema, tree, faults)
  faults.endStage()
  const doubtful = checkCoins(coins ?? knownCoins(tree, faults), faults)
  return coins && !faults.hasWithin([]) ? { table: toAssetTable(coins), warnings: [...unknown, ...doubtful] } : undefined
}

/** The lines of the faults that have none yet: those of their keys in the configuration's source, or in that of the asset table. */
export function* toLocated(
  faults: Faults,
  source: string | undefined,
  tableSource: string | undefined,
): Reading<readonly ConfigFault[]> {
  const [inTable, inFile] = [true, false].map((isTable) => faults.found.filter(({ file }) => (file !== undefined) === isTable))
  const ofFile = yield* withLines(inFile ?? [], source, maxEntries, 0)
  const ofTable = yield* withLines(inTable ?? [], tableSource, maxCoins, 1)
  return [...ofFile, ...ofTable].map(toConfigFault)
}

/** Sorted by line, what has none first. `depth`: how many names of a path lead to the source. */
function* withLines(
  found: readonly Found[],
  source: string | undefined,
  maxSize: number,
  depth: number,
): Reading<readonly Found[]> {
  const paths = found.map(({ names, line }) => (line === undefined ? names.slice(depth) : []))
  // A source that takes long to parse has faults with lines only.
  const isWanted = source !== undefined && paths.some(({ length }) => length > 0)
  const { lines } = isWanted ? yield [source, maxSize, paths] : { lines: [] }
  const located = found.map((fault, at) => ({ ...fault, line: fault.line ?? lines[at] }))
  return located.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0))
}

/** The document with its references resolved, as far as it can be read. Undefined if the source is not a document. */
export function* toTree(
  source: Parameters<typeof parse>,
  file: string,
  reader: FileReader,
  faults: Faults,
): Reading<Tree | undefined> {
  const parsed = yield source
  for (const { path, line, message } of parsed.faults) faults.add(path, message, line)
  if (parsed.tree === undefined) return undefined
  faults.endStage()
  const readFile = (path: string): string => {
    const text = readText(resolve(dirname(file), path), reader)
    if (Buffer.byteLength(text) > maxSourceBytes) throw new Error('too large for a value')
    return text
  }
  const tree = interpolate(parsed.tree, { environment: reader.environment, readFile }, faults)
  faults.endStage()
  return tree
}

export function readSource(file: string, reader: FileReader, faults: Faults): string | undefined {
  try {
    return readText(resolve(file), reader)
  } catch (reason) {
    const code = reason instanceof Error && 'code' in reason ? reason.code : undefined
    faults.add([], `the file ${file} cannot be read (${code})`)
    return undefined
  }
}

function readText(path: string, { texts, given }: FileReader): string {
  const text = given ? given.get(path) : readStart(path)
  if (text === undefined) throw new Error('not among the given texts')
  texts.set(path, text)
  return text
}

/** One byte more than the largest source shows that the file is too large. */
function readStart(path: string): string {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(maxSourceBytes + 1)
    let length = 0
    for (let read = -1; read !== 0; length += read) read = readSync(file, bytes, length, bytes.length - length, null)
    return bytes.toString('utf8', 0, length)
  } finally {
    closeSync(file)
  }
}

// Resolves `${NAME}`, `${NAME:-default}` and `${file:path}` in the values of a document (docs/contract-operators.md §9).

/** The sources of references. `readFile` throws if the file cannot be read. */
export interface Sources {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly readFile: (path: string) => string
}

const reference = /\$\{([^}]*)(\}?)/g
/** A name that a message may show: a secret between braces does not match. */
const variableName = /^[A-Z][A-Z0-9_]{0,63}$/
const variable = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s

/** The tree with every reference in its values resolved. A resolved value is not searched for references. */
export function interpolate(tree: Tree, sources: Sources, faults: Faults): Tree {
  if (tree === null) return null
  if (typeof tree === 'string') return interpolateText(tree, sources, (message) => faults.add([], message))
  if (Array.isArray(tree)) return tree.map((item, at) => interpolate(item, sources, faults.under(at)))
  // A section of this name would vanish without a word.
  if (Object.hasOwn(tree, '__proto__')) faults.add(['__proto__'], '__proto__ is a name that nothing may have')
  const interpolated = Object.entries(tree).map(([key, value]) => [key, interpolate(value, sources, faults.under(key))] as const)
  return Object.fromEntries(interpolated)
}

type Fail = (message: string) => void

function interpolateText(text: string, sources: Sources, fail: Fail): string {
  return text.replace(reference, (_, inside: string, end: string) => {
    if (end !== '' && inside.startsWith('file:')) return fromFile(inside.slice('file:'.length).trim(), sources, fail)
    const [, name, defaultValue] = (end !== '' && variable.exec(inside)) || []
    if (name !== undefined) return fromEnvironment(name, defaultValue, sources, fail)
    fail(`a reference must be \${NAME}, \${NAME:-default} or \${file:path}`)
    return ''
  })
}

/** As in a shell, the default also applies if the variable is empty. */
function fromEnvironment(name: string, defaultValue: string | undefined, { environment }: Sources, fail: Fail): string {
  const value = environment[name]
  if (defaultValue !== undefined) return value || defaultValue
  if (value === undefined) fail(`the environment variable ${variableName.test(name) ? name : publicName(name)} is not set`)
  return value ?? ''
}

function fromFile(file: string, { readFile }: Sources, fail: Fail): string {
  try {
    return readFile(file).trim()
  } catch {
    fail(`the file ${file} cannot be read`)
    return ''
  }
}
