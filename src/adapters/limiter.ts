/** The clock of this process, and its memory: what is counted where no Redis is. */
import type { Charge, Counting, Limiter } from '../core/limits.ts'
import type { Proofs } from '../core/proof.ts'

/** A bound on memory: after so many buckets of a kind were begun, older ones may be forgotten. */
const mostBegun = 50_000

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
  private readonly length: number
  private young = new Map<string, Count>()
  private old = new Map<string, Count>()
  private bornAt = 0

  constructor(length: number) {
    this.length = length
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
      reset: Math.ceil(Math.min(count.until - now, this.length) / 1000),
    }
  }

  private begin(bucket: string, now: number): Count {
    if (this.young.size >= mostBegun || now - this.bornAt >= this.length) {
      this.old = this.young
      this.young = new Map()
      this.bornAt = now
    }
    const count = { points: 0, until: now + this.length }
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
const renewal = 1 / 60
/** A bound on memory: a key that falls out only has to prove itself again. */
const mostProofs = 100_000

const proven = Promise.resolve(true)
const unproven = Promise.resolve(false)
const noted = Promise.resolve()

/** Proofs of this process alone, for so many milliseconds after the last one. */
export function memoryProofs(lifetime: number): Proofs {
  const provenAt = new Map<string, number>()
  const ageOf = (identity: string): number => performance.now() - (provenAt.get(identity) ?? Number.NEGATIVE_INFINITY)
  return {
    has: (identity) => (ageOf(identity) < lifetime ? proven : unproven),
    add(identity) {
      if (ageOf(identity) < lifetime * renewal) return noted
      provenAt.delete(identity)
      const [oldest] = provenAt.size < mostProofs ? [] : provenAt.keys()
      if (oldest !== undefined) provenAt.delete(oldest)
      provenAt.set(identity, performance.now())
      return noted
    },
  }
}
