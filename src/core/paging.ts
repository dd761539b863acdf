/** Reads complete lists page by page, and cuts pages. */
import type { Fault } from '../domain/fault.ts'
import type { Context, SwapService } from '../domain/service.ts'
import type { Page } from '../domain/swap.ts'

export interface WholeList<Row> {
  readonly rows: readonly Row[]
  /** False if the list ended before its total. */
  readonly isComplete: boolean
  readonly provider: string | undefined
}

interface ReadWholeOptions<Row> {
  /** Query parameters beside the page. */
  readonly query?: Readonly<Partial<Record<'dateFrom' | 'dateTo', string | undefined>>> | undefined
  /** The most rows that a page can have. */
  readonly pageSize: number
  /** Identifies a row, because rows move between pages during the read. */
  readonly keyOf: (row: Row) => string
  /** For a longer list `tooManyRows` is thrown. */
  readonly maxRows: number
  readonly tooManyRows: () => Fault
}

/** The figures of a page that say how long its list is. */
type Extent = Pick<Page<unknown>, 'items' | 'total' | 'hasMore' | 'rowCount' | 'dropped' | 'unreadable'>

/**
 * A total that is the number of rows of one full page may be that page's alone: then each page only says whether it is full, as where
 * there is no total. One for each read of a list, called with its pages in order.
 */
export function extentReader(pageSize: number): (page: number, extent: Extent) => Pick<Extent, 'total' | 'hasMore'> {
  let isDoubtful = false
  return (page, { items, total, hasMore, rowCount, dropped = 0, unreadable = [] }) => {
    const count = rowCount ?? items.length + dropped + unreadable.length
    if (page === 1) isDoubtful = hasMore === undefined && count >= pageSize && total === count
    if (!isDoubtful) return { total, ...(hasMore !== undefined && { hasMore }) }
    return { total: (page - 1) * pageSize + count, hasMore: count >= pageSize }
  }
}

/** Reads until the total is reached, a page is empty, or the last page of the total has no new rows; without a total, to the last page. */
export async function readWhole<O extends 'listCurrencies' | 'listTransactions', Row>(
  service: SwapService,
  op: O,
  context: Context,
  { query, pageSize, keyOf, maxRows, tooManyRows }: ReadWholeOptions<Row>,
): Promise<WholeList<Row>> {
  const rows = new Map<string, Row>()
  let total = 0
  let dropped = 0
  let provider: string | undefined
  const extentOf = extentReader(pageSize)
  for (let page = 1; ; page++) {
    const response = await service.call(op, { ...query, page, size: pageSize }, context)
    const body: Page<Row> = response.body as Page<never>
    const { items, dropped: unreadable = 0 } = body
    const { total: reportedTotal, hasMore } = extentOf(page, body)
    if (page === 1) provider = response.provider
    if (page === 1 || hasMore !== undefined) total = Math.max(total, reportedTotal)
    if (Math.max(total, rows.size) > maxRows) throw tooManyRows()
    const before = rows.size
    for (const row of items) if (!rows.has(keyOf(row))) rows.set(keyOf(row), row)
    dropped += unreadable
    const isEmpty = items.length + unreadable === 0
    const isExhausted = rows.size === before && page * pageSize >= total
    if (isEmpty || (!hasMore && (isExhausted || rows.size + dropped >= total))) break
  }
  return { rows: [...rows.values()], isComplete: rows.size + dropped >= total, provider }
}

/** Cuts the requested page from the complete list. */
export function cutPage<Row>(rows: readonly Row[], { page, size }: { readonly page: number; readonly size: number }): Page<Row> {
  const start = (page - 1) * size
  return { items: rows.slice(start, start + size), total: rows.length }
}
