import type { AssetTable } from '../../domain/asset.ts'
import { BoundedMap, bytesOf, type Cache, type CacheShare, cacheShares } from '../../domain/bounded-map.ts'
import { isFinal, type Status } from '../../domain/status.ts'
import type { Transaction } from '../../domain/swap.ts'
import type { LedgerEntry } from '../ports/ledger.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { differsVisibly } from '../visible-state.ts'
import { rebase } from './save-observed.ts'

/** During a request longer than this, another process may have stored a newer state, so the ledger is read again. */
const shortRequestMs = 100
/** How long a final state is used without a read: nothing that is stored of it changes any more (`ledger-read-cache.test.ts`). */
const finalLifetimeMs = 60_000
/** How long an unsaved state is compared with later responses: no request takes longer. */
const unsavedLifetimeMs = 60_000
/** A bound on memory. A dropped entry is read from the ledger again. */
const maxEntries = 10_000

/** This process's state of one transaction of one owner. Changed in place. */
export interface CachedTransaction {
  readonly key: string
  /** The newest entry that was read or written; undefined if there is none. */
  stored: LedgerEntry | undefined
  /** The last state that was returned, merged into `stored`, if it is not stored. */
  unsaved: LedgerEntry | undefined
  /** The state whose write has found another owner. */
  refused: LedgerEntry | undefined
  /** Whether a write to the ledger is queued or running. */
  isWriting: boolean
  /** Whether the ledger did not answer the last read: `stored` is what it said before. */
  isUnread: boolean
  /** When the read or write that returned `stored` began, and when it ended. */
  loadedAt: number
  returnedAt: number
  unsavedAt: number
}

/** Includes a change that is to be stored. */
export function latestOf(cached: CachedTransaction): LedgerEntry | undefined {
  const { stored, unsaved, isWriting } = cached
  return unsaved && (isWriting || isChange(cached, unsaved)) ? unsaved : stored
}

/** Whether the ledger needs this state: a change that its owner sees, of its doubt, or the first get. */
function isChange({ stored, refused }: CachedTransaction, entry: LedgerEntry): boolean {
  const before = stored ?? refused
  if (!before || (before.fetchedAt === undefined && entry.fetchedAt !== undefined) || before.doubt !== entry.doubt) return true
  return differsVisibly(before, entry)
}

/** A read cache for one provider's entries. Writes through it are visible at once. */
export interface LedgerReadCache {
  /**
   * The state after `sentAt`, when the provider's request was sent, on the clock of `performance.now()`: concurrent gets share a
   * read. `reported`: the status in its response. If it differs from the cached status, the ledger is read again: another process
   * may have stored a final status. A promise only if the ledger is read.
   */
  readonly find: (
    owner: string,
    id: string,
    sentAt: number,
    reported: Status | undefined,
  ) => CachedTransaction | Promise<CachedTransaction>
  /** Each with its state. Reads the ledger each time. */
  readonly findAll: (
    owner: string,
    transactions: readonly Transaction[],
  ) => Promise<readonly (readonly [Transaction, CachedTransaction])[]>
  /** Counts the memory of a state with a new `unsaved`. */
  readonly resize: (cached: CachedTransaction) => void
  /** Writes the unsaved state. False if the transaction belongs to another owner. */
  readonly save: (cached: CachedTransaction, unsaved: LedgerEntry) => Promise<boolean>
}

/** If the ledger fails, the state is the last one that was read, and `isUnread`; of a create here, the one that was stored. */
export function ledgerReadCache({ ledger, journal, tag: provider, table, createdHere }: ProviderScope): LedgerReadCache {
  const entries = new BoundedMap<CachedTransaction>({ share: cacheShares.transactions, maxEntries })
  const recall = (owner: string, id: string, now: number): CachedTransaction => {
    const key = `${owner} ${id}`
    const cached = entries.get(key) ?? entries.set(key, { ...emptyEntry(key), stored: createdHere?.find(owner, id) })
    if (!cached.isWriting && now - cached.unsavedAt >= unsavedLifetimeMs) cached.unsaved = undefined
    return cached
  }
  const resize = (cached: CachedTransaction): void => void entries.set(cached.key, cached)
  const store = (cached: CachedTransaction, stored: LedgerEntry | undefined, startedAt: number): void => {
    const before = cached.stored
    cached.isUnread = false
    setStored(cached, stored, startedAt, table)
    if (cached.stored !== before) resize(cached)
  }
  const read = async (cached: CachedTransaction, owner: string, id: string, now: number): Promise<CachedTransaction> => {
    try {
      store(cached, await ledger.find(owner, provider, id, cached.stored), now)
    } catch {
      cached.isUnread = true
    }
    return cached
  }
  return {
    find(owner, id, sentAt, reported) {
      const now = performance.now()
      const cached = recall(owner, id, now)
      return isCurrent(cached, now, sentAt, reported) ? cached : read(cached, owner, id, now)
    },
    async findAll(owner, transactions) {
      const now = performance.now()
      const ids = transactions.map(({ id }) => id)
      const stored = await ledger.findAll(owner, provider, ids).catch(() => undefined)
      const known = transactions.map((transaction) => [transaction, recall(owner, transaction.id, now)] as const)
      const storedById = new Map(stored?.map((entry) => [entry.transaction.id, entry]))
      for (const [{ id }, cached] of known)
        if (stored) store(cached, storedById.get(id), now)
        else cached.isUnread = true
      return known
    },
    resize,
    async save(cached, unsaved) {
      const now = performance.now()
      const stored = await journal.upsert(unsaved.owner, provider, unsaved, cached.stored)
      store(cached, stored, now)
      cached.refused = stored ? undefined : unsaved
      return stored !== undefined
    },
  }
}

