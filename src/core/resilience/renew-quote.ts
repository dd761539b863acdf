/** Sends a create once more, with a new quote, if the gateway's own quote for it does not hold any more (docs/contract.md §16). */
import { Fault } from '../../domain/faults/fault.ts'
import { standardFault } from '../../domain/faults/standard-fault.ts'
import { type Layer, onOperations } from '../layer.ts'

/** Outside of the budget, so that both quotes and both creates are spent. The first one was refused: nothing was created. */
export function renewQuote(): Layer {
  return onOperations({
    createTransaction: (request, context, next) =>
      next.call('createTransaction', request, context).catch((reason) => {
        if (!isQuoteExpired(reason)) throw reason
        return next.call('createTransaction', request, context).catch((second) => {
          throw isQuoteExpired(second) ? refusedQuote(Fault.from(second)) : second
        })
      }),
  })
}

function isQuoteExpired(reason: unknown): boolean {
  return Fault.from(reason).isQuoteExpired
}

/** The client did not choose the quote, so its request is not at fault. */
function refusedQuote(cause: Fault): Fault {
  const { provider } = cause
  return standardFault('failed', { noEffect: true, cause, ...(provider !== undefined && { provider }) })
}
