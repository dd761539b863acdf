/**
 * Compares a provider's currency list with the asset table, before clients are routed to the provider (docs/contract.md §16). An asset that is
 * mapped to null is not missing. A memo that the table denies contradicts it.
 */
import { type Asset, fold } from '../../domain/asset.ts'
import type { Currency } from '../../domain/swap.ts'
import type { AssetName, AssetNaming } from '../assets/asset-naming.ts'
import { type ListedAsset, parseCurrencyList, type UnclearAssets } from '../assets/currency-list.ts'
import { type Match, matchRow, type RowContradiction } from '../assets/provider-rows.ts'

/** A row of the list, in the provider's words. */
export interface ListedName {
  readonly code?: string | undefined
  readonly coin?: string | undefined
  readonly network?: string | undefined
  /** Only where it contradicts. */
  readonly contract?: string | undefined
}

export interface TableName {
  readonly code: string
  readonly coin: string
  readonly network: string
  /** Only where a row contradicts it. */
  readonly contract?: string
}

/** A row that contradicts the table. It is not offered, or would lose a memo. */
export interface Contradiction {
  readonly what: RowContradiction | 'memo'
  readonly listed: ListedName
  readonly table: readonly TableName[]
}

/** A word, or a pair of words, that means several assets. None of them can be requested by it. */
export interface Collision {
  readonly listed: ListedName
  readonly table: readonly TableName[]
}

/** An asset by another word than the table's: another name of its coin, or any word beside its contract. */
export interface OtherWord {
  readonly by: 'also' | 'contract'
  readonly listed: ListedName
  readonly table: TableName
}

/** Several rows that are one asset. */
export interface Double {
  readonly table: TableName
  readonly listed: readonly ListedName[]
  /** The one that is asked for; absent: nothing says which, and the asset is not offered. */
  readonly chosen?: ListedName
}

export interface AssetCheck {
  readonly rows: number
  /** Number of the table's assets that the provider offers. */
  readonly matched: number
  readonly contradictions: readonly Contradiction[]
  readonly collisions: readonly Collision[]
  /** Absent: none. */
  readonly otherWords?: readonly OtherWord[]
  /** Absent: none. */
  readonly doubles?: readonly Double[]
  /** Rows of assets that the table lacks. */
  readonly unknown: readonly ListedName[]
  /** Assets of the table that the provider does not offer. Without those that are configured as not offered; the configured word of one is that one (`test/cli/assets.test.ts`). */
  readonly missing: readonly TableName[]
}

/** `rows`: the provider's whole list. */
export async function checkAssets(rows: readonly Currency[], naming: AssetNaming): Promise<AssetCheck> {
  const { table } = naming
  const { byAsset, ambiguousAssets, unclear } = await parseCurrencyList(rows, naming, () => {})
  const meanings = rows.map((row) => meaningOf(row, naming))
  const assets = table.coins.flatMap((coin) => coin.assets)
  const contradictions = meanings.flatMap(({ contradiction }) => contradiction ?? [])
  const contradicted = new Set(contradictions.flatMap(({ table: named }) => named.map(({ code }) => code)))
  const ambiguous = [...ambiguousAssets].filter((asset) => !contradicted.has(asset.code) && !unclear.has(asset))
  const otherWords = [...byAsset].flatMap(([asset, listed]) => otherWordOf(asset, listed))
  const doubles = doublesOf(meanings, byAsset, unclear, naming)
  return {
    rows: rows.length,
    matched: byAsset.size,
    contradictions,
    collisions: [
      ...collisionsOf(assets, naming),
      ...meanings.flatMap(({ collision }) => collision ?? []),
      ...ambiguous.map((asset) => ({ listed: naming.nameFor(asset) ?? {}, table: [tableName(asset)] })),
    ],
    ...(otherWords.length > 0 && { otherWords }),
    ...(doubles.length > 0 && { doubles }),
    unknown: meanings.flatMap(({ listed, isUnknown }) => (isUnknown ? [listed] : [])),
    missing: assets.filter((asset) => !byAsset.has(asset) && naming.nameFor(asset)).map(tableName),
  }
}

function otherWordOf(asset: Asset, { by, assetName }: ListedAsset): readonly OtherWord[] {
  return by === undefined ? [] : [{ by, listed: listedName(assetName), table: tableName(asset) }]
}

