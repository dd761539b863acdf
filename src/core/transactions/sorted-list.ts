/** Sorts lists (newest creation first) and filters them by date if the provider's form does not (docs/contract.md §3.4). */

import { maxTimerMs, withTimeout } from '../../domain/async.ts'
import { BoundedMap, type CacheShare, cacheShares, textLength } from '../../domain/bounded-map.ts'
import { Fault, standardFault } from '../../domain/fault.ts'
import { instantsOf, type TimeRange, toTimeRange } from '../../domain/instant.ts'
import { type Context, type Op, ownerOf, type ServiceResponse, type SwapService, type Warning } from '../../domain/service.ts'
import type { Page, Transaction, TransactionQuery } from '../../domain/swap.ts'
import { oldestOf } from '../freshness.ts'
import { type Layer, onOperations } from '../layer.ts'
import { cutPage, readWhole } from '../paging.ts'
import type { ProviderScope } from '../provider-scope.ts'

/** How long a key's list is cached for its next pages. */
export const snapshotLifetimeMs = 30_000

/** How long a list waits for a provider that is known not to answer lists. */
const failingWaitMs = 1_500

/** While the provider is known not to answer lists, one waits only briefly. The read goes on: it is what finds out that it is back. */
export function briefWhileFailing({ tag, isFailing }: ProviderScope): Layer {
  return onOperations({
    listTransactions(request, context, next) {
      const waitMs = isFailing('listTransactions') ? failingWaitMs : maxTimerMs
      return withTimeout(next.call('listTransactions', request, context), waitMs, () => {
        throw standardFault('timedOut', { provider: tag })
      })
    },
  })
}

interface Snapshot extends Omit<WholeTransactions, 'rows'> {
  readonly rows: readonly Dated[]
}

interface Dated {
  readonly transaction: Transaction
  readonly createdAt: bigint
}

