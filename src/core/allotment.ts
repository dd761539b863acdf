/** A sliding window of 60 seconds that several askers share: the rule, in memory. `adapters/redis/budgets.ts` has it in Redis. */

import { BoundedMap } from './bounded-map.ts'
import type { Reservation } from './budget.ts'
import { RecentCount } from './recent-count.ts'

/** Milliseconds. */
export const budgetWindow = 60_000
/** A bound on memory: those who asked longest ago are forgotten first. */
const mostAskers = 100_000

interface Asker {
  held: number
  /** What `RecentCount` returned for it. */
  seen?: number
}

interface Grant {
  readonly at: number
  readonly asker: Asker | undefined
}

/**
 * How many calls of the limit an asker leaves to others: the last fifth, rounded up, if it holds an equal share or more. One that is
 * alone counts as one of two, and leaves the fifth rounded down: the next asker has to find something. Below ten calls it leaves nothing.
 */
export function leftToOthers(limit: number, held: number, askers: number): number {
  if (held < limit / Math.max(askers, 2)) return 0
  if (askers >= 2) return Math.ceil(limit / 5)
  return limit < 10 ? 0 : Math.floor(limit / 5)
}

/** Times are milliseconds on any one clock. A decision costs the same, however many askers there are. */
export class Allotment {
  /** In the order in which they were made; those before `first` are over. */
  private grants: Grant[] = []
  private first = 0
  private readonly askers = new BoundedMap<Asker>({ maxEntries: mostAskers, lifetimeMs: budgetWindow })
  private readonly recent = new RecentCount(budgetWindow / 1000)

  /** Without a name the window is not shared: first come, first served. */
  reserve(limit: number, name: string | undefined, now: number): Reservation {
    this.forget(now)
    const asker = name === undefined ? undefined : this.see(name, now)
    const used = this.grants.length - this.first
    const free = limit - used
    const left = asker ? leftToOthers(limit, asker.held, this.recent.count(now)) : 0
    if (free > left) {
      this.grants.push({ at: now, asker })
      if (asker) asker.held++
      return { isGranted: true, remaining: free - 1, retryAfter: 0 }
    }
    const oldest = this.grants[this.first]?.at ?? now
    const retryAfter = Math.max(1, Math.ceil((oldest + budgetWindow + 1 - now) / 1000))
    return { isGranted: false, remaining: Math.max(0, free), retryAfter }
  }

  isIdle(now: number): boolean {
    this.forget(now)
    return this.grants.length === this.first && this.recent.count(now) === 0
  }

  private see(name: string, now: number): Asker {
    const asker = this.askers.get(name, now) ?? this.askers.set(name, { held: 0 }, now)
    asker.seen = this.recent.add(now, asker.seen)
    return asker
  }

  /** Each grant is forgotten once. */
  private forget(now: number): void {
    for (let grant = this.grants[this.first]; grant && now - grant.at > budgetWindow; grant = this.grants[++this.first]) {
      if (grant.asker) grant.asker.held--
    }
    if (this.first * 2 <= this.grants.length) return
    this.grants = this.grants.slice(this.first)
    this.first = 0
  }
}
