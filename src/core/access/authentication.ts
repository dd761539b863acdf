/** Authentication with keys that the operator issued (docs/contract.md §5, `managed`). */
import { withDefault, withTimeout } from '../../domain/async.ts'
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import { Fault, standardFault } from '../../domain/fault.ts'
import { hourOf } from '../../domain/instant.ts'
import { isKey } from '../../domain/key.ts'
import type { AccountLimits, KeyAccess } from '../../domain/key-access.ts'
import { isWithin, type NetworkList } from '../../domain/network-address.ts'
import type { Observer } from '../../domain/observation.ts'
import { type Identity, keyed } from '../../domain/service.ts'
import type { Clock } from '../clock.ts'
import { aroundAll, forOperations, type Layer } from '../layer.ts'
import { clientAddressOf } from './client-address.ts'

/**
 * Returns the account's identity with its name and the id of the key, or undefined if the key is malformed, unknown, expired, revoked or
 * not of this address. Throws `unavailable` if the ledger fails or is silent. A quote does not wait for the ledger: it gets what was
 * known of the key within the last minute.
 */
export type Authenticate = (key: string, isQuote: boolean, address: string) => Promise<Identity | undefined>

interface AuthenticationOptions {
  readonly accounts: Pick<Accounts, 'findKeys'>
  /** A one-way hash: the key itself is not stored. */
  readonly digest: (key: string) => string
  readonly uses: Pick<KeyUses, 'note'>
  readonly clock: Clock
  readonly observe: Observer
}

/** How long a look-up is cached, from its start. A change by the operator takes effect within this time. */
const lifetimeMs = 2_000
/** How long a quote may use what a look-up found, from its start. */
const staleLifetimeMs = 60_000
/** From the start of a look-up: how long callers wait for it, and quotes with and without an earlier one (`authentication.test.ts`). */
const maxWaitMs = 1_000
const maxQuoteWaitMs = 25
const maxFirstQuoteWaitMs = 250
/** A bound on memory, for known and for unknown keys each. A dropped entry is looked up again. */
const maxCachedKeys = 10_000
/** Of a look-up and its result. */
const lookupBytes = 512
const retryAfter = 5

/** Looks up keys in the ledger, with a cache of 2 s per process. Malformed keys are rejected without a look-up. */
export function authentication({ accounts, digest, uses, clock, observe }: AuthenticationOptions): Authenticate {
  const lookUp = cachedLookup(batchedKeyLookup((digests) => accounts.findKeys(digests)))
  return async (key, isQuote, address) => {
    if (!isKey(key)) return undefined
    try {
      const cached = lookUp(digest(key))
      const keyRecord = await (isQuote ? soonest(cached) : withinWait(cached))
      if (keyRecord && !cached.isDone) observe({ what: 'staleKey' })
      const now = clock()
      if (!keyRecord || !isValid(keyRecord, now) || !isFrom(keyRecord, address)) return undefined
      if (keyRecord.keyId !== undefined) uses.note(keyRecord.keyId, now)
      return keyRecord
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

function isFrom({ networks }: KeyRecord, address: string): boolean {
  return networks === undefined || isWithin(networks, clientAddressOf(address))
}

function unavailable(cause: unknown): Fault {
  return new Fault('unavailable', 'API keys cannot be checked now; please try again.', {
    cause,
    retryAfter,
    reason: 'ledger_unavailable',
  })
}

// Batches look-ups of client keys in the ledger.

type KeyLookup<Found> = (digest: string) => Promise<Found | undefined>

/** Results by digest. Unknown digests are omitted. */
type FindAll<Found> = (digests: readonly string[]) => Promise<ReadonlyMap<string, Found>>

type PendingKey<Found> = PromiseWithResolvers<Found | undefined>

/** Concurrent look-ups, and keys per look-up. */
const maxInFlight = 4
const maxKeysPerLookup = 500
/** Pause in milliseconds after a look-up with an unknown key. */
const pauseMs = 10

/**
 * Looks up many keys at once. Guessed keys cause at most 400 look-ups a second and use at most four connections of the ledger,
 * at any rate of requests. A valid key waits a few milliseconds and is never rejected because of the guesses.
 */
export function batchedKeyLookup<Found>(findAll: FindAll<Found>): KeyLookup<Found> {
  const pending = new Map<string, PendingKey<Found>>()
  let inFlight = 0
  const takeBatch = (): ReadonlyMap<string, PendingKey<Found>> => {
    const batch = new Map(pending.entries().take(maxKeysPerLookup))
    for (const digest of batch.keys()) pending.delete(digest)
    return batch
  }
  const work = async (): Promise<void> => {
    while (pending.size > 0) {
      const isAllFound = await lookUpBatch(findAll, takeBatch())
      if (!isAllFound) await new Promise((resolve) => setTimeout(resolve, pauseMs).unref())
    }
    inFlight--
  }
  return (digest) => {
    const entry = pending.getOrInsertComputed(digest, () => Promise.withResolvers())
    if (inFlight < maxInFlight) {
      inFlight++
      void work()
    }
    return entry.promise
  }
}

/** Returns whether all keys were found. */
async function lookUpBatch<Found>(findAll: FindAll<Found>, keys: ReadonlyMap<string, PendingKey<Found>>): Promise<boolean> {
  try {
    const found = await findAll([...keys.keys()])
    for (const [digest, { resolve }] of keys) resolve(found.get(digest))
    return found.size === keys.size
  } catch (reason) {
    for (const { reject } of keys.values()) reject(reason)
    return true
  }
}

// When each key was last used, to the hour.

const flushDelayMs = 5_000

/** Notes which keys are used, and writes it once an hour for each key, 5 s later. What the ledger does not accept then is written later. */
export class KeyUses {
  private readonly hours = new BoundedMap<number>({ share: cacheShares.keys, maxEntries: maxCachedKeys })
  private unwritten = new Map<string, number>()
  private timer: NodeJS.Timeout | undefined
  private isClosed = false
  private readonly accounts: Pick<Accounts, 'recordUses'>

  constructor(accounts: Pick<Accounts, 'recordUses'>) {
    this.accounts = accounts
  }

  note(keyId: string, now: number): void {
    const hour = hourOf(now)
    if (this.hours.get(keyId) === hour) return
    this.hours.set(keyId, hour)
    this.unwritten.set(keyId, hour)
    this.flushLater()
  }

  private flushLater(): void {
    if (this.isClosed) return
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      this.flush().catch(() => this.flushLater())
    }, flushDelayMs).unref()
  }

  private async flush(): Promise<void> {
    const written = this.unwritten
    if (written.size === 0) return
    this.unwritten = new Map()
    try {
      await this.accounts.recordUses(written)
    } catch (reason) {
      this.unwritten = new Map([...written, ...this.unwritten])
      throw reason
    }
  }

  /** Writes what is unwritten, once. */
  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.timer)
    await this.flush().catch(() => {})
  }
}

