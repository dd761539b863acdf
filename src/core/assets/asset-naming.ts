/** A provider's names for the assets of the table. The operator configures those that differ. */
import type { Asset, AssetTable } from '../../domain/swap/asset.ts'
import { findFolded, fold, isOnNetwork, networkNames, sameName } from '../../domain/swap/asset.ts'

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
  /** Whether its list has the network of each asset, in the code or beside the coin. */
  readonly listsNetworks: boolean
  /** Undefined if the asset is not offered. */
  readonly nameFor: (asset: Asset) => AssetName | undefined
  /** The configured name; undefined if there is none. */
  readonly configuredNameFor: (asset: Asset) => AssetName | undefined
  /** Whether a provider's word is one for the network of the asset. */
  readonly isOnNetwork: (asset: Asset, network: string) => boolean
  /** Assets that a provider's name can mean, by configuration and table only. */
  readonly assetsNamed: (assetName: AssetName) => readonly Asset[]
}

/** A form's words for networks, where they differ from the table's. */
export interface NetworkNames {
  /** For every coin on its own chain. */
  readonly home?: string
  /** By the table's network: one, or one for the network's own coin and one for all others. */
  readonly byName?: Readonly<Record<string, string | { readonly home: string; readonly others: string }>>
}

/** How a form names assets. */
export interface NamingRules {
  /** Whether by code. */
  readonly byCode: boolean
  /** Whether its list has networks. Default: only if it names assets by code. */
  readonly listsNetworks?: boolean
  readonly networks?: NetworkNames
}

/** `configured`: names that differ from the table's and the form's. */
export function createAssetNaming(table: AssetTable, rules: NamingRules, configured: ConfiguredNames): AssetNaming {
  const { byCode, listsNetworks = byCode } = rules
  const configuredByCode = new Map([...configured].map(([code, assetName]) => [fold(code), assetName]))
  const assets = table.coins.flatMap((coin) => coin.assets)
  const nameFor = (asset: Asset): AssetName | undefined => {
    const assetName = configuredByCode.get(fold(asset.code))
    if (assetName === null) return undefined
    return assetName ?? (byCode ? { code: asset.code } : { coin: asset.coin, network: networkWord(asset, rules) })
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
    listsNetworks,
    nameFor,
    isOnNetwork: (asset, network) => isOnNetwork(asset, network) || sameName(networkWord(asset, rules), network),
    configuredNameFor: (asset) => configuredByCode.get(fold(asset.code)) ?? undefined,
    assetsNamed({ code, coin, network }) {
      if (code !== undefined) return findFolded(codes, code) ?? []
      if (network === undefined) return findFolded(coins, coin ?? '') ?? []
      const byNetwork = findFolded(networks, coin ?? '')
      return (byNetwork && findFolded(byNetwork, network)) ?? []
    },
  }
}

function networkWord({ network, isHome = false }: Asset, { networks: { home, byName = {} } = {} }: NamingRules): string {
  const word = Object.hasOwn(byName, network) ? byName[network] : undefined
  if (typeof word === 'object') return isHome ? word.home : word.others
  return (isHome ? home : undefined) ?? word ?? network
}

/** Lists each asset once under each of its keys. */
function groupByEach(assets: readonly Asset[], keysOf: (asset: Asset) => readonly string[]): ReadonlyMap<string, readonly Asset[]> {
  const groups = new Map<string, Asset[]>()
  for (const asset of assets) {
    for (const key of new Set(keysOf(asset))) groups.getOrInsertComputed(key, () => []).push(asset)
  }
  return groups
}
