import type { Config } from '../../config/index.ts'
import { assetIn, assetNameOf, from, to } from '../../core/assets/pair.ts'
import type { AssetCount } from '../../core/ledger-admin.ts'
import { type AssetTable, sameName } from '../../domain/swap/asset.ts'
import type { Pair } from '../../domain/swap/swap.ts'

/** One line for each asset of open transactions and creates that the table no longer has (docs/contract.md §10). */
export function cutAssetWarnings({ assets }: Pick<Config, 'assets'>, counts: readonly AssetCount[]): readonly string[] {
  const cut = new Map<string, number>()
  for (const { pair, count } of counts) {
    const codes = new Set([from, to].flatMap((side) => cutCode(pair, side, assets) ?? []))
    for (const code of codes) cut.set(code, (cut.get(code) ?? 0) + count)
  }
  return [...cut].map(([code, count]) => {
    const open = count === 1 ? '1 open transaction or create has' : `${count} open transactions or creates have`
    return `assets lacks ${code}, which ${open}: they go on by the words that their provider got`
  })
}

/** The code of an asset that the table had. A code that no table had is its own coin, on no network or on another one. */
function cutCode(pair: Pair, side: typeof from, table: AssetTable): string | undefined {
  const { code, coin, network } = assetNameOf(pair, side)
  if (code === undefined || coin === undefined || network === undefined) return undefined
  if (sameName(code, coin) && !sameName(network, coin)) return undefined
  const isKnown = assetIn(pair, side, table) !== undefined || table.find(coin, network) !== undefined
  return isKnown ? undefined : code
}
