/** The two sides of a swap in the fields of a question or an answer. */
import type { Pair } from '../../domain/swap/swap.ts'
import type { AssetName } from './asset-naming.ts'

/** The fields in which one side is named. */
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

/** The same question or answer with both sides named in these words and no others. */
export function withAssetNames<T extends Pair>(row: T, source: AssetName, target: AssetName): T {
  return {
    ...row,
    codeFrom: source.code,
    coinFrom: source.coin,
    networkFrom: source.network,
    codeTo: target.code,
    coinTo: target.coin,
    networkTo: target.network,
  }
}

/** The fields that name the assets. */
export const assetFields: ReadonlySet<string> = new Set([from, to].flatMap((side) => Object.values(side)))

/** The names that are known, alone. */
export function pickAssetFields(pair: Pair): Pair {
  return Object.fromEntries(Object.entries(pair).filter(([field, value]) => assetFields.has(field) && value !== undefined))
}
