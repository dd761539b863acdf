/** A list read whole, page by page. */
import type { Fault } from '../domain/fault.ts'
import type { Context, SwapService } from '../domain/operations.ts'
import type { Page } from '../domain/swap.ts'

/** The largest page that the service has (docs/service.md §8). */
const pageSize = 100

export interface Whole<Row> {
  readonly rows: readonly Row[]
  /** False where the provider stopped before the total that it named. */
  readonly isComplete: boolean
  readonly provider: string | undefined
}

interface WholeReading<Row> {
  /** What is asked for beside the page. */
  readonly query?: Readonly<Partial<Record<'dateFrom' | 'dateTo', string>>>
  /** Rows are told apart by this, since pages shift while they are read. */
  readonly identify: (row: Row) => string
  /** More rows than this are not read. */
  readonly most: number
  readonly tooMany: () => Fault
}

/** Reads until the named total is there, a page is empty, or nothing new came by the page where the total would end. */
export async function readWhole<O extends 'listCurrencies' | 'listTransactions', Row>(
  service: SwapService,
  op: O,
  context: Context,
  { query, identify, most, tooMany }: WholeReading<Row>,
): Promise<Whole<Row>> {
  const rows = new Map<string, Row>()
  let total = 0
  let dropped = 0
  let provider: string | undefined
  for (let page = 1; ; page++) {
    const answer = await service.call(op, { ...query, page, size: pageSize }, context)
    const { items, total: named, dropped: unread = 0 } = answer.body as Page<never> as Page<Row>
    if (page === 1) {
      total = named
      provider = answer.provider
    }
    if (Math.max(total, rows.size) > most) throw tooMany()
    const before = rows.size
    for (const row of items) if (!rows.has(identify(row))) rows.set(identify(row), row)
    dropped += unread
    const isEmpty = items.length + unread === 0
    const isSpent = rows.size === before && page * pageSize >= total
    if (isEmpty || isSpent || rows.size + dropped >= total) break
  }
  return { rows: [...rows.values()], isComplete: rows.size + dropped >= total, provider }
}

/** The page that a client asked for, cut from the whole. */
export function cutPage<Row>(rows: readonly Row[], { page, size }: { readonly page: number; readonly size: number }): Page<Row> {
  const start = (page - 1) * size
  return { items: rows.slice(start, start + size), total: rows.length }
}
