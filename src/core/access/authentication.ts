/** Who a key is that the operator issued (docs/contract.md §5, `managed`). */
import { Fault } from '../../domain/faults/fault.ts'
import { isKey } from '../../domain/key.ts'
import { BoundedMap } from '../bounded-map.ts'
import type { Accounts, KeyRecord } from './accounts.ts'
import { batchedKeyLookup, type KeyLookup } from './batched-key-lookup.ts'

/** The account's identity, or undefined where the key is malformed, unknown, expired or revoked. Throws a `Fault` where nobody can tell now. */
export type Authenticate = (key: string) => Promise<string | undefined>

export interface AuthenticationOptions {
  readonly accounts: Pick<Accounts, 'findKeys'>
  /** One-way: the key itself is not kept. */
  readonly digest: (key: string) => string
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

type PendingLookup = ReturnType<KeyLookup<KeyRecord>>

/** How long what was looked up serves, from the moment it was asked: what the operator changes takes effect after that. */
const lifetimeMs = 2_000
/** A bound on memory, for keys that exist and for the others. What is dropped is looked up again. */
const maxCachedKeys = 10_000
const retryAfter = 5

export function authentication({ accounts, digest, clock }: AuthenticationOptions): Authenticate {
  const find = cachedLookup(batchedKeyLookup((digests) => accounts.findKeys(digests)))
  return async (key) => {
    if (!isKey(key)) return undefined
    const keyRecord = await find(digest(key)).catch(toUnavailable)
    return keyRecord && isValid(keyRecord, clock()) ? keyRecord.account : undefined
  }
}

interface CachedLookup {
  readonly lookup: PendingLookup
  readonly startedAt: number
}

/** Asks once for all who want the same within the lifetime. A failure serves only those who wait for it. */
function cachedLookup(find: KeyLookup<KeyRecord>): KeyLookup<KeyRecord> {
  const knownKeys = new BoundedMap<CachedLookup>({ maxEntries: maxCachedKeys })
  const unknownKeys = new BoundedMap<CachedLookup>({ maxEntries: maxCachedKeys })
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

/** Revoked is revoked, whatever the clock of the machine says on which it was done. */
function isValid({ expiresAt, revokedAt }: KeyRecord, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || now < expiresAt)
}

function toUnavailable(cause: unknown): never {
  throw new Fault('unavailable', 'API keys cannot be checked now; please try again.', {
    cause,
    retryAfter,
    reason: 'ledger_unavailable',
  })
}
