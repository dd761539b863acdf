/** The rows of `/currencies`: of all providers, for one manner of naming assets (docs/contract.md §3.1). */
import { fold } from '../domain/asset.ts'
import { inSlices } from '../domain/slices.ts'
import type { Currency } from '../domain/swap.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import type { Listing } from './listing.ts'
import type { Offer } from './offer.ts'

/** A provider's list, and what its form can say. */
export interface ProviderListing {
  readonly listing: Listing
  readonly said: Vocabulary
}

export interface CurrencyRow {
  readonly currency: Currency
  /** Whether the provider has no such notes itself. */
  readonly isNotesDerived: boolean
  /** What a search looks through, in lower case. */
  readonly texts: readonly string[]
}

/** An offer, and whether its provider's form has notes. */
interface Joined extends Offer {
  readonly hasNotes: boolean
}

/** One row for each asset, or for each coin where the client's form says the network beside it. Does not hold up other work. */
export async function currencyRows(listings: readonly ProviderListing[], byCode: boolean): Promise<readonly CurrencyRow[]> {
  const joined = await join(listings)
  const rows: CurrencyRow[] = []
  if (byCode) {
    await inSlices(joined, ({ row }) => rows.push({ currency: row, isNotesDerived: false, texts: textsOf(row.code, row) }))
  } else {
    const coins = Map.groupBy(joined, ({ row }) => fold(row.coin ?? ''))
    await inSlices(coins.values(), (offers) => rows.push(coinRow(offers)))
  }
  return rows
}

/** One row for each asset: the first provider that offers it says what it is. */
async function join(listings: readonly ProviderListing[]): Promise<readonly Joined[]> {
  const rows = new Map<string, Joined>()
  for (const { listing, said } of listings) {
    const hasNotes = said.answers.listCurrencies.has('notes')
    const earlier = Map.groupBy([...rows.values()].filter(isOwn), ownWord)
    await inSlices(listing.offers, (offer) => {
      const key = offer.asset?.code ?? `own ${ownWord(offer)} ${fold(offer.row.network ?? '')}`
      const isKnown = isOwn(offer) && earlier.get(ownWord(offer))?.some((row) => mayBeSame(row, offer))
      if (!isKnown && !rows.has(key)) rows.set(key, { ...offer, hasNotes })
    })
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

/** Creating in a form with networks needs one: notes that are empty name those that are known. */
function coinRow(offers: readonly Joined[]): CurrencyRow {
  const { row, hasNotes } = offers.find(({ asset }) => asset) ?? (offers[0] as Joined)
  const given = hasNotes ? (row.notes ?? '') : ''
  const notes = given.trim() === '' ? networkNotes(offers) || given : given
  return {
    currency: { ...row, notes },
    isNotesDerived: !hasNotes || notes !== given,
    texts: textsOf(row.coin, row),
  }
}

/** `Networks: TRX, ETH`, the default one first; empty where none is known. */
function networkNotes(offers: readonly Offer[]): string {
  const standardFirst = offers.toSorted((a, b) => Number(isStandard(b)) - Number(isStandard(a)))
  const networks = standardFirst.map(({ row }) => row.network).filter((network) => network !== undefined)
  return networks.length > 0 ? `Networks: ${networks.join(', ')}` : ''
}

function isStandard({ asset }: Offer): boolean {
  return asset?.isStandard === true
}

function textsOf(shown: string | undefined, { name }: Currency): readonly string[] {
  return [(shown ?? '').toLowerCase(), name.toLowerCase()]
}
