/** Stores reports in the ledger without delaying the response. A failed write is not retried: the next report is stored instead. */
import type { LedgerEntry } from '../../ledger.ts'
import { type CachedTransaction, isChange, type LedgerReadCache } from './ledger-read-cache.ts'

/** A list causes many writes at once, and the ledger has other work. */
const concurrency = 4
/** A bound on memory: further reports are not stored. */
const maxQueued = 10_000
/** Attempts if other processes write at the same time. */
const maxAttempts = 10

/** Writes one state at a time per transaction; of those that follow meanwhile only the latest. Reports of gets go first. */
export class WriteBehind {
  private readonly cache: Pick<LedgerReadCache, 'save'>
  private readonly urgent = new Set<CachedTransaction>()
  private readonly queued = new Set<CachedTransaction>()
  private readonly writing = new Set<CachedTransaction>()

  constructor(cache: Pick<LedgerReadCache, 'save'>) {
    this.cache = cache
  }

  /** Makes this the last returned state, and queues its write. False if the ledger has the same already or the queue is full. */
  write(cached: CachedTransaction, entry: LedgerEntry, isUrgent: boolean): boolean {
    const queue = isUrgent || this.urgent.has(cached) ? this.urgent : this.queued
    const isNeeded = cached.isWriting || isChange(cached, entry)
    cached.unsaved = entry
    cached.unsavedAt = performance.now()
    if (!isNeeded || queue.size >= maxQueued) return false
    this.queued.delete(cached)
    queue.add(cached)
    cached.isWriting = true
    if (this.writing.size < concurrency) void this.run()
    return true
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
      for (const cached of queue) {
        if (this.writing.has(cached)) continue
        queue.delete(cached)
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
