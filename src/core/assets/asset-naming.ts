/** A provider's names for the assets of the table. The operator configures those that differ. */
import type { Asset, AssetTable } from '../../domain/swap/asset.ts'
import { findFolded, fold, networkNames } from '../../domain/swap/asset.ts'

/** A `code`, or a `coin` with an optional `network`. */
export interface AssetName {
  readonly code?: string | undefined
  readonly coin?: string | undefined
  readonly network?: string | undefined
}

/** By the table's code. Null: the provider does not offer the asset. */
export type ConfiguredNames = ReadonlyMap<string, AssetName | null>

/** Translates between the assets of the table and one provider's names. */
export interface AssetNaming {
  readonly table: AssetTable
  /** Whether the provider's form names an asset by `code`. */
  readonly byCode: boolean
  /** Undefined if the asset is not offered. */
  readonly nameFor: (asset: Asset) => AssetName | undefined
  /** The configured name; undefined if there is none. */
  readonly configuredNameFor: (asset: Asset) => AssetName | undefined
  /** Assets that a provider's name can mean, by configuration and table only. */
  readonly assetsNamed: (assetName: AssetName) => readonly Asset[]
}

/** `byCode`: whether the provider's form names assets by code. `configured`: names that differ from the table's. */
export function createAssetNaming(table: AssetTable, byCode: boolean, configured: ConfiguredNames): AssetNaming {
  const configuredByCode = new Map([...configured].map(([code, assetName]) => [fold(code), assetName]))
  const assets = table.coins.flatMap((coin) => coin.assets)
  const nameFor = (asset: Asset): AssetName | undefined => {
    const assetName = configuredByCode.get(fold(asset.code))
    if (assetName === null) return undefined
    return assetName ?? (byCode ? { code: asset.code } : { coin: asset.coin, network: asset.network })
  }
  const byField = (field: 'code' | 'coin'): ReadonlyMap<string, readonly Asset[]> =>
    Map.groupBy(
      assets.filter((asset) => nameFor(asset)?.[field] !== undefined),
      (asset) => fold(nameFor(asset)?.[field] ?? ''),
    )
  const codes = byField('code')
  const coins = byField('coin')
  const networksOf = (asset: Asset): readonly string[] => [...networkNames(asset), fold(nameFor(asset)?.network ?? '')]
  const networks = new Map([...coins].map(([coin, sameCoin]) => [coin, groupByEach(sameCoin, networksOf)]))
  return {
    table,
    byCode,
    nameFor,
    configuredNameFor: (asset) => configuredByCode.get(fold(asset.code)) ?? undefined,
    assetsNamed({ code, coin, network }) {
      if (code !== undefined) return findFolded(codes, code) ?? []
      if (network === undefined) return findFolded(coins, coin ?? '') ?? []
      const byNetwork = findFolded(networks, coin ?? '')
      return (byNetwork && findFolded(byNetwork, network)) ?? []
    },
  }
}

/** Lists each asset once under each of its keys. */
function groupByEach(assets: readonly Asset[], keysOf: (asset: Asset) => readonly string[]): ReadonlyMap<string, readonly Asset[]> {
  const groups = new Map<string, Asset[]>()
  for (const asset of assets) {
    for (const key of new Set(keysOf(asset))) groups.getOrInsertComputed(key, () => []).push(asset)
  }
  return groups
}
