/** Retries a failed read once, within the retry budget (docs/contract.md §8). */
import { Fault, type FaultKind } from '../../domain/faults/fault.ts'
import { aroundAll, type Layer } from '../layer.ts'
import type { ProviderLayerOptions, Timing } from '../layer-options.ts'

export type RetryOptions = ProviderLayerOptions & Timing

const retryable: ReadonlySet<FaultKind> = new Set<FaultKind>(['unreachable', 'unreadable', 'failed'])
/** The retry is sent after a random pause of at most this time (Envoy's value). */
const maxPauseMs = 25

/**
 * Never retries a create: it may have had an effect. Reads have none, but a refusal would be repeated, and a retry after the
 * deadline has no reader. The retry budget keeps retries from multiplying the load on a failing provider.
 *
 * @example
 *     const layer = retry({ provider: 'alpha', clock: () => performance.now(), random: Math.random, observe })
 *     const service = compose([layer], provider)
 */
export function retry({ provider, clock, random, observe }: RetryOptions): Layer {
  const retryBudget = new RetryBudget(clock)
  const takeFromBudget = (): boolean => {
    const isMade = retryBudget.tryTake()
    observe({ what: 'retry', provider, isMade })
    return isMade
  }
  return aroundAll(function retry(op, request, context, next) {
    if (op === 'createTransaction') return next.call(op, request, context)
    retryBudget.countCall()
    return next.call(op, request, context).catch(async (reason) => {
      const pauseMs = maxPauseMs * random()
      const hasTime = performance.now() + pauseMs < context.deadline
      if (!isRetryable(Fault.from(reason)) || !hasTime || !takeFromBudget()) throw reason
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      return next.call(op, request, { ...context, resends: 1 }).catch((secondFailure) => {
        throw Fault.from(secondFailure).mayFailOver ? reason : secondFailure
      })
    })
  })
}

/** Whether the same call may succeed: the provider failed or could not be reached, and did not refuse the request. */
function isRetryable({ kind, noEffect }: Fault): boolean {
  const isRefusal = noEffect && kind !== 'unreachable'
  return retryable.has(kind) && !isRefusal
}

const windowSeconds = 10
const maxRetryShare = 0.2

/** A retry budget: a share of the calls of the last ten seconds, and always one per second. */
class RetryBudget {
  private readonly clock: () => number
  private readonly calls = new Float64Array(windowSeconds)
  private readonly retries = new Float64Array(windowSeconds)
  private second = 0

  constructor(clock: () => number) {
    this.clock = clock
  }

  countCall(): void {
    const at = this.advance()
    this.calls[at] = (this.calls[at] ?? 0) + 1
  }

  tryTake(): boolean {
    const at = this.advance()
    const retryCount = this.retries[at] ?? 0
    if (retryCount > 0 && sum(this.retries) + 1 > maxRetryShare * sum(this.calls)) return false
    this.retries[at] = retryCount + 1
    return true
  }

  /** The index of this second. Seconds that passed since the last call are set to 0. */
  private advance(): number {
    const now = Math.floor(this.clock() / 1000)
    for (let passed = Math.max(this.second + 1, now - windowSeconds + 1); passed <= now; passed++) {
      this.calls[passed % windowSeconds] = 0
      this.retries[passed % windowSeconds] = 0
    }
    this.second = now
    return now % windowSeconds
  }
}

function sum(counts: Float64Array): number {
  return counts.reduce((total, count) => total + count, 0)
}
