/** A provider's list of transactions, read page by page until it is whole, over several looks if need be (docs/contract.md §10.2). */
import { Fault } from '../../../domain/faults/fault.ts'
import type { Page, Transaction, TransactionQuery } from '../../../domain/swap/swap.ts'
import { instantOf, type ReportedTransaction } from './compare-create.ts'

/** The largest page that the service has (docs/service.md §8). */
const pageSize = 100
/** Of one list. */
const maxRows = 50_000
const maxCharacters = 32_000_000
/** How often the first page is read again until it agrees. */
const maxConfirmations = 3
/** So long after it was whole a look that its share has cut short goes on with it, for the same creates: in milliseconds. */
const confirmedForMs = 120_000

export type DateWindow = Pick<TransactionQuery, 'dateFrom' | 'dateTo'>

/** A row as far as it could be read. */
export interface ListedRow {
  readonly reported: ReportedTransaction
  readonly isReadable: boolean
}

export type ReadPage = (query: TransactionQuery) => Promise<Page<Transaction>>

export interface ListScanOptions {
  /** What is read: all, unless it says dates. */
  readonly window: DateWindow
  /** Rows that are known to be older are counted and not kept, in milliseconds since 1970. */
  readonly since: number
  /** On the clock of the attempts, in milliseconds since 1970. */
  readonly startedAt: number
}

export class ListScan {
  readonly since: number
  readonly startedAt: number
  readonly window: DateWindow
  private readonly keys = new Set<string>()
  private readonly keptRows: ListedRow[] = []
  private total = 0
  private nextPage = 1
  private size = pageSize
  private characters = 0
  private confirmedAt = Number.NEGATIVE_INFINITY
  private confirmedFor: ReadonlySet<string> = new Set()

  constructor({ window, since, startedAt }: ListScanOptions) {
    this.window = window
    this.since = since
    this.startedAt = startedAt
  }

  /** What it keeps, in characters. */
  get weight(): number {
    return this.characters
  }

  /**
   * The rows, once the list is whole. What `readPage` throws leaves it as far as it is; `BrokenList` means to begin anew. For
   * intents that it was not confirmed for its first page is read again: what they made may be younger than the list.
   */
  async finish(readPage: ReadPage, intents: readonly string[] = []): Promise<readonly ListedRow[]> {
    const isRecent = performance.now() - this.confirmedAt < confirmedForMs
    if (isRecent && intents.every((intent) => this.confirmedFor.has(intent))) return this.keptRows
    for (let confirmations = 0; ; confirmations++) {
      while (!this.isAtEnd) {
        await this.readOne(this.nextPage, readPage)
        this.nextPage++
      }
      if (confirmations === maxConfirmations) throw new BrokenList('It changes faster than it can be read.')
      const before = this.total
      const newRows = await this.readOne(1, readPage)
      if (newRows === 0 && this.hasAll) break
      if (newRows === 0 && this.total === before) throw new BrokenList('It breaks off before its end.')
      // What is new is at the beginning, or behind the end.
      this.nextPage = newRows > 0 ? 2 : Math.floor(this.keys.size / this.size) + 1
    }
    this.confirmedAt = performance.now()
    this.confirmedFor = new Set(intents)
    return this.keptRows
  }

  private get hasAll(): boolean {
    return this.keys.size >= this.total
  }

  /** As far as pages go that are read once. */
  private get isAtEnd(): boolean {
    return this.nextPage > 1 && (this.hasAll || (this.nextPage - 1) * this.size >= this.total)
  }

  /** How many rows of the page were not seen before. */
  private async readOne(page: number, readPage: ReadPage): Promise<number> {
    const { items, total, unreadable = [] } = await readPage({ ...this.window, page, size: pageSize })
    if (total < this.total) throw new BrokenList('It became shorter while it was read.')
    if (total > maxRows) throw new BrokenList('It is too long.')
    this.total = total
    const count = items.length + unreadable.length
    if (page === 1 && count > 0) this.size = count < total ? count : pageSize
    if (count === 0) this.nextPage = Math.ceil(total / this.size) + 1
    const before = this.keys.size
    // What is twice on one page is two rows; on two pages it has moved.
    const occurrences = new Map<string, number>()
    const keep = (key: string, reported: ReportedTransaction, isReadable: boolean): void => {
      const occurrence = occurrences.get(key) ?? 0
      occurrences.set(key, occurrence + 1)
      this.keep(occurrence === 0 ? key : `${key}\n${occurrence}`, reported, isReadable)
    }
    for (const row of items) keep(row.id, row, true)
    for (const { key, fields } of unreadable) keep(key, fields, false)
    if (this.characters > maxCharacters) throw new BrokenList('It is too large.')
    return this.keys.size - before
  }

  private keep(key: string, reported: ReportedTransaction, isReadable: boolean): void {
    if (this.keys.has(key)) return
    this.keys.add(copyText(key))
    this.characters += key.length
    const createdAt = reported.createdAt === undefined ? undefined : instantOf(reported.createdAt)
    if (createdAt !== undefined && createdAt < this.since) return
    const texts = Object.entries(reported).map(([field, text]) => [field, text && copyText(text)] as const)
    this.characters += texts.reduce((sum, [, text]) => sum + (text?.length ?? 0), 0)
    this.keptRows.push({ reported: Object.fromEntries(texts), isReadable })
  }
}

/** It cannot be read on from where it was left. */
export class BrokenList extends Fault {
  constructor(message: string) {
    super('unavailable', message)
  }
}

/** Of its own: a part of a text keeps the whole of it in memory. */
function copyText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}
