import type { Ledger } from '../ledger.ts'
import { batchedKeyLookup } from './batched-key-lookup.ts'

/** Identities whose key a provider accepted recently. Kept in the store of the limits. */
export interface VerifiedKeys {
  readonly has: (identity: string) => Promise<boolean>
  readonly add: (identity: string) => Promise<void>
}

/** A key stays verified for this time after its last acceptance. */
export const verifiedKeyLifetimeMs = 3_600_000

/** Verified keys, and owners with a row in the ledger. Look-ups in the ledger are batched, because any client can send any number of keys. */
export function verifiedOrInLedger(verifiedKeys: VerifiedKeys, ledger: Pick<Ledger, 'knownOwners'>): VerifiedKeys {
  const find = batchedKeyLookup(async (owners) => new Map([...(await ledger.knownOwners(owners))].map((owner) => [owner, true])))
  return {
    has: async (identity) => (await verifiedKeys.has(identity)) || (await find(identity).catch(() => false)) === true,
    add: verifiedKeys.add,
  }
}
