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

interface Reading<List> {
  readonly list: Promise<List>
  /** Later than any clock while it is read. */
  expiresAt: number
  rows: number
  characters: number
}

export class ListSnapshots<List extends Rows<unknown>> {
  private readonly readings = new Map<string, Reading<List>>()
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
    const known = this.readings.get(owner)
    const isReading = known?.expiresAt === Number.POSITIVE_INFINITY
    if (known && (isReading || (!isFirstPage && known.expiresAt > performance.now()))) return known.list
    const reading: Reading<List> = { list: read(), expiresAt: Number.POSITIVE_INFINITY, rows: 0, characters: 0 }
    this.forget(owner)
    this.readings.set(owner, reading)
    reading.list.then(
      (list) => this.keep(owner, reading, list),
      () => this.forget(owner, reading),
    )
    return reading.list
  }

  /** `only`: unless another reading has taken its place. */
  forget(owner: string, only = this.readings.get(owner)): void {
    if (!only || this.readings.get(owner) !== only) return
    this.readings.delete(owner)
    this.rows -= only.rows
    this.characters -= only.characters
  }

  private keep(owner: string, reading: Reading<List>, { rows, characters }: List): void {
    if (this.readings.get(owner) !== reading) return
    reading.expiresAt = performance.now() + this.lifetimeMs
    Object.assign(reading, { rows: rows.length, characters })
    this.rows += rows.length
    this.characters += characters
    setTimeout(() => this.forget(owner, reading), this.lifetimeMs).unref()
    for (const [oldest, { rows: held }] of this.readings) {
      if (this.rows <= this.most.rows && this.characters <= this.most.characters) break
      if (held > 0) this.forget(oldest)
    }
  }
}
