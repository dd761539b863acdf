/** A sliding window of 60 seconds that several askers share: the rule, in memory. `adapters/redis/budgets.ts` has it in Redis. */

import { BoundedMap } from '../../bounded-map.ts'
import type { Reservation } from './budgets.ts'
import { SlidingWindowCounter } from './sliding-window-counter.ts'

/** Milliseconds. */
export const budgetWindowMs = 60_000
/** A bound on memory: those who asked longest ago are forgotten first. */
const maxConsumers = 100_000

interface Consumer {
  granted: number
  /** What `RecentCount` returned for it. */
  countedAt?: number
}

interface Grant {
  readonly at: number
  readonly consumer: Consumer | undefined
}

/**
 * How many calls of the limit an asker leaves to others: the last fifth, rounded up, if it holds an equal share or more. One that is
 * alone counts as one of two, and leaves the fifth rounded down: the next asker has to find something. Below ten calls it leaves nothing.
 */
export function reservedForOthers(limit: number, granted: number, consumers: number): number {
  if (granted < limit / Math.max(consumers, 2)) return 0
  if (consumers >= 2) return Math.ceil(limit / 5)
  return limit < 10 ? 0 : Math.floor(limit / 5)
}

/** Times are milliseconds on any one clock. A decision costs the same, however many askers there are. */
export class FairSlidingWindow {
  /** In the order in which they were made; those before `first` are over. */
  private grants: Grant[] = []
  private first = 0
  private readonly consumers = new BoundedMap<Consumer>({ maxEntries: maxConsumers, lifetimeMs: budgetWindowMs })
  private readonly recentConsumers = new SlidingWindowCounter(budgetWindowMs / 1000)

  /** Without a name the window is not shared: first come, first served. */
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
    const consumer = this.consumers.get(name, now) ?? this.consumers.set(name, { granted: 0 }, now)
    consumer.countedAt = this.recentConsumers.add(now, consumer.countedAt)
    return consumer
  }

  /** Each grant is forgotten once. */
  private expire(now: number): void {
    for (let grant = this.grants[this.first]; grant && now - grant.at > budgetWindowMs; grant = this.grants[++this.first]) {
      if (grant.consumer) grant.consumer.granted--
    }
    if (this.first * 2 <= this.grants.length) return
    this.grants = this.grants.slice(this.first)
    this.first = 0
  }
}
