import { Fault } from '../../domain/fault.ts'
import type { ServiceResponse } from '../../domain/service.ts'

/**
 * Classifies the outcome of a create: done, refused (`noEffect`: nothing was created) or unknown. Every other failure becomes
 * `outcomeUnknown` (docs/contract.md §10).
 */
export async function classifyOutcome(
  pendingResponse: Promise<ServiceResponse<'createTransaction'>>,
): Promise<ServiceResponse<'createTransaction'>> {
  const response = await pendingResponse.catch((reason) => {
    throw outcomeOf(Fault.from(reason))
  })
  if (!response.body.depositAddress)
    throw unknownOutcome(new Fault('unreadable', 'The response has no deposit address.'), response.provider)
  return response
}

/** A fault without effect is kept, except a timeout: 504 means that the outcome is unknown, so it becomes `unreachable`. */
function outcomeOf(fault: Fault): Fault {
  if (!fault.noEffect) return unknownOutcome(fault, fault.provider)
  if (fault.kind !== 'timedOut') return fault
  const message = 'The provider could not be reached in time, and nothing was sent; please try again later.'
  return new Fault('unreachable', message, { noEffect: true, cause: fault })
}

/** The `Fault` (504) of a create that may exist at the provider. */
export function unknownOutcome(cause: Fault, provider: string | undefined): Fault {
  const message =
    'The outcome is unknown: the transaction may exist. Please look for it in the list, or ask again with the same Idempotency-Key.'
  return new Fault('outcomeUnknown', message, { cause, ...(provider !== undefined && { provider }) })
}
