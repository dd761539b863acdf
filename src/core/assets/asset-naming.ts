/** A provider's names for the assets of the table, and what it means by them. The operator configures those that differ. */
import { sameContract } from '../../domain/address/same-address.ts'
import { type Asset, type AssetTable, findFolded, fold, isOnNetwork, networkNames, sameName } from '../../domain/asset.ts'
import type { Pair } from '../../domain/swap.ts'

/** A `code`, or a `coin` with an optional `network`. */
export interface AssetName {
  readonly code?: string | undefined
  readonly coin?: string | undefined
  readonly network?: string | undefined
}

/** A name, a contract that is accepted in the place of the table's, or both. */
interface ConfiguredAsset extends AssetName {
  readonly contract?: string | undefined
}

/** By the table's code; of several for one code the last counts. Null: the provider does not offer the asset. */
export type ConfiguredNames = Iterable<readonly [code: string, asset: ConfiguredAsset | null]>

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
  /** A provider's word for the network of a coin that the table lacks, in one spelling for all providers. */
  readonly chainOf: (coin: string, network: string | undefined) => string | undefined
  /** Assets that a provider's name can mean, by configuration and table only. */
  readonly assetsNamed: (assetName: AssetName) => readonly Asset[]
  /** The contract that the asset has here; undefined for one without, like a coin of a chain. */
  readonly contractOf: (asset: Asset) => string | undefined
  /** Whether a contract that the provider gives is that of the asset. An asset without one has any. */
  readonly hasContract: (asset: Asset, contract: string | undefined) => boolean
}

/** A form's words for networks, where they differ from the table's. */
interface NetworkNames {
  /** For every coin on its own chain. */
  readonly home?: string
  /** By the table's network: one, or one for the network's own coin and one for all others. */
  readonly byName?: Readonly<Record<string, string | { readonly home: string; readonly others: string }>>
}

/** How a form names assets. */
interface NamingRules {
  /** Whether by code. */
  readonly byCode: boolean
  /** Whether its list has networks. Default: only if it names assets by code. */
  readonly listsNetworks?: boolean
  readonly networks?: NetworkNames
}

/** `configured`: names and contracts that differ from the table's and the form's. */
export function createAssetNaming(table: AssetTable, rules: NamingRules, configured: ConfiguredNames): AssetNaming {
  const { byCode, listsNetworks = byCode } = rules
  const named = [...configured].filter(([, asset]) => asset === null || asset.code !== undefined || asset.coin !== undefined)
  const configuredByCode = new Map(named.map(([code, asset]) => [fold(code), asset && nameIn(asset)]))
  const contracts = new Map([...configured].flatMap(([code, asset]) => (asset?.contract ? [[fold(code), asset.contract]] : [])))
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
  const chains = new Map(
    assets.flatMap((asset) => [...networkNames(asset), fold(networkWord(asset, rules))].map((name) => [name, fold(asset.network)])),
  )
  const homeWord = rules.networks?.home
  const contractOf = (asset: Asset): string | undefined => contracts.get(fold(asset.code)) ?? asset.contract
  return {
    table,
    byCode,
    listsNetworks,
    nameFor,
    isOnNetwork: (asset, network) => isOnNetwork(asset, network) || sameName(networkWord(asset, rules), network),
    chainOf(coin, network) {
      if (!network) return undefined
      if (homeWord !== undefined && sameName(network, homeWord)) return fold(coin)
      return chains.get(fold(network)) ?? fold(network)
    },
    configuredNameFor: (asset) => configuredByCode.get(fold(asset.code)) ?? undefined,
    assetsNamed({ code, coin, network }) {
      if (code !== undefined) return findFolded(codes, code) ?? []
      if (network === undefined) return findFolded(coins, coin ?? '') ?? []
      const byNetwork = findFolded(networks, coin ?? '')
      return (byNetwork && findFolded(byNetwork, network)) ?? []
    },
    contractOf,
    hasContract(asset, contract) {
      const own = contractOf(asset)
      return own === undefined || !contract || sameContract(own, contract)
    },
  }
}

function nameIn({ code, coin, network }: ConfiguredAsset): AssetName {
  return { ...(code !== undefined && { code }), ...(coin !== undefined && { coin }), ...(network !== undefined && { network }) }
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

// The two sides of a swap in the fields of a request or a response.

/** The fields that name one side. */
export interface Side {
  readonly code: 'codeFrom' | 'codeTo'
  readonly coin: 'coinFrom' | 'coinTo'
  readonly network: 'networkFrom' | 'networkTo'
}

export const from: Side = { code: 'codeFrom', coin: 'coinFrom', network: 'networkFrom' }
export const to: Side = { code: 'codeTo', coin: 'coinTo', network: 'networkTo' }

export function assetNameOf(pair: Pair, side: Side): AssetName {
  return { code: pair[side.code], coin: pair[side.coin], network: pair[side.network] }
}

/** Copies a request or response and replaces the names of both sides. Contracts are not kept: they belong to the provider's names. */
export function withAssetNames<T extends Pair>(row: T, source: AssetName, target: AssetName): T {
  return {
    ...row,
    codeFrom: source.code,
    coinFrom: source.coin,
    networkFrom: source.network,
    codeTo: target.code,
    coinTo: target.coin,
    networkTo: target.network,
    ...('contractFrom' in row && { contractFrom: undefined }),
    ...('contractTo' in row && { contractTo: undefined }),
  }
}

/**
 * The table's asset of a side; undefined if the table lacks it, if the pair leaves its network open, or if its code is that of an asset
 * on another network.
 */
export function assetIn(pair: Pair, side: Side, table: AssetTable): Asset | undefined {
  const { code, coin, network } = assetNameOf(pair, side)
  if (code === undefined) return table.find(coin ?? '', network ?? '')
  const asset = table.byCode(code)
  return asset && (network === undefined || isOnNetwork(asset, network)) ? asset : undefined
}

/** All fields that name assets. */
export const assetFields: ReadonlySet<string> = new Set([from, to].flatMap((side) => Object.values(side)))

/** Only the names of both assets. */
export function pairOf({ codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo }: Pair): Pair {
  return { codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo }
}

/** Only the asset fields that are defined. */
export function pickAssetFields(pair: Pair): Pair {
  return Object.fromEntries(Object.entries(pair).filter(([field, value]) => assetFields.has(field) && value !== undefined))
}

// One key per asset, independent of how the client names it.

/** The table's code if it has the asset, otherwise the client's names. Equal assets have equal keys. A missing network is not filled in. */
export function assetKeyOf(pair: Pair, side: Side, table: AssetTable): string {
  const { code, coin, network } = assetNameOf(pair, side)
  const asset = assetIn(pair, side, table)
  const parts = asset ? [asset.code] : [code ?? coin, network].filter((word) => word !== undefined)
  // Idempotency keys in existing ledgers contain this text: a name with a space or a quote is written as JSON, any other as it is.
  if (parts.some((word) => /[\s"]/.test(word))) return JSON.stringify(parts.map(fold))
  return asset ? asset.code : fold(parts.join(' '))
}
