/** A provider's list of transactions, read page by page until it is whole, over several looks if need be (docs/contract.md §10.2). */
import { Fault } from '../domain/fault.ts'
import type { Page, Transaction, TransactionQuery } from '../domain/swap.ts'
import { type Account, instantOf } from './comparison.ts'

/** The largest page that the service has (docs/service.md §8). */
const pageSize = 100
/** Of one list. */
const maxRows = 50_000
const maxCharacters = 32_000_000
/** How often the first page is read again until it agrees. */
const maxConfirmations = 3
/** So long after it was whole a look that its share has cut short goes on with it, for the same creates: in milliseconds. */
const confirmedForMs = 120_000

export type Window = Pick<TransactionQuery, 'dateFrom' | 'dateTo'>

/** A row as far as it could be read. */
export interface ListedRow {
  readonly account: Account
  readonly isReadable: boolean
}

export type ReadPage = (query: TransactionQuery) => Promise<Page<Transaction>>

export interface ListReadingOptions {
  /** What is read: all, unless it says dates. */
  readonly window: Window
  /** Rows that are known to be older are counted and not kept, in milliseconds since 1970. */
  readonly since: number
  /** On the clock of the attempts, in milliseconds since 1970. */
  readonly beganAt: number
}

export class ListReading {
  readonly since: number
  readonly beganAt: number
  readonly window: Window
  private readonly keys = new Set<string>()
  private readonly kept: ListedRow[] = []
  private total = 0
  private next = 1
  private size = pageSize
  private characters = 0
  private confirmedAt = Number.NEGATIVE_INFINITY
  private confirmedFor: ReadonlySet<string> = new Set()

  constructor({ window, since, beganAt }: ListReadingOptions) {
    this.window = window
    this.since = since
    this.beganAt = beganAt
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
    if (isRecent && intents.every((intent) => this.confirmedFor.has(intent))) return this.kept
    for (let confirmations = 0; ; confirmations++) {
      while (!this.isAtEnd) {
        await this.take(this.next, readPage)
        this.next++
      }
      if (confirmations === maxConfirmations) throw new BrokenList('It changes faster than it can be read.')
      const before = this.total
      const news = await this.take(1, readPage)
      if (news === 0 && this.hasAll) break
      if (news === 0 && this.total === before) throw new BrokenList('It breaks off before its end.')
      // What is new is at the beginning, or behind the end.
      this.next = news > 0 ? 2 : Math.floor(this.keys.size / this.size) + 1
    }
    this.confirmedAt = performance.now()
    this.confirmedFor = new Set(intents)
    return this.kept
  }

  private get hasAll(): boolean {
    return this.keys.size >= this.total
  }

  /** As far as pages go that are read once. */
  private get isAtEnd(): boolean {
    return this.next > 1 && (this.hasAll || (this.next - 1) * this.size >= this.total)
  }

  /** How many rows of the page were not seen before. */
  private async take(page: number, readPage: ReadPage): Promise<number> {
    const { items, total, unreadable = [] } = await readPage({ ...this.window, page, size: pageSize })
    if (total < this.total) throw new BrokenList('It became shorter while it was read.')
    if (total > maxRows) throw new BrokenList('It is too long.')
    this.total = total
    const count = items.length + unreadable.length
    if (page === 1 && count > 0) this.size = count < total ? count : pageSize
    if (count === 0) this.next = Math.ceil(total / this.size) + 1
    const before = this.keys.size
    // What is twice on one page is two rows; on two pages it has moved.
    const times = new Map<string, number>()
    const keep = (key: string, account: Account, isReadable: boolean): void => {
      const time = times.get(key) ?? 0
      times.set(key, time + 1)
      this.keep(time === 0 ? key : `${key}\n${time}`, account, isReadable)
    }
    for (const row of items) keep(row.id, row, true)
    for (const { key, fields } of unreadable) keep(key, fields, false)
    if (this.characters > maxCharacters) throw new BrokenList('It is too large.')
    return this.keys.size - before
  }

  private keep(key: string, account: Account, isReadable: boolean): void {
    if (this.keys.has(key)) return
    this.keys.add(copyOf(key))
    this.characters += key.length
    const createdAt = account.createdAt === undefined ? undefined : instantOf(account.createdAt)
    if (createdAt !== undefined && createdAt < this.since) return
    const texts = Object.entries(account).map(([field, text]) => [field, text && copyOf(text)] as const)
    this.characters += texts.reduce((sum, [, text]) => sum + (text?.length ?? 0), 0)
    this.kept.push({ account: Object.fromEntries(texts), isReadable })
  }
}

/** It cannot be read on from where it was left. */
export class BrokenList extends Fault {
  constructor(message: string) {
    super('unavailable', message)
  }
}

/** Of its own: a part of a text keeps the whole of it in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}
