/** Limits, budgets, verified keys and winners of this process alone, for operation without Redis. `adapters/redis/stores.ts` has them in Redis. */
import type { Limiter, LimitState } from '../core/access/limits.ts'
import type { VerifiedKeys } from '../core/access/verified-keys.ts'
import type { Budgets, Reservation } from '../core/resilience/budget-limit.ts'
import type { Winner, WinnerStore } from '../core/routing/winners.ts'
import { BoundedMap, cacheShares } from '../domain/bounded-map.ts'
import { SlidingWindowCounter } from '../domain/sliding-window-counter.ts'

// Limits: fixed windows.

/** Of the buckets of a kind. An older one may be dropped after half as many new ones. */
const maxLimitBuckets = 100_000

interface Count {
  admitted: number
  refused: number
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
      maxEntries: maxLimitBuckets,
      lifetimeMs: windowMs,
      sizeOf: () => countBytes,
    })
  }

  consume(bucket: string, limit: number): LimitState {
    const now = performance.now()
    const known = this.counts.get(bucket, now)
    const count =
      known && known.until > now ? known : this.counts.set(bucket, { admitted: 0, refused: 0, until: now + this.windowMs }, now)
    const isOver = count.admitted >= limit
    if (isOver) count.refused++
    else count.admitted++
    return {
      isOver,
      remaining: Math.max(0, limit - count.admitted),
      points: count.admitted + count.refused,
      // Rounding of floating-point numbers may make the difference a little larger than the window.
      resetSeconds: Math.ceil(Math.min(count.until - now, this.windowMs) / 1000),
    }
  }
}

/** Limits of this process only. Buckets of one kind, like `quotes:address:…`, do not displace buckets of another kind. */
export function memoryLimiter(): Limiter {
  const kindsByWindow = new Map<number, Map<string, Windows>>()
  return {
    async consume(bucket, limit, window) {
      const kinds = kindsByWindow.getOrInsertComputed(window, () => new Map())
      return kinds.getOrInsertComputed(kindOf(bucket), () => new Windows(window * 1000)).consume(bucket, limit)
    },
  }
}

/** The part of a bucket before its name. */
function kindOf(bucket: string): string {
  const first = bucket.indexOf(':')
  const second = bucket.indexOf(':', first + 1)
  return bucket.slice(0, Math.max(first, second))
}

// Budgets: sliding windows of 60 seconds with fair shares for their consumers.

/** Past so many buckets idle ones are thrown away. One that is in use never is: its window has to stay exact. */
const maxBudgetBuckets = 10_000
/** How many are looked at for each new one. */
const idleChecks = 4

/** Budgets of this process alone. `clock` in milliseconds; it must not be set back. */
export function memoryBudgets(clock: () => number): Budgets {
  const windows = new Map<string, FairSlidingWindow>()
  const windowOf = (bucket: string, now: number): FairSlidingWindow => {
    const known = windows.get(bucket)
    if (known) return known
    if (windows.size >= maxBudgetBuckets) dropIdle(windows, now)
    const window = new FairSlidingWindow()
    windows.set(bucket, window)
    return window
  }
  return {
    async reserve(bucket, limit, consumer) {
      const now = clock()
      return windowOf(bucket, now).reserve(limit, consumer, now)
    },
  }
}

/** Of the oldest few; those in use go to the end of the line. */
function dropIdle(windows: Map<string, FairSlidingWindow>, now: number): void {
  for (const [bucket, window] of windows.entries().take(idleChecks)) {
    windows.delete(bucket)
    if (!window.isIdle(now)) windows.set(bucket, window)
  }
}

const budgetWindowMs = 60_000
/** A bound on memory: the consumers that were inactive the longest are dropped first. */
const maxConsumers = 100_000

interface Consumer {
  granted: number
  /** Returned by `SlidingWindowCounter.add`. */
  countedAt?: number
}

