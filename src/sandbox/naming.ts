/** The assets of a request, named by code or by coin and network. */

import type { Asset, AssetTable } from '../domain/asset.ts'
import { defaultAsset } from '../domain/asset.ts'
import { Fault } from '../domain/fault.ts'
import type { Pair } from '../domain/swap.ts'

/** Both assets in both manners of naming, so that any form can show them. */
export type AssetNames = Readonly<Record<keyof Pair, string>>

export interface Assets {
  readonly from: Asset
  readonly to: Asset
}

/** Throws `invalid`, naming the field, where an asset is unknown or both are the same. */
export function assetsOf(pair: Pair, table: AssetTable): Assets {
  const { codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo } = pair
  const from = codeFrom === undefined ? byCoin(coinFrom, networkFrom, 'From', table) : byCode(codeFrom, 'codeFrom', table)
  const to = codeTo === undefined ? byCoin(coinTo, networkTo, 'To', table) : byCode(codeTo, 'codeTo', table)
  if (from !== to) return { from, to }
  throw new Fault('invalid', 'it must be another coin or network than the first', {
    field: codeTo === undefined ? 'coinTo' : 'codeTo',
  })
}

export function assetNames({ from, to }: Assets): AssetNames {
  return {
    codeFrom: from.code,
    coinFrom: from.coin,
    networkFrom: from.network,
    codeTo: to.code,
    coinTo: to.coin,
    networkTo: to.network,
  }
}

function byCode(code: string, field: 'codeFrom' | 'codeTo', table: AssetTable): Asset {
  const asset = table.byCode(code)
  if (!asset) throw unknownCoin(field)
  return asset
}

/** No network means the coin's standard one. */
function byCoin(name: string | undefined, network: string | undefined, side: 'From' | 'To', table: AssetTable): Asset {
  const coin = table.coin(name ?? '')
  if (!coin) throw unknownCoin(`coin${side}`)
  const asset = network === undefined ? defaultAsset(coin) : table.find(coin.coin, network)
  if (asset) return asset
  const networks = coin.assets.map((known) => known.network).join(', ')
  throw new Fault('invalid', `${coin.coin} has ${networks}`, {
    field: `network${side}`,
    reason: network === undefined ? 'network_required' : 'network_unknown',
  })
}

function unknownCoin(field: string): Fault {
  return new Fault('invalid', 'it is not a coin that can be swapped here', { field, reason: 'unknown_asset' })
}
