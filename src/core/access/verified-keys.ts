import { withDefault } from '../../domain/async.ts'
import { Fault } from '../../domain/fault.ts'
import { type Caller, keyed } from '../../domain/service.ts'
import { aroundAll, type Layer } from '../layer.ts'
import type { Ledger } from '../ports/ledger.ts'
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
        const fault = Fault.from(reason)
        if (isAccepting(fault)) void verifiedKeys.add(identity)
        else if (fault.provider !== undefined) refusedAddresses.add(context.caller.address)
        throw reason
      },
    )
  })
}

/** Reads with the caller's own key at the provider. */
export type ReadWithKey = (caller: Caller) => Promise<unknown>

/** Whether the provider accepts the caller's key. Never rejects. */
export type VerifyKey = (caller: Caller) => Promise<boolean>

interface KeyVerificationOptions {
  readonly read: ReadWithKey
  readonly refusedAddresses: RefusedAddresses
  readonly verifiedKeys: VerifiedKeys
  readonly mayVerify: (address: string) => Promise<boolean>
}

/** The longest wait for the read. */
const maxVerificationWaitMs = 5_000

/**
 * Verifies the key of a caller that has used up what an unverified key may send, perhaps with requests that were refused before they
 * reached the provider. It helps no one to guess: an address has one verification at a time, and none within a minute of a refused key.
 */
export function keyVerification({ read, refusedAddresses, verifiedKeys, mayVerify }: KeyVerificationOptions): VerifyKey {
  const inProgress = new Map<string, { readonly identity: string | undefined; readonly isVerified: Promise<boolean> }>()
  const verify = async (caller: Caller): Promise<boolean> => {
    if (await refusedAddresses.has(caller.address)) return false
    // Another request may have verified it since this one was found to have an unverified key.
    if (caller.identity !== undefined && (await verifiedKeys.has(caller.identity))) return true
    if (!(await mayVerify(caller.address))) return false
    const isAccepted = read(caller).then(
      () => true,
      (reason) => isAccepting(Fault.from(reason)),
    )
    return withDefault(isAccepted, maxVerificationWaitMs, false)
  }
  return (caller) => {
    const network = clientNetworkOf(caller.address)
    const running = inProgress.get(network)
    if (running) return running.identity === caller.identity ? running.isVerified : Promise.resolve(false)
    const isVerified = verify(caller).finally(() => inProgress.delete(network))
    inProgress.set(network, { identity: caller.identity, isVerified })
    return isVerified
  }
}

/** Any response but 401 and 403. */
function isAccepting({ kind, provider }: Fault): boolean {
  return provider !== undefined && kind !== 'unauthorized'
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
