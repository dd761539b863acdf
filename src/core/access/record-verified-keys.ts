import { Fault } from '../../domain/faults/fault.ts'
import { keyed } from '../../domain/swap/operations.ts'
import { aroundAll, type Layer } from '../layer.ts'
import type { RefusedAddresses } from './refused-addresses.ts'
import type { VerifiedKeys } from './verified-keys.ts'

/** A key is proven by any answer to it but 401 and 403, which are noted of its address; no answer proves nothing. */
export function recordVerifiedKeys(verifiedKeys: VerifiedKeys, refusedAddresses: RefusedAddresses): Layer {
  /** Nobody waits for it, and one that cannot be kept changes no answer: the key only has to prove itself again. */
  const markVerified = (identity: string): void => {
    verifiedKeys.add(identity).catch(() => {})
  }
  return aroundAll((op, request, context, next) => {
    const response = next.call(op, request, context)
    const { identity } = context.caller
    if (!keyed.has(op) || identity === undefined) return response
    return response.then(
      (resolved) => {
        markVerified(identity)
        return resolved
      },
      (reason) => {
        const { kind, provider } = Fault.from(reason)
        if (provider === undefined) throw reason
        if (kind === 'unauthorized') refusedAddresses.add(context.caller.address)
        else markVerified(identity)
        throw reason
      },
    )
  })
}
