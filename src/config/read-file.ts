/** Reads the configuration file and the asset table, with their references to files and variables. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { AssetTable } from '../domain/swap/asset.ts'
import { toAssetTable } from './asset-table.ts'
import { readDocument, type Tree } from './document.ts'
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

export function readTable(file: string, reader: FileReader, faults: Faults): AssetTable | undefined {
  const assetFaults = faults.under('assets')
  const source = readSource(file, reader, assetFaults)
  if (source !== undefined && source === parsedTable?.source) return parsedTable.table
  const table = source === undefined ? undefined : parseTable(file, source, reader, assetFaults)
  if (source !== undefined && table && faults.all.length === 0 && !source.includes('${')) parsedTable = { source, table }
  return table
}

function parseTable(file: string, source: string, reader: FileReader, assetFaults: Faults): AssetTable | undefined {
  const tree = toTree(source, file, reader, assetFaults)
  const coins = tree === undefined ? undefined : validate(assetsSchema, tree, assetFaults)
  return coins && toAssetTable(coins, assetFaults)
}

/** The document with its references resolved. Undefined if the source is not a document. */
export function toTree(source: string, file: string, { environment, files }: FileReader, faults: Faults): Tree | undefined {
  const tree = readDocument(source, faults)
  if (tree === undefined) return undefined
  const readFile = (path: string): string => {
    files.add(resolve(dirname(file), path))
    return readFileSync(resolve(dirname(file), path), 'utf8')
  }
  return interpolate(tree, { environment, readFile }, faults)
}

export function readSource(file: string, { files }: FileReader, faults: Faults): string | undefined {
  files.add(resolve(file))
  try {
    return readFileSync(file, 'utf8')
  } catch (reason) {
    const code = reason instanceof Error && 'code' in reason ? reason.code : undefined
    faults.add([], `the file ${file} cannot be read (${code})`)
    return undefined
  }
}
