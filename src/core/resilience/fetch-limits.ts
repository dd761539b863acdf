/** Requests the limits of a create that the provider refused for its amount without naming them (docs/contract.md §16). */
import { explainedByLimits } from '../../domain/faults/explained-by-limits.ts'
import { Fault } from '../../domain/faults/fault.ts'
import type { Context, SwapService } from '../../domain/swap/service.ts'
import type { NewTransaction, Rate } from '../../domain/swap/swap.ts'
import { withDefault } from '../../domain/with-timeout.ts'
import { type Layer, onOperations } from '../layer.ts'

/** The refusal is certain, so it must reach the client before its deadline, whatever this call does. */
const maxWaitMs = 2_000

/** Inside of the retries, so that the call is made once, and outside of the budget, so that it is spent. */
export function fetchLimits(): Layer {
  return onOperations({
    createTransaction: (request, context, next) =>
      next.call('createTransaction', request, context).catch(async (reason) => {
        const fault = Fault.from(reason)
        if (!lacksLimits(fault)) throw fault
        const waitMs = Math.min(maxWaitMs, (context.deadline - performance.now()) / 2)
        const limits = await withDefault(limitsOf(request, context, next), waitMs, {})
        throw explainedByLimits(fault, { ...limits, amountIn: request.amountIn })
      }),
  })
}

function lacksLimits({ kind, noEffect, limits }: Fault): boolean {
  return kind === 'invalid' && noEffect && limits !== undefined && !limits.minAmount && !limits.maxAmount
}

type Limits = Pick<Rate, 'minAmount' | 'maxAmount'>

/** Those of the quote for this create, or of its refusal. */
async function limitsOf(request: NewTransaction, context: Context, next: SwapService): Promise<Limits> {
  const { withdrawalAddress, withdrawalExtraId, refundAddress, refundExtraId, quoteId, reference, ...query } = request
  try {
    const { body } = await next.call('getRate', query, { ...context, needsLimitsOnly: true })
    return { minAmount: body.minAmount, maxAmount: body.maxAmount }
  } catch (reason) {
    return Fault.from(reason).limits ?? {}
  }
}
