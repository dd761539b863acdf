/** The layers around every call to a provider, outermost first. */
import type { Op, Request } from '../../domain/swap/operations.ts'
import type { Context } from '../../domain/swap/service.ts'
import type { BudgetPolicy } from '../../domain/telemetry/labels.ts'
import type { Observer } from '../../domain/telemetry/observation.ts'
import type { Layer } from '../layer.ts'
import { tracedQueue } from '../traced.ts'
import type { Breaker } from './breaker/breaker.ts'
import type { HealthCheckOp } from './breaker/health-check.ts'
import { budgetLimit } from './budget/budget-limit.ts'
import type { Budgets } from './budget/budgets.ts'
import { bulkhead } from './bulkhead.ts'
import { cooldown } from './cooldown.ts'
import { fetchLimits } from './fetch-limits.ts'
import { retry } from './retry.ts'

export interface ResilienceOptions {
  /** Tag of the provider. */
  readonly provider: string
  /** The provider's timeout. */
  readonly timeoutMs: number
  readonly budget: Readonly<Record<BudgetPolicy, number>>
  readonly budgets: Budgets
  readonly breaker: Pick<Breaker, 'admission' | 'recorder'>
  /** Whether keyed operations are sent with the gateway's own key. */
  readonly usesGatewayKey: boolean
  /** The provider's read that needs the gateway's key and changes nothing. Default: `listTransactions`. */
  readonly keyCheck?: HealthCheckOp | undefined
  /** The calls over HTTP that an operation takes. Default: one. */
  readonly callsOf?: ((op: Op, request: Request<Op>, context: Context) => readonly Op[]) | undefined
  /** Milliseconds on a monotonic clock. */
  readonly clock: () => number
  /** From 0 to 1. */
  readonly random: () => number
  readonly observe: Observer
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
