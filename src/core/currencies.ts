/** `/currencies`, answered from the providers' whole lists: joined, shaped for the client's form, searched, cut into pages. */
import { fold } from '../domain/asset.ts'
import type { Answer, Context } from '../domain/operations.ts'
import type { Currency, CurrencyQuery } from '../domain/swap.ts'
import { namesByCode, type Vocabulary } from '../domain/vocabulary.ts'
import type { Catalogue } from './catalogue.ts'
import { type Layer, on } from './layer.ts'
import type { Listing, Offer } from './listing.ts'
import { cutPage } from './pages.ts'

export interface Source {
  readonly catalogue: Catalogue
  /** What the provider's form can say. */
  readonly said: Vocabulary
}

/** An offer, and whether its provider says the notes of a coin itself. */
interface Row extends Offer {
  readonly tellsNotes: boolean
}

type Told = Answer<'listCurrencies'>

/** Pages of the same lists, ready to be told again. */
interface Ready {
  readonly listings: readonly Read[]
  readonly pages: Map<string, Told>
}

/** A bound on memory. When it is reached all pages are cut anew, which costs less than an order of age. */
const mostPages = 1_000

/** The union over the providers in their order; one that cannot be read is left out, unless none can. */
export function currencies(sources: readonly Source[]): Layer {
  let ready: Ready = { listings: [], pages: new Map() }
  return on({
    async listCurrencies(query, context) {
      const listings = await readAll(sources, context)
      if (!areSame(listings, ready.listings)) ready = { listings, pages: new Map() }
      const { pages } = ready
      const key = `${namesByCode(context.client)} ${query.page} ${query.size} ${query.search?.toLowerCase() ?? ''}`
      let told = pages.get(key)
      if (!told) {
        told = tell(listings, query, context)
        if (pages.size >= mostPages) pages.clear()
        pages.set(key, told)
      }
      const readAt = Math.min(...listings.map(({ listing }) => listing.readAt))
      return { ...told, age: (performance.now() - readAt) / 1000 }
    },
  })
}

function areSame(now: readonly Read[], before: readonly Read[]): boolean {
  return now.length === before.length && now.every(({ listing }, at) => listing === before[at]?.listing)
}

function tell(listings: readonly Read[], query: CurrencyQuery, context: Context): Told {
  const offers = join(listings)
  const rows = shape(offers, context)
  const word = query.search?.toLowerCase()
  const found = word === undefined ? rows : rows.filter((row) => mentions(row, word, context))
  const isDerived = !namesByCode(context.client) && offers.some(({ tellsNotes }) => !tellsNotes) && found.length > 0
  const [provider, ...others] = listings.map(({ listing }) => listing.provider)
  return {
    body: cutPage(found, query),
    ...(provider !== undefined && others.length === 0 && { provider }),
    ...(isDerived && { derived: ['notes'] }),
  }
}

interface Read {
  readonly listing: Listing
  readonly said: Vocabulary
}

async function readAll(sources: readonly Source[], context: Context): Promise<readonly Read[]> {
  const readings = sources.map(async ({ catalogue, said }) => ({ listing: await catalogue.listing(context), said }))
  const settled = await Promise.allSettled(readings)
  const read = settled.filter((result) => result.status === 'fulfilled').map(({ value }) => value)
  return read.length > 0 ? read : [await (readings[0] as Promise<Read>)]
}

/** One row for each asset: the first provider that offers it says what it is. */
function join(listings: readonly Read[]): readonly Row[] {
  const rows = new Map<string, Row>()
  for (const { listing, said } of listings) {
    const tellsNotes = said.answers.listCurrencies.has('notes')
    const earlier = Map.groupBy([...rows.values()].filter(isOwn), ownWord)
    for (const offer of listing.offers) {
      const key = offer.asset?.code ?? `own ${ownWord(offer)} ${fold(offer.row.network ?? '')}`
      const isKnown = isOwn(offer) && earlier.get(ownWord(offer))?.some((row) => mayBeSame(row, offer))
      if (!isKnown && !rows.has(key)) rows.set(key, { ...offer, tellsNotes })
    }
  }
  return [...rows.values()]
}

/** Whether the table lacks it. */
function isOwn({ asset }: Offer): boolean {
  return asset === undefined
}

function ownWord({ row }: Offer): string {
  return fold(row.code ?? '')
}

/** Where one of two providers does not say the network of a coin, it is not shown twice. */
function mayBeSame({ row: one }: Offer, { row: other }: Offer): boolean {
  return one.network === undefined || other.network === undefined
}

/** One row for each asset, or for each coin where the client's form says the network beside it. */
function shape(offers: readonly Row[], { client }: Context): readonly Currency[] {
  if (namesByCode(client)) return offers.map(({ row }) => row)
  return [...Map.groupBy(offers, ({ row }) => row.coin ?? '').values()].map(coinRow)
}

function coinRow(offers: readonly Row[]): Currency {
  const { row } = offers[0] as Row
  return offers.every(({ tellsNotes }) => tellsNotes) ? row : { ...row, notes: networkNotes(offers) }
}

/** `Networks: TRX, ETH`, the default one first, where there are several. */
function networkNotes(offers: readonly Offer[]): string {
  const standardFirst = offers.toSorted((a, b) => Number(isStandard(b)) - Number(isStandard(a)))
  const networks = standardFirst.map(({ row }) => row.network).filter((network) => network !== undefined)
  return networks.length > 1 ? `Networks: ${networks.join(', ')}` : ''
}

function isStandard({ asset }: Offer): boolean {
  return asset?.isStandard === true
}

function mentions({ code, coin, name }: Currency, word: string, { client }: Context): boolean {
  const shown = namesByCode(client) ? code : coin
  return `${shown ?? ''}`.toLowerCase().includes(word) || name.toLowerCase().includes(word)
}
