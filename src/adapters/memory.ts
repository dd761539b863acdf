/** Limits and verified keys in the memory of this process, for operation without Redis. */
import type { Charge, Counting, Limiter } from '../core/access/limits.ts'
import type { VerifiedKeys } from '../core/access/verified-keys.ts'
import { BoundedMap, cacheShares } from '../domain/bounded-map.ts'

/** Of the buckets of a kind. An older one may be dropped after half as many new ones. */
const maxBuckets = 100_000

interface Count {
  points: number
  /** On the clock of `performance.now()`. */
  readonly until: number
}

/** Of a count. */
const countBytes = 64

/** The buckets of one kind, in windows of `windowMs`. No timer per bucket, and no request is rejected because there are many clients. */
class Windows {
  private readonly windowMs: number
  private readonly counts: BoundedMap<Count>

  constructor(windowMs: number) {
    this.windowMs = windowMs
    this.counts = new BoundedMap({
      share: cacheShares.limits,
      maxEntries: maxBuckets,
      lifetimeMs: windowMs,
      sizeOf: () => countBytes,
    })
  }

  charge(bucket: string, limit: number, counting: Counting): Charge {
    const now = performance.now()
    const known = this.counts.get(bucket, now)
    const count = known && known.until > now ? known : this.counts.set(bucket, { points: 0, until: now + this.windowMs }, now)
    const isOver = count.points >= limit
    if (!isOver || counting === 'all') count.points++
    return {
      isOver,
      remaining: Math.max(0, limit - count.points),
      // Rounding of floating-point numbers may make the difference a little larger than the window.
      resetSeconds: Math.ceil(Math.min(count.until - now, this.windowMs) / 1000),
    }
  }
}

/** Limits of this process only. Buckets of one kind, like `quotes:address:…`, do not displace buckets of another kind. */
export function memoryLimiter(): Limiter {
  const kindsByWindow = new Map<number, Map<string, Windows>>()
  return {
    async charge(bucket, limit, window, counting = 'all') {
      const kinds = kindsByWindow.getOrInsertComputed(window, () => new Map())
      return kinds.getOrInsertComputed(kindOf(bucket), () => new Windows(window * 1000)).charge(bucket, limit, counting)
    },
  }
}

/** The part of a bucket before its name. */
function kindOf(bucket: string): string {
  const first = bucket.indexOf(':')
  const second = bucket.indexOf(':', first + 1)
  return bucket.slice(0, Math.max(first, second))
}

/** The share of its lifetime after which an entry is renewed: a map write per request costs more than the request. */
const renewalShare = 1 / 60
/** A dropped key only has to be verified again. */
const maxVerifiedKeys = 100_000

const verified = Promise.resolve(true)
const unverified = Promise.resolve(false)
const done = Promise.resolve()

/** Verified keys of this process only. A key stays verified for `lifetimeMs` after the last renewal. */
export function memoryVerifiedKeys(lifetimeMs: number): VerifiedKeys {
  const verifiedAt = new BoundedMap<number>({ share: cacheShares.keys, maxEntries: maxVerifiedKeys, lifetimeMs })
  const ageOf = (identity: string, now: number): number => now - (verifiedAt.get(identity, now) ?? Number.NEGATIVE_INFINITY)
  return {
    has: (identity) => (ageOf(identity, performance.now()) < lifetimeMs ? verified : unverified),
    add(identity) {
      const now = performance.now()
      if (ageOf(identity, now) >= lifetimeMs * renewalShare) verifiedAt.set(identity, now, now)
      return done
    },
  }
}
