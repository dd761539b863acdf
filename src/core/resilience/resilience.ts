/** The layers around every call to a provider, outermost first. */
import type { Layer } from '../layer.ts'
import { tracedQueue } from '../traced.ts'
import type { Breaker } from './breaker/breaker.ts'
import { type BudgetLimitOptions, budgetLimit } from './budget/budget-limit.ts'
import { bulkhead } from './bulkhead.ts'
import { type CooldownOptions, cooldown } from './cooldown.ts'
import { fetchLimits } from './fetch-limits.ts'
import { renewQuote } from './renew-quote.ts'
import { type RetryOptions, retry } from './retry.ts'

export interface ResilienceOptions extends RetryOptions, CooldownOptions, BudgetLimitOptions {
  readonly breaker: Pick<Breaker, 'admission' | 'recorder'>
}

/** The size of the connection pool. A waiting call costs less than a rejected one that is retried at once. */
const maxConcurrent = 128
const maxQueued = 4_096
const queueTimeoutMs = 1_000

/** Returns the layers, outermost first. Rejections by the gateway itself are `unavailable` with `noEffect`. */
export function resilience(options: ResilienceOptions): readonly Layer[] {
  const { provider, observe } = options
  const { admission, recorder } = options.breaker
  return [
    retry(options), // a failed read, once more, within the retry budget
    fetchLimits(), // a create that is refused for its amount: the limits, if they are missing
    renewQuote(), // a create whose own quote is over: once more, with a new one
    cooldown(options), // waits after a 429 or a refused gateway key
    admission, // circuit breaker: rejects while open
    tracedQueue(
      [
        bulkhead({ provider, maxConcurrent, maxQueued, queueTimeoutMs, observe }), // concurrent calls
        budgetLimit(options), // calls in 60 s
      ],
      provider,
    ),
    recorder, // circuit breaker: counts results
  ]
}
