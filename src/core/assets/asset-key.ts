/** One key per asset, independent of how the client names it. */
import type { AssetTable } from '../../domain/asset.ts'
import { fold } from '../../domain/asset.ts'
import type { Pair } from '../../domain/swap.ts'
import { assetIn, assetNameOf, type Side } from './pair.ts'

/** The table's code if it has the asset, otherwise the client's names. Equal assets have equal keys. A missing network is not filled in. */
export function assetKeyOf(pair: Pair, side: Side, table: AssetTable): string {
  const { code, coin, network } = assetNameOf(pair, side)
  const asset = assetIn(pair, side, table)
  const parts = asset ? [asset.code] : [code ?? coin, network].filter((word) => word !== undefined)
  // Claims in existing ledgers contain this key: a name with a space or a quote is written as JSON, any other as it is.
  if (parts.some((word) => /[\s"]/.test(word))) return JSON.stringify(parts.map(fold))
  return asset ? asset.code : fold(parts.join(' '))
}
