import type { Status } from '../../../domain/swap/status.ts'
import type { Transaction } from '../../../domain/swap/swap.ts'
import { BoundedMap } from '../../bounded-map.ts'
import type { Ledger, LedgerEntry } from '../../ledger.ts'
import { rebase, type StateOptions } from './save-observed.ts'

/** During a request longer than this, another process may have stored a newer state, so the ledger is read again. */
const shortRequestMs = 100
/** How long an unsaved state is compared with later responses: no request takes longer. */
const unsavedLifetimeMs = 60_000
/** A bound on memory. A dropped entry is read from the ledger again. */
const maxEntries = 10_000

/** This process's state of one transaction of one owner. Changed in place. */
export interface CachedTransaction {
  /** The newest entry that was read or written; undefined if there is none. */
  stored: LedgerEntry | undefined
  /** A later state that the ledger does not have, merged into `stored`. */
  unsaved: LedgerEntry | undefined
  /** Whether the last write found another owner. */
  belongsToOther: boolean
  /** Whether a write to the ledger is queued or running. */
  isWriting: boolean
  /** When the last read or write of the ledger began. */
  loadedAt: number
  unsavedAt: number
  /** The key in the cache. */
  readonly key: string
}

export function latestOf({ stored, unsaved }: CachedTransaction): LedgerEntry | undefined {
  return unsaved ?? stored
}

/** A read cache for one provider's entries. Writes through it are visible at once. */
export interface LedgerReadCache {
  /**
   * The state after `sentAt`, when the provider's request was sent, on the clock of `performance.now()`: concurrent gets share a
   * read. `reported`: the status in its response. If it differs from the cached status, the ledger is read again: another process
   * may have stored a final status.
   */
  readonly find: (owner: string, id: string, sentAt: number, reported: Status | undefined) => Promise<CachedTransaction>
  /** Each with its state. Reads the ledger each time. Caches only entries with an unsaved state. */
  readonly findAll: (
    owner: string,
    transactions: readonly Transaction[],
  ) => Promise<readonly (readonly [Transaction, CachedTransaction])[]>
  /** Records a state that the ledger does not have yet. `isQueued`: a write is pending. */
  readonly holdUnsaved: (cached: CachedTransaction, entry: LedgerEntry, isQueued: boolean) => void
  /** Writes the unsaved state. Returns the stored entry; undefined if the transaction belongs to another owner. */
  readonly save: (cached: CachedTransaction, unsaved: LedgerEntry) => Promise<LedgerEntry | undefined>
}

/** Reads fail silently: if the ledger fails, the state is the last one that was read. */
export function ledgerReadCache(ledger: Pick<Ledger, 'find' | 'findAll' | 'upsert'>, options: StateOptions): LedgerReadCache {
  const { provider } = options
  const entries = new BoundedMap<CachedTransaction>({ maxEntries })
  const recall = (key: string, now: number): CachedTransaction | undefined => {
    const cached = entries.get(key)
    if (cached && now - cached.unsavedAt >= unsavedLifetimeMs) cached.unsaved = undefined
    return cached
  }
  const setStored = (cached: CachedTransaction, stored: LedgerEntry | undefined, loadedAt: number): void => {
    if (isOutdated(stored, loadedAt, cached)) return
    cached.stored = stored
    cached.belongsToOther &&= stored === undefined
    cached.loadedAt = Math.max(cached.loadedAt, loadedAt)
    if (stored && cached.unsaved) cached.unsaved = rebase(cached.unsaved, stored, options)
  }
  return {
    async find(owner, id, sentAt, reported) {
      const key = `${owner} ${id}`
      const now = performance.now()
      const cached = recall(key, now) ?? entries.set(key, emptyEntry(key))
      if (isCurrent(cached, now, sentAt, reported)) return cached
      try {
        setStored(cached, await ledger.find(owner, provider, id), now)
      } catch {
        // The state stays as it was last read.
      }
      return cached
    },
    async findAll(owner, transactions) {
      const now = performance.now()
      const ids = transactions.map(({ id }) => id)
      const stored = await ledger.findAll(owner, provider, ids).catch(() => undefined)
      const storedById = new Map(stored?.map((entry) => [entry.transaction.id, entry]))
      const cachedById = new Map<string, CachedTransaction>()
      const cachedOf = (id: string): CachedTransaction => {
        const key = `${owner} ${id}`
        const cached = recall(key, now) ?? emptyEntry(key)
        if (stored) setStored(cached, storedById.get(id), now)
        return cached
      }
      return transactions.map((transaction) => [transaction, cachedById.getOrInsertComputed(transaction.id, cachedOf)])
    },
    holdUnsaved(cached, entry, isQueued) {
      if (isQueued && entries.get(cached.key) !== cached) entries.set(cached.key, cached)
      cached.unsaved = entry
      cached.unsavedAt = performance.now()
    },
    async save(cached, unsaved) {
      const now = performance.now()
      const stored = await ledger.upsert(unsaved.owner, provider, unsaved, cached.stored)
      setStored(cached, stored, now)
      cached.belongsToOther = stored === undefined
      return stored
    },
  }
}

function emptyEntry(key: string): CachedTransaction {
  const never = Number.NEGATIVE_INFINITY
  return { key, stored: undefined, unsaved: undefined, belongsToOther: false, isWriting: false, loadedAt: never, unsavedAt: never }
}

function isCurrent({ stored, loadedAt }: CachedTransaction, now: number, sentAt: number, reported: Status | undefined): boolean {
  if (stored && stored.transaction.status !== reported) return false
  return loadedAt >= sentAt && now - sentAt < shortRequestMs
}

/** Whether a read or write that took longer than a later one returned an older entry. */
function isOutdated(stored: LedgerEntry | undefined, loadedAt: number, cached: CachedTransaction): boolean {
  if (!stored || !cached.stored) return loadedAt < cached.loadedAt
  const [sequence = 0, latest = 0] = [stored.sequence, cached.stored.sequence]
  return sequence < latest || (sequence === latest && cached.stored.isCreated && !stored.isCreated)
}
