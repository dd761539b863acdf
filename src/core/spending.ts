/** Budgets towards a provider: every call that goes up is paid for before it is sent (`spec/contract.md` §8). */
import type { Observer } from '../domain/observation.ts'
import { type Caller, keyed, type Op } from '../domain/operations.ts'
import type { Budgets } from './budget.ts'
import { holdBack } from './busy.ts'
import { type Layer, layer } from './layer.ts'
import { type Policy, policyOf } from './limits.ts'
import { subjectOf } from './subject.ts'

export interface SpendingOptions {
  readonly budgets: Budgets
  /** Tag of the provider. */
  readonly provider: string
  /** Calls in any 60 seconds; 0 is no bound. */
  readonly budget: Readonly<Record<Policy, number>>
  /** Whether the provider counts what needs a key by the client's key, which is then a budget of its own. */
  readonly isPerKey: boolean
  readonly observe: Observer
}

/** Throws `unavailable`, for certain, where the budget is used up. */
export function spending({ budgets, provider, budget, isPerKey, observe }: SpendingOptions): Layer {
  const refuse = holdBack(provider, 'budget', observe)
  const bucketOf = (op: Op, { identity }: Caller): string => {
    const bucket = `${provider}:${policyOf[op]}`
    return isPerKey && keyed.has(op) && identity !== undefined ? `${bucket}:${identity}` : bucket
  }
  return layer((op, request, context, next) => {
    const limit = budget[policyOf[op]]
    if (limit === 0) return next.call(op, request, context)
    const { caller } = context
    const policy = policyOf[op]
    return budgets.reserve(bucketOf(op, caller), limit, spenderOf(caller)).then(({ isGranted, remaining, retryAfter }) => {
      // Of many buckets, one for each key, no single one says what is left.
      if (!(isPerKey && keyed.has(op))) observe({ what: 'budget', provider, policy, remaining })
      if (!isGranted) throw refuse(retryAfter * 1000)
      return next.call(op, request, context)
    })
  })
}

/** Who gets a share of the budget. */
function spenderOf({ identity, address }: Caller): string {
  return identity ?? subjectOf(address)
}
