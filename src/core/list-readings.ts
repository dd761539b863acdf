import { BrokenList, type ListedRow, ListReading, type ListReadingOptions, type ReadPage } from './list-reading.ts'

/** A bound on memory; the one that was left longest begins anew. */
const maxReadings = 1_000
const maxCharacters = 64_000_000

export interface ReadingOptions extends ListReadingOptions {
  /** A reading that began earlier does not count. */
  readonly notBefore: number
  /** The creates that are looked for. */
  readonly intents: readonly string[]
}

/** Lists that could not be read whole in one look are read on in the next, by the same process. */
export class ListReadings {
  private readonly kept = new Map<string, ListReading>()

  /**
   * The rows of the list once it is whole, of the same caller at the same provider (`whose`). Throws where it cannot be read
   * to its end now.
   */
  async finish(whose: string, options: ReadingOptions, readPage: ReadPage): Promise<readonly ListedRow[]> {
    const { dateFrom, dateTo } = options.window
    const { notBefore, intents } = options
    const name = `${whose} ${dateFrom} ${dateTo}`
    const known = this.kept.get(name)
    const isUsable = known && known.since <= options.since && known.beganAt >= notBefore
    const reading = isUsable ? known : new ListReading(options)
    this.kept.delete(name)
    try {
      const rows = await reading.finish(readPage, intents)
      this.kept.set(name, reading)
      return rows
    } catch (reason) {
      if (!(reason instanceof BrokenList)) this.kept.set(name, reading)
      throw reason
    } finally {
      this.forgetOldest()
    }
  }

  /** Of these callers everything is known that was asked. */
  forget(whose: string): void {
    for (const name of this.kept.keys()) if (name.startsWith(`${whose} `)) this.kept.delete(name)
  }

  private forgetOldest(): void {
    let weight = this.kept.values().reduce((sum, reading) => sum + reading.weight, 0)
    for (const [name, reading] of this.kept) {
      if (this.kept.size <= maxReadings && weight <= maxCharacters) return
      this.kept.delete(name)
      weight -= reading.weight
    }
  }
}
