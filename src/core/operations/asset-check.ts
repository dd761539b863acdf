/** Compares a provider's currency list with the asset table, before clients are routed to the provider (docs/contract.md §16). */
import { type Asset, fold } from '../../domain/asset.ts'
import type { Currency } from '../../domain/swap.ts'
import type { AssetNaming } from '../assets/asset-naming.ts'
import { type Match, matchAsset, parseCurrencyList } from '../assets/currency-list.ts'

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
  readonly what: 'network' | 'contract' | 'memo'
  readonly listed: ListedName
  readonly table: readonly TableName[]
}

/** A word, or a pair of words, that means several assets. None of them can be requested by it. */
export interface Collision {
  readonly listed: ListedName
  readonly table: readonly TableName[]
}

export interface AssetCheck {
  readonly rows: number
  /** Number of the table's assets that the provider offers. */
  readonly matched: number
  readonly contradictions: readonly Contradiction[]
  readonly collisions: readonly Collision[]
  /** Rows of assets that the table lacks. */
  readonly unknown: readonly ListedName[]
  /** Assets of the table that the provider does not offer. Without those that are configured as not offered. */
  readonly missing: readonly TableName[]
}

/** `rows`: the provider's whole list. */
export async function checkAssets(rows: readonly Currency[], naming: AssetNaming): Promise<AssetCheck> {
  const { table } = naming
  const { byAsset, ambiguousAssets } = await parseCurrencyList(rows, naming, () => {})
  const meanings = rows.map((row) => meaningOf(row, naming))
  const assets = table.coins.flatMap((coin) => coin.assets)
  const contradictions = meanings.flatMap(({ contradiction }) => contradiction ?? [])
  const contradicted = new Set(contradictions.flatMap(({ table: named }) => named.map(({ code }) => code)))
  const ambiguous = [...ambiguousAssets].filter(({ code }) => !contradicted.has(code))
  return {
    rows: rows.length,
    matched: byAsset.size,
    contradictions,
    collisions: [
      ...collisionsOf(assets, naming),
      ...meanings.flatMap(({ collision }) => collision ?? []),
      ...ambiguous.map((asset) => ({ listed: naming.nameFor(asset) ?? {}, table: [tableName(asset)] })),
    ],
    unknown: meanings.flatMap(({ listed, isUnknown }) => (isUnknown ? [listed] : [])),
    missing: assets.filter((asset) => !byAsset.has(asset) && naming.nameFor(asset)).map(tableName),
  }
}

interface Meaning {
  readonly listed: ListedName
  readonly contradiction?: Contradiction
  readonly collision?: Collision
  readonly isUnknown: boolean
}

function meaningOf(row: Currency, naming: AssetNaming): Meaning {
  const { code, coin, network } = row
  const listed = {
    ...(code !== undefined && { code }),
    ...(coin !== undefined && { coin }),
    ...(network !== undefined && { network }),
  }
  const { table, byCode } = naming
  const { assets, contradicted, otherThan = [] } = byCode ? byCodeOf(row, naming) : byCoinOf(row, naming)
  if (contradicted === 'contract') return { listed, contradiction: otherToken(row, listed, otherThan), isUnknown: false }
  if (contradicted) return { listed, contradiction: { what: 'network', listed, table: namedBy(code, naming) }, isUnknown: false }
  const namesake = byCode || assets.length > 0 || table.coin(coin ?? '') ? undefined : table.byCode(coin ?? '')
  if (namesake) return { listed, collision: { listed, table: [tableName(namesake)] }, isUnknown: false }
  const lacksMemo = row.needsMemo === true ? assets.filter(({ memo }) => memo === 'none') : []
  return {
    listed,
    isUnknown: assets.length === 0,
    ...(lacksMemo.length > 0 && { contradiction: { what: 'memo', listed, table: lacksMemo.map(tableName) } }),
  }
}

interface Matches extends Pick<Match, 'contradicted' | 'otherThan'> {
  readonly assets: readonly Asset[]
}

function byCodeOf(row: Currency, naming: AssetNaming): Matches {
  const { asset, ...match } = matchAsset(row, naming)
  return { assets: asset ? [asset] : [], ...match }
}

/** A coin on a network that the table does not give it is an asset that the table lacks. */
function byCoinOf({ coin = '', network, contract }: Currency, naming: AssetNaming): Matches {
  const named = naming.assetsNamed(naming.listsNetworks ? { coin, network } : { coin })
  const assets = named.filter((asset) => naming.hasContract(asset, contract))
  return named.length > 0 && assets.length === 0 ? { assets, contradicted: 'contract', otherThan: named } : { assets }
}

function otherToken({ contract }: Currency, listed: ListedName, otherThan: readonly Asset[]): Contradiction {
  const withContract = (asset: Asset): TableName => ({
    ...tableName(asset),
    ...(asset.contract !== undefined && { contract: asset.contract }),
  })
  return { what: 'contract', listed: { ...listed, contract }, table: otherThan.map(withContract) }
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
