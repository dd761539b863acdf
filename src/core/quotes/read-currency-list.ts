/** Reads a provider's currency list page by page, completely or not at all. */
import { bytesOf, cacheShares } from '../../domain/bounded-map.ts'
import { Fault } from '../../domain/fault.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import type { Currency } from '../../domain/swap.ts'

const maxRows = 10_000
/** A bound on memory for one list, which has a part of the share of all lists: a larger one is not kept (`read-currency-list.test.ts`). */
const maxBytes = 20_000_000
/** How often a list is read if rows move between pages meanwhile. */
const maxPasses = 3

/** Of a row as an asset of a list, with its places in the list's tables. */
export const rowBytes = 768

interface WholeList {
  readonly rows: readonly Currency[]
  /** Estimated. */
  readonly bytes: number
  readonly provider: string | undefined
}

/** One pass over all pages. */
interface Pass {
  readonly pageOf: Map<string, number>
  page: number
  total: number
  read: number
  isShifting: boolean
  /** The keys of the previous page. */
  before: string
}

/** One read of a list. After a failure, e.g. without time or budget left, `finish` continues at the failed page. */
export class CurrencyReading {
  readonly beganAt = performance.now()
  private readonly rows = new Map<string, Currency>()
  private pass = newPass()
  private passes = 1
  /** Rows known at the start of the pass. */
  private knownCount = 0
  private rowBytes = 0
  private provider: string | undefined
  private readonly size: number

  /** `size`: rows of a page. */
  constructor(size: number) {
    this.size = size
  }

  get hasRows(): boolean {
    return this.rows.size > 0
  }

  get bytes(): number {
    return this.rowBytes
  }

  /** Throws `unreadable` if the list ends before the total of any of its pages. Dropped rows count as read. */
  async finish(service: SwapService, context: Context): Promise<WholeList> {
    for (;;) {
      while (!(await this.take(service, context)));
      if (!this.pass.isShifting || (this.passes > 1 && this.rows.size === this.knownCount)) break
      if (this.passes === maxPasses) throw listIncomplete()
      this.passes++
      this.knownCount = this.rows.size
      this.pass = newPass()
    }
    return { rows: [...this.rows.values()], bytes: this.rowBytes, provider: this.provider }
  }

  /** Reads the next page and returns whether it is the last one. A row on two pages may have moved, so that another was missed. */
  private async take(service: SwapService, context: Context): Promise<boolean> {
    const { pass } = this
    const query = { page: pass.page, size: this.size }
    const { body, provider } = await service.call('listCurrencies', query, context)
    const { items, dropped = 0, rowCount = items.length + dropped, hasMore } = body
    this.provider = provider
    pass.total = Math.max(pass.total, body.total)
    pass.read += rowCount
    if (Math.max(pass.total, pass.read) > maxRows) throw new ListTooLong()
    const keys = items.map(keyOf)
    const page = keys.join('\n')
    const isSamePage = keys.length > 0 && page === pass.before
    if (isSamePage || (rowCount === 0 && pass.read < pass.total)) throw listIncomplete()
    for (const row of items) {
      const key = keyOf(row)
      pass.isShifting ||= pass.pageOf.getOrInsert(key, pass.page) !== pass.page
      this.keep(key, row)
    }
    pass.page++
    pass.before = page
    return hasMore === undefined ? pass.read >= pass.total : !hasMore
  }

  private keep(key: string, row: Currency): void {
    if (this.rows.has(key)) return
    this.rows.set(key, row)
    this.rowBytes += rowBytes + bytesOf(row)
    if (this.rowBytes > Math.min(maxBytes, cacheShares.currencyLists.maxBytes)) throw new ListTooLong()
  }
}

function newPass(): Pass {
  return { pageOf: new Map(), page: 1, total: 0, read: 0, isShifting: false, before: '' }
}

function keyOf({ code, coin, network, contract }: Currency): string {
  return `${code ?? coin}\n${network ?? ''}\n${contract ?? ''}`
}

function listIncomplete(): Fault {
  return new Fault('unreadable', "The provider's list of currencies broke off; please try again later.")
}

/** It would take too much memory. */
export class ListTooLong extends Fault {
  constructor() {
    super('unreadable', "The provider's list of currencies is too long.")
  }
}

// Port: complete currency lists of providers, kept for other processes and for the next start (docs/contract.md §3.3).
// Implemented by the ledger stores.

/** Identifies a list. Another URL or form is another list. */
export interface ListSource {
  /** The provider's tag. */
  readonly provider: string
  readonly url: string
  readonly form: string
}

interface StoredList {
  readonly rows: readonly Currency[]
  /** Age by a clock that no process sets; infinite if unknown. */
  readonly ageMs: number
}

/** Both methods throw if the store fails. */
export interface CurrencyListStore {
  /** The last saved list of this source. */
  readonly loadCurrencies: (source: ListSource) => Promise<StoredList | undefined>
  /** Replaces the provider's list. A list that is too long is not stored. */
  readonly saveCurrencies: (source: ListSource, list: StoredList) => Promise<void>
}
