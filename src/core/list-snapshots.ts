/** Whole lists that were read for one owner, kept a while for the pages behind the first, within bounds of memory. */

export interface Rows<Row> {
  readonly rows: readonly Row[]
}

interface Reading<List> {
  readonly list: Promise<List>
  /** Later than any clock while it is read. */
  expiresAt: number
  rowCount: number
}

export class ListSnapshots<List extends Rows<unknown>> {
  private readonly readings = new Map<string, Reading<List>>()
  private readonly lifetimeMs: number
  private readonly maxRows: number
  private rowCount = 0

  /** Beyond `maxRows` in all, the oldest lists are forgotten and read again when they are asked for. */
  constructor(lifetimeMs: number, maxRows: number) {
    this.lifetimeMs = lifetimeMs
    this.maxRows = maxRows
  }

  /** A reading under way serves all who ask, its failure too; one that is done serves unless `isFirstPage`, which reads anew. */
  get(owner: string, isFirstPage: boolean, read: () => Promise<List>): Promise<List> {
    const known = this.readings.get(owner)
    const isReading = known?.expiresAt === Number.POSITIVE_INFINITY
    if (known && (isReading || (!isFirstPage && known.expiresAt > performance.now()))) return known.list
    const reading: Reading<List> = { list: read(), expiresAt: Number.POSITIVE_INFINITY, rowCount: 0 }
    this.forget(owner)
    this.readings.set(owner, reading)
    reading.list.then(
      ({ rows }) => this.keep(owner, reading, rows.length),
      () => this.forget(owner, reading),
    )
    return reading.list
  }

  /** `only`: unless another reading has taken its place. */
  forget(owner: string, only = this.readings.get(owner)): void {
    if (!only || this.readings.get(owner) !== only) return
    this.readings.delete(owner)
    this.rowCount -= only.rowCount
  }

  private keep(owner: string, reading: Reading<List>, rowCount: number): void {
    if (this.readings.get(owner) !== reading) return
    reading.expiresAt = performance.now() + this.lifetimeMs
    reading.rowCount = rowCount
    this.rowCount += rowCount
    setTimeout(() => this.forget(owner, reading), this.lifetimeMs).unref()
    for (const [oldest, { rowCount: held }] of this.readings) {
      if (this.rowCount <= this.maxRows) break
      if (held > 0) this.forget(oldest)
    }
  }
}
