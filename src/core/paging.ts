/** A list read whole, page by page. */
import type { Fault } from '../domain/faults/fault.ts'
import type { Context, SwapService } from '../domain/swap/service.ts'
import type { Page } from '../domain/swap/swap.ts'

/** The largest page that the service has (docs/service.md §8). */
const pageSize = 100

export interface WholeList<Row> {
  readonly rows: readonly Row[]
  /** False where the provider stopped before the total that it named. */
  readonly isComplete: boolean
  readonly provider: string | undefined
}

interface ReadWholeOptions<Row> {
  /** What is asked for beside the page. */
  readonly query?: Readonly<Partial<Record<'dateFrom' | 'dateTo', string>>>
  /** Rows are told apart by this, since pages shift while they are read. */
  readonly keyOf: (row: Row) => string
  /** More rows than this are not read. */
  readonly maxRows: number
  readonly tooManyRows: () => Fault
}

/** Reads until the named total is there, a page is empty, or nothing new came by the page where the total would end. */
export async function readWhole<O extends 'listCurrencies' | 'listTransactions', Row>(
  service: SwapService,
  op: O,
  context: Context,
  { query, keyOf, maxRows, tooManyRows }: ReadWholeOptions<Row>,
): Promise<WholeList<Row>> {
  const rows = new Map<string, Row>()
  let total = 0
  let dropped = 0
  let provider: string | undefined
  for (let page = 1; ; page++) {
    const response = await service.call(op, { ...query, page, size: pageSize }, context)
    const { items, total: reportedTotal, dropped: unreadable = 0 } = response.body as Page<never> as Page<Row>
    if (page === 1) {
      total = reportedTotal
      provider = response.provider
    }
    if (Math.max(total, rows.size) > maxRows) throw tooManyRows()
    const before = rows.size
    for (const row of items) if (!rows.has(keyOf(row))) rows.set(keyOf(row), row)
    dropped += unreadable
    const isEmpty = items.length + unreadable === 0
    const isExhausted = rows.size === before && page * pageSize >= total
    if (isEmpty || isExhausted || rows.size + dropped >= total) break
  }
  return { rows: [...rows.values()], isComplete: rows.size + dropped >= total, provider }
}

/** The page that a client asked for, cut from the whole. */
export function cutPage<Row>(rows: readonly Row[], { page, size }: { readonly page: number; readonly size: number }): Page<Row> {
  const start = (page - 1) * size
  return { items: rows.slice(start, start + size), total: rows.length }
}
