import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import type { StoreOutage } from './store-outage.ts'
import { type VerifiedKeys, verifiedKeyLifetimeMs } from './verified-keys.ts'

/** Verified keys that all replicas share. Both methods throw if the store does not respond. */
export interface SharedVerifiedKeys {
  /** Milliseconds for which the identity remains verified; 0 if it is not. */
  readonly remainingMs: (identity: string) => Promise<number>
  readonly add: (identity: string, lifetimeMs: number) => Promise<void>
}

interface CachedKey {
  expiresAt: number
  /** When the store must be updated again. */
  renewAt: number
}

/** The store is updated at most once in this share of the lifetime. */
const renewalShare = 1 / 60
/** A bound on memory: a dropped key is read from the store again. */
const maxCachedKeys = 100_000

const verified = Promise.resolve(true)
const unverified = Promise.resolve(false)
const recorded = Promise.resolve()

/**
 * A key expires `lifetimeMs` after its last verification. The store is read only for keys that this process has not cached.
 * While the store is lost, only cached keys are verified.
 */
export function sharedVerifiedKeys(
  shared: SharedVerifiedKeys,
  outage: StoreOutage,
  lifetimeMs = verifiedKeyLifetimeMs,
): VerifiedKeys {
  const cache = new BoundedMap<CachedKey>({ share: cacheShares.keys, maxEntries: maxCachedKeys })
  const store = (identity: string, expiresAt: number, renewAt: number): void => {
    const existing = cache.get(identity)
    // Changed in place: a map that is rewritten with every request leaves garbage tables behind.
    if (existing) Object.assign(existing, { expiresAt, renewAt })
    else cache.set(identity, { expiresAt, renewAt })
  }
  const checkStore = async (identity: string): Promise<boolean> => {
    const remainingMs = await shared.remainingMs(identity).catch(() => outage.begin())
    if (remainingMs) store(identity, performance.now() + remainingMs, 0)
    return Boolean(remainingMs)
  }
  const addToStore = (identity: string): Promise<void> =>
    shared.add(identity, lifetimeMs).catch(() => {
      outage.begin()
      const entry = cache.get(identity)
      if (entry) entry.renewAt = 0
    })
  return {
    has(identity) {
      const expiresAt = cache.get(identity)?.expiresAt ?? 0
      if (performance.now() < expiresAt) return verified
      return outage.state === 'local' ? unverified : checkStore(identity)
    },
    add(identity) {
      const now = performance.now()
      if (now < (cache.get(identity)?.renewAt ?? 0)) return recorded
      const isLost = outage.state === 'local'
      store(identity, now + lifetimeMs, isLost ? 0 : now + lifetimeMs * renewalShare)
      return isLost ? recorded : addToStore(identity)
    },
  }
}
