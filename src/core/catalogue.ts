/** A provider's whole currency list, kept (`spec/contract.md` §8). */
import type { Context } from '../domain/operations.ts'
import { Copy, type CopyOptions } from './copy.ts'
import type { Listing } from './listing.ts'
import type { Naming } from './naming.ts'
import { soonOr } from './patience.ts'

export interface Catalogue {
  readonly naming: Naming
  /** Read again before its lifetime ends, by one call however many ask; the last one serves while the provider is slow or fails. */
  readonly listing: (context: Context) => Promise<Listing>
  /** The same where it is to be had soon, for whom it only confirms what the table says; not tried again where it just failed. */
  readonly listingAtHand: (context: Context) => Promise<Listing | undefined>
  /** Reads no more in the background. */
  readonly close: () => void
}

/** How long a newer list is waited for where an old one would do. */
const patience = 300
/** How long a failed reading is not tried again where an old list would do. */
const pause = 5_000

export function catalogue(options: CopyOptions): Catalogue {
  const { naming, lifetime, staleFor } = options
  const copy = new Copy(options)
  const listing: Catalogue['listing'] = async (context) => {
    const now = performance.now()
    const old = copy.last
    if (old && now - old.readAt < lifetime) return old
    const isServing = old && now - old.readAt < lifetime + staleFor
    if (isServing && now - copy.failedAt < pause) return old
    const reading = copy.read(context)
    return isServing ? soonOr(reading, old, patience) : reading
  }
  return {
    naming,
    listing,
    async listingAtHand(context) {
      const now = performance.now()
      if (!copy.last && now - copy.failedAt < pause) return undefined
      return soonOr(listing(context), undefined, (context.deadline - now) / 2)
    },
    close: () => copy.close(),
  }
}
