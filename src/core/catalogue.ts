/** A provider's whole currency list, kept (`spec/contract.md` §8). */
import type { CacheOutcome } from '../domain/observation.ts'
import { type Context, waitingWith } from '../domain/operations.ts'
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

const unnoticed = (): void => {}

export interface CatalogueOptions extends CopyOptions {
  /** What a look at the list for its own sake came to; `age` in milliseconds, of a list that was there. */
  readonly looked: (outcome: CacheOutcome, age?: number) => void
}

export function catalogue(options: CatalogueOptions): Catalogue {
  const { naming, lifetime, staleFor } = options
  const copy = new Copy(options)
  const look = async (context: Context, looked: CatalogueOptions['looked']): Promise<Listing> => {
    const now = performance.now()
    const old = copy.last
    const age = old ? now - old.readAt : Number.POSITIVE_INFINITY
    const isFresh = age < lifetime
    const isServing = age < lifetime + staleFor
    if (old && (isFresh || (isServing && now - copy.failedAt < pause))) {
      looked(isFresh ? 'hit' : 'stale', age)
      return old
    }
    const outcome = copy.isReading ? 'shared' : 'miss'
    const reading = waitingWith(context, copy.read(context))
    const told = await (old && isServing ? soonOr(reading, old, patience) : reading.finally(() => looked(outcome)))
    if (old && isServing) looked(told === old ? 'stale' : outcome, told === old ? age : undefined)
    return told
  }
  return {
    naming,
    listing: (context) => look(context, options.looked),
    async listingAtHand(context) {
      const now = performance.now()
      if (!copy.last && now - copy.failedAt < pause) return undefined
      return soonOr(look(context, unnoticed), undefined, (context.deadline - now) / 2)
    },
    close: () => copy.close(),
  }
}
