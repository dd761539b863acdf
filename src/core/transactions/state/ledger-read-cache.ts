import type { Status } from '../../../domain/swap/status.ts'
import { BoundedMap } from '../../bounded-map.ts'
import type { Ledger, LedgerEntry } from '../../ledger.ts'

/** How long what the ledger said serves again, in milliseconds: clients ask for one transaction in bursts. */
const lifetimeMs = 1_000
/** While a request took longer than this, another process may have seen more: the ledger is asked anew. */
const shortRequestMs = 100
/** How long what this process has seen is compared with what comes in later, in milliseconds: no request takes that long. */
const unsavedLifetimeMs = 60_000
/** A bound on memory. What is dropped is read from the ledger again. */
const maxEntries = 10_000

/** What one owner may know of one transaction, as far as this process does. It changes in place. */
export interface CachedTransaction {
  /** What the ledger had when it was last asked; undefined where it fails. */
  stored: LedgerEntry | undefined
  /** What was shown last, where the ledger does not have it as it was shown. */
  unsaved: LedgerEntry | undefined
  /** Whether the ledger has lately given it to another owner. */
  belongsToOther: boolean
  /** While what is noted is on its way into the ledger. */
  isWriting: boolean
}

interface CacheEntry extends CachedTransaction {
  readonly key: string
  loadedAt: number
  unsavedAt: number
}

/** One provider's entries, which need not be asked for with every look. What is seen here is known at once. */
export interface LedgerReadCache extends Pick<Ledger, 'upsert'> {
  /**
   * `sentAt`: when the request went up whose answer it is compared with, on the clock of `performance.now()`. `reported`: the
   * status in that answer. Where it is news, another process may have brought the end.
   */
  readonly find: (owner: string, id: string, sentAt: number, reported: Status | undefined) => Promise<CachedTransaction>
  /** Of these only what is noted is remembered. */
  readonly findAll: (owner: string, ids: readonly string[]) => Promise<ReadonlyMap<string, CachedTransaction>>
  /** `isNews`: it is on its way into the ledger. */
  readonly holdUnsaved: (known: CachedTransaction, entry: LedgerEntry, isQueued: boolean) => void
}

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
    async findAll(owner, ids) {
      const now = performance.now()
      const stored = await ledger.findAll(owner, provider, ids).catch(() => [])
      const byId = new Map(stored.map((entry) => [entry.transaction.id, entry]))
      return new Map(ids.map((id) => [id, setStored(entryOf(owner, id, now), byId.get(id), now)]))
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
