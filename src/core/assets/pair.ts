/** The two sides of a swap in the fields of a request or a response. */
import { type Asset, type AssetTable, isOnNetwork } from '../../domain/asset.ts'
import type { Pair } from '../../domain/swap.ts'
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