/** Also those of which one is chosen. A form without networks has one row for all assets of a coin. */
function doublesOf(
  meanings: readonly Meaning[],
  byAsset: ReadonlyMap<Asset, ListedAsset>,
  unclear: UnclearAssets,
  naming: AssetNaming,
): readonly Double[] {
  const open = [...unclear].map(([asset, words]) => ({ table: tableName(asset), listed: words.map(listedName) }))
  const settled = [...Map.groupBy(meanings, ({ asset }) => asset)].flatMap(([asset, same]): readonly Double[] => {
    const words = [...new Map(same.map(({ listed }) => [JSON.stringify(foldedWords(listed)), listed])).values()]
    const chosen = asset && byAsset.get(asset)
    if (!chosen || words.length < 2 || !naming.listsNetworks) return []
    return [{ table: tableName(asset), listed: words, chosen: listedName(chosen.assetName) }]
  })
  return [...open, ...settled]
}

function foldedWords({ code, coin, network }: ListedName): readonly string[] {
  return code === undefined ? [fold(coin ?? ''), fold(network ?? '')] : [fold(code)]
}

function listedName({ code, coin, network }: AssetName): ListedName {
  return {
    ...(code !== undefined && { code }),
    ...(coin !== undefined && { coin }),
    ...(network !== undefined && { network }),
  }
}

interface Meaning {
  readonly listed: ListedName
  readonly asset?: Asset | undefined
  readonly contradiction?: Contradiction
  readonly collision?: Collision
  readonly isUnknown: boolean
}

function meaningOf(row: Currency, naming: AssetNaming): Meaning {
  const { code, coin } = row
  const listed = listedName(row)
  const { table, byCode, listsNetworks } = naming
  const { asset, contradicted, otherThan = [], several } = listsNetworks ? matchRow(row, naming) : onlyByCoin(row, naming)
  if (contradicted === 'network')
    return { listed, contradiction: { what: contradicted, listed, table: namedBy(code, naming) }, isUnknown: false }
  if (contradicted) return { listed, contradiction: otherToken(contradicted, row, listed, otherThan), isUnknown: false }
  const assets = several ?? (asset ? [asset] : [])
  const namesake = byCode || assets.length > 0 || table.coin(coin ?? '') ? undefined : table.byCode(coin ?? '')
  if (namesake) return { listed, collision: { listed, table: [tableName(namesake)] }, isUnknown: false }
  const lacksMemo = row.needsMemo === true ? assets.filter(({ memo }) => memo === 'none') : []
  return {
    listed,
    asset,
    isUnknown: assets.length === 0,
    ...(lacksMemo.length > 0 && { contradiction: { what: 'memo', listed, table: lacksMemo.map(tableName) } }),
  }
}

/** One row of a form without networks is all assets of its coin. */
function onlyByCoin({ coin = '' }: Currency, naming: AssetNaming): Match {
  const named = naming.assetsNamed({ coin })
  return { several: named.length > 0 ? named : naming.assetsAlsoNamed({ coin }) }
}

function otherToken(
  what: 'contract' | 'name',
  { contract }: Currency,
  listed: ListedName,
  otherThan: readonly Asset[],
): Contradiction {
  const withContract = (asset: Asset): TableName => ({
    ...tableName(asset),
    ...(asset.contract !== undefined && { contract: asset.contract }),
  })
  return { what, listed: { ...listed, contract }, table: otherThan.map(withContract) }
}

/** What the table and the configuration mean by a code. */
function namedBy(code: string | undefined, { table, assetsNamed }: AssetNaming): readonly TableName[] {
  const meant = [...assetsNamed({ code }), table.byCode(code ?? '')].filter((asset) => asset !== undefined)
  return [...new Set(meant)].map(tableName)
}

/** Assets of the table with one name at the provider, by the form's words or by configuration. */
function collisionsOf(assets: readonly Asset[], naming: AssetNaming): readonly Collision[] {
  const byName = Map.groupBy(
    assets.filter((asset) => naming.nameFor(asset)),
    (asset) => JSON.stringify(Object.values(naming.nameFor(asset) ?? {}).map((word) => fold(word ?? ''))),
  )
  return [...byName.values()]
    .filter(({ length }) => length > 1)
    .map((same) => ({ listed: same.map((asset) => naming.nameFor(asset))[0] ?? {}, table: same.map(tableName) }))
}

function tableName({ code, coin, network }: Asset): TableName {
  return { code, coin, network }
}
