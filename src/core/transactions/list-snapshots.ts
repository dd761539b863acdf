/** Complete lists per owner, cached for the pages after the first, with bounded memory. */

export interface Rows<Row> {
  readonly rows: readonly Row[]
  /** Sum over all texts. */
  readonly characters: number
}

export interface SnapshotBounds {
  readonly rows: number
  readonly characters: number
}

interface SnapshotEntry<List> {
  readonly list: Promise<List>
  /** Infinite while the list is read. */
  expiresAt: number
  rows: number
  characters: number
}

/** A cache with one list per owner and a single read at a time per owner. */
export class ListSnapshots<List extends Rows<unknown>> {
  private readonly entries = new Map<string, SnapshotEntry<List>>()
  private readonly lifetimeMs: number
  private readonly max: SnapshotBounds
  private rows = 0
  private characters = 0

  /** `max` bounds the sum over all lists: beyond it the oldest lists are dropped. */
  constructor(lifetimeMs: number, max: SnapshotBounds) {
    this.lifetimeMs = lifetimeMs
    this.max = max
  }

  /** Concurrent callers share one read, and its failure. A finished list is reused, except for the first page, which reads again. */
  get(owner: string, isFirstPage: boolean, read: () => Promise<List>): Promise<List> {
    const current = this.entries.get(owner)
    const isPending = current?.expiresAt === Number.POSITIVE_INFINITY
    if (current && (isPending || (!isFirstPage && current.expiresAt > performance.now()))) return current.list
    const entry: SnapshotEntry<List> = { list: read(), expiresAt: Number.POSITIVE_INFINITY, rows: 0, characters: 0 }
    this.forget(owner)
    this.entries.set(owner, entry)
    entry.list.then(
      (list) => this.keep(owner, entry, list),
      () => this.forget(owner, entry),
    )
    return entry.list
  }

  /** Drops the owner's entry if it is still `expected`. */
  forget(owner: string, expected = this.entries.get(owner)): void {
    if (!expected || this.entries.get(owner) !== expected) return
    this.entries.delete(owner)
    this.rows -= expected.rows
    this.characters -= expected.characters
  }

  private keep(owner: string, entry: SnapshotEntry<List>, { rows, characters }: List): void {
    if (this.entries.get(owner) !== entry) return
    entry.expiresAt = performance.now() + this.lifetimeMs
    Object.assign(entry, { rows: rows.length, characters })
    this.rows += rows.length
    this.characters += characters
    setTimeout(() => this.forget(owner, entry), this.lifetimeMs).unref()
    for (const [oldest, { rows: entryRows }] of this.entries) {
      if (this.rows <= this.max.rows && this.characters <= this.max.characters) break
      if (entryRows > 0) this.forget(oldest)
    }
  }
}
