/** Port: the currency list of one provider. */
import type { Context } from '../../domain/service.ts'
import type { AssetNaming } from './asset-naming.ts'
import type { Listing } from './listing.ts'

/** A cached currency list, for quotes, creates and `/currencies`. */
export interface Catalogue {
  readonly naming: AssetNaming
  /** Refreshed before its lifetime ends, by one call for all callers. The last list is returned while the provider is slow or fails. */
  readonly listing: (context: Context) => Promise<Listing>
  /** The list if it is available soon, else undefined; not retried right after a failure. For callers that only confirm the table. */
  readonly availableListing: (context: Context) => Promise<Listing | undefined>
  /**
   * The list for a create: at most `staleFor` old. Throws 503 if there is none soon. Nothing was sent then, so another provider
   * may take the create.
   */
  readonly listingForCreate: (context: Context) => Promise<Listing>
  /** The last complete list, of any age. */
  readonly lastListing: () => Listing | undefined
  /** Stops the background refresh. */
  readonly close: () => void
}
