import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import type { StoreOutage } from '../access/store-outage.ts'
import type { Budgets, Reservation } from './budget-limit.ts'

/** Past so many buckets idle ones are thrown away. One that is in use never is: its window has to stay exact. */
const maxBuckets = 10_000
/** How many are looked at for each new one. */
const idleChecks = 4

/** Budgets of this process alone. `clock` in milliseconds; it must not be set back. */
export function memoryBudgets(clock: () => number): Budgets {
  const windows = new Map<string, FairSlidingWindow>()
  const windowOf = (bucket: string, now: number): FairSlidingWindow => {
    const known = windows.get(bucket)
    if (known) return known
    if (windows.size >= maxBuckets) dropIdle(windows, now)
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

// A sliding window of 60 seconds with fair shares for its consumers, in memory. `adapters/redis/stores.ts` has the same rule in Redis.

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

/** Times are milliseconds on any one clock. Constant cost per decision. */
export class FairSlidingWindow {
  /** In order of time; those before `first` have expired. */
  private grants: Grant[] = []
  private first = 0
  /** Undefined until the first of them has a name. */
  private consumers: BoundedMap<Consumer> | undefined
  private readonly recentConsumers = new SlidingWindowCounter(budgetWindowMs / 1000)

  /** Reserves one call. Without a name there are no shares: first come, first served. */
  reserve(limit: number, name: string | undefined, now: number): Reservation {
    this.expire(now)
    const consumer = name === undefined ? undefined : this.touch(name, now)
    const used = this.grants.length - this.first
    const free = limit - used
    const reserved = consumer ? reservedForOthers(limit, consumer.granted, this.recentConsumers.count(now)) : 0
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
    return this.grants.length === this.first && this.recentConsumers.count(now) === 0
  }

  private touch(name: string, now: number): Consumer {
    this.consumers ??= new BoundedMap<Consumer>({
      share: cacheShares.callers,
      maxEntries: maxConsumers,
      lifetimeMs: budgetWindowMs,
    })
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

/** Counts distinct items of the last seconds. Each item counts once, in the second in which it was last added. */
export class SlidingWindowCounter {
  private readonly counts: Uint32Array
  private second = 0
  private sum = 0

  /** Every method has constant cost. */
  constructor(windowSeconds: number) {
    this.counts = new Uint32Array(windowSeconds)
  }

  /** The number of items. `now` in milliseconds. */
  count(now: number): number {
    this.advance(now)
    return this.sum
  }

  /** Counts an item. `countedAt`: the value that this returned for the same item the last time. */
  add(now: number, countedAt?: number): number {
    this.remove(now, countedAt)
    const at = this.second % this.counts.length
    this.counts[at] = (this.counts[at] ?? 0) + 1
    this.sum++
    return this.second
  }

  remove(now: number, countedAt?: number): void {
    this.advance(now)
    if (countedAt === undefined || countedAt <= this.second - this.counts.length) return
    const at = countedAt % this.counts.length
    this.counts[at] = (this.counts[at] ?? 0) - 1
    this.sum--
  }

  /** Empties the seconds that have passed since the last call. */
  private advance(now: number): void {
    const { counts, second } = this
    const current = Math.max(second, Math.floor(now / 1000))
    for (let passed = Math.max(second + 1, current - counts.length + 1); passed <= current; passed++) {
      const at = passed % counts.length
      this.sum -= counts[at] ?? 0
      counts[at] = 0
    }
    this.second = current
  }
}

// Budgets that continue without the shared store (docs/contract.md §8).

interface BudgetFallbackOptions {
  /** Throws if the store does not respond. */
  readonly shared: Budgets
  /** Of this process alone. */
  readonly local: Budgets
  /** `replicas` (default: 1). */
  readonly replicas: number
  readonly outage: StoreOutage
}

/** Time within which every replica has noticed the loss. */
const slackMs = 2_000

/**
 * While the store is lost, each replica grants its share of each budget, rounded down. A store that comes back with its data is used
 * again at once: it and the shares have granted at most one budget each. A store that comes back empty has lost its counts: until the
 * last minute before the loss is over, the replica's share must grant each call too. So at most two budgets are granted in any 60 s.
 */
export function budgetFallback({ shared, local, replicas, outage }: BudgetFallbackOptions): Budgets {
  let guardedUntil = Number.NEGATIVE_INFINITY
  outage.beforeRecovery(async ({ lostAt, isEmptied }) => {
    if (isEmptied) guardedUntil = lostAt + budgetWindowMs + slackMs
  })
  const reserveLocally: Budgets['reserve'] = (bucket, limit, consumer) =>
    local.reserve(bucket, Math.floor(limit / replicas), consumer)
  const reserveBoth: Budgets['reserve'] = async (bucket, limit, consumer) => {
    const localReservation = await reserveLocally(bucket, limit, consumer)
    if (!localReservation.isGranted) return localReservation
    const sharedReservation = await shared.reserve(bucket, limit, consumer).catch(() => outage.begin())
    if (!sharedReservation) return localReservation
    return { ...sharedReservation, remaining: Math.min(localReservation.remaining, sharedReservation.remaining) }
  }
  return {
    reserve(bucket, limit, consumer) {
      if (outage.state === 'local') return reserveLocally(bucket, limit, consumer)
      if (performance.now() < guardedUntil) return reserveBoth(bucket, limit, consumer)
      return shared.reserve(bucket, limit, consumer).catch(() => {
        outage.begin()
        return reserveLocally(bucket, limit, consumer)
      })
    },
  }
}
