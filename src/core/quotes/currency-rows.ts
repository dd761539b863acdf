/** The rows of `/currencies`: of all providers, for one way of naming assets (docs/contract.md §3.1). */

import { inSlices } from '../../domain/in-slices.ts'
import { fold } from '../../domain/swap/asset.ts'
import type { Capabilities } from '../../domain/swap/capabilities.ts'
import type { Currency, CurrencyNetwork } from '../../domain/swap/swap.ts'
import type { Listing } from '../assets/listing.ts'
import type { Offer } from '../assets/offer.ts'
import { areDifferent } from '../assets/outside-table.ts'

/** A provider's list, and the fields of its form. */
export interface ProviderListing {
  readonly listing: Listing
  readonly capabilities: Capabilities
}

export interface CurrencyRow {
  readonly currency: Currency
  /** Whether the gateway derived the notes. */
  readonly isNotesDerived: boolean
  /** The texts that a search matches, in lower case. */
  readonly texts: readonly string[]
}

/** An offer, and whether its provider's form has notes. */
interface JoinedOffer extends Offer {
  readonly hasNotes: boolean
}

/** One row per asset (`byCode`), or one per coin if the client's form names the network beside it. Works in slices: the event loop is not blocked. */
export async function currencyRows(listings: readonly ProviderListing[], byCode: boolean): Promise<readonly CurrencyRow[]> {
  const joined = await join(listings, byCode)
  const rows: CurrencyRow[] = []
  if (byCode) {
    await inSlices(joined, ({ row }) => rows.push({ currency: row, isNotesDerived: false, texts: textsOf(row.code, row) }))
  } else {
    const coins = Map.groupBy(joined, ({ row }) => fold(row.coin ?? ''))
    await inSlices(coins.values(), (offers) => {
      const best = offers.find(({ asset }) => asset) ?? offers[0]
      if (best) rows.push(coinRow(best, offers))
    })
  }
  return rows
}

/** One row per asset, from the first provider that offers it; none for a word by which providers mean different coins. */
async function join(listings: readonly ProviderListing[], byCode: boolean): Promise<readonly JoinedOffer[]> {
  const rows = new Map<string, JoinedOffer>()
  const isDifferent = (offer: Offer): boolean => {
    const offers = listings.map(({ listing }) => listing.offersOutsideTable.get(providerCode(offer)) ?? [])
    return areDifferent(offers, byCode ? undefined : offer.row.network)
  }
  for (const { listing, capabilities } of listings) {
    const hasNotes = capabilities.responseFields.listCurrencies.has('notes')
    const earlier = Map.groupBy([...rows.values()].filter(isOutsideTable), providerCode)
    await inSlices(listing.offers, (offer) => {
      const key = offer.asset?.code ?? `own ${providerCode(offer)} ${offer.chain ?? ''}`
      const isKnown = isOutsideTable(offer) && earlier.get(providerCode(offer))?.some((row) => mayBeSame(row, offer))
      if (isKnown || rows.has(key) || (isOutsideTable(offer) && isDifferent(offer))) return
      rows.set(key, { ...offer, hasNotes })
    })
  }
  return [...rows.values()]
}

function isOutsideTable({ asset }: Offer): boolean {
  return asset === undefined
}

function providerCode({ row }: Offer): string {
  return fold(row.code ?? '')
}

/** Two rows of one coin may be the same asset if either has no network. */
function mayBeSame({ row: one }: Offer, { row: other }: Offer): boolean {
  return one.network === undefined || other.network === undefined
}

/** A create in a form with networks needs one, so empty notes are replaced by the list of known networks. */
function coinRow({ row, hasNotes }: JoinedOffer, offers: readonly JoinedOffer[]): CurrencyRow {
  const providerNotes = hasNotes ? (row.notes ?? '') : ''
  const notes = providerNotes.trim() === '' ? networkNotes(offers) || providerNotes : providerNotes
  return {
    currency: { ...row, notes, networks: offers.flatMap(networkOf) },
    isNotesDerived: !hasNotes || notes !== providerNotes,
    texts: textsOf(row.coin, row),
  }
}

/** The table's rule for memos, otherwise the provider's. */
function networkOf({ asset, row }: Offer): readonly CurrencyNetwork[] {
  const { network, depositMin } = row
  if (network === undefined) return []
  const needsMemo = asset?.memo === undefined ? row.needsMemo : asset.memo !== 'none'
  return [{ network, isDefault: asset?.isDefault ?? false, needsMemo, depositMin }]
}

/** `Networks: TRX, ETH`, with the default network first; empty if no network is known. */
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
