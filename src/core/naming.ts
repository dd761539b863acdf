/** What a provider calls the assets of the table: its own word or words, where the operator says that they differ. */
import type { Asset, AssetTable } from '../domain/asset.ts'
import { fold, networkNames } from '../domain/asset.ts'

/** One word (`code`), or two of which the network may be left open. */
export interface Words {
  readonly code?: string | undefined
  readonly coin?: string | undefined
  readonly network?: string | undefined
}

/** By code of the table; null: not offered there. */
export type OwnWords = ReadonlyMap<string, Words | null>

export interface Naming {
  readonly table: AssetTable
  /** Whether the provider's form names an asset in one word. */
  readonly byCode: boolean
  /** Undefined where the asset is not offered. */
  readonly wordsFor: (asset: Asset) => Words | undefined
  /** The operator's own word for the asset there, where there is one. */
  readonly ownWordsFor: (asset: Asset) => Words | undefined
  /** Assets that a provider's word or words can mean, by configuration and table alone. */
  readonly meanings: (words: Words) => readonly Asset[]
}

export function naming(table: AssetTable, byCode: boolean, own: OwnWords): Naming {
  const ownByCode = new Map([...own].map(([code, words]) => [fold(code), words]))
  const assets = table.coins.flatMap((coin) => coin.assets)
  const wordsFor = (asset: Asset): Words | undefined => {
    const words = ownByCode.get(fold(asset.code))
    if (words === null) return undefined
    return words ?? (byCode ? { code: asset.code } : { coin: asset.coin, network: asset.network })
  }
  const byWord = (word: 'code' | 'coin'): ReadonlyMap<string, readonly Asset[]> =>
    Map.groupBy(
      assets.filter((asset) => wordsFor(asset)?.[word] !== undefined),
      (asset) => fold(wordsFor(asset)?.[word] as string),
    )
  const codes = byWord('code')
  const coins = byWord('coin')
  const networksOf = (asset: Asset): readonly string[] => [...networkNames(asset), fold(wordsFor(asset)?.network ?? '')]
  const networks = new Map([...coins].map(([coin, named]) => [coin, groupByEach(named, networksOf)]))
  return {
    table,
    byCode,
    wordsFor,
    ownWordsFor: (asset) => ownByCode.get(fold(asset.code)) ?? undefined,
    meanings({ code, coin, network }) {
      if (code !== undefined) return codes.get(fold(code)) ?? []
      const name = fold(coin ?? '')
      return (network === undefined ? coins.get(name) : networks.get(name)?.get(fold(network))) ?? []
    },
  }
}

/** Under each of its keys once. */
function groupByEach(assets: readonly Asset[], keysOf: (asset: Asset) => readonly string[]): ReadonlyMap<string, readonly Asset[]> {
  const groups = new Map<string, Asset[]>()
  for (const asset of assets) {
    for (const key of new Set(keysOf(asset))) groups.getOrInsertComputed(key, () => []).push(asset)
  }
  return groups
}
