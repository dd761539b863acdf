/** The coins that can be swapped: the asset table, in the manner of the caller's form. */

import { cutPage } from '../core/paging.ts'
import type { Asset, AssetTable, Coin } from '../domain/asset.ts'
import type { Context } from '../domain/service.ts'
import { namesByCode } from '../domain/service.ts'
import type { Currency, CurrencyQuery, Page } from '../domain/swap.ts'

/** One row for each asset, or for each coin if the form has the network in a field of its own. */
export function listCurrencies(
  { coins }: AssetTable,
  query: CurrencyQuery,
  { clientCapabilities: client }: Context,
): Page<Currency> {
  const byCode = namesByCode(client)
  const rows = byCode ? coins.flatMap(({ assets }) => assets.map(assetRow)) : coins.map(coinRow)
  const searchTerm = query.search?.toLowerCase() ?? ''
  const found = rows.filter(({ code, coin, name }) =>
    [byCode ? code : coin, name].some((text) => text?.toLowerCase().includes(searchTerm)),
  )
  return cutPage(found, query)
}

function assetRow({ code, coin, network, name, depositMin, depositMax }: Asset): Currency {
  return { code, coin, network, name, icon: iconOf(coin), depositMin, depositMax }
}

function coinRow({ coin, name, assets }: Coin): Currency {
  const networks = assets.map(({ network }) => network).join(', ')
  return { coin, name, icon: iconOf(coin), notes: assets.length > 1 ? `Networks: ${networks}` : '' }
}

function iconOf(coin: string): string {
  return `https://icons.example/${encodeURIComponent(coin.toLowerCase())}.svg`
}
