/** Sorts lists (newest creation first) and filters them by date if the provider's form does not (docs/contract.md §3.4). */

import { Fault } from '../../domain/fault.ts'
import { instantsOf } from '../../domain/instant.ts'
import type { Capabilities, Context, SwapService } from '../../domain/service.ts'
import type { Page, Transaction, TransactionQuery } from '../../domain/swap.ts'
import { type Layer, onOperations } from '../layer.ts'
import { cutPage } from '../paging.ts'
import { parseDateRange } from './date-range.ts'
import { ListSnapshots } from './list-snapshots.ts'
import { ownerOf } from './owner.ts'
import { readWholeList, type WholeTransactions } from './whole-list.ts'

/** How long a key's list is cached for its next pages. */
export const snapshotLifetimeMs = 30_000

interface Snapshot extends Omit<WholeTransactions, 'rows'> {
  readonly rows: readonly Dated[]
}

interface Dated {
  readonly transaction: Transaction
  readonly createdAt: bigint
}

/** `provider`: the capabilities of the provider's form. `timezone`: that of its times without a zone. Throws `invalid` (`too_large`) for lists that are too long to sort. */
export function sortedList(provider: Capabilities, timezone = 'UTC'): Layer {
  const snapshots = new ListSnapshots<Snapshot>(snapshotLifetimeMs)
  const canFilterByDate = provider.requestFields.listTransactions.has('dateFrom')
  return onOperations({
    async createTransaction(request, context, next) {
      try {
        return await next.call('createTransaction', request, context)
      } finally {
        // In any case: after an unknown outcome a client searches the list.
        snapshots.forget(ownerOf(context))
      }
    },
    async listTransactions(query, context, next) {
      const { dateFrom, dateTo, ...page } = query
      const range = parseDateRange(query)
      const isFiltered = dateFrom !== undefined || dateTo !== undefined
      const mustSort = context.clientCapabilities.newestFirst && !provider.newestFirst
      const canPass = !mustSort && (canFilterByDate || !isFiltered) && page.size <= provider.pageSize
      const passed = canPass && (await next.call('listTransactions', { ...page, ...toDateQuery(query) }, context))
      if (passed && hasTotal(passed.body, query)) return passed
      const read = () => readSorted(next, context, provider.pageSize, timezone)
      const { rows, characters: _, ...whole } = await snapshots.get(ownerOf(context), query.page === 1, read)
      const matching = rows.filter(({ createdAt }) => createdAt >= range.first && createdAt <= range.last)
      const body = cutPage(
        matching.map(({ transaction }) => transaction),
        page,
      )
      return { ...whole, body }
    },
  })
}

/** Without a provider's total, only the one page of a short list has it. */
function hasTotal({ hasMore }: Page<Transaction>, { page }: TransactionQuery): boolean {
  return hasMore === undefined || (page === 1 && !hasMore)
}

async function readSorted(service: SwapService, context: Context, pageSize: number, timezone: string): Promise<Snapshot> {
  const whole = await readWholeList(service, context, pageSize)
  const rows = whole.rows.map((transaction) => ({ transaction, createdAt: instantOf(transaction, timezone) }))
  rows.sort((a, b) => compare(b.createdAt, a.createdAt) || compare(a.transaction.id, b.transaction.id))
  return { ...whole, rows }
}

function instantOf({ createdAt }: Transaction, timezone: string): bigint {
  const [instant] = instantsOf(createdAt, timezone)
  if (instant !== undefined) return instant
  throw new Fault('unreadable', "The provider's list has a creation time that cannot be read; please try again later.")
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** A plain date means the whole UTC day. Providers may read it differently, so both ends are sent with a time. */
function toDateQuery({ dateFrom, dateTo }: TransactionQuery): Pick<TransactionQuery, 'dateFrom' | 'dateTo'> {
  return {
    ...(dateFrom !== undefined && { dateFrom: isPlainDate(dateFrom) ? `${dateFrom}T00:00:00Z` : dateFrom }),
    ...(dateTo !== undefined && { dateTo: isPlainDate(dateTo) ? `${dateTo}T23:59:59.999Z` : dateTo }),
  }
}

function isPlainDate(text: string): boolean {
  return !text.includes('T') && !text.includes('t')
}