/** Throws `invalid` (`too_large`) for lists that are too long to sort. */
export function sortedList({ tag, capabilities: provider, configured, observe }: ProviderScope): Layer {
  const { timezone } = configured
  const onUnreadable = (): void => observe({ what: 'drift', provider: tag, field: 'createdAt', drift: 'badRow' })
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
      const read = () => readSorted(next, context, provider.pageSize, timezone, onUnreadable)
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

/** A row without a time that can be read has no place in it. */
async function readSorted(
  service: SwapService,
  context: Context,
  pageSize: number,
  timezone: string,
  onUnreadable: () => void,
): Promise<Snapshot> {
  const whole = await readWholeList(service, context, pageSize)
  const rows = whole.rows.flatMap((transaction): readonly Dated[] => {
    const [createdAt] = instantsOf(transaction.createdAt, timezone)
    if (createdAt !== undefined) return [{ transaction, createdAt }]
    onUnreadable()
    return []
  })
  rows.sort((a, b) => compare(b.createdAt, a.createdAt) || compare(a.transaction.id, b.transaction.id))
  return { ...whole, rows, ...(rows.length < whole.rows.length && { warning: 'rows_unreadable' }) }
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

// Complete lists per owner, cached for the pages after the first, with bounded memory.

interface Rows<Row> {
  readonly rows: readonly Row[]
  /** Sum over all texts. */
  readonly characters: number
}

interface SnapshotEntry<List> {
  readonly list: Promise<List>
  /** Infinite while the list is read. */
  expiresAt: number
  bytes: number
}

const maxOwners = 10_000
/** Of a row beside its texts, of which each character may take two. */
const rowBytes = 640
const characterBytes = 2

/** A cache with one list per owner and a single read at a time per owner. Of more lists than `share` has room for the oldest are dropped. */
export class ListSnapshots<List extends Rows<unknown>> {
  private readonly entries: BoundedMap<SnapshotEntry<List>>
  private readonly lifetimeMs: number

  constructor(lifetimeMs: number, share: CacheShare = cacheShares.transactionLists) {
    this.lifetimeMs = lifetimeMs
    this.entries = new BoundedMap({ share, maxEntries: maxOwners, sizeOf: ({ bytes }) => bytes })
  }

  /** Concurrent callers share one read, and its failure. A finished list is reused, except for the first page, which reads again. */
  get(owner: string, isFirstPage: boolean, read: () => Promise<List>): Promise<List> {
    const current = this.entries.get(owner)
    const isPending = current?.expiresAt === Number.POSITIVE_INFINITY
    if (current && (isPending || (!isFirstPage && current.expiresAt > performance.now()))) return current.list
    const entry: SnapshotEntry<List> = { list: read(), expiresAt: Number.POSITIVE_INFINITY, bytes: rowBytes }
    this.entries.set(owner, entry)
    entry.list.then(
      (list) => this.keep(owner, entry, list),
      () => this.forget(owner, entry),
    )
    return entry.list
  }

  /** Drops the owner's entry if it is still `expected`. */
  forget(owner: string, expected = this.entries.get(owner)): void {
    if (this.entries.get(owner) === expected) this.entries.delete(owner)
  }

  private keep(owner: string, entry: SnapshotEntry<List>, { rows, characters }: List): void {
    if (this.entries.get(owner) !== entry) return
    entry.expiresAt = performance.now() + this.lifetimeMs
    entry.bytes += rows.length * rowBytes + characters * characterBytes
    this.entries.set(owner, entry)
    setTimeout(() => this.forget(owner, entry), this.lifetimeMs).unref()
  }
}

// A client's list of transactions at one provider, read to its end: a list is sorted, merged and filtered whole or not at all.

/** Bounds on memory for one list. */
export const maxWholeRows = 5_000
const maxCharacters = 16_000_000

type ListPage = ServiceResponse<'listTransactions'>

/** `sequence`: of the request for the first page. */
export interface WholeTransactions extends Pick<ListPage, 'provider' | 'derived' | 'staleSeconds' | 'sequence' | 'warning'> {
  readonly rows: readonly Transaction[]
  /** Over all texts. */
  readonly characters: number
}

/**
 * Throws the provider's fault if the first page fails, `unavailable` if a later one does or the list ends before its total, and
 * `invalid` (`too_large`) for a list that is too long.
 */
export async function readWholeList(
  service: SwapService,
  context: Context,
  pageSize: number,
  query?: Pick<TransactionQuery, 'dateFrom' | 'dateTo'>,
): Promise<WholeTransactions> {
  let sequence: number | undefined
  let staleSeconds: number | undefined
  let characters = 0
  let warning: Warning | undefined
  const derived = new Set<string>()
  const note = (response: ServiceResponse<Op>): void => {
    sequence ??= response.sequence
    warning ??= response.warning
    staleSeconds = oldestOf([{ staleSeconds }, response])
    for (const field of response.derived ?? []) derived.add(field)
    characters += lengthOf(response)
    if (characters > maxCharacters) throw new Fault('unreadable', 'The list has too much text.')
  }
  const pages: SwapService = {
    async call(op, request, callContext) {
      try {
        const response = await service.call(op, request, callContext)
        note(response)
        return response
      } catch (reason) {
        throw 'page' in request && request.page === 1 ? reason : listIncomplete(reason)
      }
    },
  }
  const { rows, isComplete, provider } = await readWhole<'listTransactions', Transaction>(pages, 'listTransactions', context, {
    query,
    pageSize,
    keyOf: ({ id }) => id,
    maxRows: maxWholeRows,
    tooManyRows,
  })
  if (!isComplete) throw listIncomplete()
  const response = {
    ...(provider !== undefined && { provider }),
    ...(derived.size > 0 && { derived: [...derived] }),
    ...(warning && { warning }),
  }
  return { rows, characters, sequence, staleSeconds, ...response }
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

function tooManyRows(): Fault {
  const message = `This key has more than ${maxWholeRows} transactions, too many to sort for each page; managed keys list any number.`
  return new Fault('invalid', message, { reason: 'too_large' })
}

// The date bounds of a list (docs/contract.md §3.4).

const allTime: TimeRange = { first: -(2n ** 80n), last: 2n ** 80n }

/** Both ends are inclusive; a missing bound is unlimited. Throws `invalid` if `dateFrom` is after `dateTo`. */
export function parseDateRange({ dateFrom, dateTo }: TransactionQuery): TimeRange {
  const first = dateFrom === undefined ? allTime.first : (toTimeRange(dateFrom)?.first ?? allTime.first)
  const last = dateTo === undefined ? allTime.last : (toTimeRange(dateTo)?.last ?? allTime.last)
  if (first > last)
    throw new Fault('invalid', 'it must not be after the last date', { field: 'dateFrom', reason: 'parameter_invalid' })
  return { first, last }
}
