/** What a provider's currency list offers, in the words of the asset table (docs/contract.md §3, §9). */
import { type Asset, fold } from '../domain/asset.ts'
import type { Drift } from '../domain/observation.ts'
import type { Currency } from '../domain/swap.ts'
import { readCodes } from './listing-by-code.ts'
import { readCoins } from './listing-by-coin.ts'
import type { Naming } from './naming.ts'
import type { Meaning, Offer } from './offer.ts'

/** A provider's whole list. */
export interface Listing extends Meaning {
  readonly byAsset: ReadonlyMap<Asset, Offer>
  /** What the table lacks, by the provider's word for it (folded). */
  readonly ownOffers: ReadonlyMap<string, readonly Offer[]>
  /** Every offer, by the word for its asset (folded), where the form has one. */
  readonly byWord: ReadonlyMap<string, readonly Offer[]>
  readonly provider: string | undefined
  /** On the clock of `performance.now()`. */
  readonly readAt: number
}

/** Reads the meaning of all rows without holding up other work. */
export async function interpret(
  rows: readonly Currency[],
  naming: Naming,
  drift: (drift: Drift) => void,
): Promise<Omit<Listing, 'provider' | 'readAt'>> {
  const meaning = await (naming.byCode ? readCodes(rows, naming, drift) : readCoins(rows, naming, drift))
  const { offers } = meaning
  return {
    ...meaning,
    byAsset: new Map(offers.flatMap((offer) => (offer.asset ? [[offer.asset, offer] as const] : []))),
    ownOffers: Map.groupBy(
      offers.filter(({ asset }) => !asset),
      ({ row }) => fold(row.code ?? ''),
    ),
    byWord: Map.groupBy(
      offers.filter(({ words }) => words.code !== undefined),
      ({ words }) => fold(words.code ?? ''),
    ),
  }
}
