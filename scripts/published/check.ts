/** `npm run assets -- check-published`: the asset table beside the published lists that `tools/published` pins. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { compare, type Difference, explain, factNames, type NetworkWords, type Reason, type TableAsset } from './compare.ts'
import { type PublishedRow, readLists } from './lists.ts'
import { installLists, pinNewest } from './packages.ts'

/** Prints each difference without a reason. Returns the exit code: 1 if there is one. With `newest`, it pins the newest lists first. */
export function checkPublished({ newest = false } = {}): number {
  if (newest) pinNewest()
  const [assets, rows] = [readTable(), readPublished()]
  const differences = compare(assets, readNetworks(), rows)
  const { unexplained, unused } = explain(differences, readReasons())
  for (const difference of unexplained) console.log(lineOf(difference))
  for (const { of, fact, published } of unused)
    console.log(`To take out of reasons.yaml: no list says ${published} of ${of} (${fact})`)
  const counts = [...Map.groupBy(rows, ({ list }) => list)].map(([list, { length }]) => `${length} of ${list}`)
  console.log(`${assets.length} assets beside rows of lists: ${counts.join(', ')}`)
  console.log(`${unexplained.length} differences without a reason, ${differences.length - unexplained.length} with one`)
  return unexplained.length === 0 ? 0 : 1
}

function lineOf({ of, fact, table, agreeing, published, lists }: Difference): string {
  const side = (value: string, names: readonly string[]): string => `${value} (${names.join(', ') || 'no list'})`
  return `${of}, ${fact}: in the table ${side(table, agreeing)}, published ${side(published, lists)}`
}

/** What the lists say. They are installed first, if they are not there. */
export function readPublished(): readonly PublishedRow[] {
  return readLists(installLists())
}

/** The table that comes with swapgate. */
export function readTable(): readonly TableAsset[] {
  interface Coin {
    readonly coin: string
    readonly also?: readonly string[]
    readonly networks: readonly Omit<TableAsset, 'names'>[]
  }
  const coins = readYaml('../../config/assets.yaml') as readonly Coin[]
  return coins.flatMap(({ coin, also = [], networks }) => networks.map((asset) => ({ ...asset, names: [coin, ...also] })))
}

export function readNetworks(): ReadonlyMap<string, NetworkWords> {
  return new Map(Object.entries(readYaml('networks.yaml') as Readonly<Record<string, NetworkWords>>))
}

function readReasons(): readonly Reason[] {
  type Value = string | number
  type Entry = Partial<Record<Difference['fact'], Readonly<Record<string, Value | readonly Value[]>>>>
  return (readYaml('reasons.yaml') as readonly Entry[]).flatMap((entry) =>
    factNames.flatMap((fact) =>
      Object.entries(entry[fact] ?? {}).flatMap(([of, values]) =>
        [values].flat().map((value) => ({ of, fact, published: String(value) })),
      ),
    ),
  )
}

function readYaml(file: string): unknown {
  return parse(readFileSync(new URL(file, import.meta.url), 'utf8'), { maxAliasCount: -1 })
}
