/** `/currencies`, answered from the providers' whole lists: joined, shaped for the client's form, searched, cut into pages. */
import type { Answer, Context } from '../domain/operations.ts'
import type { CurrencyQuery } from '../domain/swap.ts'
import { namesByCode, type Vocabulary } from '../domain/vocabulary.ts'
import { BoundedMap } from './bounded-map.ts'
import type { Catalogue } from './catalogue.ts'
import { type CurrencyRow, currencyRows, type ProviderListing } from './currency-rows.ts'
import { type Layer, on } from './layer.ts'
import { cutPage } from './pages.ts'

export interface Source {
  readonly catalogue: Catalogue
  /** What the provider's form can say. */
  readonly said: Vocabulary
}

type Told = Answer<'listCurrencies'>

/** What was made of the same lists: rows by the client's manner of naming, and pages, ready to be told again. */
interface Ready {
  readonly listings: readonly ProviderListing[]
  readonly rows: Map<boolean, Promise<readonly CurrencyRow[]>>
  readonly pages: BoundedMap<Told>
}

/** A bound on memory. A page that is dropped is cut again. */
const mostPages = 1_000

/** The union over the providers in their order; one that cannot be read is left out, unless none can. */
export function currencies(sources: readonly Source[]): Layer {
  let latest = readyFrom([])
  return on({
    async listCurrencies(query, context) {
      const listings = await readAll(sources, context)
      if (!areSame(listings, latest.listings)) latest = readyFrom(listings)
      const readAt = Math.min(...listings.map(({ listing }) => listing.readAt))
      const told = await tell(latest, query, context)
      return { ...told, age: (performance.now() - readAt) / 1000 }
    },
  })
}

function readyFrom(listings: readonly ProviderListing[]): Ready {
  return { listings, rows: new Map(), pages: new BoundedMap({ maxEntries: mostPages }) }
}

function areSame(now: readonly ProviderListing[], before: readonly ProviderListing[]): boolean {
  return now.length === before.length && now.every(({ listing }, at) => listing === before[at]?.listing)
}

async function tell(ready: Ready, query: CurrencyQuery, { client }: Context): Promise<Told> {
  const byCode = namesByCode(client)
  const word = query.search?.toLowerCase()
  const key = `${byCode} ${query.page} ${query.size} ${word ?? ''}`
  const before = ready.pages.get(key)
  if (before) return before
  const rows = await ready.rows.getOrInsertComputed(byCode, () => currencyRows(ready.listings, byCode))
  const told = pageOf(rows, word, query, ready.listings)
  ready.pages.set(key, told)
  return told
}

function pageOf(
  rows: readonly CurrencyRow[],
  word: string | undefined,
  query: CurrencyQuery,
  listings: readonly ProviderListing[],
): Told {
  const found = word === undefined ? rows : rows.filter(({ texts }) => texts.some((text) => text.includes(word)))
  const { items, total } = cutPage(found, query)
  const [provider, ...others] = listings.map(({ listing }) => listing.provider)
  return {
    body: { items: items.map(({ currency }) => currency), total },
    ...(provider !== undefined && others.length === 0 && { provider }),
    ...(items.some(({ isNotesDerived }) => isNotesDerived) && { derived: ['notes'] }),
  }
}

async function readAll(sources: readonly Source[], context: Context): Promise<readonly ProviderListing[]> {
  const readings = sources.map(async ({ catalogue, said }) => ({ listing: await catalogue.listing(context), said }))
  const settled = await Promise.allSettled(readings)
  const read = settled.filter((result) => result.status === 'fulfilled').map(({ value }) => value)
  return read.length > 0 ? read : [await (readings[0] as Promise<ProviderListing>)]
}
