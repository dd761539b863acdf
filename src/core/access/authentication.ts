/** Authentication with keys that the operator issued (docs/contract.md §5, `managed`). */

import { BoundedMap } from '../../domain/bounded-map.ts'
import { cacheShares } from '../../domain/cache-memory.ts'
import { Fault } from '../../domain/faults/fault.ts'
import { isKey } from '../../domain/key.ts'
import type { Clock } from '../clock.ts'
import type { Accounts, KeyRecord } from './accounts.ts'
import { batchedKeyLookup, type KeyLookup } from './batched-key-lookup.ts'

/** Returns the account's identity, or undefined if the key is malformed, unknown, expired or revoked. Throws `unavailable` if the ledger fails. */
export type Authenticate = (key: string) => Promise<string | undefined>

export interface AuthenticationOptions {
  readonly accounts: Pick<Accounts, 'findKeys'>
  /** A one-way hash: the key itself is not stored. */
  readonly digest: (key: string) => string
  readonly clock: Clock
}

type PendingLookup = ReturnType<KeyLookup<KeyRecord>>

/** How long a look-up is cached, from its start. A change by the operator takes effect within this time. */
const lifetimeMs = 2_000
/** A bound on memory, for known and for unknown keys each. A dropped entry is looked up again. */
const maxCachedKeys = 10_000
/** Of a look-up and its result. */
const lookupBytes = 512
const retryAfter = 5

/** Looks up keys in the ledger, with a cache of 2 s per process. Malformed keys are rejected without a look-up. */
export function authentication({ accounts, digest, clock }: AuthenticationOptions): Authenticate {
  const find = cachedLookup(batchedKeyLookup((digests) => accounts.findKeys(digests)))
  return async (key) => {
    if (!isKey(key)) return undefined
    try {
      const keyRecord = await find(digest(key))
      return keyRecord && isValid(keyRecord, clock()) ? keyRecord.account : undefined
    } catch (cause) {
      throw unavailable(cause)
    }
  }
}

interface CachedLookup {
  readonly lookup: PendingLookup
  readonly startedAt: number
}

/** Shares one look-up per digest within the lifetime. A failure goes only to the callers that wait for it; it is not cached. */
function cachedLookup(find: KeyLookup<KeyRecord>): KeyLookup<KeyRecord> {
  const knownKeys = new BoundedMap<CachedLookup>({ share: cacheShares.keys, maxEntries: maxCachedKeys, sizeOf: () => lookupBytes })
  const unknownKeys = new BoundedMap<CachedLookup>({
    share: cacheShares.keys,
    maxEntries: maxCachedKeys,
    sizeOf: () => lookupBytes,
  })
  return (digest) => {
    const now = performance.now()
    const last = knownKeys.get(digest) ?? unknownKeys.get(digest)
    if (last && now - last.startedAt < lifetimeMs) return last.lookup
    const entry = { lookup: find(digest), startedAt: now }
    knownKeys.delete(digest)
    unknownKeys.set(digest, entry)
    const move = (keyRecord: KeyRecord | undefined): void => {
      if (keyRecord) knownKeys.set(digest, entry)
      if (keyRecord && unknownKeys.get(digest) === entry) unknownKeys.delete(digest)
    }
    entry.lookup.then(move, () => {
      if (unknownKeys.get(digest) === entry) unknownKeys.delete(digest)
    })
    return entry.lookup
  }
}

/** A revoked key is never valid, even if `revokedAt` is in the future: the clock of the revoking machine may be ahead. */
function isValid({ expiresAt, revokedAt }: KeyRecord, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || now < expiresAt)
}

function unavailable(cause: unknown): Fault {
  return new Fault('unavailable', 'API keys cannot be checked now; please try again.', {
    cause,
    retryAfter,
    reason: 'ledger_unavailable',
  })
}