function emptyEntry(key: string): CachedTransaction {
  const never = Number.NEGATIVE_INFINITY
  const nothing = { stored: undefined, unsaved: undefined, refused: undefined }
  return { key, ...nothing, isWriting: false, isUnread: false, loadedAt: never, returnedAt: never, unsavedAt: never }
}

function isCurrent({ stored, loadedAt }: CachedTransaction, now: number, sentAt: number, reported: Status | undefined): boolean {
  if (stored && stored.transaction.status !== reported) return false
  if (stored && isFinal(reported) && now - loadedAt < finalLifetimeMs) return true
  return loadedAt >= sentAt && now - sentAt < shortRequestMs
}

/** A newer entry gets the unsaved change, if it is one. */
function setStored(cached: CachedTransaction, stored: LedgerEntry | undefined, startedAt: number, table: AssetTable): void {
  if (isOutdated(cached, stored, startedAt)) return
  const { stored: base, unsaved, isWriting } = cached
  if (stored && unsaved && !isSameVersion(stored, base)) {
    cached.unsaved = isWriting || isChange(cached, unsaved) ? rebase(unsaved, base, stored, table) : undefined
  }
  cached.stored = stored
  if (stored) cached.refused = undefined
  cached.loadedAt = startedAt
  cached.returnedAt = performance.now()
}

/** Whether a read that began before the cached entry was returned has returned an older one. */
function isOutdated({ stored: known, returnedAt }: CachedTransaction, stored: LedgerEntry | undefined, startedAt: number): boolean {
  if (!known || startedAt >= returnedAt) return false
  const [latest = 0, sequence = 0] = [known.sequence, stored?.sequence]
  return !stored || sequence < latest || (sequence === latest && known.isCreated && !stored.isCreated)
}

function isSameVersion(entry: LedgerEntry, other: LedgerEntry | undefined): boolean {
  return entry.sequence === other?.sequence && entry.isCreated === other?.isCreated
}

// Stores reports in the ledger without delaying the response. A failed write is not retried: the next report is stored instead.

/** A list causes many writes at once, and the ledger has other work. */
const concurrency = 4
/** Further reports are not stored. */
const maxQueued = 10_000
/** Attempts if other processes write at the same time. */
const maxAttempts = 10

/** Writes one state at a time per transaction; of those that follow meanwhile only the latest. Reports of gets go first. */
export class WriteBehind implements Cache {
  bytes = 0
  private readonly cache: Pick<LedgerReadCache, 'save'>
  private readonly share: CacheShare
  /** With the bytes of their states. */
  private readonly urgent = new Map<CachedTransaction, number>()
  private readonly queued = new Map<CachedTransaction, number>()
  private readonly writing = new Set<CachedTransaction>()

  constructor(cache: Pick<LedgerReadCache, 'save'>, share = cacheShares.writes) {
    this.cache = cache
    this.share = share
    share.add(this)
  }

  get entries(): number {
    return this.urgent.size + this.queued.size
  }

  /** Makes room for the reports of another provider. */
  dropOldest(): void {
    const queue = this.queued.size > 0 ? this.queued : this.urgent
    for (const cached of [...queue.keys()].slice(0, Math.ceil(queue.size / 2))) {
      this.take(cached, queue)
      cached.isWriting = this.writing.has(cached)
    }
  }

  /** Makes this the last returned state, and queues its write. False if the ledger has the same already or the queue is full. */
  write(cached: CachedTransaction, entry: LedgerEntry, isUrgent: boolean): boolean {
    const queue = isUrgent || this.urgent.has(cached) ? this.urgent : this.queued
    const isNeeded = cached.isWriting || isChange(cached, entry)
    cached.unsaved = entry
    cached.unsavedAt = performance.now()
    const bytes = isNeeded ? bytesOf(entry) : 0
    if (!isNeeded || queue.size >= maxQueued || !this.share.makeRoom(bytes, this)) return false
    this.take(cached, this.queued)
    this.count(bytes - (queue.get(cached) ?? 0))
    queue.set(cached, bytes)
    cached.isWriting = true
    if (this.writing.size < concurrency) void this.run()
    return true
  }

  private take(cached: CachedTransaction, queue: Map<CachedTransaction, number>): void {
    this.count(-(queue.get(cached) ?? 0))
    queue.delete(cached)
  }

  private count(bytes: number): void {
    this.bytes += bytes
    this.share.count(bytes)
  }

  private async run(): Promise<void> {
    for (let cached = this.nextWrite(); cached; cached = this.nextWrite()) {
      this.writing.add(cached)
      await this.writeLatest(cached).catch(() => {})
      this.writing.delete(cached)
      cached.isWriting = this.urgent.has(cached) || this.queued.has(cached)
    }
  }

  private nextWrite(): CachedTransaction | undefined {
    for (const queue of [this.urgent, this.queued]) {
      for (const cached of queue.keys()) {
        if (this.writing.has(cached)) continue
        this.take(cached, queue)
        return cached
      }
    }
    return undefined
  }

  /** If the stored entry has changed, the unsaved state has been merged into it, and is written again. */
  private async writeLatest(cached: CachedTransaction): Promise<void> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const { unsaved } = cached
      if (!unsaved || !isChange(cached, unsaved)) return
      if (!(await this.cache.save(cached, unsaved))) return
    }
  }
}
