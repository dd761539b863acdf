import { Fault } from '../domain/fault.ts'
import { standardFault } from '../domain/standard-fault.ts'
import { type Layer, layer } from './layer.ts'

/**
 * What a provider says to the gateway's own key is not about the client's: a refusal of it is the provider's failure, and its
 * limit means that it can take nothing now (docs/contract.md §5, §6).
 */
export function ownKey(): Layer {
  return layer((op, request, context, next) =>
    next.call(op, request, context).catch((reason) => {
      throw translate(Fault.from(reason))
    }),
  )
}

function translate(fault: Fault): Fault {
  const { kind, provider, certain, retryAfter } = fault
  const details = { certain, cause: fault, ...(provider !== undefined && { provider }) }
  if (kind === 'unauthorized') return standardFault('accessRefused', details)
  if (kind !== 'limited') return fault
  return standardFault('unavailable', { ...details, retryAfter: retryAfter ?? 1, busyCause: 'limited' })
}
