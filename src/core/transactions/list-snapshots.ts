/** Whole lists that were read for one owner, kept a while for the pages behind the first, within bounds of memory. */

export interface Rows<Row> {
  readonly rows: readonly Row[]
  /** Of all their texts together. */
  readonly characters: number
}

export interface SnapshotBounds {
  readonly rows: number
  readonly characters: number
}

interface SnapshotEntry<List> {
  readonly list: Promise<List>
  /** Later than any clock while it is read. */
  expiresAt: number
  rows: number
  characters: number
}

export class ListSnapshots<List extends Rows<unknown>> {
  private readonly entries = new Map<string, SnapshotEntry<List>>()
  private readonly lifetimeMs: number
  private readonly most: SnapshotBounds
  private rows = 0
  private characters = 0

  /** Beyond `most` in all, the oldest lists are forgotten and read again when they are asked for. */
  constructor(lifetimeMs: number, most: SnapshotBounds) {
    this.lifetimeMs = lifetimeMs
    this.most = most
  }

  /** A reading under way serves all who ask, its failure too; one that is done serves unless `isFirstPage`, which reads anew. */
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

  /** `only`: unless another reading has taken its place. */
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
      if (this.rows <= this.most.rows && this.characters <= this.most.characters) break
      if (entryRows > 0) this.forget(oldest)
    }
  }
}
