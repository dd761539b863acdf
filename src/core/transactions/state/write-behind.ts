/** Stores reports in the ledger without delaying the response. A failed write is not retried: the next report is stored instead. */
import type { LedgerEntry, TransactionRecord } from '../../ledger.ts'
import type { CachedTransaction, LedgerReadCache } from './ledger-read-cache.ts'
import { type MergedReport, type StateOptions, saveObserved } from './save-observed.ts'

interface PendingWrite extends MergedReport {
  readonly owner: string
}

/** A list causes many writes at once, and the ledger has other work. */
const concurrency = 4
/** A bound on memory: further reports are not stored. */
const maxQueued = 10_000

/** Writes one report at a time per transaction; of reports that arrive meanwhile only the latest follows. Reports of gets go first. */
export class WriteBehind {
  private readonly cache: LedgerReadCache
  private readonly options: StateOptions
  private readonly urgent = new Map<CachedTransaction, PendingWrite>()
  private readonly queued = new Map<CachedTransaction, PendingWrite>()
  private readonly writing = new Set<CachedTransaction>()

  constructor(cache: LedgerReadCache, options: StateOptions) {
    this.cache = cache
    this.options = options
  }

  /** Queues a write. False if the ledger has the same state already or the queue is full. */
  write(cached: CachedTransaction, pendingWrite: PendingWrite): boolean {
    if (!cached.isWriting && !isChange(cached, pendingWrite.merged.record)) return false
    const queue = pendingWrite.observed.isComplete || this.urgent.has(cached) ? this.urgent : this.queued
    if (queue.size >= maxQueued) return false
    this.queued.delete(cached)
    queue.set(cached, pendingWrite)
    cached.isWriting = true
    if (this.writing.size < concurrency) void this.run()
    return true
  }

  private async run(): Promise<void> {
    for (let nextWrite = this.nextWrite(); nextWrite; nextWrite = this.nextWrite()) {
      const [cached, pendingWrite] = nextWrite
      this.writing.add(cached)
      await this.writeOne(cached, pendingWrite)
      this.writing.delete(cached)
      cached.isWriting = this.urgent.has(cached) || this.queued.has(cached)
    }
  }

  private nextWrite(): readonly [CachedTransaction, PendingWrite] | undefined {
    for (const queue of [this.urgent, this.queued]) {
      for (const [cached, pendingWrite] of queue) {
        if (this.writing.has(cached)) continue
        queue.delete(cached)
        return [cached, pendingWrite]
      }
    }
    return undefined
  }

  private async writeOne(cached: CachedTransaction, { owner, observed, merged }: PendingWrite): Promise<void> {
    if (!isChange(cached, merged.record)) return
    const options = { ...this.options, ledger: this.cache }
    await saveObserved(owner, observed, { merged, stored: cached.stored }, options).catch(() => {})
  }
}

function isChange({ stored, unsaved, belongsToOther }: CachedTransaction, { transaction, fetchedAt }: TransactionRecord): boolean {
  const before: LedgerEntry | undefined = stored ?? (belongsToOther ? unsaved : undefined)
  if (!before || (before.fetchedAt === undefined && fetchedAt !== undefined)) return true
  const { status, amountOut, depositAddress } = before.transaction
  return status !== transaction.status || amountOut !== transaction.amountOut || depositAddress !== transaction.depositAddress
}
