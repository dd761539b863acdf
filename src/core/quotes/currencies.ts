/** `/currencies`, answered from the providers' whole lists: joined, shaped for the client's form, searched, cut into pages. */

import { standardFault } from '../../domain/faults/standard-fault.ts'
import { type Capabilities, namesByCode } from '../../domain/swap/capabilities.ts'
import type { Context, ServiceResponse } from '../../domain/swap/service.ts'
import type { CurrencyQuery } from '../../domain/swap/swap.ts'
import type { Catalogue } from '../assets/catalogue.ts'
import { BoundedMap } from '../bounded-map.ts'
import { type Layer, onOperations } from '../layer.ts'
import { cutPage } from '../paging.ts'
import { type CurrencyRow, currencyRows, type ProviderListing } from './currency-rows.ts'

export interface CurrencySource {
  readonly catalogue: Catalogue
  /** What the provider's form can say. */
  readonly capabilities: Capabilities
}

type CurrenciesResponse = ServiceResponse<'listCurrencies'>

/** What was made of the same lists: rows by the client's manner of naming, and pages, ready to be told again. */
interface PageCache {
  readonly listings: readonly ProviderListing[]
  readonly rows: Map<boolean, Promise<readonly CurrencyRow[]>>
  readonly pages: BoundedMap<CurrenciesResponse>
}

/** A bound on memory. A page that is dropped is cut again. */
const maxPages = 1_000
/** Where no provider is active, in seconds. */
const retryAfter = 10

/** The union over these providers in their order, which may be none; one that cannot be read is left out, unless none can. */
export function currencies(sources: readonly CurrencySource[]): Layer {
  let latest = readyFrom([])
  return onOperations({
    async listCurrencies(query, context) {
      if (sources.length === 0) throw standardFault('unavailable', { retryAfter, noEffect: true })
      const listings = await readListings(sources, context)
      if (!areSame(listings, latest.listings)) latest = readyFrom(listings)
      const fetchedAt = Math.min(...listings.map(({ listing }) => listing.fetchedAt))
      const response = await cachedPage(latest, query, context)
      return { ...response, ageSeconds: (performance.now() - fetchedAt) / 1000 }
    },
  })
}

function readyFrom(listings: readonly ProviderListing[]): PageCache {
  return { listings, rows: new Map(), pages: new BoundedMap({ maxEntries: maxPages }) }
}

function areSame(now: readonly ProviderListing[], before: readonly ProviderListing[]): boolean {
  return now.length === before.length && now.every(({ listing }, at) => listing === before[at]?.listing)
}

async function cachedPage(
  cache: PageCache,
  query: CurrencyQuery,
  { clientCapabilities: client }: Context,
): Promise<CurrenciesResponse> {
  const byCode = namesByCode(client)
  const searchTerm = query.search?.toLowerCase()
  const key = `${byCode} ${query.page} ${query.size} ${searchTerm ?? ''}`
  const before = cache.pages.get(key)
  if (before) return before
  const rows = await cache.rows.getOrInsertComputed(byCode, () => currencyRows(cache.listings, byCode))
  const response = pageOf(rows, searchTerm, query, cache.listings)
  cache.pages.set(key, response)
  return response
}

function pageOf(
  rows: readonly CurrencyRow[],
  searchTerm: string | undefined,
  query: CurrencyQuery,
  listings: readonly ProviderListing[],
): CurrenciesResponse {
  const matching = searchTerm === undefined ? rows : rows.filter(({ texts }) => texts.some((text) => text.includes(searchTerm)))
  const { items, total } = cutPage(matching, query)
  const [provider, ...others] = listings.map(({ listing }) => listing.provider)
  return {
    body: { items: items.map(({ currency }) => currency), total },
    ...(provider !== undefined && others.length === 0 && { provider }),
    ...(items.some(({ isNotesDerived }) => isNotesDerived) && { derived: ['notes'] }),
  }
}

async function readListings(sources: readonly CurrencySource[], context: Context): Promise<readonly ProviderListing[]> {
  const reads = sources.map(async ({ catalogue, capabilities }) => ({ listing: await catalogue.listing(context), capabilities }))
  const results = await Promise.allSettled(reads)
  const fulfilled = results.filter((result) => result.status === 'fulfilled').map(({ value }) => value)
  return fulfilled.length > 0 ? fulfilled : Promise.all(reads.slice(0, 1))
}
