import type { Ledger } from '../ledger.ts'
import { batchedKeyLookup } from './batched-key-lookup.ts'

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
