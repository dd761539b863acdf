import { noPublicAddress } from '../../domain/fault.ts'
import { isPublicAddress } from '../../domain/network-address.ts'
import type { Op, Request } from '../../domain/service.ts'
import { aroundAll, type Layer } from '../layer.ts'
import { clientAddressOf } from './client-network.ts'

export type NeedsAddress = (op: Op, request: Request<Op>) => boolean

/**
 * Adds the client's address to calls that need it, for a provider that serves only the users whose address it gets. Throws
 * `invalid`, before anything is sent or spent, if the address is not public: the gateway's own calls have none.
 */
export function forwardAddress(needsAddress: NeedsAddress): Layer {
  return aroundAll(function forwardAddress(op, request, context, next) {
    if (!needsAddress(op, request)) return next.call(op, request, context)
    const forwardedAddress = clientAddressOf(context.caller.address)
    if (!isPublicAddress(forwardedAddress)) return Promise.reject(noPublicAddress())
    const response = next.call(op, request, { ...context, forwardedAddress })
    return response.then((resolved) => ({ ...resolved, isUncacheable: true }))
  })
}
