/** The two sides of a swap in the fields of a request or a response. */
import type { Pair } from '../../domain/swap/swap.ts'
import type { AssetName } from './asset-naming.ts'

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

/** Copies a request or response and replaces the names of both sides. */
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

/** All fields that name assets. */
export const assetFields: ReadonlySet<string> = new Set([from, to].flatMap((side) => Object.values(side)))

/** Only the asset fields that are defined. */
export function pickAssetFields(pair: Pair): Pair {
  return Object.fromEntries(Object.entries(pair).filter(([field, value]) => assetFields.has(field) && value !== undefined))
}
