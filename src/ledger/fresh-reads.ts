/**
 * Reads where a proxy or a name in front of PostgreSQL sends them to a standby, which is behind: what was just written is missing there.
 * What a read lacks is asked for again on the connection of creates.
 */
import type { OnTrouble } from '../domain/store-trouble.ts'
import type { Database } from './database.ts'

type Read<T> = (database: Database) => Promise<T>

/** Reads count as behind for so long after they were last seen so. */
const lagMs = 60_000
/** How often what a read lacks is asked for again while nothing was seen. */
const lookIntervalMs = 1_000

export const lagMessage =
  'reads lack what was just written: they go to a standby. Name the primary in ledger.url, or switch the balancing of reads off (in pgpool-II: load_balance_mode = off)'

export class FreshReads {
  private readonly database: Database
  private readonly asWritten: <T>(read: Read<T>) => Promise<T>
  private readonly onTrouble: OnTrouble
  private seenAt = Number.NEGATIVE_INFINITY
  private lookedAt = Number.NEGATIVE_INFINITY

  /** `asWritten`: reads where creates are written. */
  constructor(database: Database, asWritten: <T>(read: Read<T>) => Promise<T>, onTrouble: OnTrouble = () => {}) {
    this.database = database
    this.asWritten = asWritten
    this.onTrouble = onTrouble
  }

  get isLagging(): boolean {
    return performance.now() - this.seenAt < lagMs
  }

  /** A read lacked what was written before. */
  noteLag(): void {
    this.seenAt = performance.now()
    this.onTrouble({ cause: 'lagging_reads', message: lagMessage })
  }

  /** For what is seldom missing: while nothing was seen, it shows that reads are behind. */
  async find<T>(read: Read<T | undefined>): Promise<T | undefined> {
    const found = await this.findWhileLagging(read)
    if (found !== undefined || this.isLagging || performance.now() - this.lookedAt < lookIntervalMs) return found
    this.lookedAt = performance.now()
    // What fails here says nothing of what the read has said.
    const written = await this.asWritten(read).catch(() => undefined)
    // It may have been written between the two reads.
    if (written !== undefined && (await read(this.database)) === undefined) this.noteLag()
    return written
  }

  /** For what is missing most of the time, like the key of a new create. */
  async findWhileLagging<T>(read: Read<T | undefined>): Promise<T | undefined> {
    const found = await read(this.database)
    return found === undefined && this.isLagging ? await this.asWritten(read) : found
  }
}

type Find = FreshReads['find']

/** On a file every read has what was written. */
export function readsOf({ database, freshReads }: { readonly database: Database; readonly freshReads?: FreshReads }): {
  readonly find: Find
  readonly findWhileLagging: Find
} {
  if (!freshReads) return { find: (read) => read(database), findWhileLagging: (read) => read(database) }
  return { find: (read) => freshReads.find(read), findWhileLagging: (read) => freshReads.findWhileLagging(read) }
}
