/** A provider's names for the assets of the table, and what it means by them. The operator configures those that differ. */
import { contractKey, isIssuerAlone, sameContract } from '../../domain/address/same-address.ts'
import { type Asset, type AssetTable, findFolded, fold, isOnNetwork, networkNames, sameName } from '../../domain/asset.ts'
import type { Pair } from '../../domain/swap.ts'

/** A `code`, or a `coin` with an optional `network`. */
export interface AssetName {
  readonly code?: string | undefined
  readonly coin?: string | undefined
  readonly network?: string | undefined
}

export const nameFields = ['code', 'coin', 'network'] as const

/** Whether a response says nothing but what was sent. */
export function isRepeated(sent: AssetName, reported: AssetName): boolean {
  return nameFields.every((field) => {
    const [name, other] = [sent[field], reported[field]]
    return other === undefined || (name !== undefined && sameName(name, other))
  })
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
  /** Whether a provider's word is one for the network of the asset, in a row of its list. */
  readonly isOnNetwork: (asset: Asset, network: string) => boolean
  /** A provider's word for the network of a coin that the table lacks, in one spelling for all providers. */
  readonly chainOf: (coin: string, network: string | undefined) => string | undefined
  /**
   * Assets that a provider's name can mean, by configuration and by the names that the table has for them today. One that is not offered
   * only where the name is of no other.
   */
  readonly assetsNamed: (assetName: AssetName) => readonly Asset[]
  /** Assets that the name can mean as another name of theirs; none by a name that another asset has or had on that network. */
  readonly assetsAlsoNamed: (assetName: AssetName) => readonly Asset[]
  /** What the table, or the provider's form, calls so on a network of that word, by whatever name. */
  readonly namesakesOn: (name: string, network: string) => readonly Asset[]
  /** The tokens with this contract on a network of that word. None by an issuer alone. */
  readonly assetsWithContract: (network: string, contract: string) => readonly Asset[]
  /** The contract that the asset has here; undefined for one without, like a coin of a chain. */
  readonly contractOf: (asset: Asset) => string | undefined
  /** Whether a contract that the provider gives is that of the asset. An asset without one has any. */
  readonly hasContract: (asset: Asset, contract: string | undefined) => boolean
}

