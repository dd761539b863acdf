import { withDefault } from '../../domain/async.ts'
import { Fault } from '../../domain/fault.ts'
import { keyed } from '../../domain/service.ts'
import { aroundAll, type Layer } from '../layer.ts'
import type { Ledger } from '../ledger.ts'
import { batchedKeyLookup } from './authentication.ts'
import { clientNetworkOf } from './client-address.ts'

/** Identities whose key a provider accepted recently. Kept in the store of the limits. */
export interface VerifiedKeys {
  readonly has: (identity: string) => Promise<boolean>
  /** Never rejects: a key that could not be recorded is only verified again later. */
  readonly add: (identity: string) => Promise<void>
}

/** A key stays verified for this time after its last acceptance. */
export const verifiedKeyLifetimeMs = 3_600_000

/** The longest wait for the ledger. After that the key counts as unverified. */
const maxLedgerWaitMs = 500

/** Verified keys, and owners with a row in the ledger. Look-ups in the ledger are batched, because any client can send any number of keys. */
export function verifiedOrInLedger(verifiedKeys: VerifiedKeys, ledger: Pick<Ledger, 'knownOwners'>): VerifiedKeys {
  const find = batchedKeyLookup(async (owners) => new Map([...(await ledger.knownOwners(owners))].map((owner) => [owner, true])))
  const isKnownOwner = (identity: string): Promise<boolean> => withDefault(find(identity), maxLedgerWaitMs, false).then(Boolean)
  return {
    has: (identity) => verifiedKeys.has(identity).then((isVerified) => isVerified || isKnownOwner(identity)),
    add: verifiedKeys.add,
  }
}

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

/** Client networks with a key that was refused in the last minute. Kept in the store of the limits. */
export interface RefusedAddresses {
  readonly has: (address: string) => Promise<boolean>
  /** Does not wait, and never fails. */
  readonly add: (address: string) => void
}

export const refusalLifetimeMs = 60_000

/** `marks` must expire after `refusalLifetimeMs`. */
export function refusedAddresses(marks: VerifiedKeys): RefusedAddresses {
  return {
    has: (address) => marks.has(clientNetworkOf(address)),
    add: (address) => void marks.add(clientNetworkOf(address)),
  }
}
