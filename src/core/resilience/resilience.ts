/** The layers around every call to a provider, outermost first. */

import { resends } from '../../domain/call-options.ts'
import { withValue } from '../../domain/context-values.ts'
import { Fault, faultTable, isHeldBack, quoteExpired, standardFault } from '../../domain/fault.ts'
import type { BudgetPolicy } from '../../domain/observation.ts'
import { policyOf } from '../../domain/policy.ts'
import { type Context, keyed, type Op, type SwapService } from '../../domain/service.ts'
import { aroundAll, type Layer, onOperations, rejectLocally } from '../layer.ts'
import type { UpstreamScope } from '../provider-scope.ts'
import { tracedQueue } from '../traced.ts'
import { explainRefusedAmounts } from './amount-range.ts'
import type { Breaker } from './breaker.ts'
import { type Budgets, budgetLimit } from './budget-limit.ts'
import { bulkhead } from './bulkhead.ts'
import type { KeyCheck } from './health-check.ts'

/** Returns the layers, outermost first. Rejections by the gateway itself are `unavailable`: nothing was sent. */
export function resilience(
  upstream: UpstreamScope,
  budgets: Budgets,
  keyCheck: KeyCheck,
  { admission, recorder }: Pick<Breaker, 'admission' | 'recorder'>,
): readonly Layer[] {
  const { maxConcurrentCalls: maxConcurrent, maxPendingCalls: maxQueued, maxWaitDuration } = upstream.configured.bulkhead
  const maxWaitMs = maxWaitDuration * 1000
  return [
    retry(upstream), // a failed read, once more, within the retry budget
    explainRefusedAmounts(upstream), // an amount that is refused: its limits, if the refusal does not name them
    renewQuote(), // a create whose own quote is over: once more, with a new one
    cooldown(upstream, keyCheck, maxWaitMs), // rests after a 429 or a refused gateway key
    admission, // circuit breaker: rejects while open
    tracedQueue(
      [
        bulkhead(upstream, { maxConcurrent, maxQueued, queueTimeoutMs: maxWaitMs }), // concurrent calls
        budgetLimit(upstream, budgets), // calls in 60 s
      ],
      upstream.tag,
    ),
    recorder, // circuit breaker: counts results
  ]
}

// Retries a failed read once, within the retry budget (docs/contract-operators.md §8).

/** The retry is sent after a random pause of at most this time (Envoy's value). */
const maxPauseMs = 25

/**
 * Never retries a create: it may have had an effect. Reads have none, but a refusal would be repeated, and a retry after the
 * deadline has no reader. The retry budget keeps retries from multiplying the load on a failing provider.
 */
export function retry({ tag: provider, steadyClock: clock, random, observe }: UpstreamScope): Layer {
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
      return next.call(op, request, withValue(context, resends, 1)).catch((secondFailure) => {
        throw isHeldBack(Fault.from(secondFailure)) ? reason : secondFailure
      })
    })
  })
}

/** Whether the same call may succeed: the provider failed or could not be reached, and did not refuse the request. */
function isRetryable({ kind, effect }: Fault): boolean {
  return faultTable[kind].isRetried && effect !== 'refused'
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

// Sends a create once more, with a new quote, if the gateway's own quote for it does not hold any more (docs/contract.md §16). A firm one
// is the client's: it gets no other.

/** Outside of the budget, so that both quotes and both creates are spent. The first one was refused: nothing was created. */
export function renewQuote(): Layer {
  return onOperations({
    createTransaction: (request, context, next) =>
      next.call('createTransaction', request, context).catch((reason) => {
        if (!isQuoteExpired(reason)) throw reason
        if (request.quoteId !== undefined) throw refusedFirmQuote(Fault.from(reason))
        return next.call('createTransaction', request, context).catch((second) => {
          throw isQuoteExpired(second) ? refusedQuote(Fault.from(second)) : second
        })
      }),
  })
}

function isQuoteExpired(reason: unknown): boolean {
  return Fault.from(reason).refusal === 'quoteExpired'
}

function refusedFirmQuote(cause: Fault): Fault {
  const { provider } = cause
  return quoteExpired({ cause, ...(provider !== undefined && { provider }) })
}

/** The client did not choose the quote, so its request is not at fault. */
function refusedQuote(cause: Fault): Fault {
  const { provider } = cause
  return standardFault('failed', { effect: 'refused', cause, ...(provider !== undefined && { provider }) })
}

// A cooldown after a provider's 429 (as long as its Retry-After) and after a refusal of the gateway's key.

/** The longest cooldown, even if the provider requests a longer one. */
const maxCooldownMs = 3_600_000
const keyRefusedCooldownMs = 30_000

/**
 * A 429 starts a cooldown for its policy (docs/service.md §8), a refusal of the gateway's key for all policies. A 401 or 403
 * may be about one call or one operation: `keyCheck` decides. Where clients send their own keys, a 429 or 401 is about that key only. Throws
 * `unavailable` during a cooldown. A create waits for its end if that comes within `maxWaitMs`: a limit may be one per second.
 */
export function cooldown(
  { tag: provider, usesGatewayKey, steadyClock: clock, observe }: UpstreamScope,
  keyCheck: KeyCheck,
  maxWaitMs: number,
): Layer {
  const { cooldownUntil } = keyCheck.health
  const refuse = rejectLocally(provider, 'cooldown', observe)
  const startCooldown = (policies: readonly BudgetPolicy[], durationMs: number): void => {
    for (const policy of policies)
      cooldownUntil[policy] = Math.max(cooldownUntil[policy], clock() + Math.min(durationMs, maxCooldownMs))
  }
  const checkKey = async (next: SwapService, context: Context): Promise<void> => {
    if (!(await keyCheck.isKeyRefused(next, context))) return
    observe({ what: 'cooldown', provider, reason: 'keyRefused' })
    startCooldown(['quotes', 'create', 'read'], keyRefusedCooldownMs)
  }
  const recordFailure = (
    op: Op,
    { kind, retryAfter = 1, provider: respondedBy }: Fault,
    context: Context,
    next: SwapService,
  ): void => {
    if (kind === 'limited' && (usesGatewayKey || !keyed.has(op))) {
      observe({ what: 'cooldown', provider, reason: 'limited' })
      startCooldown([policyOf[op]], retryAfter * 1000)
    }
    if (!usesGatewayKey || !keyed.has(op) || respondedBy === undefined || kind !== 'unauthorized') return
    if (op === 'listTransactions') keyCheck.noteListRefused()
    else void checkKey(next, context)
  }
  const remainingMsOf = (op: Op): number => cooldownUntil[policyOf[op]] - clock()
  const isAwaited = (op: Op, remainingMs: number, { deadline }: Context): boolean =>
    op === 'createTransaction' && remainingMs <= maxWaitMs && performance.now() + remainingMs < deadline
  return aroundAll(async function cooldown(op, request, context, next) {
    const remainingMs = remainingMsOf(op)
    if (remainingMs > 0) {
      if (!isAwaited(op, remainingMs, context)) throw refuse(remainingMs)
      await new Promise((resolve) => setTimeout(resolve, Math.ceil(remainingMs) + 1))
      const nextRemainingMs = remainingMsOf(op)
      if (nextRemainingMs > 0) throw refuse(nextRemainingMs)
    }
    return next.call(op, request, context).then(
      (response) => {
        if (usesGatewayKey) keyCheck.noteAccepted(op, request, 'id' in response.body ? response.body.id : undefined)
        return response
      },
      (reason) => {
        recordFailure(op, Fault.from(reason), context, next)
        throw reason
      },
    )
  })
}
