import { Fault } from '../domain/fault.ts'
import { type Layer, layer } from './layer.ts'

/**
 * What a provider says to the gateway's own key is not about the client's: a refusal of it is the provider's failure, and its
 * limit means that it can take nothing now (`spec/contract.md` §5, §6).
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
  if (kind === 'unauthorized') return new Fault('accessRefused', 'The provider could not answer; please try again later.', details)
  if (kind !== 'limited') return fault
  const message = 'The provider can take no more at the moment; please wait as long as Retry-After says.'
  return new Fault('unavailable', message, { ...details, retryAfter: retryAfter ?? 1 })
}
