/** The networks of one coin, and those of all coins, from the list of currencies (docs/contract.md §16.2). */
import { type AssetTable, fold, sameName } from '../../domain/asset.ts'
import type { Answer, CoinNetworksQuestion } from '../../domain/question.ts'
import type { Context, ServiceResponse, SwapService } from '../../domain/service.ts'
import type { Currency, CurrencyNetwork, CurrencyQuery } from '../../domain/swap.ts'
import { hintForCoin, unknownAsset } from '../assets/translate-assets.ts'
import { cutPage } from '../paging.ts'

type CurrencyPage = ServiceResponse<'listCurrencies'>

/** Throws `invalid` for a coin that is not listed. */
export function coinNetworks(
  service: SwapService,
  table: AssetTable,
): (question: CoinNetworksQuestion, context: Context) => Promise<Answer<'coinNetworks'>> {
  return async ({ coin }, context) => {
    for await (const page of pagesOf(service, context, coin)) {
      const found = page.body.items.find((row) => sameName(row.coin ?? '', coin))
      if (found) return { ...sourceOf(page), body: { items: found.networks ?? [], total: found.networks?.length ?? 0 } }
    }
    throw unknownAsset('coin', coin, hintForCoin(coin, 'network', table))
  }
}

/** Each network once: as its own coin has it, and what belongs to one coin alone is left out. */
export function allNetworks(
  service: SwapService,
  table: AssetTable,
): (question: CurrencyQuery, context: Context) => Promise<Answer<'allNetworks'>> {
  return async ({ search, ...query }, context) => {
    const known = new Map<string, CurrencyNetwork>()
    let source: Pick<CurrencyPage, 'provider' | 'sources'> = {}
    for await (const page of pagesOf(service, context)) {
      source = sourceOf(page)
      for (const row of page.body.items) for (const network of row.networks ?? []) addNetwork(network, row, known, table)
    }
    const term = search?.toLowerCase() ?? ''
    const matching = [...known.values()].filter(({ network, name, shortName }) =>
      [network, name, shortName].some((text) => text?.toLowerCase().includes(term)),
    )
    return { ...source, body: cutPage(matching, query) }
  }
}

function addNetwork(network: CurrencyNetwork, { coin }: Currency, known: Map<string, CurrencyNetwork>, table: AssetTable): void {
  const isHome = table.find(coin ?? '', network.network)?.isHome ?? false
  const key = fold(network.network)
  if (known.has(key) && !isHome) return
  const { depositMin: _, contract: __, decimals, precision, ...rest } = network
  known.set(key, isHome ? { ...rest, decimals, precision } : { ...rest, isDefault: false })
}

const pageSize = 100

async function* pagesOf(service: SwapService, context: Context, search?: string): AsyncGenerator<CurrencyPage> {
  for (let page = 1, total = 1; (page - 1) * pageSize < total; page++) {
    const response = await service.call('listCurrencies', { page, size: pageSize, search, withNetworks: true }, context)
    total = response.body.total
    yield response
  }
}

function sourceOf({ provider, sources }: CurrencyPage): Pick<CurrencyPage, 'provider' | 'sources'> {
  return { ...(provider !== undefined && { provider }), ...(sources && { sources }) }
}
