/** What a provider's currency list offers, in the words of the asset table (docs/contract.md §3, §9). */
import { type Asset, fold } from '../../domain/swap/asset.ts'
import type { Currency } from '../../domain/swap/swap.ts'
import type { Drift } from '../../domain/telemetry/observation.ts'
import type { AssetNaming } from './asset-naming.ts'
import { parseByCode } from './listing-by-code.ts'
import { parseByCoin } from './listing-by-coin.ts'
import type { ListedOffers, Offer } from './offer.ts'

/** A provider's whole list. */
export interface Listing extends ListedOffers {
  readonly byAsset: ReadonlyMap<Asset, Offer>
  /** What the table lacks, by the provider's word for it (folded). */
  readonly offersOutsideTable: ReadonlyMap<string, readonly Offer[]>
  /** Every offer, by the word for its asset (folded), where the form has one. */
  readonly byProviderCode: ReadonlyMap<string, readonly Offer[]>
  readonly provider: string | undefined
  /** On the clock of `performance.now()`. */
  readonly fetchedAt: number
}

/** Reads the meaning of all rows without holding up other work. */
export async function parseListing(
  rows: readonly Currency[],
  naming: AssetNaming,
  drift: (drift: Drift) => void,
): Promise<Omit<Listing, 'provider' | 'fetchedAt'>> {
  const content = await (naming.byCode ? parseByCode(rows, naming, drift) : parseByCoin(rows, naming, drift))
  const { offers } = content
  return {
    ...content,
    byAsset: new Map(offers.flatMap((offer) => (offer.asset ? [[offer.asset, offer] as const] : []))),
    offersOutsideTable: Map.groupBy(
      offers.filter(({ asset }) => !asset),
      ({ row }) => fold(row.code ?? ''),
    ),
    byProviderCode: Map.groupBy(
      offers.filter(({ assetName }) => assetName.code !== undefined),
      ({ assetName }) => fold(assetName.code ?? ''),
    ),
  }
}