interface Grant {
  readonly at: number
  readonly consumer: Consumer | undefined
}

/**
 * Calls of the limit that a consumer must leave to others: a fifth, rounded up, if it holds an equal share or more. A single consumer
 * counts as one of two and leaves a fifth, rounded down, so that the next one gets some. Below a limit of ten it leaves none.
 */
function reservedForOthers(limit: number, granted: number, consumers: number): number {
  if (granted < limit / Math.max(consumers, 2)) return 0
  if (consumers >= 2) return Math.ceil(limit / 5)
  return limit < 10 ? 0 : Math.floor(limit / 5)
}

/** Times are milliseconds on any one clock. Constant cost per decision, for 10 and for 100,000 callers (`memory.budgets.test.ts`). */
export class FairSlidingWindow {
  /** In order of time; those before `first` have expired. */
  private grants: Grant[] = []
  private first = 0
  /** Both undefined until the first consumer has a name: a bucket of one key has none, and there are as many as keys. */
  private consumers: BoundedMap<Consumer> | undefined
  private recentConsumers: SlidingWindowCounter | undefined

  /** Reserves one call. Without a name there are no shares: first come, first served. */
  reserve(limit: number, name: string | undefined, now: number): Reservation {
    this.expire(now)
    const consumer = name === undefined ? undefined : this.touch(name, now)
    const used = this.grants.length - this.first
    const free = limit - used
    const reserved = consumer ? reservedForOthers(limit, consumer.granted, this.countRecent(now)) : 0
    if (free > reserved) {
      this.grants.push({ at: now, consumer })
      if (consumer) consumer.granted++
      return { isGranted: true, remaining: free - 1, retryAfter: 0 }
    }
    const oldest = this.grants[this.first]?.at ?? now
    const retryAfter = Math.max(1, Math.ceil((oldest + budgetWindowMs + 1 - now) / 1000))
    return { isGranted: false, remaining: Math.max(0, free), retryAfter }
  }

  isIdle(now: number): boolean {
    this.expire(now)
    return this.grants.length === this.first && this.countRecent(now) === 0
  }

  private countRecent(now: number): number {
    return this.recentConsumers?.count(now) ?? 0
  }

  private touch(name: string, now: number): Consumer {
    this.consumers ??= new BoundedMap<Consumer>({
      share: cacheShares.callers,
      maxEntries: maxConsumers,
      lifetimeMs: budgetWindowMs,
    })
    this.recentConsumers ??= new SlidingWindowCounter(budgetWindowMs / 1000)
    const consumer = this.consumers.get(name, now) ?? this.consumers.set(name, { granted: 0 }, now)
    consumer.countedAt = this.recentConsumers.add(now, consumer.countedAt)
    return consumer
  }

  /** Amortised constant cost: each grant expires once. */
  private expire(now: number): void {
    for (let grant = this.grants[this.first]; grant && now - grant.at > budgetWindowMs; grant = this.grants[++this.first]) {
      if (grant.consumer) grant.consumer.granted--
    }
    if (this.first * 2 <= this.grants.length) return
    this.grants = this.grants.slice(this.first)
    this.first = 0
  }
}

// Verified keys.

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

// Winners of quotes.

/** A bound on memory. For a dropped winner the create requests quotes again. */
const maxWinners = 50_000

interface KeptWinner {
  readonly winner: Winner
  readonly until: number
}

/** Winners of this process. `clock`: monotonic, in milliseconds. */
export function memoryWinners(clock: () => number, lifetimeMs: number): WinnerStore {
  const winners = new BoundedMap<KeptWinner>({ share: cacheShares.winners, maxEntries: maxWinners, lifetimeMs })
  return {
    async save(key, winner) {
      const now = clock()
      winners.set(key, { winner, until: now + lifetimeMs }, now)
    },
    async find(key) {
      const now = clock()
      const kept = winners.get(key, now)
      return kept && now < kept.until ? kept.winner : undefined
    },
  }
}
