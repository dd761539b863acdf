/** Nothing is bounded and nothing is rested, so that every request of a test is its own. */
import type { MakeBreaker } from '../../src/core/resilience/breaker/breaker.ts'
import type { Budgets } from '../../src/core/resilience/budget/budgets.ts'

export const unbounded: Budgets = {
  reserve: async () => ({ isGranted: true, remaining: Number.MAX_SAFE_INTEGER, retryAfter: 1 }),
}

export const neverOpen: MakeBreaker = () => ({
  admission: (next) => next,
  recorder: (next) => next,
  native: { rejectionOf: () => undefined, begin: () => ({ isTrial: false, end: () => {} }) },
})

/** Every rest is over when the next call comes. */
export function hastyClock(): () => number {
  let now = 0
  return () => {
    now += 3_600_000
    return now
  }
}
