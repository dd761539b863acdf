/** The asset table: the coins and networks of the stable API with the names that every client gets (docs/contract.md §9). */
import type { AddressRule, MemoRule } from './address/rule.ts'
import type { Amount } from './amount.ts'

/** A coin on a network. */
export interface Asset {
  /** The name in forms that name assets by code. */
  readonly code: string
  readonly coin: string
  readonly network: string
  readonly name: string
  readonly aliases: readonly string[]
  /** Whether this is the coin's asset if a request names no network. */
  readonly isDefault: boolean
  /** Whether the network is the coin's own chain. At most one network of a coin is. */
  readonly isHome?: boolean
  /** Decimal places of an amount on the network. */
  readonly decimals?: number
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

/** Looks up assets. Names and codes are case-insensitive. */
export class AssetTable {
  readonly coins: readonly Coin[]
  private readonly codes = new Map<string, Asset>()
  private readonly names = new Map<string, Coin>()
  /** Per coin, by every name and alias of a network. */
  private readonly networks = new Map<Coin, ReadonlyMap<string, Asset>>()

  constructor(coins: readonly Coin[]) {
    this.coins = coins
    for (const coin of coins) {
      this.names.set(fold(coin.coin), coin)
      for (const asset of coin.assets) this.codes.set(fold(asset.code), asset)
      // Of two assets on one network the first is used.
      const named = coin.assets.flatMap((asset) => networkNames(asset).map((name) => [name, asset] as const))
      this.networks.set(coin, new Map(named.toReversed()))
    }
  }

  byCode(code: string): Asset | undefined {
    return findFolded(this.codes, code)
  }

  coin(name: string): Coin | undefined {
    return findFolded(this.names, name)
  }

  /** The coin's asset on a network, by the network's name or alias. */
  find(coin: string, network: string): Asset | undefined {
    const known = this.coin(coin)
    const byNetwork = known && this.networks.get(known)
    return byNetwork && findFolded(byNetwork, network)
  }
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
export function networkNames({ network, aliases }: Asset): readonly string[] {
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
