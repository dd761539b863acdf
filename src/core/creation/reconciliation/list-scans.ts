import { BoundedMap, cacheShares } from '../../../domain/bounded-map.ts'
import { BrokenList, type ListedRow, ListScan, type ListScanOptions, type ReadPage } from './list-scan.ts'

/** The scans that were unused the longest are dropped. */
const maxScans = 1_000

export interface ReadingOptions extends ListScanOptions {
  /** A scan that began earlier is not reused. */
  readonly notBefore: number
  /** The creates that are checked. */
  readonly intents: readonly string[]
}

/** Keeps interrupted scans, so that the next run of the same process continues them. */
export class ListScans {
  private readonly scans = new BoundedMap<ListScan>({
    share: cacheShares.listScans,
    maxEntries: maxScans,
    sizeOf: ({ bytes }) => bytes,
  })
  private readonly references = new BoundedMap<number>({ share: cacheShares.listScans, maxEntries: maxScans })

  /**
   * Returns the rows of the complete list. `scanKey`: the caller and the provider. Throws if the list cannot be read to its end
   * now.
   */
  async finish(scanKey: string, options: ReadingOptions, readPage: ReadPage): Promise<readonly ListedRow[]> {
    const { dateFrom, dateTo } = options.window
    const { notBefore, intents } = options
    const name = `${scanKey} ${dateFrom} ${dateTo}`
    const existing = this.scans.get(name)
    const isUsable = existing && existing.since <= options.since && existing.startedAt >= notBefore
    const scan = isUsable ? existing : new ListScan(options)
    this.scans.delete(name)
    try {
      const rows = await scan.finish(readPage, intents)
      this.scans.set(name, scan)
      return rows
    } catch (reason) {
      if (!(reason instanceof BrokenList)) this.scans.set(name, scan)
      throw reason
    }
  }

  /** Since when the lists of this key show references: the earliest time of such a row that was read. Undefined: none has shown one. */
  referencesSince(key: string, times: readonly number[]): number | undefined {
    const since = Math.min(this.references.get(key) ?? Number.POSITIVE_INFINITY, ...times)
    return Number.isFinite(since) ? this.references.set(key, since) : undefined
  }

  /** Drops the scans of this key: all its creates were checked. */
  forget(scanKey: string): void {
    for (const [name] of this.scans.all) if (name.startsWith(`${scanKey} `)) this.scans.delete(name)
  }
}
