import { compareAmounts } from '../../domain/amount.ts'
import { Fault } from '../../domain/faults/fault.ts'
import type { Capabilities } from '../../domain/swap/capabilities.ts'
import type { ServiceResponse } from '../../domain/swap/service.ts'
import type { Transaction } from '../../domain/swap/swap.ts'
import type { CreateOutcome } from '../../domain/telemetry/observation.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { TransactionRecord } from '../ledger.ts'
import { unknownOutcome } from './create-outcome.ts'
import type { IntentOptions } from './intent.ts'

export interface RecordResultOptions extends IntentOptions {
  /** What the provider's form can say. */
  readonly capabilities: Capabilities
}

/**
 * What a create made is in the ledger before its owner hears of it (docs/contract.md §10). An answer that contradicts the
 * question is kept, and nobody is given its deposit address.
 */
export function recordResult({ ledger, provider, capabilities, clock, observe, pendingKeys }: RecordResultOptions): Layer {
  const count = (outcome: CreateOutcome): void => observe({ what: 'create', provider, outcome })
  return onOperations({
    async createTransaction(request, context, next) {
      const attempt = crypto.randomUUID()
      const response = await next.call('createTransaction', request, { ...context, attempt })
      const { body, contradicted = [] } = response
      if (contradicted.length > 0) {
        count('contradicted')
        await ledger.markMismatch(attempt, body, contradicted).catch(() => {})
        throw contradiction(provider)
      }
      if (compareAmounts(body.amountIn, request.amountIn) !== 0) count('otherAmount')
      const isAccepted = await ledger.complete(attempt, recordOf(response, capabilities, clock())).catch((reason) => {
        pendingKeys?.keep(context.caller)
        throw unknownOutcome(Fault.from(reason), provider)
      })
      if (isAccepted) return response
      count('duplicateId')
      throw contradiction(provider)
    },
  })
}

/** What the first answer promises to pay out is not yet received. */
function recordOf(
  { body, derived = [], sequence }: ServiceResponse<'createTransaction'>,
  capabilities: Capabilities,
  reportedAt: number,
): TransactionRecord {
  const { amountOut, ...withoutAmount } = body
  const transaction: Transaction = capabilities.hasExpectedAmount ? body : withoutAmount
  return { transaction, derived, quotedAmountOut: amountOut, reportedAt, sequence }
}

/** The answer to a create that made something else: asked again under its `Idempotency-Key`, it is the same. */
export function contradiction(provider: string): Fault {
  const message =
    "The provider's answer was not what you asked for: do not pay for it. No deposit address is given, and the operator is told."
  return new Fault('contradicted', message, { provider })
}
