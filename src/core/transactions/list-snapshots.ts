/** Complete lists per owner, cached for the pages after the first, with bounded memory. */
import { BoundedMap, type CacheShare, cacheShares } from '../../domain/bounded-map.ts'

export interface Rows<Row> {
  readonly rows: readonly Row[]
  /** Sum over all texts. */
  readonly characters: number
}

interface SnapshotEntry<List> {
  readonly list: Promise<List>
  /** Infinite while the list is read. */
  expiresAt: number
  bytes: number
}

const maxOwners = 10_000
/** Of a row beside its texts, of which each character may take two. */
const rowBytes = 640
const characterBytes = 2

/** A cache with one list per owner and a single read at a time per owner. Of more lists than `share` has room for the oldest are dropped. */
export class ListSnapshots<List extends Rows<unknown>> {
  private readonly entries: BoundedMap<SnapshotEntry<List>>
  private readonly lifetimeMs: number

  constructor(lifetimeMs: number, share: CacheShare = cacheShares.transactionLists) {
    this.lifetimeMs = lifetimeMs
    this.entries = new BoundedMap({ share, maxEntries: maxOwners, sizeOf: ({ bytes }) => bytes })
  }

  /** Concurrent callers share one read, and its failure. A finished list is reused, except for the first page, which reads again. */
  get(owner: string, isFirstPage: boolean, read: () => Promise<List>): Promise<List> {
    const current = this.entries.get(owner)
    const isPending = current?.expiresAt === Number.POSITIVE_INFINITY
    if (current && (isPending || (!isFirstPage && current.expiresAt > performance.now()))) return current.list
    const entry: SnapshotEntry<List> = { list: read(), expiresAt: Number.POSITIVE_INFINITY, bytes: rowBytes }
    this.entries.set(owner, entry)
    entry.list.then(
      (list) => this.keep(owner, entry, list),
      () => this.forget(owner, entry),
    )
    return entry.list
  }

  /** Drops the owner's entry if it is still `expected`. */
  forget(owner: string, expected = this.entries.get(owner)): void {
    if (this.entries.get(owner) === expected) this.entries.delete(owner)
  }

  private keep(owner: string, entry: SnapshotEntry<List>, { rows, characters }: List): void {
    if (this.entries.get(owner) !== entry) return
    entry.expiresAt = performance.now() + this.lifetimeMs
    entry.bytes += rows.length * rowBytes + characters * characterBytes
    this.entries.set(owner, entry)
    setTimeout(() => this.forget(owner, entry), this.lifetimeMs).unref()
  }
}
