/** Sorts lists (newest creation first) and filters them by date if the provider's form does not (docs/contract.md §3.4). */

import { Fault } from '../../domain/faults/fault.ts'
import { instantsOf } from '../../domain/instant.ts'
import type { Capabilities } from '../../domain/swap/capabilities.ts'
import type { Op } from '../../domain/swap/operations.ts'
import type { Context, ServiceResponse, SwapService } from '../../domain/swap/service.ts'
import type { Page, Transaction, TransactionQuery } from '../../domain/swap/swap.ts'
import { textLength } from '../../domain/text-length.ts'
import { type Layer, onOperations } from '../layer.ts'
import { cutPage, readWhole } from '../paging.ts'
import { parseDateRange } from './date-range.ts'
import { ListSnapshots } from './list-snapshots.ts'
import { ownerOf } from './owner.ts'

export const maxSortedRows = 5_000
/** How long a key's list is cached for its next pages. */
export const snapshotLifetimeMs = 30_000
/** A bound on memory for one list. */
const maxCharacters = 16_000_000

interface Snapshot {
  readonly rows: readonly Dated[]
  readonly characters: number
  readonly provider: string | undefined
  /** Sequence of the request for the first page. */
  readonly sequence: number | undefined
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
      const {
        rows,
        provider: tag,
        sequence,
      } = await snapshots.get(ownerOf(context), query.page === 1, () => readSorted(next, context, provider, timezone))
      const matching = rows.filter(({ createdAt }) => createdAt >= range.first && createdAt <= range.last)
      const body = cutPage(
        matching.map(({ transaction }) => transaction),
        page,
      )
      return { body, sequence, ...(tag !== undefined && { provider: tag }) }
    },
  })
}

/** Without a provider's total, only the one page of a short list has it. */
function hasTotal({ hasMore }: Page<Transaction>, { page }: TransactionQuery): boolean {
  return hasMore === undefined || (page === 1 && !hasMore)
}

async function readSorted(service: SwapService, context: Context, { pageSize }: Capabilities, timezone: string): Promise<Snapshot> {
  const pages = wholeOrUnavailable(service)
  const whole = await readWhole<'listTransactions', Transaction>(pages, 'listTransactions', context, {
    pageSize,
    keyOf: ({ id }) => id,
    maxRows: maxSortedRows,
    tooManyRows,
  })
  if (!whole.isComplete) throw listIncomplete()
  const rows = whole.rows.map((transaction) => ({ transaction, createdAt: instantOf(transaction, timezone) }))
  rows.sort((a, b) => compare(b.createdAt, a.createdAt) || compare(a.transaction.id, b.transaction.id))
  return { rows, provider: whole.provider, sequence: pages.sequence(), characters: pages.characters() }
}

interface Pages extends SwapService {
  /** Of the first page. */
  readonly sequence: () => number | undefined
  /** Of all that was read so far. */
  readonly characters: () => number
}

/** A failure after the first page is `unavailable`: a list is sorted and filtered completely or not at all. */
function wholeOrUnavailable(service: SwapService): Pages {
  let sequence: number | undefined
  let characters = 0
  return {
    sequence: () => sequence,
    characters: () => characters,
    async call(op, request, context) {
      try {
        const response = await service.call(op, request, context)
        sequence ??= response.sequence
        characters += lengthOf(response)
        if (characters > maxCharacters) throw new Fault('unreadable', 'The list has too much text.')
        return response
      } catch (reason) {
        throw 'page' in request && request.page === 1 ? reason : listIncomplete(reason)
      }
    },
  }
}

function listIncomplete(cause?: unknown): Fault {
  const retryAfter = cause instanceof Fault ? (cause.retryAfter ?? 1) : 1
  const isUnavailable = cause instanceof Fault && cause.kind === 'unavailable'
  const reason = isUnavailable ? cause.reason : 'provider_failed'
  return new Fault('unavailable', 'The list could not be read whole; please try again.', { retryAfter, reason, cause })
}

function lengthOf({ body }: ServiceResponse<Op>): number {
  const items: readonly object[] = 'items' in body ? body.items : []
  return items.reduce<number>((sum, row) => sum + textLength(row), 0)
}

export function tooManyRows(): Fault {
  const message = `This key has more than ${maxSortedRows} transactions, too many to sort for each page; managed keys list any number.`
  return new Fault('invalid', message, { reason: 'too_large' })
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
