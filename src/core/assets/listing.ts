/** A provider's currency list, in the names of the asset table (docs/contract.md §3, §9). */
import { type Asset, fold } from '../../domain/asset.ts'
import type { Drift } from '../../domain/observation.ts'
import type { Currency } from '../../domain/swap.ts'
import type { AssetNaming } from './asset-naming.ts'
import { parseByCode } from './listing-by-code.ts'
import { parseByCoin } from './listing-by-coin.ts'
import { parseByCoinAndNetwork } from './listing-by-coin-and-network.ts'
import type { ListedOffers, Offer } from './offer.ts'

/** A provider's complete list. */
export interface Listing extends ListedOffers {
  readonly byAsset: ReadonlyMap<Asset, Offer>
  /** Offers of assets outside the table, by the provider's code (folded). */
  readonly offersOutsideTable: ReadonlyMap<string, readonly Offer[]>
  /** Every offer with a code, by that code (folded). */
  readonly byProviderCode: ReadonlyMap<string, readonly Offer[]>
  readonly provider: string | undefined
  /** On the clock of `performance.now()`. */
  readonly fetchedAt: number
}

/** Parses all rows in slices, so that the event loop is not blocked. Reports rows that contradict the table as drift. */
export async function parseListing(
  rows: readonly Currency[],
  naming: AssetNaming,
  drift: (drift: Drift) => void,
): Promise<Omit<Listing, 'provider' | 'fetchedAt'>> {
  const parse = naming.byCode ? parseByCode : naming.listsNetworks ? parseByCoinAndNetwork : parseByCoin
  const content = await parse(rows, naming, drift)
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
