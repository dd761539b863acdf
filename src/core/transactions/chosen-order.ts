/** A list in an order that its client chose, and the search for one id (docs/contract.md §16.2). Both are made of lists and gets as they are. */
import { Fault } from '../../domain/fault.ts'
import { instantsOf } from '../../domain/instant.ts'
import type { Context, ServiceResponse, SwapService } from '../../domain/service.ts'
import type { TransactionQuery } from '../../domain/swap.ts'
import { oldestOf } from '../freshness.ts'
import { type Layer, onOperations } from '../layer.ts'
import { listFilter, passes } from './list-filter.ts'
import { parseDateRange } from './sorted-list.ts'

type ListPage = ServiceResponse<'listTransactions'>

export function chosenOrder(): Layer {
  return onOperations({
    listTransactions({ idSearch, sort, order, ...query }, context, next) {
      if (idSearch !== undefined) return searched(idSearch, query, context, next)
      if (sort === undefined && order === undefined) return next.call('listTransactions', query, context)
      const sorted = { ...context, clientCapabilities: { ...context.clientCapabilities, newestFirst: true } }
      return order === 'asc' ? oldestFirst(query, sorted, next) : next.call('listTransactions', query, sorted)
    },
  })
}

/** The one transaction with the id, if it passes the filters. */
async function searched(id: string, query: TransactionQuery, context: Context, next: SwapService): Promise<ListPage> {
  const { first, last } = parseDateRange(query)
  const none = { body: { items: [], total: 0 } }
  try {
    const { body, provider, derived, staleSeconds } = await next.call('getTransaction', { id }, context)
    const filter = listFilter(query)
    const isInRange = instantsOf(body.createdAt).some((instant) => instant >= first && instant <= last)
    if (!isInRange || (filter && !passes(filter, body, {}, undefined))) return none
    const items = query.page === 1 ? [body] : []
    return {
      body: { items, total: 1 },
      ...(provider !== undefined && { provider }),
      ...(derived && { derived }),
      staleSeconds,
    }
  } catch (reason) {
    if (Fault.from(reason).kind === 'notFound') return none
    throw reason
  }
}

/** Reads of one list: it may get a row between two of them. */
const maxReads = 3

/** A page of the list from its end: one page, or two, of the list that begins with the newest. */
async function oldestFirst(query: TransactionQuery, context: Context, next: SwapService): Promise<ListPage> {
  const { page, size } = query
  const read = (at: number): Promise<ListPage> => next.call('listTransactions', { ...query, page: at }, context)
  for (let reads = 0; reads < maxReads; reads++) {
    const newest = await read(1)
    const { total } = newest.body
    const end = total - (page - 1) * size
    if (end <= 0) return { ...newest, body: { items: [], total } }
    const start = Math.max(0, end - size)
    const firstPage = Math.floor(start / size) + 1
    const lastPage = Math.floor((end - 1) / size) + 1
    const pages: ListPage[] = []
    for (let at = firstPage; at <= lastPage; at++) pages.push(at === 1 ? newest : await read(at))
    if (pages.every(({ body }) => body.total === total)) return reversed(pages, start - (firstPage - 1) * size, end - start, total)
  }
  throw new Fault('unavailable', 'The list changes too fast; please try again.', { retryAfter: 1, effect: 'refused' })
}

function reversed(pages: readonly ListPage[], skipped: number, length: number, total: number): ListPage {
  const rows = pages.flatMap(({ body }) => body.items).slice(skipped, skipped + length)
  const sources = new Set(pages.flatMap(({ provider, sources: several = [] }) => (provider === undefined ? several : [provider])))
  const [provider, ...others] = sources
  const warning = pages.find((page) => page.warning !== undefined)?.warning
  return {
    body: { items: rows.toReversed(), total },
    derived: [...new Set(pages.flatMap(({ derived = [] }) => derived))],
    staleSeconds: oldestOf(pages),
    ...(warning && { warning }),
    ...(provider !== undefined && others.length === 0 ? { provider } : { sources: [...sources] }),
  }
}
