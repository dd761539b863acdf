import { Fault, standardFault } from '../../domain/fault.ts'
import { keyed } from '../../domain/service.ts'
import { aroundAll, forOperations, type Layer } from '../layer.ts'

/**
 * Translates faults about the gateway's own key, because the client's key is not at fault: `unauthorized` becomes
 * `accessRefused`, and `limited` becomes `unavailable` (docs/contract.md §5, §6).
 */
export function gatewayKeyErrors(): Layer {
  return aroundAll(function gatewayKeyErrors(op, request, context, next) {
    return next.call(op, request, context).catch((reason) => {
      throw translate(Fault.from(reason))
    })
  })
}

/** The same where only quotes have the gateway's own key; their `limited` stays the client's. */
export function gatewayQuoteErrors(): Layer {
  return (next) =>
    forOperations((op) => !keyed.has(op), next, {
      call: (op, request, context) =>
        next.call(op, request, context).catch((reason) => {
          const fault = Fault.from(reason)
          throw fault.kind === 'unauthorized' ? translate(fault) : fault
        }),
    })
}

function translate(fault: Fault): Fault {
  const { kind, provider, noEffect, isForbidden, isForeign, retryAfter } = fault
  const details = { noEffect, isForeign, cause: fault, ...(provider !== undefined && { provider }) }
  if (kind === 'unauthorized') return standardFault('accessRefused', { ...details, isForbidden })
  if (kind !== 'limited') return fault
  return standardFault('unavailable', { ...details, retryAfter: retryAfter ?? 1, unavailableCause: 'limited' })
}
