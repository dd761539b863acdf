/** Reads the configuration file and the asset table, with their references to files and variables. */
import { closeSync, openSync, readSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { AssetTable } from '../domain/asset.ts'
import { toAssetTable } from './asset-table.ts'
import { maxSourceBytes, type Parsed, type parse, type Tree } from './document.ts'
import type { Faults } from './faults.ts'
import { interpolate, type Sources } from './interpolation.ts'
import { assetsSchema } from './schema/asset-table.ts'
import { validate } from './validation.ts'

export interface FileReader extends Pick<Sources, 'environment'> {
  /** Files that were read, or that could not be read. */
  readonly files: Set<string>
}

/** The table of the last source without references. The shipped table takes 80 ms to parse, and most reloads do not change it. */
let parsedTable: { readonly source: string; readonly table: AssetTable } | undefined

/** Reads sources, and gives each out to be parsed. */
export type Reading<Result> = Generator<Parameters<typeof parse>, Result, Parsed>

const maxCoins = 10_000

export function* readTable(file: string, reader: FileReader, faults: Faults): Reading<AssetTable | undefined> {
  const assetFaults = faults.under('assets')
  const source = readSource(file, reader, assetFaults)
  if (source !== undefined && source === parsedTable?.source) return parsedTable.table
  const table = source === undefined ? undefined : yield* parseTable(file, source, reader, assetFaults)
  if (source !== undefined && table && faults.all.length === 0 && !source.includes('${')) parsedTable = { source, table }
  return table
}

function* parseTable(file: string, source: string, reader: FileReader, assetFaults: Faults): Reading<AssetTable | undefined> {
  const tree = yield* toTree([source, maxCoins], file, reader, assetFaults)
  const coins = tree === undefined ? undefined : validate(assetsSchema, tree, assetFaults)
  return coins && toAssetTable(coins, assetFaults)
}

/** The document with its references resolved. Undefined if the source is not a document. */
export function* toTree(
  source: Parameters<typeof parse>,
  file: string,
  { environment, files }: FileReader,
  faults: Faults,
): Reading<Tree | undefined> {
  const parsed = yield source
  if ('message' in parsed) {
    faults.add([], parsed.message)
    return undefined
  }
  const readFile = (path: string): string => {
    files.add(resolve(dirname(file), path))
    const text = readText(resolve(dirname(file), path))
    if (Buffer.byteLength(text) > maxSourceBytes) throw new Error('too large for a value')
    return text
  }
  return interpolate(parsed.tree, { environment, readFile }, faults)
}

export function readSource(file: string, { files }: FileReader, faults: Faults): string | undefined {
  files.add(resolve(file))
  try {
    return readText(file)
  } catch (reason) {
    const code = reason instanceof Error && 'code' in reason ? reason.code : undefined
    faults.add([], `the file ${file} cannot be read (${code})`)
    return undefined
  }
}

/** One byte more than the largest source shows that the file is too large. */
function readText(path: string): string {
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
