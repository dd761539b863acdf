/** A sliding window of 60 seconds that several callers share: the rule, in memory. `adapters/redis/budgets.ts` has it in Redis. */
import type { Budgets, Reservation } from './budget.ts'

/** Milliseconds. */
export const budgetWindow = 60_000
/** For so long a refusal is remembered of one who keeps asking. */
const memory = 5 * budgetWindow
/** A bound on memory, in callers for each call of the limit; those beyond it have no claim. */
const mostCallersPerCall = 4

interface Caller {
  held: number
  /** Calls asked for, granted or not, in the minute that began at `since` and in the one before. */
  asked: number
  askedBefore: number
  since: number
  refusedAt: number
}

/** Times are milliseconds on any one clock. */
export class Allotment {
  private readonly grants: { readonly at: number; readonly caller: string }[] = []
  private readonly callers = new Map<string, Caller>()

  /**
   * A caller who holds less than an equal share of the limit gets what is free. At or above it he gets what is free beyond what
   * is kept for those who were refused in the last five minutes: for each as much as he asks in a minute, up to his share. The
   * shares are those of whoever holds something or was refused. So while nobody is refused nothing is kept, and one who takes all
   * cannot take what comes free for the others.
   */
  reserve(limit: number, name: string, now: number): Reservation {
    this.forget(now)
    const caller = this.callerOf(limit, name, now)
    const free = limit - this.grants.length
    const isGranted = free > 0 && (caller.held === 0 || free > this.keptFor(limit, name, caller, now))
    caller.asked = Math.min(caller.asked + 1, limit)
    if (isGranted) {
      this.grants.push({ at: now, caller: name })
      caller.held++
      return { isGranted, remaining: free - 1, retryAfter: 0 }
    }
    caller.refusedAt = now
    const oldest = this.grants[0]?.at ?? now
    return { isGranted, remaining: 0, retryAfter: Math.max(1, Math.ceil((oldest + budgetWindow + 1 - now) / 1000)) }
  }

  get isIdle(): boolean {
    return this.grants.length === 0 && this.callers.size === 0
  }

  forget(now: number): void {
    const kept = this.grants.findIndex(({ at }) => now - at <= budgetWindow)
    for (const { caller } of this.grants.splice(0, kept < 0 ? this.grants.length : kept)) {
      const known = this.callers.get(caller)
      if (known) known.held--
    }
    for (const [name, caller] of this.callers) {
      turn(caller, now)
      if (caller.held === 0 && caller.asked + caller.askedBefore === 0) this.callers.delete(name)
    }
  }

  private callerOf(limit: number, name: string, now: number): Caller {
    const known = this.callers.get(name)
    if (known) return known
    const caller = { held: 0, asked: 0, askedBefore: 0, since: now, refusedAt: Number.NEGATIVE_INFINITY }
    if (this.callers.size < mostCallersPerCall * limit) this.callers.set(name, caller)
    return caller
  }

  /** 0 for one who holds less than his share. */
  private keptFor(limit: number, name: string, own: Caller, now: number): number {
    const isWaiting = (caller: Caller): boolean => now - caller.refusedAt <= memory
    const others = [...this.callers].filter(([other]) => other !== name).map(([, caller]) => caller)
    const contenders = others.filter((caller) => caller.held > 0 || isWaiting(caller)).length + 1
    const share = Math.max(1, Math.floor(limit / contenders))
    if (own.held < share) return 0
    return others
      .filter(isWaiting)
      .map(({ held, asked, askedBefore }) => Math.max(0, Math.min(share, Math.max(asked, askedBefore)) - held))
      .reduce((sum, kept) => sum + kept, 0)
  }
}

/** Counts of two minutes ago are forgotten. */
function turn(caller: Caller, now: number): void {
  const minutes = Math.floor((now - caller.since) / budgetWindow)
  if (minutes <= 0) return
  caller.askedBefore = minutes === 1 ? caller.asked : 0
  caller.asked = 0
  caller.since += minutes * budgetWindow
}

/** A bound on memory: past it, idle buckets are thrown away. */
const mostBuckets = 10_000

/** Budgets of this process alone. `clock` in milliseconds; it must not be set back. */
export function memoryBudgets(clock: () => number): Budgets {
  const allotments = new Map<string, Allotment>()
  const allotmentOf = (bucket: string, now: number): Allotment => {
    const known = allotments.get(bucket)
    if (known) return known
    if (allotments.size >= mostBuckets) dropIdle(allotments, now)
    const allotment = new Allotment()
    allotments.set(bucket, allotment)
    return allotment
  }
  return {
    async reserve(bucket, limit, caller) {
      const now = clock()
      return allotmentOf(bucket, now).reserve(limit, caller, now)
    },
  }
}

function dropIdle(allotments: Map<string, Allotment>, now: number): void {
  for (const [bucket, allotment] of allotments) {
    allotment.forget(now)
    if (allotment.isIdle) allotments.delete(bucket)
  }
}
