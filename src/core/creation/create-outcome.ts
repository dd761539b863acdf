import { Fault } from '../../domain/faults/fault.ts'
import { type Layer, onOperations } from '../layer.ts'

/**
 * A create ends as done, as refused (certain: nothing was created) or as unknown, never as a mere failure
 * (docs/contract.md §10).
 */
export function classifyOutcome(): Layer {
  return onOperations({
    async createTransaction(request, context, next) {
      const response = await next.call('createTransaction', request, context).catch((reason) => {
        throw outcomeOf(Fault.from(reason))
      })
      if (!response.body.depositAddress)
        throw unknownOutcome(new Fault('unreadable', 'There is nowhere to pay to.'), response.provider)
      return response
    },
  })
}

/** What is certain stays as it is, but for a time-out: 504 tells of a create whose outcome is unknown. */
function outcomeOf(fault: Fault): Fault {
  if (!fault.noEffect) return unknownOutcome(fault, fault.provider)
  if (fault.kind !== 'timedOut') return fault
  const message = 'The provider could not be reached in time, and nothing was sent; please try again later.'
  return new Fault('unreachable', message, { noEffect: true, cause: fault })
}

export function unknownOutcome(cause: Fault, provider: string | undefined): Fault {
  const message =
    'The outcome is unknown: the transaction may exist. Please look for it in the list, or ask again with the same Idempotency-Key.'
  return new Fault('outcomeUnknown', message, { cause, ...(provider !== undefined && { provider }) })
}
