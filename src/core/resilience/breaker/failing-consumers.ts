import { BoundedMap } from '../../bounded-map.ts'
import { SlidingWindowCounter } from '../budget/sliding-window-counter.ts'

const windowMs = 30_000
/** A bound on memory. */
const maxConsumers = 20_000

interface ConsumerState {
  respondedAt: number
  /** Returned by `SlidingWindowCounter.add`. */
  activeSecond?: number | undefined
  failedSecond?: number | undefined
}

/** Counts the consumers of the last 30 seconds and those with failures only. Constant cost per call. */
export class FailingConsumers {
  private readonly consumers = new BoundedMap<ConsumerState>({ maxEntries: maxConsumers, lifetimeMs: windowMs })
  private readonly active = new SlidingWindowCounter(windowMs / 1000)
  private readonly failing = new SlidingWindowCounter(windowMs / 1000)

  recordResponse(consumer: string, now: number): void {
    const state = this.stateOf(consumer, now)
    state.respondedAt = now
    if (state.failedSecond === undefined) return
    this.failing.remove(now, state.failedSecond)
    state.failedSecond = undefined
  }

  recordFailure(consumer: string, now: number): void {
    const state = this.stateOf(consumer, now)
    if (now - state.respondedAt >= windowMs) state.failedSecond = this.failing.add(now, state.failedSecond)
  }

  /** Whether at least two consumers, and more than half of all, had only failures. */
  isMajority(now: number): boolean {
    const failing = this.failing.count(now)
    return failing >= 2 && failing * 2 > this.active.count(now)
  }

  private stateOf(consumer: string, now: number): ConsumerState {
    const state = this.consumers.get(consumer, now) ?? this.consumers.set(consumer, { respondedAt: Number.NEGATIVE_INFINITY }, now)
    state.activeSecond = this.active.add(now, state.activeSecond)
    return state
  }
}