// Keys that the operator issues to accounts (docs/contract.md §5). Times are milliseconds since 1970.

/** An issued key, without the key itself. */
export interface IssuedKey extends KeyAccess {
  readonly id: string
  /** Name of the account. */
  readonly name: string
  /** Its last four characters; absent for keys of older versions. */
  readonly hint?: string | undefined
  /** To the hour. */
  readonly lastUsedAt?: number | undefined
  readonly createdAt: number
  readonly expiresAt?: number | undefined
  readonly revokedAt?: number | undefined
}

/** The ledger's record for the digest of a key. Its identity is the account's, which outlives the key. Times are milliseconds since 1970. */
export interface KeyRecord extends Identity {
  /** From where the key is valid; absent: from everywhere. */
  readonly networks?: NetworkList | undefined
  readonly expiresAt?: number | undefined
  readonly revokedAt?: number | undefined
}

/** The store of issued keys. It keeps only the digest of a key. `actor`: the operator, for the audit log (`core/operations/audit.ts`). */
export interface Accounts {
  /** Creates the account if the name is new. */
  readonly addKey: (key: IssuedKey, digest: string, actor: string) => Promise<void>
  /** Records by digest. Unknown digests are omitted. */
  readonly findKeys: (digests: readonly string[]) => Promise<ReadonlyMap<string, KeyRecord>>
  /** All keys, oldest first. */
  readonly listKeys: () => Promise<readonly IssuedKey[]>
  /** By its id. */
  readonly readKey: (id: string) => Promise<IssuedKey | undefined>
  /** False if the key does not exist or is already revoked. */
  readonly revokeKey: (id: string, at: number, actor: string) => Promise<boolean>
  /** Adds `key` to the account of the key `id`. The old key expires at `until` at the latest. False if `id` is not a valid key. */
  readonly rotateKey: (id: string, until: number, key: Omit<IssuedKey, 'name'>, digest: string, actor: string) => Promise<boolean>
  /** Hours by key id. */
  readonly recordUses: (hours: ReadonlyMap<string, number>) => Promise<void>
  /** The owner of its swaps. Undefined if there is no account of this name. */
  readonly accountId: (name: string) => Promise<string | undefined>
  /** By name; with a name only that one, however its letters are composed. `now`: for which keys are valid. */
  readonly listAccounts: (now: number, name?: string) => Promise<readonly Account[]>
  /** Makes the account if the name is new. A limit that is null is as configured, one that is absent stays. Returns the limits after it. */
  readonly changeLimits: (name: string, changes: LimitChanges, at: number, actor: string) => Promise<AccountLimits>
}

export interface Account {
  readonly name: string
  readonly createdAt: number
  readonly limits: AccountLimits
  /** How many it has, and how many are neither revoked nor expired. */
  readonly keys: number
  readonly validKeys: number
}

export type LimitChanges = Readonly<Partial<Record<keyof AccountLimits, number | null | undefined>>>

// Faults about the gateway's own key.

/**
 * Translates faults about the gateway's own key, because the client's key is not at fault: `unauthorized` becomes
 * `accessRefused`, and `limited` becomes `unavailable` (docs/contract.md §5, §6).
 */
export function gatewayKeyErrors(): Layer {
  return aroundAll(function gatewayKeyErrors(op, request, context, next) {
    return next.call(op, request, context).catch((reason) => {
      throw translate(Fault.from(reason))
    })
  })
}

/** The same where only quotes have the gateway's own key, but those that the provider keeps for the client's; their `limited` stays the client's. */
export function gatewayQuoteErrors({ asksForQuoteId = false } = {}): Layer {
  return (next) =>
    forOperations((op) => !keyed.has(op), next, {
      call: (op, request, context) =>
        next.call(op, request, context).catch((reason) => {
          const fault = Fault.from(reason)
          const hasClientKey = asksForQuoteId && 'isFirm' in request && request.isFirm
          throw fault.kind === 'unauthorized' && !hasClientKey ? translate(fault) : fault
        }),
    })
}

function translate(fault: Fault): Fault {
  const { kind, provider, effect, refusal, retryAfter } = fault
  const details = { effect, refusal, cause: fault, ...(provider !== undefined && { provider }) }
  if (kind === 'unauthorized') return standardFault('accessRefused', details)
  if (kind !== 'limited') return fault
  return standardFault('unavailable', { ...details, retryAfter: retryAfter ?? 1, unavailableCause: 'limited' })
}
