/**
 * Reads a provider's list of transactions page by page until it is complete, over several runs if needed (docs/contract-operators.md §10.2). It
 * is complete if its total does not fall, and its first page, read again, has nothing new. If its total is that of one full page, the next page
 * is read first; as a proof that nothing was created, after one page of any length.
 */

import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import { Fault } from '../../domain/fault.ts'
import { instantsOf } from '../../domain/instant.ts'
import type { Page, Transaction, TransactionQuery } from '../../domain/swap.ts'
import { extentReader } from '../paging.ts'
import type { ReportedTransaction } from '../same-swap.ts'

/** Bounds of one list. */
const maxRows = 50_000
const maxCharacters = 32_000_000
/** Of each character, each key and each row. */
const characterBytes = 2
const keyBytes = 80
const rowBytes = 640
/** How often the first page is read again until it has no new rows. */
const maxConfirmations = 3
/** So many pages in a row may have only known rows: rows move while a list is read. */
const maxRepeatedPages = 10
/** For this time after its completion a list is reused for the same creates, if the budget interrupted their check. */
const confirmedForMs = 120_000

export type DateWindow = Pick<TransactionQuery, 'dateFrom' | 'dateTo'>

/** A row, with the fields that could be read. */
export interface ListedRow {
  readonly reported: ReportedTransaction
  readonly isReadable: boolean
}

type UnreadableTransaction = NonNullable<Page<Transaction>['unreadable']>[number]

export type ReadPage = (query: TransactionQuery) => Promise<Page<Transaction>>

interface ListScanOptions {
  /** Date range of the list; all rows if it is empty. */
  readonly window: DateWindow
  /** Older rows without a reference are counted but not kept. Milliseconds since 1970. */
  readonly since: number
  /** On the clock of `attemptedAt`. Milliseconds since 1970. */
  readonly startedAt: number
  /** Whether it decides that a create made nothing: then a page behind the last one must have no further row. */
  readonly decidesNotCreated?: boolean
  /** The largest page of the provider. */
  readonly pageSize: number
  /** That of the provider's times without a zone; default: UTC. */
  readonly timezone?: string | undefined
}

/** One resumable read of a list. */
export class ListScan {
  readonly since: number
  readonly startedAt: number
  readonly window: DateWindow
  private readonly keys = new Set<string>()
  private readonly keptRows: ListedRow[] = []
  private total = 0
  private firstPageCount = 0
  private nextPage = 1
  /** The last page that was read. */
  private lastPage = 0
  private readonly extentOf: ReturnType<typeof extentReader>
  private readonly decidesNotCreated: boolean
  private readonly pageSize: number
  private readonly timezone: string | undefined
  private size: number
  private characters = 0
  private confirmedAt = Number.NEGATIVE_INFINITY
  private confirmedFor: ReadonlySet<string> = new Set()

  constructor({ window, since, startedAt, decidesNotCreated = false, pageSize, timezone }: ListScanOptions) {
    this.decidesNotCreated = decidesNotCreated
    this.timezone = timezone
    this.pageSize = pageSize
    this.size = pageSize
    this.extentOf = extentReader(pageSize)
    this.window = window
    this.since = since
    this.startedAt = startedAt
  }

  /** Whether its one page was not full. */
  get isShort(): boolean {
    return this.lastPage === 1 && this.firstPageCount < this.pageSize
  }

  /** Of what is kept, estimated from above. */
  get bytes(): number {
    return characterBytes * this.characters + keyBytes * this.keys.size + rowBytes * this.keptRows.length
  }

  /**
   * Returns the rows of the complete list. After an error of `readPage` the next call continues; after `BrokenList` a new scan is
   * needed. For new `intents` the first page is read again: their transactions may be younger than the list.
   */
  async finish(readPage: ReadPage, intents: readonly string[] = []): Promise<readonly ListedRow[]> {
    const isRecent = performance.now() - this.confirmedAt < confirmedForMs
    if (isRecent && intents.every((intent) => this.confirmedFor.has(intent))) return this.keptRows
    for (let confirmations = 0; ; confirmations++) {
      for (let repeated = 0; !this.isAtEnd; this.nextPage++) {
        repeated = (await this.readOne(this.nextPage, readPage)) > 0 ? 0 : repeated + 1
        if (repeated > maxRepeatedPages) throw new BrokenList('The list repeats its pages.')
      }
      if (confirmations === maxConfirmations) throw new BrokenList('The list changes faster than it can be read.')
      const before = this.total
      const newRows = await this.readOne(1, readPage)
      if (newRows === 0 && this.hasAll) break
      if (newRows === 0 && this.total === before) throw new BrokenList('The list ends before its total.')
      // New rows are at the beginning or after the end.
      this.nextPage = newRows > 0 ? 2 : Math.floor(this.keys.size / this.size) + 1
    }
    if (this.decidesNotCreated) await this.requireEnd(readPage)
    this.confirmedAt = performance.now()
    this.confirmedFor = new Set(intents)
    return this.keptRows
  }

