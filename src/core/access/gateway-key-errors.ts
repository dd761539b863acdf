import { Fault } from '../../domain/faults/fault.ts'
import { standardFault } from '../../domain/faults/standard-fault.ts'
import { aroundAll, type Layer } from '../layer.ts'

/**
 * What a provider says to the gateway's own key is not about the client's: a refusal of it is the provider's failure, and its
 * limit means that it can take nothing now (docs/contract.md §5, §6).
 */
export function gatewayKeyErrors(): Layer {
  return aroundAll((op, request, context, next) =>
    next.call(op, request, context).catch((reason) => {
      throw translate(Fault.from(reason))
    }),
  )
}

function translate(fault: Fault): Fault {
  const { kind, provider, noEffect, retryAfter } = fault
  const details = { noEffect, cause: fault, ...(provider !== undefined && { provider }) }
  if (kind === 'unauthorized') return standardFault('accessRefused', details)
  if (kind !== 'limited') return fault
  return standardFault('unavailable', { ...details, retryAfter: retryAfter ?? 1, unavailableCause: 'limited' })
}
