/** Port: the currency list of one provider. */
import type { Context } from '../../domain/swap/service.ts'
import type { AssetNaming } from './asset-naming.ts'
import type { Listing } from './listing.ts'

export interface Catalogue {
  readonly naming: AssetNaming
  /** Read again before its lifetime ends, by one call however many ask; the last one serves while the provider is slow or fails. */
  readonly listing: (context: Context) => Promise<Listing>
  /** The same where it is to be had soon, for whom it only confirms what the table says; not tried again where it just failed. */
  readonly availableListing: (context: Context) => Promise<Listing | undefined>
  /**
   * The list that a create may rely on: read within `staleFor`. Throws 503 where there is none soon: nothing was sent, and
   * another provider may take the create.
   */
  readonly listingForCreate: (context: Context) => Promise<Listing>
  /** The last whole list, however old. */
  readonly lastListing: () => Listing | undefined
  /** Reads no more in the background. */
  readonly close: () => void
}
