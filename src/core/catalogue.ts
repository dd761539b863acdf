/** A provider's whole currency list, kept (docs/contract.md §3, §8). */
import { Fault } from '../domain/fault.ts'
import type { CacheOutcome } from '../domain/observation.ts'
import { type Context, waitingWith } from '../domain/operations.ts'
import { withDefault } from '../domain/with-timeout.ts'
import { Copy, type CopyOptions } from './copy.ts'
import type { Listing } from './listing.ts'
import type { Naming } from './naming.ts'

export interface Catalogue {
  readonly naming: Naming
  /** Read again before its lifetime ends, by one call however many ask; the last one serves while the provider is slow or fails. */
  readonly listing: (context: Context) => Promise<Listing>
  /** The same where it is to be had soon, for whom it only confirms what the table says; not tried again where it just failed. */
  readonly listingAtHand: (context: Context) => Promise<Listing | undefined>
  /**
   * The list that a create may rely on: read within `staleFor`. Throws 503 where there is none soon: nothing was sent, and
   * another provider may take the create.
   */
  readonly listingForCreate: (context: Context) => Promise<Listing>
  /** The last whole list, however old. */
  readonly last: () => Listing | undefined
  /** Reads no more in the background. */
  readonly close: () => void
}

/** How long a newer list is waited for where an old one would do. */
const patience = 300
/** How long a failed reading is not tried again where an old list would do, and where none would. */
const pause = 5_000
const shortPause = 1_000

const unnoticed = (): void => {}

export interface CatalogueOptions extends CopyOptions {
  /** What a look at the list for its own sake came to; `age` in milliseconds, of a list that was there. */
  readonly looked: (outcome: CacheOutcome, age?: number) => void
}

export function catalogue(options: CatalogueOptions): Catalogue {
  const { naming, lifetime, staleFor } = options
  const copy = new Copy(options)
  const isWithin = (listing: Listing | undefined, maxAge: number): boolean =>
    listing !== undefined && performance.now() - listing.readAt < maxAge
  const look = async (context: Context, looked: CatalogueOptions['looked'], maxAge: number): Promise<Listing> => {
    if (!copy.last) await copy.recall()
    const now = performance.now()
    const old = copy.last
    const isFresh = isWithin(old, lifetime)
    if (old && (isFresh || (isWithin(old, maxAge) && now - copy.failedAt < pause))) {
      looked(isFresh ? 'hit' : 'stale', now - old.readAt)
      return old
    }
    const outcome = copy.isReading ? 'shared' : 'miss'
    const reading = waitingWith(context, copy.read(context)).catch((failure: unknown) => {
      // Another process may have read it in the meantime.
      if (copy.last && isWithin(copy.last, maxAge)) return copy.last
      throw failure
    })
    if (!old || !isWithin(old, maxAge)) return reading.finally(() => looked(outcome))
    const listing = await withDefault(reading, patience, old)
    looked(listing === old ? 'stale' : outcome, listing === old ? now - old.readAt : undefined)
    return listing
  }
  const hasFailedWithin = (time: number): boolean => performance.now() - copy.failedAt < time
  const lookBriefly = (context: Context, maxAge: number): Promise<Listing | undefined> =>
    withDefault(look(context, unnoticed, maxAge), (context.deadline - performance.now()) / 2, undefined)
  const creatable = Math.max(lifetime, staleFor)
  return {
    naming,
    listing: (context) => look(context, options.looked, lifetime + staleFor),
    async listingAtHand(context) {
      return !copy.last && hasFailedWithin(pause) ? undefined : lookBriefly(context, lifetime + staleFor)
    },
    async listingForCreate(context) {
      const isHopeless = !isWithin(copy.last, creatable) && hasFailedWithin(shortPause)
      const listing = isHopeless ? undefined : await lookBriefly(context, creatable)
      if (!listing) throw noListing(copy.failure)
      return listing
    },
    last: () => copy.last,
    close: () => copy.close(),
  }
}

function noListing(cause: Fault | undefined): Fault {
  const message = 'The networks of these coins cannot be confirmed at the moment; please try again soon.'
  return new Fault('unavailable', message, { retryAfter: cause?.retryAfter ?? 1, certain: true, elsewhere: true, cause })
}
