/** `GET /currencies` from the providers' complete lists: merged, mapped to the client's form, searched and paged. */

import { BoundedMap } from '../../domain/bounded-map.ts'
import { bytesOf, CacheSlot, cacheShares } from '../../domain/cache-memory.ts'
import { standardFault } from '../../domain/faults/standard-fault.ts'
import { singleFlight } from '../../domain/single-flight.ts'
import { type Capabilities, namesByCode } from '../../domain/swap/capabilities.ts'
import type { Context, Encoding, Encodings, ServiceResponse } from '../../domain/swap/service.ts'
import type { CurrencyQuery } from '../../domain/swap/swap.ts'
import type { Catalogue } from '../assets/catalogue.ts'
import type { Listing } from '../assets/listing.ts'
import { type Layer, onOperations } from '../layer.ts'
import { cutPage } from '../paging.ts'
import { type CurrencyRow, currencyRows, type ProviderListing } from './currency-rows.ts'

export interface CurrencySource {
  readonly catalogue: Catalogue
  /** The fields of the provider's form. */
  readonly capabilities: Capabilities
}

type CurrenciesResponse = ServiceResponse<'listCurrencies'>

/** A dropped page is built again. */
const maxPages = 1_000
/** Bytes of a page, and of a row of it: the texts are those of the list. */
const pageBytes = 1_024
const copyBytes = 256
/** Seconds, if no provider is active. */
const retryAfter = 10

/**
 * Returns the union of these providers' lists, in their order. A list that cannot be read is omitted; if none can be read, the
 * first provider's `Fault` is thrown. Throws `unavailable` without providers.
 */
export function currencies(sources: readonly CurrencySource[]): Layer {
  const made = new MadeOfLists()
  return onOperations({
    async listCurrencies(query, context) {
      if (sources.length === 0) throw standardFault('unavailable', { retryAfter, noEffect: true })
      const listings = await readListings(sources, context)
      const fetchedAt = Math.min(...listings.map(({ listing }) => listing.fetchedAt))
      const response = await made.of(listings).page(query, context)
      return { ...response, ageSeconds: (performance.now() - fetchedAt) / 1000 }
    },
  })
}

/** What is made of some lists, for as long as each of them is in use: the rest goes with the first that is replaced. */
class MadeOfLists {
  private made: MadePages | undefined
  private readonly withNext = new WeakMap<Listing, MadeOfLists>()

  of(listings: readonly ProviderListing[]): MadePages {
    let path: MadeOfLists = this
    for (const { listing } of listings) path = path.withNext.getOrInsertComputed(listing, () => new MadeOfLists())
    path.made ??= new MadePages(listings)
    return path.made
  }
}

interface KeptPage {
  readonly response: CurrenciesResponse
  bytes: number
}

/** Rows by the client's way of naming assets, and finished pages. */
class MadePages {
  private readonly listings: readonly ProviderListing[]
  private readonly byCode: JoinedRows
  private readonly byCoin: JoinedRows
  private readonly pages = new BoundedMap<KeptPage>({
    share: cacheShares.currencyPages,
    maxEntries: maxPages,
    sizeOf: ({ bytes }) => bytes,
  })

  constructor(listings: readonly ProviderListing[]) {
    this.listings = listings
    this.byCode = new JoinedRows(listings, true)
    this.byCoin = new JoinedRows(listings, false)
  }

  async page(query: CurrencyQuery, { clientCapabilities: client }: Context): Promise<CurrenciesResponse> {
    const byCode = namesByCode(client)
    const searchTerm = query.search?.toLowerCase()
    const key = `${byCode} ${query.withNetworks ?? false} ${query.page} ${query.size} ${searchTerm ?? ''}`
    const before = this.pages.get(key)
    if (before) return before.response
    const rows = await (byCode ? this.byCode : this.byCoin).read()
    // Of requests that waited for the rows together, the first makes the page.
    return this.pages.get(key)?.response ?? this.keep(key, pageOf(rows, searchTerm, query, this.listings))
  }

  private keep(key: string, response: CurrenciesResponse): CurrenciesResponse {
    const encoded = new Map<string, Encoding>()
    const set: Encodings['set'] = (form, encoding) => {
      encoded.set(form, encoding)
      page.bytes += bytesOf(encoding)
      this.pages.set(key, page)
    }
    const encodings = { get: (form: string) => encoded.get(form), set }
    const page = { response: { ...response, encodings }, bytes: pageBytes + copyBytes * response.body.items.length }
    return this.pages.set(key, page).response
  }
}

/** The rows of all lists, made once unless there is no room for them. */
class JoinedRows {
  private readonly slot = new CacheSlot<readonly CurrencyRow[]>(cacheShares.currencyLists)
  private readonly joining: ReturnType<typeof singleFlight<[], readonly CurrencyRow[]>>

  constructor(listings: readonly ProviderListing[], byCode: boolean) {
    this.joining = singleFlight(async () => {
      const rows = await currencyRows(listings, byCode)
      this.slot.set(
        rows,
        rows.reduce((sum, row) => sum + rowBytes(row), 0),
      )
      return rows
    })
  }

  read(): readonly CurrencyRow[] | Promise<readonly CurrencyRow[]> {
    return this.slot.value ?? this.joining.run()
  }
}

/** What a row has beside the texts of the list. */
function rowBytes({ currency: { networks }, texts }: CurrencyRow): number {
  return copyBytes + bytesOf(networks) + bytesOf(texts)
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
