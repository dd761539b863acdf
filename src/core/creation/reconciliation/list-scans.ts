import { BrokenList, type ListedRow, ListScan, type ListScanOptions, type ReadPage } from './list-scan.ts'

/** A bound on memory; the one that was left longest begins anew. */
const maxScans = 1_000
const maxCharacters = 64_000_000

export interface ReadingOptions extends ListScanOptions {
  /** A reading that began earlier does not count. */
  readonly notBefore: number
  /** The creates that are looked for. */
  readonly intents: readonly string[]
}

/** Lists that could not be read whole in one look are read on in the next, by the same process. */
export class ListScans {
  private readonly scans = new Map<string, ListScan>()

  /**
   * The rows of the list once it is whole, of the same caller at the same provider (`whose`). Throws where it cannot be read
   * to its end now.
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
    } finally {
      this.forgetOldest()
    }
  }

  /** Of these callers everything is known that was asked. */
  forget(scanKey: string): void {
    for (const name of this.scans.keys()) if (name.startsWith(`${scanKey} `)) this.scans.delete(name)
  }

  private forgetOldest(): void {
    let weight = this.scans.values().reduce((sum, scan) => sum + scan.weight, 0)
    for (const [name, scan] of this.scans) {
      if (this.scans.size <= maxScans && weight <= maxCharacters) return
      this.scans.delete(name)
      weight -= scan.weight
    }
  }
}
