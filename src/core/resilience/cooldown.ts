/** A cooldown after a provider's 429 (as long as its Retry-After) and after a refusal of the gateway's key. */

import { Fault } from '../../domain/faults/fault.ts'
import { keyed, type Op } from '../../domain/swap/operations.ts'
import { policyOf } from '../../domain/swap/policy.ts'
import type { Context, SwapService } from '../../domain/swap/service.ts'
import type { BudgetPolicy } from '../../domain/telemetry/labels.ts'
import type { SteadyClock } from '../clock.ts'
import { aroundAll, type Layer } from '../layer.ts'
import type { ProviderLayerOptions } from '../layer-options.ts'
import { rejectLocally } from '../local-rejection.ts'
import { type HealthCheckOptions, healthCheck } from './breaker/health-check.ts'

export interface CooldownOptions extends ProviderLayerOptions, HealthCheckOptions {
  /** Whether keyed operations are sent with the gateway's own key. Otherwise a 429 or 401 is about that client's key only. */
  readonly usesGatewayKey: boolean
  readonly clock: SteadyClock
}

/** The longest cooldown, even if the provider requests a longer one. */
const maxCooldownMs = 3_600_000
const keyRefusedCooldownMs = 30_000
/** Shortest interval between two checks of the gateway's key. */
const keyCheckIntervalMs = 10_000

/**
 * A 429 starts a cooldown for its policy (docs/service.md §8), a refusal of the gateway's key for all policies. A 401 to a client's
 * call may be about that call, so the key counts as refused only if the gateway's own read is refused too. Throws `unavailable`
 * with `noEffect` during a cooldown.
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
    if (usesGatewayKey && keyed.has(op) && respondedBy !== undefined && kind === 'unauthorized') checkKey(next, context)
  }
  return aroundAll(function cooldown(op, request, context, next) {
    const remainingMs = cooldownUntil[policyOf[op]] - clock()
    if (remainingMs > 0) return Promise.reject(refuse(remainingMs))
    return next.call(op, request, context).catch((reason) => {
      recordFailure(op, Fault.from(reason), context, next)
      throw reason
    })
  })
}

/** Returns a function that reads with the gateway's own key and calls `onRefusal` if the key is refused. */
function keyChecker(
  { clock, timeoutMs, keyCheck = 'listTransactions' }: CooldownOptions,
  onRefusal: () => void,
): (service: SwapService, context: Context) => void {
  let checkedAt = Number.NEGATIVE_INFINITY
  return (service, { clientCapabilities: client }) => {
    if (clock() - checkedAt < keyCheckIntervalMs) return
    checkedAt = clock()
    healthCheck(keyCheck, service, client, timeoutMs).catch((reason) => {
      const { kind, provider } = Fault.from(reason)
      if (kind === 'unauthorized' && provider !== undefined) onRefusal()
    })
  }
}
