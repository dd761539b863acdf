/** Stores reports in the ledger without delaying the response. A failed write is not retried: the next report is stored instead. */
import { bytesOf, type Cache, type CacheShare, cacheShares } from '../../../domain/bounded-map.ts'
import type { LedgerEntry } from '../../ledger.ts'
import { type CachedTransaction, isChange, type LedgerReadCache } from './ledger-read-cache.ts'

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
