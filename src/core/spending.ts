/** Budgets towards a provider: every call that goes up is paid for before it is sent (docs/contract.md §8). */
import { budgetPolicies, type Observer } from '../domain/observation.ts'
import { type Context, keyed, type Op } from '../domain/operations.ts'
import { keptForOwnReads } from '../domain/own-reads.ts'
import { askerOf } from './asker.ts'
import type { Budgets, Reservation } from './budget.ts'
import { holdBack } from './busy.ts'
import { type Layer, layer } from './layer.ts'
import { type Policy, policyOf } from './limits.ts'

export interface SpendingOptions {
  readonly budgets: Budgets
  /** Tag of the provider. */
  readonly provider: string
  /** Calls in any 60 seconds; 0 is no bound. */
  readonly budget: Readonly<Record<Policy, number>>
  /** Whether keys are issued here; else they are the provider's, which counts by them what needs one. */
  readonly isOwnKey: boolean
  readonly observe: Observer
}

/** What the gateway is called among askers, beyond what is kept for it. */
const own = ''

/** Throws `unavailable`, for certain, where the budget is used up. */
export function spending({ budgets, provider, budget, isOwnKey, observe }: SpendingOptions): Layer {
  const refuse = holdBack(provider, 'budget', observe)
  // What is left is told from the start, also where only the gateway's own reads go up.
  for (const policy of isOwnKey ? budgetPolicies : (['quotes'] as const)) {
    const limit = budget[policy]
    if (limit > 0) observe({ what: 'budget', provider, policy, remaining: limit - keptForOwnReads(policy, limit) })
  }
  const reserve = async (op: Op, { caller, isOwn }: Context): Promise<Reservation> => {
    const policy = policyOf[op]
    const isPerKey = !isOwnKey && keyed.has(op)
    const bucket = isPerKey ? `${provider}:${policy}:${caller.identity}` : `${provider}:${policy}`
    const kept = keptForOwnReads(policy, budget[policy])
    if (isOwn && kept > 0) {
      const reservation = await budgets.reserve(`${bucket}:own`, kept)
      if (reservation.isGranted) return reservation
    }
    // Who has a bucket alone shares it with nobody; nor does the gateway compete where nothing is kept for it.
    const asker = isPerKey || (isOwn && kept === 0) ? undefined : isOwn ? own : askerOf(op, caller, isOwnKey)
    const reservation = await budgets.reserve(bucket, budget[policy] - kept, asker)
    // Of many buckets, one for each key, no single one says what is left.
    if (!isPerKey) observe({ what: 'budget', provider, policy, remaining: reservation.remaining })
    return reservation
  }
  return layer((op, request, context, next) => {
    if (budget[policyOf[op]] === 0) return next.call(op, request, context)
    return reserve(op, context).then(({ isGranted, retryAfter }) => {
      if (!isGranted) throw refuse(retryAfter * 1000)
      return next.call(op, request, context)
    })
  })
}
