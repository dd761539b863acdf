/** The asset table: the coins and networks of the stable API with the names that every client gets (docs/contract-operators.md §9). */
import type { AddressRule, MemoRule, PatternOf } from './address/rule.ts'
import { contractKeys } from './address/same-address.ts'
import type { Amount } from './amount.ts'

/** What a client or a provider calls an asset, in each manner of a form. */
export interface Spelling {
  /** The name in forms that name assets by code. */
  readonly code: string
  readonly coin: string
}

/** One that was used: by the code, or else by the coin. */
type UsedName = { readonly [Field in keyof Spelling]?: Spelling[Field] | undefined }

/** A coin on a network. */
export interface Asset extends Spelling {
  readonly network: string
  readonly name: string
  /** What else it is or was called: by the other names of its coin. */
  readonly also?: readonly Spelling[]
  readonly aliases: readonly string[]
  /** Whether this is the coin's asset if a request names no network. */
  readonly isDefault: boolean
  /** Whether the network is the coin's own chain. At most one network of a coin is. */
  readonly isHome?: boolean
  /** Absent: it is. False: no quotes and creates at any provider; what is open goes on. */
  readonly isOffered?: false
  /** What changes about it, and when. For people: nothing is decided by it. */
  readonly change?: { readonly on: string; readonly what: string }
  /** Decimal places of an amount on the network. */
  readonly decimals?: number
  /** Significant digits of an amount on the network. */
  readonly digits?: number
  /** What makes a token this token, as its network writes it: a contract, a mint, an issuer, the id of an asset. Absent: not compared. */
  readonly contract?: string
  readonly depositMin?: Amount
  readonly depositMax?: Amount
  /** Rules for addresses and memos. Absent: no check. */
  readonly address?: AddressRule
  readonly memo?: MemoRule
}

export interface Coin {
  readonly coin: string
  readonly name: string
  /** In the order of the table. */
  readonly assets: readonly Asset[]
}

/** Looks up assets, by any of their names. Names and codes are case-insensitive; what one asset is called now is no other name of another one. */
export class AssetTable {
  readonly coins: readonly Coin[]
  /** Patterns of an earlier table, which the ledger has by their source. */
  readonly patternOf: PatternOf
  private readonly codes = new Map<string, Asset>()
  private readonly names = new Map<string, Coin>()
  /** Per coin, by every name and alias of a network. */
  private readonly networks = new Map<Coin, ReadonlyMap<string, Asset>>()
  private readonly byNetwork: ReadonlyMap<string, readonly Asset[]>
  /** By the assets of a network, and by what an address has in common with the contract: once an address there was looked up. */
  private readonly tokens = new Map<readonly Asset[], ReadonlyMap<string, Asset>>()
  /** The coins with another name, by it. */
  private readonly namesakes = new Map<string, readonly Coin[]>()

  constructor(coins: readonly Coin[], patternOf: PatternOf = () => undefined) {
    this.coins = coins
    this.patternOf = patternOf
    for (const coin of coins) {
      this.names.set(fold(coin.coin), coin)
      for (const asset of coin.assets) this.codes.set(fold(asset.code), asset)
      // Of two assets on one network the first is used.
      const named = coin.assets.flatMap((asset) => networkNames(asset).map((name) => [name, asset] as const))
      this.networks.set(coin, new Map(named.toReversed()))
    }
    const all = coins.flatMap(({ assets }) => assets)
    this.byNetwork = Map.groupBy(all, ({ network }) => fold(network))
    for (const coin of coins) {
      const names = new Set(coin.assets.flatMap(({ also = [] }) => also.map((other) => fold(other.coin))))
      for (const name of names) this.namesakes.set(name, [...(this.namesakes.get(name) ?? []), coin])
      for (const asset of coin.assets) for (const { code } of asset.also ?? []) this.codes.getOrInsert(fold(code), asset)
    }
  }

  byCode(code: string): Asset | undefined {
    return findFolded(this.codes, code)
  }

  coin(name: string): Coin | undefined {
    return findFolded(this.names, name) ?? findFolded(this.namesakes, name)?.[0]
  }

  /** All coins with this name: the one that has it now, and those that have it as another name. */
  coinsNamed(name: string): readonly Coin[] {
    const own = findFolded(this.names, name)
    const others = findFolded(this.namesakes, name) ?? []
    return own ? [own, ...others] : others
  }

  /** The coin's asset on a network, by the network's name or alias. */
  find(coin: string, network: string): Asset | undefined {
    for (const named of this.coinsNamed(coin)) {
      const asset = this.onNetworkOf(named, network)
      if (asset) return asset
    }
    return undefined
  }

  /** All assets on a network, by its name. */
  on(network: string): readonly Asset[] {
    return findFolded(this.byNetwork, network) ?? []
  }

  /** The token of which the address, on a network of this name, is the contract. */
  tokenAt(address: string, network: string): Asset | undefined {
    const assets = this.on(network)
    if (assets.length === 0) return undefined
    const format = assets[0]?.address?.format
    const tokens = this.tokens.getOrInsertComputed(assets, () => {
      const keyed = assets.flatMap((asset) => contractKeys(asset.contract ?? '', format).map((key) => [key, asset] as const))
      return new Map(keyed.filter(([key]) => key !== '').toReversed())
    })
    const keys = tokens.size === 0 ? [] : contractKeys(address, format)
    const key = keys.find((one) => tokens.has(one))
    return key === undefined ? undefined : tokens.get(key)
  }

  private onNetworkOf(coin: Coin, network: string): Asset | undefined {
    return findFolded(this.networks.get(coin) ?? noNetworks, network)
  }
}

const noNetworks: ReadonlyMap<string, Asset> = new Map()

/** The asset by the name that was used for it, in the table's spelling. */
export function spellingOf(asset: Asset, { code, coin }: UsedName): Spelling {
  const isAsked = (one: Spelling): boolean => (code === undefined ? sameName(one.coin, coin ?? '') : sameName(one.code, code))
  return asset.also?.find((other) => !isAsked(asset) && isAsked(other)) ?? asset
}

/** Whether the name is the one that the coin has today. */
export function isCurrentName(asset: Asset, { code, coin }: UsedName): boolean {
  return code === undefined ? sameName(asset.coin, coin ?? '') : sameName(asset.code, code)
}

/** The coin's asset if no network is named; undefined if the table has no default. */
export function defaultAsset({ assets }: Coin): Asset | undefined {
  return assets.find(({ isDefault }) => isDefault)
}

/** Whether `network` is the name or an alias of the asset's network. */
export function isOnNetwork(asset: Asset, network: string): boolean {
  return sameName(asset.network, network) || asset.aliases.some((alias) => sameName(alias, network))
}

/** The name and aliases of the asset's network, folded. */
export function networkNames({ network, aliases }: Pick<Asset, 'network' | 'aliases'>): readonly string[] {
  return [network, ...aliases].map(fold)
}

/** Equality of names, ignoring the case of ASCII texts. */
export function sameName(a: string, b: string): boolean {
  return a === b || fold(a) === fold(b)
}

/** Looks up a name in a map by folded names. Most names are folded already. */
export function findFolded<Value>(byFoldedName: ReadonlyMap<string, Value>, name: string): Value | undefined {
  return byFoldedName.get(name) ?? byFoldedName.get(fold(name))
}

/** Upper case, for ASCII texts only: a look-alike letter stays a different letter. */
export function fold(name: string): string {
  return /^[\x20-\x7e]*$/.test(name) ? name.toUpperCase() : name
}
