/** Budgets towards a provider: every call that goes up is paid for before it is sent (docs/contract.md §8). */

import { keyed, type Op } from '../../../domain/swap/operations.ts'
import { policyOf } from '../../../domain/swap/policy.ts'
import type { Context } from '../../../domain/swap/service.ts'
import { reservedForGatewayReads } from '../../../domain/telemetry/gateway-reads.ts'
import { type BudgetPolicy, budgetPolicies, type Observer } from '../../../domain/telemetry/observation.ts'
import { aroundAll, type Layer } from '../../layer.ts'
import { rejectLocally } from '../../local-rejection.ts'
import type { Budgets, Reservation } from './budgets.ts'
import { consumerOf } from './consumer.ts'

export interface BudgetLimitOptions {
  readonly budgets: Budgets
  /** Tag of the provider. */
  readonly provider: string
  /** Calls in any 60 seconds; 0 is no bound. */
  readonly budget: Readonly<Record<BudgetPolicy, number>>
  /** Whether keys are issued here; else they are the provider's, which counts by them what needs one. */
  readonly usesGatewayKey: boolean
  readonly observe: Observer
}

/** What the gateway is called among askers, beyond what is kept for it. */
const gatewayConsumer = ''
const windowSeconds = 60

/** Throws `unavailable`, for certain, where the budget is used up. */
export function budgetLimit({ budgets, provider, budget, usesGatewayKey, observe }: BudgetLimitOptions): Layer {
  const refuse = rejectLocally(provider, 'budget', observe)
  // What is left is told from the start, also where only the gateway's own reads go up.
  for (const policy of usesGatewayKey ? budgetPolicies : (['quotes'] as const)) {
    const limit = budget[policy]
    if (limit > 0) observe({ what: 'budget', provider, policy, remaining: limit - reservedForGatewayReads(policy, limit) })
  }
  const reserve = async (op: Op, { caller, isGatewayCall: isOwn, isReservedOnly = false }: Context): Promise<Reservation> => {
    const policy = policyOf[op]
    const isPerKey = !usesGatewayKey && keyed.has(op)
    const bucket = isPerKey ? `${provider}:${policy}:${caller.identity}` : `${provider}:${policy}`
    const reservedForGateway = reservedForGatewayReads(policy, budget[policy])
    if (isOwn && reservedForGateway > 0) {
      const reservation = await budgets.reserve(`${bucket}:own`, reservedForGateway)
      if (reservation.isGranted || isReservedOnly) return reservation
    }
    if (isReservedOnly) return { isGranted: false, remaining: 0, retryAfter: windowSeconds }
    // Who has a bucket alone shares it with nobody; nor does the gateway compete where nothing is kept for it.
    const consumer =
      isPerKey || (isOwn && reservedForGateway === 0) ? undefined : isOwn ? gatewayConsumer : consumerOf(op, caller, usesGatewayKey)
    const reservation = await budgets.reserve(bucket, budget[policy] - reservedForGateway, consumer)
    // Of many buckets, one for each key, no single one says what is left.
    if (!isPerKey) observe({ what: 'budget', provider, policy, remaining: reservation.remaining })
    return reservation
  }
  return aroundAll((op, request, context, next) => {
    if (budget[policyOf[op]] === 0) return next.call(op, request, context)
    return reserve(op, context).then(({ isGranted, retryAfter }) => {
      if (!isGranted) throw refuse(retryAfter * 1000)
      return next.call(op, request, context)
    })
  })
}
