/** Limits and verified keys in the memory of this process, for operation without Redis. */
import type { Charge, Counting, Limiter } from '../core/access/limits.ts'
import type { VerifiedKeys } from '../core/access/verified-keys.ts'

/** A memory limit: after this many new buckets of a kind, older ones may be dropped. */
const maxBucketsPerGeneration = 50_000

interface Count {
  points: number
  /** On the clock of `performance.now()`. */
  readonly until: number
}

/**
 * The buckets of one kind, in windows of `windowMs`. There are two generations. The older one is dropped as a whole when its
 * last window is over or the younger one is full: no timer per bucket, and no request is rejected because there are many clients.
 */
class Windows {
  private readonly windowMs: number
  private young = new Map<string, Count>()
  private old = new Map<string, Count>()
  private bornAt = 0

  constructor(windowMs: number) {
    this.windowMs = windowMs
  }

  charge(bucket: string, limit: number, counting: Counting): Charge {
    const now = performance.now()
    const known = this.young.get(bucket) ?? this.old.get(bucket)
    const count = known && known.until > now ? known : this.begin(bucket, now)
    const isOver = count.points >= limit
    if (!isOver || counting === 'all') count.points++
    return {
      isOver,
      remaining: Math.max(0, limit - count.points),
      // Rounding of floating-point numbers may make the difference a little larger than the window.
      resetSeconds: Math.ceil(Math.min(count.until - now, this.windowMs) / 1000),
    }
  }

  private begin(bucket: string, now: number): Count {
    if (this.young.size >= maxBucketsPerGeneration || now - this.bornAt >= this.windowMs) {
      this.old = this.young
      this.young = new Map()
      this.bornAt = now
    }
    const count = { points: 0, until: now + this.windowMs }
    this.young.set(bucket, count)
    return count
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
/** A memory limit: a dropped key only has to be verified again. */
const maxVerifiedKeys = 100_000

const verified = Promise.resolve(true)
const unverified = Promise.resolve(false)
const done = Promise.resolve()

/** Verified keys of this process only. A key stays verified for `lifetimeMs` after the last renewal. */
export function memoryVerifiedKeys(lifetimeMs: number): VerifiedKeys {
  const verifiedAt = new Map<string, number>()
  const ageOf = (identity: string): number => performance.now() - (verifiedAt.get(identity) ?? Number.NEGATIVE_INFINITY)
  return {
    has: (identity) => (ageOf(identity) < lifetimeMs ? verified : unverified),
    add(identity) {
      if (ageOf(identity) < lifetimeMs * renewalShare) return done
      verifiedAt.delete(identity)
      const [oldest] = verifiedAt.size < maxVerifiedKeys ? [] : verifiedAt.keys()
      if (oldest !== undefined) verifiedAt.delete(oldest)
      verifiedAt.set(identity, performance.now())
      return done
    },
  }
}
