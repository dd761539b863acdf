import { BoundedMap } from '../../../domain/bounded-map.ts'
import { cacheShares } from '../../../domain/cache-memory.ts'
import { SlidingWindowCounter } from '../budget/sliding-window-counter.ts'

const windowMs = 30_000
/** A bound on memory. */
const maxCallers = 20_000

interface CallerState {
  respondedAt: number
  /** Returned by `SlidingWindowCounter.add`. */
  activeSecond?: number | undefined
  failedSecond?: number | undefined
}

/** All callers that are not verified. */
const unverified = ''

/**
 * Counts the callers of the last 30 seconds and those with failures only. Constant cost per call. All unverified callers (`undefined`)
 * are one, and only their responses count: their failures may be those of a verified one without its key.
 */
export class FailingCallers {
  private readonly callers = new BoundedMap<CallerState>({
    share: cacheShares.callers,
    maxEntries: maxCallers,
    lifetimeMs: windowMs,
  })
  private readonly active = new SlidingWindowCounter(windowMs / 1000)
  private readonly failing = new SlidingWindowCounter(windowMs / 1000)

  recordResponse(caller: string | undefined, now: number): void {
    const state = this.stateOf(caller ?? unverified, now)
    state.respondedAt = now
    if (state.failedSecond === undefined) return
    this.failing.remove(now, state.failedSecond)
    state.failedSecond = undefined
  }

  recordFailure(caller: string | undefined, now: number): void {
    if (caller === undefined) return
    const state = this.stateOf(caller, now)
    if (now - state.respondedAt >= windowMs) state.failedSecond = this.failing.add(now, state.failedSecond)
  }

  /** Whether at least two verified callers, and more than half of all, had only failures. */
  isMajority(now: number): boolean {
    const failing = this.failing.count(now)
    return failing >= 2 && failing * 2 > this.active.count(now)
  }

  private stateOf(caller: string, now: number): CallerState {
    const state = this.callers.get(caller, now) ?? this.callers.set(caller, { respondedAt: Number.NEGATIVE_INFINITY }, now)
    state.activeSecond = this.active.add(now, state.activeSecond)
    return state
  }
}
