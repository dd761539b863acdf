/** A provider that has had enough is left alone for as long as it says, and one that refuses the gateway's key for a while. */

import { Fault } from '../../domain/faults/fault.ts'
import { keyed, type Op } from '../../domain/swap/operations.ts'
import { policyOf } from '../../domain/swap/policy.ts'
import type { Context, SwapService } from '../../domain/swap/service.ts'
import type { BudgetPolicy, Observer } from '../../domain/telemetry/observation.ts'
import { aroundAll, type Layer } from '../layer.ts'
import { rejectLocally } from '../local-rejection.ts'
import { healthCheck } from './breaker/health-check.ts'

export interface CooldownOptions {
  /** Tag of the provider. */
  readonly provider: string
  /** Whether what needs a key goes up with the gateway's own; else what is said to a client's is about that client alone. */
  readonly usesGatewayKey: boolean
  /** The provider's, in milliseconds. */
  readonly timeoutMs: number
  /** Milliseconds, on a clock that is never set back. */
  readonly clock: () => number
  readonly observe: Observer
}

/** However long a provider asks for, it is tried again after so many milliseconds. */
const maxCooldownMs = 3_600_000
const keyRefusedCooldownMs = 30_000
/** Milliseconds from one look at the gateway's own key to the next. */
const keyCheckIntervalMs = 10_000

/**
 * A 429 rests its row of limits (docs/service.md §8), a refusal of the gateway's own key all of them. What a client's call is
 * answered may be about that call: the key counts as refused where a read of the gateway's own is. Throws `unavailable`, for certain.
 */
export function cooldown(options: CooldownOptions): Layer {
  const { provider, usesGatewayKey, clock, observe } = options
  const refuse = rejectLocally(provider, 'cooldown', observe)
  const cooldownUntil: Record<BudgetPolicy, number> = { quotes: 0, create: 0, read: 0 }
  const startCooldown = (policies: readonly BudgetPolicy[], durationMs: number): void => {
    for (const policy of policies)
      cooldownUntil[policy] = Math.max(cooldownUntil[policy], clock() + Math.min(durationMs, maxCooldownMs))
  }
  const checkKey = keyChecker(options, () => {
    observe({ what: 'cooldown', provider, reason: 'keyRefused' })
    startCooldown(['quotes', 'create', 'read'], keyRefusedCooldownMs)
  })
  const noteFailure = (
    op: Op,
    { kind, retryAfter = 1, provider: respondedBy }: Fault,
    context: Context,
    next: SwapService,
  ): void => {
    if (kind === 'limited' && (usesGatewayKey || !keyed.has(op))) {
      observe({ what: 'cooldown', provider, reason: 'limited' })
      startCooldown([policyOf[op]], retryAfter * 1000)
    }
    if (usesGatewayKey && keyed.has(op) && respondedBy !== undefined && kind === 'unauthorized') checkKey(next, context)
  }
  return aroundAll((op, request, context, next) => {
    const remainingMs = cooldownUntil[policyOf[op]] - clock()
    if (remainingMs > 0) return Promise.reject(refuse(remainingMs))
    return next.call(op, request, context).catch((reason) => {
      noteFailure(op, Fault.from(reason), context, next)
      throw reason
    })
  })
}

/** Reads with the gateway's own key, and calls back where it is refused. */
function keyChecker(
  { clock, timeoutMs }: CooldownOptions,
  onRefusal: () => void,
): (service: SwapService, context: Context) => void {
  let checkedAt = Number.NEGATIVE_INFINITY
  return (service, { clientCapabilities: client }) => {
    if (clock() - checkedAt < keyCheckIntervalMs) return
    checkedAt = clock()
    healthCheck('listTransactions', service, client, timeoutMs).catch((reason) => {
      const { kind, provider } = Fault.from(reason)
      if (kind === 'unauthorized' && provider !== undefined) onRefusal()
    })
  }
}
