/** Authentication with keys that the operator issued (docs/contract.md §5, `managed`). */

import { withDefault, withTimeout } from '../../domain/async.ts'
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import { Fault } from '../../domain/fault.ts'
import { isKey } from '../../domain/key.ts'
import type { Observer } from '../../domain/observation.ts'
import type { Clock } from '../clock.ts'
import type { Accounts, KeyRecord } from './accounts.ts'
import { batchedKeyLookup, type KeyLookup } from './batched-key-lookup.ts'

/**
 * Returns the account's identity, or undefined if the key is malformed, unknown, expired or revoked. Throws `unavailable` if the
 * ledger fails or is silent. A quote does not wait for the ledger: it gets what was known of the key within the last minute.
 */
export type Authenticate = (key: string, isQuote?: boolean) => Promise<string | undefined>

export interface AuthenticationOptions {
  readonly accounts: Pick<Accounts, 'findKeys'>
  /** A one-way hash: the key itself is not stored. */
  readonly digest: (key: string) => string
  readonly clock: Clock
  readonly observe: Observer
}

/** How long a look-up is cached, from its start. A change by the operator takes effect within this time. */
const lifetimeMs = 2_000
/** How long a quote may use what a look-up found, from its start. */
const staleLifetimeMs = 60_000
/** From the start of a look-up: how long callers wait for it, and quotes with and without an earlier one. */
const maxWaitMs = 1_000
const maxQuoteWaitMs = 25
const maxFirstQuoteWaitMs = 250
/** A bound on memory, for known and for unknown keys each. A dropped entry is looked up again. */
const maxCachedKeys = 10_000
/** Of a look-up and its result. */
const lookupBytes = 512
const retryAfter = 5

/** Looks up keys in the ledger, with a cache of 2 s per process. Malformed keys are rejected without a look-up. */
export function authentication({ accounts, digest, clock, observe }: AuthenticationOptions): Authenticate {
  const lookUp = cachedLookup(batchedKeyLookup((digests) => accounts.findKeys(digests)))
  return async (key, isQuote = false) => {
    if (!isKey(key)) return undefined
    try {
      const cached = lookUp(digest(key))
      const keyRecord = await (isQuote ? soonest(cached) : withinWait(cached))
      if (keyRecord && !cached.isDone) observe({ what: 'staleKey' })
      return keyRecord && isValid(keyRecord, clock()) ? keyRecord.account : undefined
    } catch (cause) {
      throw unavailable(cause)
    }
  }
}

/** The newest look-up of a key. */
interface CachedLookup {
  readonly lookup: Promise<KeyRecord | undefined>
  readonly startedAt: number
  /** Whether it has a result. */
  isDone: boolean
  /** Of the newest look-up with a result, if it found the key. */
  known: { readonly keyRecord: KeyRecord; readonly readAt: number } | undefined
  /** Whether the ledger has answered the look-up before. */
  readonly isPrompt: boolean
}

function withinWait({ lookup, isDone, startedAt }: CachedLookup): Promise<KeyRecord | undefined> {
  if (isDone) return lookup
  return withTimeout(lookup, startedAt + maxWaitMs - performance.now(), () => {
    throw new Error('timeout: the ledger does not answer')
  })
}

/** For a quote: what was known before, unless the look-up ends soon. Undefined if nothing was. */
function soonest({ lookup, isDone, startedAt, known, isPrompt }: CachedLookup): Promise<KeyRecord | undefined> {
  if (isDone) return lookup
  const now = performance.now()
  const stale = known && now - known.readAt < staleLifetimeMs ? known.keyRecord : undefined
  const maxMs = stale ? (isPrompt ? maxQuoteWaitMs : 0) : maxFirstQuoteWaitMs
  const waitMs = startedAt + maxMs - now
  return waitMs > 0 ? withDefault(lookup, waitMs, stale) : Promise.resolve(stale)
}

/** Shares one look-up per digest within the lifetime. A failure goes only to the callers that wait for it; it is not cached. */
function cachedLookup(find: KeyLookup<KeyRecord>): (digest: string) => CachedLookup {
  const options = { share: cacheShares.keys, maxEntries: maxCachedKeys, sizeOf: () => lookupBytes }
  const knownKeys = new BoundedMap<CachedLookup>(options)
  const unknownKeys = new BoundedMap<CachedLookup>(options)
  return (digest) => {
    const now = performance.now()
    const last = knownKeys.get(digest) ?? unknownKeys.get(digest)
    if (last && now - last.startedAt < lifetimeMs) return last
    const entry: CachedLookup = {
      lookup: find(digest),
      startedAt: now,
      isDone: false,
      known: last?.known,
      isPrompt: last?.isDone ?? true,
    }
    const before = last?.known ? knownKeys : unknownKeys
    before.set(digest, entry)
    entry.lookup.then(
      (keyRecord) => {
        entry.isDone = true
        entry.known = keyRecord && { keyRecord, readAt: now }
        const newest = before.get(digest)
        const after = keyRecord ? knownKeys : unknownKeys
        if (after === before || (newest && newest !== entry)) return
        before.delete(digest)
        after.set(digest, entry)
      },
      () => {
        if (before.get(digest) !== entry) return
        if (entry.known) before.set(digest, { ...entry, startedAt: Number.NEGATIVE_INFINITY })
        else before.delete(digest)
      },
    )
    return entry
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
