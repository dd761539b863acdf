import { Fault } from '../../domain/faults/fault.ts'
import { keyed } from '../../domain/swap/operations.ts'
import { aroundAll, type Layer } from '../layer.ts'
import type { Ledger } from '../ledger.ts'
import { batchedKeyLookup } from './batched-key-lookup.ts'
import type { RefusedAddresses } from './refused-addresses.ts'

/** Who has been accepted lately. It lies where the limits lie. */
export interface VerifiedKeys {
  readonly has: (identity: string) => Promise<boolean>
  readonly add: (identity: string) => Promise<void>
}

/** Milliseconds after the last acceptance. */
export const verifiedKeyLifetimeMs = 3_600_000

/** Proofs, and whoever the ledger knows: it is asked of many keys at once, since anybody may send any number of them. */
export function verifiedOrInLedger(verifiedKeys: VerifiedKeys, ledger: Pick<Ledger, 'knownOwners'>): VerifiedKeys {
  const find = batchedKeyLookup(async (owners) => new Map([...(await ledger.knownOwners(owners))].map((owner) => [owner, true])))
  return {
    has: async (identity) => (await verifiedKeys.has(identity)) || (await find(identity).catch(() => false)) === true,
    add: verifiedKeys.add,
  }
}

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
