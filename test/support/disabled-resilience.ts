/** No budget, breaker or cooldown, so that one request of a test does not affect the next. */
import type { MakeBreaker } from '../../src/core/resilience/breaker.ts'
import type { Budgets } from '../../src/core/resilience/budget-limit.ts'

export const unlimitedBudgets: Budgets = {
  reserve: async () => ({ isGranted: true, remaining: Number.MAX_SAFE_INTEGER, retryAfter: 1 }),
}

export const neverOpenBreaker: MakeBreaker = () => ({
  admission: (next) => next,
  recorder: (next) => next,
  native: { rejectionOf: () => undefined, begin: () => ({ isTrial: false, isProbe: false, end: () => {} }) },
  isFailing: () => false,
})

/** Every cooldown is over at the next call. */
export function fastClock(): () => number {
  let now = 0
  return () => {
    now += 3_600_000
    return now
  }
}