/** A form's words for networks, where they differ from the table's. */
interface NetworkNames {
  /** For every coin on its own chain. */
  readonly home?: string
  /** By the table's network, in capitals: one, or one for the network's own coin and one for all others. */
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

/**
 * Words for networks that mean different chains at different services: no word of a row, but where they are the form's own. AVAX is the
 * X-Chain and ZKSYNC is zkSync Lite at half of the exchanges (ccxt 4.5.84: hitbtc, kucoin, gate, okx and others).
 */
const ambiguousNetworks: ReadonlySet<string> = new Set(['AVAX', 'ZKSYNC'])

/**
 * Names that another asset has had on a network: by such a name a row is no asset that is called otherwise now. GRAM is a jetton of 2023
 * (tonkeeper/ton-assets @ 08f877cc), MATIC and EOS are tokens on Ethereum (MetaMask/contract-metadata @ 6a49430b), BTT was a token of
 * another ratio on TRON (BTTOLD), LUNA the coin that is LUNC.
 */
const namesOfOthers: ReadonlyMap<string, readonly string[]> = new Map([
  ['TON', ['GRAM']],
  ['ETH', ['MATIC', 'EOS']],
  ['TRX', ['BTT']],
  ['LUNA', ['LUNC']],
  ['LUNC', ['LUNA']],
])

/** `configured`: names and contracts that differ from the table's and the form's. */
export function createAssetNaming(table: AssetTable, rules: NamingRules, configured: ConfiguredNames): AssetNaming {
  const { byCode, listsNetworks = byCode } = rules
  // By any code of the asset: the file of an operator may have the one before.
  const lines = [...configured].map(([code, asset]) => [fold(table.byCode(code)?.code ?? code), asset] as const)
  const named = lines.filter(([, asset]) => asset === null || asset.code !== undefined || asset.coin !== undefined)
  const configuredByCode = new Map(named.map(([code, asset]) => [code, asset && nameIn(asset)]))
  const ownWords = new Map(named.flatMap(([code, asset]) => (asset ? [[code, nameIn(asset)]] : [])))
  const contracts = new Map(lines.flatMap(([code, asset]) => (asset?.contract ? [[code, asset.contract]] : [])))
  const assets = table.coins.flatMap((coin) => coin.assets)
  // Also of an asset that is not offered: else its rows would be those of a coin that the table lacks.
  const wordFor = (asset: Asset): AssetName =>
    ownWords.get(fold(asset.code)) ?? (byCode ? { code: asset.code } : { coin: asset.coin, network: networkWord(asset, rules) })
  const isOffered = (asset: Asset): boolean => asset.isOffered !== false && configuredByCode.get(fold(asset.code)) !== null
  const nameFor = (asset: Asset): AssetName | undefined => (isOffered(asset) ? wordFor(asset) : undefined)
  /** A word of an asset that is not offered may be that of another one. */
  const offeredOf = (found: readonly Asset[] = []): readonly Asset[] => (found.some(isOffered) ? found.filter(isOffered) : found)
  const byField = (field: 'code' | 'coin'): ReadonlyMap<string, readonly Asset[]> =>
    Map.groupBy(
      assets.filter((asset) => wordFor(asset)[field] !== undefined),
      (asset) => fold(wordFor(asset)[field] ?? ''),
    )
  const codes = byField('code')
  const coins = byField('coin')
  const wordsFor = (asset: Asset): ReadonlySet<string> => {
    const own = [networkWord(asset, rules), wordFor(asset).network ?? ''].map(fold)
    return new Set([...networkNames(asset).filter((name) => !ambiguousNetworks.has(name)), ...own])
  }
  const networkWords = new Map(assets.map((asset) => [asset, wordsFor(asset)]))
  const keysOf = (asset: Asset): Iterable<string> => networkWords.get(asset) ?? []
  const networks = new Map([...coins].map(([coin, sameCoin]) => [coin, groupByEach(sameCoin, keysOf)]))
  const assetsByNetwork = groupByEach(assets, keysOf)
  const chains = new Map(assets.flatMap((asset) => [...keysOf(asset)].map((name) => [name, fold(asset.network)])))
  const homeWord = rules.networks?.home
  const contractOf = (asset: Asset): string | undefined => contracts.get(fold(asset.code)) ?? asset.contract
  // By the assets: a list may have any number of words for networks.
  const tokens = new Map<readonly Asset[], TokenIndex>()
  const isOnNetworkHere = (asset: Asset, network: string): boolean => networkWords.get(asset)?.has(fold(network)) ?? false
  const renamed = assets.filter(({ also, code }) => also !== undefined && !configuredByCode.get(fold(code)))
  const byOtherName = groupByEach(renamed, ({ also = [] }) => namesIn(also))
  const byAnyName = groupByEach(assets, (asset) => namesIn([asset, wordFor(asset), ...(asset.also ?? [])]))
  return {
    table,
    byCode,
    listsNetworks,
    nameFor,
    isOnNetwork: isOnNetworkHere,
    chainOf(coin, network) {
      if (!network) return undefined
      if (homeWord !== undefined && sameName(network, homeWord)) return fold(coin)
      return chains.get(fold(network)) ?? fold(network)
    },
    configuredNameFor: (asset) => configuredByCode.get(fold(asset.code)) ?? undefined,
    assetsNamed({ code, coin, network }) {
      if (code !== undefined) return offeredOf(findFolded(codes, code))
      if (network === undefined) return offeredOf(findFolded(coins, coin ?? ''))
      const byNetwork = findFolded(networks, coin ?? '')
      return offeredOf(byNetwork && findFolded(byNetwork, network))
    },
    assetsAlsoNamed({ code, coin = code ?? '', network }) {
      const alike = new Set([code ?? '', coin].flatMap((name) => findFolded(byOtherName, name) ?? []))
      const found = [...alike].filter((asset) => {
        if (networkNames(asset).some((name) => namesOfOthers.get(name)?.includes(fold(coin)))) return false
        if (network !== undefined && !isOnNetworkHere(asset, network)) return false
        // A coin alone is one of several assets.
        const mayBeCoin = code === undefined || network !== undefined
        return asset.also?.some((other) => sameName(other.code, code ?? '') || (mayBeCoin && sameName(other.coin, coin)))
      })
      return offeredOf(found)
    },
    namesakesOn(name, network) {
      return (findFolded(byAnyName, name) ?? []).filter((asset) => isOnNetworkHere(asset, network))
    },
    assetsWithContract(network, contract) {
      const there = findFolded(assetsByNetwork, network)
      return there ? tokens.getOrInsertComputed(there, () => tokenIndex(there, contractOf))(contract) : []
    },
    contractOf,
    hasContract(asset, contract) {
      const own = contractOf(asset)
      return own === undefined || !contract || sameContract(own, contract)
    },
  }
}

/** Codes and coins, folded, each once. */
function namesIn(names: readonly AssetName[]): ReadonlySet<string> {
  return new Set(names.flatMap(({ code, coin }) => [code ?? '', coin ?? '']).map(fold))
}

type TokenIndex = (contract: string) => readonly Asset[]

/** A list has thousands of rows, and a network a hundred tokens: no row is compared with each. */
function tokenIndex(assets: readonly Asset[], contractOf: (asset: Asset) => string | undefined): TokenIndex {
  const tokens = assets
    .map((asset) => ({ asset, own: contractOf(asset) ?? '' }))
    .filter(({ own }) => own !== '' && !isIssuerAlone(own))
  const byKey = Map.groupBy(tokens, ({ own }) => contractKey(own))
  return (contract) => {
    if (isIssuerAlone(contract)) return []
    const alike = byKey.get(contractKey(contract)) ?? []
    return alike.filter(({ own }) => sameContract(own, contract)).map(({ asset }) => asset)
  }
}

function nameIn({ code, coin, network }: ConfiguredAsset): AssetName {
  return { ...(code !== undefined && { code }), ...(coin !== undefined && { coin }), ...(network !== undefined && { network }) }
}

function networkWord({ network, isHome = false }: Asset, { networks: { home, byName = {} } = {} }: NamingRules): string {
  const word = Object.hasOwn(byName, fold(network)) ? byName[fold(network)] : undefined
  if (typeof word === 'object') return isHome ? word.home : word.others
  return (isHome ? home : undefined) ?? word ?? network
}

/** Lists each asset once under each of its keys. */
function groupByEach(assets: readonly Asset[], keysOf: (asset: Asset) => Iterable<string>): ReadonlyMap<string, readonly Asset[]> {
  const groups = new Map<string, Asset[]>()
  for (const asset of assets) {
    for (const key of keysOf(asset)) groups.getOrInsertComputed(key, () => []).push(asset)
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
