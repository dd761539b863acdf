/** The rows of `/currencies`: of all providers, for one manner of naming assets (docs/contract.md §3.1). */

import { inSlices } from '../../domain/in-slices.ts'
import { fold } from '../../domain/swap/asset.ts'
import type { Capabilities } from '../../domain/swap/capabilities.ts'
import type { Currency } from '../../domain/swap/swap.ts'
import type { Listing } from '../assets/listing.ts'
import type { Offer } from '../assets/offer.ts'

/** A provider's list, and what its form can say. */
export interface ProviderListing {
  readonly listing: Listing
  readonly capabilities: Capabilities
}

export interface CurrencyRow {
  readonly currency: Currency
  /** Whether the provider has no such notes itself. */
  readonly isNotesDerived: boolean
  /** What a search looks through, in lower case. */
  readonly texts: readonly string[]
}

/** An offer, and whether its provider's form has notes. */
interface JoinedOffer extends Offer {
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
async function join(listings: readonly ProviderListing[]): Promise<readonly JoinedOffer[]> {
  const rows = new Map<string, JoinedOffer>()
  for (const { listing, capabilities } of listings) {
    const hasNotes = capabilities.responseFields.listCurrencies.has('notes')
    const earlier = Map.groupBy([...rows.values()].filter(isOutsideTable), providerCode)
    await inSlices(listing.offers, (offer) => {
      const key = offer.asset?.code ?? `own ${providerCode(offer)} ${fold(offer.row.network ?? '')}`
      const isKnown = isOutsideTable(offer) && earlier.get(providerCode(offer))?.some((row) => mayBeSame(row, offer))
      if (!isKnown && !rows.has(key)) rows.set(key, { ...offer, hasNotes })
    })
  }
  return [...rows.values()]
}

/** Whether the table lacks it. */
function isOutsideTable({ asset }: Offer): boolean {
  return asset === undefined
}

function providerCode({ row }: Offer): string {
  return fold(row.code ?? '')
}

/** Where one of two providers does not say the network of a coin, it is not shown twice. */
function mayBeSame({ row: one }: Offer, { row: other }: Offer): boolean {
  return one.network === undefined || other.network === undefined
}

/** Creating in a form with networks needs one: notes that are empty name those that are known. */
function coinRow(offers: readonly JoinedOffer[]): CurrencyRow {
  const { row, hasNotes } = offers.find(({ asset }) => asset) ?? (offers[0] as JoinedOffer)
  const providerNotes = hasNotes ? (row.notes ?? '') : ''
  const notes = providerNotes.trim() === '' ? networkNotes(offers) || providerNotes : providerNotes
  return {
    currency: { ...row, notes },
    isNotesDerived: !hasNotes || notes !== providerNotes,
    texts: textsOf(row.coin, row),
  }
}

/** `Networks: TRX, ETH`, the default one first; empty where none is known. */
function networkNotes(offers: readonly Offer[]): string {
  const defaultFirst = offers.toSorted((a, b) => Number(isDefault(b)) - Number(isDefault(a)))
  const networks = defaultFirst.map(({ row }) => row.network).filter((network) => network !== undefined)
  return networks.length > 0 ? `Networks: ${networks.join(', ')}` : ''
}

function isDefault({ asset }: Offer): boolean {
  return asset?.isDefault === true
}

function textsOf(displayed: string | undefined, { name }: Currency): readonly string[] {
  return [(displayed ?? '').toLowerCase(), name.toLowerCase()]
}
