import { Fault } from '../../domain/fault.ts'
import { keyed } from '../../domain/service.ts'
import { aroundAll, type Layer } from '../layer.ts'
import type { RefusedAddresses } from './refused-addresses.ts'
import type { VerifiedKeys } from './verified-keys.ts'

/**
 * Records the outcome of a client's own key at the provider. Any response except 401 and 403 verifies the key; 401 and 403
 * mark the client's address. A failure without a response changes nothing.
 */
export function recordVerifiedKeys(verifiedKeys: VerifiedKeys, refusedAddresses: RefusedAddresses): Layer {
  return aroundAll(function recordVerifiedKeys(op, request, context, next) {
    const response = next.call(op, request, context)
    const { identity } = context.caller
    if (!keyed.has(op) || identity === undefined) return response
    return response.then(
      (resolved) => {
        void verifiedKeys.add(identity) // the response does not wait for it
        return resolved
      },
      (reason) => {
        const { kind, provider } = Fault.from(reason)
        if (provider === undefined) throw reason
        if (kind === 'unauthorized') refusedAddresses.add(context.caller.address)
        else void verifiedKeys.add(identity)
        throw reason
      },
    )
  })
}