  /** The provider's pages may be smaller than requested, and its total that of one page: then the next one is read (`list-scan.test.ts`). */
  private async requireEnd(readPage: ReadPage): Promise<void> {
    if (this.firstPageCount === 0 || this.lastPage > 1) return
    const query = { ...this.window, page: 2, size: this.firstPageCount }
    const { items, unreadable = [] } = await readPage(query).catch((reason): Pick<Page<Transaction>, 'items' | 'unreadable'> => {
      // Some providers refuse a page behind the last one: it has no rows (`list-scan.test.ts`). A search's first page is no such page.
      if (Fault.from(reason).kind === 'invalid') return { items: [] }
      throw reason
    })
    const isKnown = [...items.map(({ id }) => id), ...unreadable.map((row) => keyOf(row, 1))].every((key) => this.keys.has(key))
    if (!isKnown) throw new BrokenList('The list has more rows than its total.')
  }

  private get hasAll(): boolean {
    return this.keys.size >= this.total
  }

  /** Whether all pages were read once. */
  private get isAtEnd(): boolean {
    return this.nextPage > 1 && (this.hasAll || (this.nextPage - 1) * this.size >= this.total)
  }

  /** Reads a page and returns the number of its new rows. */
  private async readOne(page: number, readPage: ReadPage): Promise<number> {
    const read = await readPage({ ...this.window, page, size: this.pageSize })
    const { items, unreadable = [] } = read
    const { total: reportedTotal, hasMore } = this.extentOf(page, read)
    // Without a total, a page only shows that there is another row, or that it is the last page. Of a page that is read again, the pages
    // behind it are known.
    const known = page < this.lastPage ? this.total : reportedTotal + 1
    const total = hasMore ? Math.max(this.total, known) : reportedTotal
    this.lastPage = Math.max(this.lastPage, page)
    if (total < this.total && hasMore === undefined) throw new BrokenList('The list became shorter while it was read.')
    if (total > maxRows) throw new BrokenList('The list is too long.')
    this.total = total
    const count = items.length + unreadable.length
    if (page === 1) this.firstPageCount = count
    if (page === 1 && count > 0) this.size = count < total ? count : this.pageSize
    if (count === 0) this.nextPage = Math.ceil(total / this.size) + 1
    const before = this.keys.size
    // A key twice on one page is two rows; on two pages it is one row that moved.
    const occurrences = new Map<string, number>()
    const keep = (key: string, reported: ReportedTransaction, isReadable: boolean): void => {
      const occurrence = occurrences.get(key) ?? 0
      occurrences.set(key, occurrence + 1)
      this.keep(occurrence === 0 ? key : `${key}\n${occurrence}`, reported, isReadable)
    }
    for (const row of items) keep(row.id, row, true)
    for (const row of unreadable) keep(keyOf(row, page), row.fields, false)
    if (this.characters > maxCharacters) throw new BrokenList('The list is too large.')
    return this.keys.size - before
  }

  private keep(key: string, reported: ReportedTransaction, isReadable: boolean): void {
    if (this.keys.has(key)) return
    this.keys.add(copyOf(key))
    this.characters += key.length
    const instants = reported.createdAt === undefined ? [] : instantsOf(reported.createdAt, this.timezone)
    const since = BigInt(Math.floor(this.since)) * 1_000_000n
    // A reference counts whatever the time.
    if (!reported.reference && instants.length > 0 && instants.every((instant) => instant < since)) return
    this.characters += lengthOf(reported)
    this.keptRows.push({ reported: copyOf(reported), isReadable })
  }
}

/** Rows without an id that are alike on two pages are two: counted as one, they would make the list seem to end before its total. */
function keyOf({ key, fields }: UnreadableTransaction, page: number): string {
  return fields.id === undefined ? `${page}\n${key}` : key
}

/** The scan cannot be continued: the list changed or is too large. */
export class BrokenList extends Fault {
  constructor(message: string) {
    super('unavailable', message)
  }
}

/** Of each text a real copy: a substring would keep the complete text of its page in memory. */
function copyOf<T>(value: T): T {
  if (typeof value === 'string') return Buffer.from(value, 'utf16le').toString('utf16le') as T
  if (Array.isArray(value)) return value.map(copyOf) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member)])) as T
}

/** Of all texts. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce<number>((sum, member) => sum + lengthOf(member), 0)
}

/** The scans that were unused the longest are dropped. */
const maxScans = 1_000

/** Whose lists a reading may reuse, and for what. */
interface Reading {
  /** The caller and the provider. */
  readonly scanKey: string
  /** A scan that began earlier is not reused. Milliseconds since 1970. */
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

  /** Returns the rows of the complete list, and whether it is short. Throws if the list cannot be read to its end now. */
  async finish(
    { scanKey, notBefore, intents }: Reading,
    options: ListScanOptions,
    readPage: ReadPage,
  ): Promise<{ readonly rows: readonly ListedRow[]; readonly isShort: boolean }> {
    const { dateFrom, dateTo } = options.window
    const name = `${scanKey} ${dateFrom} ${dateTo}`
    const existing = this.scans.get(name)
    const isUsable = existing && existing.since <= options.since && existing.startedAt >= notBefore
    const scan = isUsable ? existing : new ListScan(options)
    this.scans.delete(name)
    try {
      const rows = await scan.finish(readPage, intents)
      this.scans.set(name, scan)
      return { rows, isShort: scan.isShort }
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
