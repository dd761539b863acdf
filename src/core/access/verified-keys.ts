import { withDefault } from '../../domain/async.ts'
import type { Ledger } from '../ledger.ts'
import { batchedKeyLookup } from './batched-key-lookup.ts'

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
