/** A cache of a provider's complete currency list (docs/contract.md §3, §8). */
import { Fault } from '../../domain/faults/fault.ts'
import { type Context, timedUpstream } from '../../domain/swap/service.ts'
import type { CacheOutcome } from '../../domain/telemetry/labels.ts'
import { withDefault } from '../../domain/with-timeout.ts'
import type { Catalogue } from '../assets/catalogue.ts'
import type { Listing } from '../assets/listing.ts'
import { RefreshingSnapshot, type RefreshingSnapshotOptions } from './refreshing-snapshot.ts'

/** Longest wait for a newer list if an old one is available. */
const refreshWaitMs = 300
/** Pause after a failed read: if an old list is available, and for a create without one. */
const retryPauseMs = 5_000
const createRetryPauseMs = 1_000

const ignore = (): void => {}

export interface CachedCatalogueOptions extends RefreshingSnapshotOptions {
  /** Reports each cache look-up by `listing`. `ageMs`: the age of a cached list. */
  readonly onLookup: (outcome: CacheOutcome, ageMs?: number) => void
}

/** A catalogue whose background refresh can be paused. */
export interface CachedCatalogue extends Catalogue {
  /** While paused, the list is not refreshed in the background. */
  readonly setPaused: (isPaused: boolean) => void
}

/** Serves the list from the cache, and reads it if it is missing or too old. */
export function cachedCatalogue(options: CachedCatalogueOptions): CachedCatalogue {
  const { naming, lifetimeMs, staleForMs } = options
  const snapshot = new RefreshingSnapshot(options)
  const isWithin = (listing: Listing | undefined, maxAgeMs: number): boolean =>
    listing !== undefined && performance.now() - listing.fetchedAt < maxAgeMs
  const lookUp = async (context: Context, onLookup: CachedCatalogueOptions['onLookup'], maxAgeMs: number): Promise<Listing> => {
    if (!snapshot.last && !snapshot.refusal) await snapshot.loadStored()
    const now = performance.now()
    const previous = snapshot.last
    const isFresh = isWithin(previous, lifetimeMs)
    if (previous && (isFresh || (isWithin(previous, maxAgeMs) && now - snapshot.failedAt < retryPauseMs))) {
      onLookup(isFresh ? 'hit' : 'stale', now - previous.fetchedAt)
      return previous
    }
    const { refusal } = snapshot
    if (refusal && !isWithin(previous, maxAgeMs)) throw refusal
    const outcome = snapshot.isRefreshing ? 'shared' : 'miss'
    const refresh = timedUpstream(context, snapshot.refresh(context)).catch((failure: unknown) => {
      // Another process may have stored a newer list meanwhile.
      if (snapshot.last && isWithin(snapshot.last, maxAgeMs)) return snapshot.last
      throw failure
    })
    if (!previous || !isWithin(previous, maxAgeMs)) return refresh.finally(() => onLookup(outcome))
    const listing = await withDefault(refresh, refreshWaitMs, previous)
    onLookup(listing === previous ? 'stale' : outcome, listing === previous ? now - previous.fetchedAt : undefined)
    return listing
  }
  const hasFailedWithin = (durationMs: number): boolean => performance.now() - snapshot.failedAt < durationMs
  const lookUpBriefly = (context: Context, maxAgeMs: number): Promise<Listing | undefined> =>
    withDefault(lookUp(context, ignore, maxAgeMs), (context.deadline - performance.now()) / 2, undefined)
  const createMaxAgeMs = Math.max(lifetimeMs, staleForMs)
  return {
    naming,
    listing: (context) => lookUp(context, options.onLookup, lifetimeMs + staleForMs),
    async availableListing(context) {
      return !snapshot.last && hasFailedWithin(retryPauseMs) ? undefined : lookUpBriefly(context, lifetimeMs + staleForMs)
    },
    async listingForCreate(context) {
      const isUnavailable = !isWithin(snapshot.last, createMaxAgeMs) && hasFailedWithin(createRetryPauseMs)
      const listing = isUnavailable ? undefined : await lookUpBriefly(context, createMaxAgeMs)
      if (!listing) throw noListing(snapshot.failure)
      return listing
    },
    lastListing: () => snapshot.last,
    setPaused: (isPaused) => snapshot.setPaused(isPaused),
    close: () => snapshot.close(),
  }
}

function noListing(cause: Fault | undefined): Fault {
  const message = 'The networks of these coins cannot be confirmed at the moment; please try again soon.'
  return new Fault('unavailable', message, { retryAfter: cause?.retryAfter ?? 1, noEffect: true, mayFailOver: true, cause })
}
