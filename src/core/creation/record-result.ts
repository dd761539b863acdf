import { compareAmounts } from '../../domain/amount.ts'
import { Fault } from '../../domain/fault.ts'
import type { CreateOutcome } from '../../domain/observation.ts'
import type { Capabilities, ServiceResponse } from '../../domain/service.ts'
import type { Transaction } from '../../domain/swap.ts'
import type { TransactionRecord } from '../ledger.ts'
import { unknownOutcome } from './create-outcome.ts'
import type { RecordCreate } from './creation.ts'
import type { IntentOptions } from './intent.ts'

export interface RecordResultOptions extends IntentOptions {
  /** The fields of the provider's form. */
  readonly capabilities: Capabilities
}

/**
 * Stores the result of a create in the ledger before the client gets the response (docs/contract.md §10). Throws
 * `contradicted` if the response contradicts the request: the ledger keeps it, and the client gets no deposit address. Throws
 * `outcomeUnknown` if the ledger fails.
 */
export function recordResult({ ledger, provider, capabilities, clock, observe, pendingKeys }: RecordResultOptions): RecordCreate {
  const count = (outcome: CreateOutcome): void => observe({ what: 'create', provider, outcome })
  return async (response, request, context) => {
    const { body, derived, attempt, contradicted, judged } = response
    if (contradicted.length > 0) {
      count('contradicted')
      await ledger.markMismatch(attempt, body, contradicted, judged).catch(() => {})
      throw contradiction(provider)
    }
    // The gateway itself may have rounded the amount.
    if (!derived?.includes('amountIn') && compareAmounts(body.amountIn, request.amountIn) !== 0) count('otherAmount')
    const isAccepted = await ledger.complete(attempt, recordOf(response, capabilities, clock()), judged).catch((reason) => {
      pendingKeys?.keep(context.caller)
      throw unknownOutcome(Fault.from(reason), provider)
    })
    if (isAccepted) return response
    count('duplicateId')
    throw contradiction(provider)
  }
}

/** `amountOut` of the response is the quoted amount, unless the form has expected amounts. */
function recordOf(
  { body, derived = [], sequence }: ServiceResponse<'createTransaction'>,
  capabilities: Capabilities,
  reportedAt: number,
): TransactionRecord {
  const { amountOut, ...withoutAmount } = body
  const transaction: Transaction = capabilities.hasExpectedAmount ? body : withoutAmount
  return { transaction, derived, quotedAmountOut: amountOut, reportedAt, sequence }
}

/** The `Fault` of a create whose response contradicts its request. A repeat with the same `Idempotency-Key` gets it too. */
export function contradiction(provider: string): Fault {
  const message =
    "The provider's answer was not what you asked for: do not pay for it. No deposit address is given, and the operator is told."
  return new Fault('contradicted', message, { provider })
}

/** The `Fault` of a repeated create whose transaction has failed since. */
export function failure(provider: string): Fault {
  const message =
    'The provider reports that this swap has failed: do not pay for it. No deposit address is given; please ask the operator.'
  return new Fault('contradicted', message, { provider })
}
