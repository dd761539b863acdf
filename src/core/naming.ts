/** What a provider calls the assets of the table: its own word or words, where the operator says that they differ. */
import type { Asset, AssetTable } from '../domain/asset.ts'
import { fold, isOn, sameName } from '../domain/asset.ts'

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
  const meanings = ({ code, coin, network }: Words): readonly Asset[] => {
    if (code !== undefined) return assets.filter((asset) => sameName(wordsFor(asset)?.code ?? '', code))
    const named = assets.filter((asset) => sameName(wordsFor(asset)?.coin ?? '', coin ?? ''))
    if (network === undefined) return named
    return named.filter((asset) => sameName(wordsFor(asset)?.network ?? '', network) || isOn(asset, network))
  }
  return {
    table,
    byCode,
    wordsFor,
    ownWordsFor: (asset) => ownByCode.get(fold(asset.code)) ?? undefined,
    meanings: remembered(meanings),
  }
}

const mostRemembered = 10_000

/** Few words are ever asked for, and each of them often. */
function remembered(meanings: (words: Words) => readonly Asset[]): (words: Words) => readonly Asset[] {
  const known = new Map<string, readonly Asset[]>()
  return (words) => {
    const key = `${words.code ?? ''}\n${words.coin ?? ''}\n${words.network ?? ''}`
    const before = known.get(key)
    if (before) return before
    const found = meanings(words)
    if (known.size < mostRemembered) known.set(key, found)
    return found
  }
}
