/** `GET /currencies` from the providers' complete lists: merged, mapped to the client's form, searched and paged. */

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
  /** The fields of the provider's form. */
  readonly capabilities: Capabilities
}

type CurrenciesResponse = ServiceResponse<'listCurrencies'>

/** Results for the same lists: rows by the client's way of naming assets, and finished pages. */
interface PageCache {
  readonly listings: readonly ProviderListing[]
  readonly rows: Map<boolean, Promise<readonly CurrencyRow[]>>
  readonly pages: BoundedMap<CurrenciesResponse>
}

/** A bound on memory. A dropped page is built again. */
const maxPages = 1_000
/** Seconds, if no provider is active. */
const retryAfter = 10

/**
 * Returns the union of these providers' lists, in their order. A list that cannot be read is omitted; if none can be read, the
 * first provider's `Fault` is thrown. Throws `unavailable` without providers.
 */
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
  const key = `${byCode} ${query.withNetworks ?? false} ${query.page} ${query.size} ${searchTerm ?? ''}`
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
  const sources = listings.flatMap(({ listing }) => listing.provider ?? [])
  const [provider, ...others] = sources
  return {
    body: { items: items.map(({ currency }) => (query.withNetworks ? currency : { ...currency, networks: undefined })), total },
    ...(provider !== undefined && others.length === 0 ? { provider } : { sources }),
    ...(items.some(({ isNotesDerived }) => isNotesDerived) && { derived: ['notes'] }),
  }
}

async function readListings(sources: readonly CurrencySource[], context: Context): Promise<readonly ProviderListing[]> {
  const reads = sources.map(async ({ catalogue, capabilities }) => ({ listing: await catalogue.listing(context), capabilities }))
  const results = await Promise.allSettled(reads)
  const fulfilled = results.filter((result) => result.status === 'fulfilled').map(({ value }) => value)
  return fulfilled.length > 0 ? fulfilled : Promise.all(reads.slice(0, 1))
}
