/** A sliding window of 60 seconds with fair shares for its consumers, in memory. `adapters/redis/budgets.ts` has the same rule in Redis. */

import { BoundedMap } from '../../../domain/bounded-map.ts'
import { cacheShares } from '../../../domain/cache-memory.ts'
import type { Reservation } from './budgets.ts'
import { SlidingWindowCounter } from './sliding-window-counter.ts'

export const budgetWindowMs = 60_000
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
export function reservedForOthers(limit: number, granted: number, consumers: number): number {
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
