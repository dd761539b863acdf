/** The clock of this process, and its memory: what is counted where no Redis is. */
import type { Charge, Counting, Limiter } from '../core/access/limits.ts'
import type { VerifiedKeys } from '../core/access/verified-keys.ts'

/** A bound on memory: after so many buckets of a kind were begun, older ones may be forgotten. */
const maxBucketsPerGeneration = 50_000

interface Count {
  points: number
  /** On the clock of `performance.now()`. */
  readonly until: number
}

/**
 * The buckets of one kind, in windows of so many milliseconds. Two generations, of which the older goes as a whole when its
 * last window is over or the younger is full: no timer for each bucket, and nobody is refused because others are many.
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
      // What is added to a large number and taken away again may come back a little larger.
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

/** Limits of this process alone. Kinds of buckets, like `quotes:address:…`, do not make each other forgotten. */
export function memoryLimiter(): Limiter {
  const kinds = new Map<string, Windows>()
  return {
    async charge(bucket, limit, window, counting = 'all') {
      const kind = `${window} ${kindOf(bucket)}`
      return kinds.getOrInsertComputed(kind, () => new Windows(window * 1000)).charge(bucket, limit, counting)
    },
  }
}

/** What stands before its name; of a bucket that has none, its first word. */
function kindOf(bucket: string): string {
  const first = bucket.indexOf(':')
  const second = bucket.indexOf(':', first + 1)
  return bucket.slice(0, Math.max(first, second))
}

/** A proof is renewed after this part of its lifetime: a map that is rewritten with every request costs more than the request. */
const renewalShare = 1 / 60
/** A bound on memory: a key that falls out only has to prove itself again. */
const maxVerifiedKeys = 100_000

const verified = Promise.resolve(true)
const unverified = Promise.resolve(false)
const done = Promise.resolve()

/** Proofs of this process alone, for so many milliseconds after the last one. */
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
