/** `/currencies`, answered from the provider's whole list: shaped for the client's form, searched, then cut into pages. */
import type { Context } from '../domain/operations.ts'
import type { Currency } from '../domain/swap.ts'
import { namesByCode, type Vocabulary } from '../domain/vocabulary.ts'
import type { Catalogue } from './catalogue.ts'
import { type Layer, on } from './layer.ts'
import type { Listing, Offer } from './listing.ts'
import { cutPage } from './pages.ts'

/** `provider` is what the provider's form can say. */
export function currencies(catalogue: Catalogue, provider: Vocabulary): Layer {
  return on({
    async listCurrencies(query, context) {
      const listing = await catalogue.listing(context)
      const rows = shape(listing, context, provider)
      const word = query.search?.toLowerCase()
      const found = word === undefined ? rows : rows.filter((row) => mentions(row, word, context))
      const isDerived = !namesByCode(context.client) && !provider.answers.listCurrencies.has('notes') && found.length > 0
      return {
        body: cutPage(found, query),
        ...(listing.provider !== undefined && { provider: listing.provider }),
        ...(isDerived && { derived: ['notes'] }),
        age: (performance.now() - listing.readAt) / 1000,
      }
    },
  })
}

/** One row for each asset, or for each coin where the client's form says the network beside it. */
function shape({ offers }: Listing, { client }: Context, provider: Vocabulary): readonly Currency[] {
  if (namesByCode(client)) return offers.map(({ row }) => row)
  const coins = Map.groupBy(offers, ({ row }) => row.coin ?? '')
  const tellsNotes = provider.answers.listCurrencies.has('notes')
  return [...coins.values()].map((sharing) => coinRow(sharing, tellsNotes))
}

function coinRow(offers: readonly Offer[], tellsNotes: boolean): Currency {
  const { row } = offers[0] as Offer
  return tellsNotes ? row : { ...row, notes: networkNotes(offers) }
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
