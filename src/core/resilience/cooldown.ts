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
import type { AccountHealth } from './account-health.ts'
import type { KeyCheck } from './key-check.ts'

export interface CooldownOptions extends ProviderLayerOptions {
  /** Whether keyed operations are sent with the gateway's own key. Otherwise a 429 or 401 is about that client's key only. */
  readonly usesGatewayKey: boolean
  readonly keyCheck: KeyCheck
  /** The cooldowns of the provider's account. */
  readonly health: Pick<AccountHealth, 'cooldownUntil'>
  readonly clock: SteadyClock
}

/** The longest cooldown, even if the provider requests a longer one. */
const maxCooldownMs = 3_600_000
const keyRefusedCooldownMs = 30_000

/**
 * A 429 starts a cooldown for its policy (docs/service.md §8), a refusal of the gateway's key for all policies. A 401 or 403
 * may be about one call or one operation: `key-check.ts` decides. Throws `unavailable` with `noEffect` during a cooldown.
 */
export function cooldown(options: CooldownOptions): Layer {
  const { provider, usesGatewayKey, keyCheck, clock, observe } = options
  const { cooldownUntil } = options.health
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
  return aroundAll(function cooldown(op, request, context, next) {
    const remainingMs = cooldownUntil[policyOf[op]] - clock()
    if (remainingMs > 0) return Promise.reject(refuse(remainingMs))
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
