import { isFinal, type Status } from '../../../domain/swap/status.ts'
import type { Transaction } from '../../../domain/swap/swap.ts'
import { BoundedMap } from '../../bounded-map.ts'
import type { Ledger, LedgerEntry } from '../../ledger.ts'

/** How long an entry is cached: clients read one transaction in bursts. */
const lifetimeMs = 1_000
/** During a request longer than this, another process may have stored a newer state, so the ledger is read again. */
const shortRequestMs = 100
/** How long an unsaved state is compared with later responses: no request takes longer. */
const unsavedLifetimeMs = 60_000
/** A bound on memory. A dropped entry is read from the ledger again. */
const maxEntries = 10_000

/** This process's state of one transaction of one owner. Changed in place. */
export interface CachedTransaction {
  /** The entry at the last read of the ledger; undefined if there was none or the ledger failed. */
  stored: LedgerEntry | undefined
  /** The state that was returned last, if the ledger does not have it. */
  unsaved: LedgerEntry | undefined
  /** Whether the last write found another owner. */
  belongsToOther: boolean
  /** Whether a write to the ledger is queued or running. */
  isWriting: boolean
}

/** A pending write is newer than the stored entry, unless another process has stored a final status. */
export function latestOf({ stored, unsaved, isWriting }: CachedTransaction): LedgerEntry | undefined {
  return isWriting && !isFinal(stored?.transaction.status) ? unsaved : stored
}

interface CacheEntry extends CachedTransaction {
  readonly key: string
  loadedAt: number
  unsavedAt: number
}

/** A read cache for one provider's entries. Writes through it are visible at once. */
export interface LedgerReadCache extends Pick<Ledger, 'upsert'> {
  /**
   * `sentAt`: when the provider's request was sent, on the clock of `performance.now()`. `reported`: the status in its response.
   * If it differs from the cached status, the ledger is read again: another process may have stored a final status.
   */
  readonly find: (owner: string, id: string, sentAt: number, reported: Status | undefined) => Promise<CachedTransaction>
  /** Each with its state. Reads the ledger each time. Caches only entries with an unsaved state. */
  readonly findAll: (
    owner: string,
    transactions: readonly Transaction[],
  ) => Promise<readonly (readonly [Transaction, CachedTransaction])[]>
  /** Records a state that the ledger does not have yet. `isQueued`: a write is pending. */
  readonly holdUnsaved: (known: CachedTransaction, entry: LedgerEntry, isQueued: boolean) => void
}

/** Reads fail silently: if the ledger fails, `stored` is undefined. */
export function ledgerReadCache(ledger: Ledger, provider: string): LedgerReadCache {
  const entries = new BoundedMap<CacheEntry>({ maxEntries: maxEntries })
  const recall = (key: string, now: number): CacheEntry | undefined => {
    const cached = entries.get(key)
    if (cached && now - cached.unsavedAt >= unsavedLifetimeMs) cached.unsaved = undefined
    return cached
  }
  const entryOf = (owner: string, id: string, now: number): CacheEntry => {
    const key = `${owner} ${id}`
    return recall(key, now) ?? emptyEntry(key)
  }
  const remember = (cached: CacheEntry): void => {
    if (entries.get(cached.key) === cached) return
    entries.set(cached.key, cached)
  }
  return {
    async find(owner, id, sentAt, reported) {
      const key = `${owner} ${id}`
      const now = performance.now()
      const cached = recall(key, now) ?? entries.set(key, emptyEntry(key))
      const isQueued = cached.stored !== undefined && cached.stored.transaction.status !== reported
      if (!isQueued && now - cached.loadedAt < lifetimeMs && now - sentAt < shortRequestMs) return cached
      setStored(cached, await ledger.find(owner, provider, id).catch(() => undefined), now)
      return cached
    },
    async findAll(owner, transactions) {
      const now = performance.now()
      const ids = transactions.map(({ id }) => id)
      const stored = await ledger.findAll(owner, provider, ids).catch(() => [])
      const storedById = new Map(stored.map((entry) => [entry.transaction.id, entry]))
      const cachedById = new Map<string, CacheEntry>()
      const cachedOf = (id: string): CacheEntry => setStored(entryOf(owner, id, now), storedById.get(id), now)
      return transactions.map((transaction) => [transaction, cachedById.getOrInsertComputed(transaction.id, cachedOf)])
    },
    holdUnsaved(known, entry, isQueued) {
      const cached = known as CacheEntry
      if (isQueued) remember(cached)
      cached.unsaved = entry
      cached.unsavedAt = performance.now()
    },
    async upsert(owner, _, record, before) {
      const stored = await ledger.upsert(owner, provider, record, before)
      const now = performance.now()
      const cached = setStored(entryOf(owner, record.transaction.id, now), stored, now)
      cached.belongsToOther = stored === undefined
      if (cached.unsaved && (cached.unsaved.sequence ?? 0) <= (stored?.sequence ?? -1)) cached.unsaved = undefined
      return stored
    },
  }
}

function emptyEntry(key: string): CacheEntry {
  const never = Number.NEGATIVE_INFINITY
  return { key, stored: undefined, unsaved: undefined, belongsToOther: false, isWriting: false, loadedAt: never, unsavedAt: never }
}

function setStored(cached: CacheEntry, stored: LedgerEntry | undefined, loadedAt: number): CacheEntry {
  cached.stored = stored
  cached.belongsToOther &&= stored === undefined
  cached.loadedAt = loadedAt
  return cached
}
