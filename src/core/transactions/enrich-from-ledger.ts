/**
 * Completes responses with stored fields that the provider's form lacks, for the same key only (docs/contract.md §3, §5). Used
 * where the provider decides who owns a transaction. If the ledger fails, nobody knows whether a deposit address may be paid: none is shown
 * but that of a swap which it was known to be right for before.
 */
import { forEachConcurrently, withDefault, withTimeout } from '../../domain/async.ts'
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import { withValue } from '../../domain/context-values.ts'
import { Fault } from '../../domain/fault.ts'
import {
  type Capabilities,
  type Context,
  ownerOf,
  type Request,
  type ServiceResponse,
  type SwapService,
} from '../../domain/service.ts'
import type { SentWords, Transaction } from '../../domain/swap.ts'
import { sentWords } from '../assets/translate-assets.ts'
import { oldestOf } from '../freshness.ts'
import { ledgerUnavailable } from '../instrumented-ledger.ts'
import { type Layer, onOperations } from '../layer.ts'
import { cutPage } from '../paging.ts'
import type { LedgerEntry, ListFilter, TransactionRecord } from '../ports/ledger.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { doubtAbout, isStillSo, withoutDeposit } from '../visible-state.ts'
import { requireStatus, withAttention, withoutAttention } from './derive-fields.ts'
import { staleFromLedger } from './from-ledger.ts'
import { type CachedTransaction, type LedgerReadCache, latestOf, ledgerReadCache, WriteBehind } from './ledger-read-cache.ts'
import { listFilter, passes } from './list-filter.ts'
import { isOvertaken, type ObservedTransaction, observedFromGet, presented } from './merge-transaction.ts'
import { mergeChecked, mergeInOrder } from './save-observed.ts'
import { ListSnapshots, readWholeList, snapshotLifetimeMs, type WholeTransactions } from './sorted-list.ts'

/** The longest wait for what contradicted a create. */
const maxLedgerWaitMs = 1_000

/** Owners whose newest create is known. */
const maxCreators = 10_000

const noMismatches: ReadonlySet<string> = new Set()

interface AppliedRecord {
  readonly record: TransactionRecord
  /** Age in seconds; only if the provider now contradicts a transaction that was created here. */
  readonly staleSeconds?: number | undefined
}

/**
 * Completes gets and lists, and stores what the provider reports. Writes do not delay the response. What this key created and the
 * provider does not find is the last known state.
 */
export function enrichFromLedger(scope: ProviderScope): Layer {
  const enrichment = new Enrichment(scope)
  return onOperations({
    async createTransaction(request, context, next) {
      try {
        return await next.call('createTransaction', request, context)
      } finally {
        // In any case: after an unknown outcome a client searches the list.
        enrichment.noteCreate(ownerOf(context))
      }
    },
    getTransaction: (request, context, next) => enrichment.get(request, context, next),
    async listTransactions(request, context, next) {
      const filter = listFilter(request)
      const response = filter
        ? await enrichment.filtered(request, filter, context, next)
        : await next.call('listTransactions', request, context)
      return response.body.items.length === 0 ? response : enrichment.list(response, context, next)
    },
  })
}

class Enrichment {
  private readonly scope: ProviderScope
  private readonly cache: LedgerReadCache
  private readonly writeBehind: WriteBehind
  private readonly snapshots = new ListSnapshots<WholeTransactions>(snapshotLifetimeMs)
  /** The number of an owner's newest create: a list that was begun before it is no answer after it. */
  private readonly lastCreates = new BoundedMap<number>({
    share: cacheShares.transactionLists,
    maxEntries: maxCreators,
    lifetimeMs: snapshotLifetimeMs,
  })
  private creates = 0

  constructor(scope: ProviderScope) {
    this.scope = scope
    this.cache = ledgerReadCache(scope)
    this.writeBehind = new WriteBehind(this.cache)
  }

  noteCreate(owner: string): void {
    this.lastCreates.set(owner, ++this.creates, performance.now())
  }

  async get(request: Request<'getTransaction'>, context: Context, next: SwapService): Promise<ServiceResponse<'getTransaction'>> {
    const { clock, configured, freshness } = this.scope
    const sentAt = performance.now()
    const owner = ownerOf(context)
    let response: ServiceResponse<'getTransaction'>
    try {
      response = await next.call('getTransaction', request, context)
    } catch (reason) {
      const { kind } = Fault.from(reason)
      const entry = kind === 'notFound' ? latestOf(await this.cache.find(owner, request.id, sentAt, undefined)) : undefined
      if (!entry?.isCreated) throw reason
      return requireStatus(staleFromLedger(entry, context, freshness))
    }
    if (response.body.id !== request.id) return response
    const observed = withoutAttention(observedFromGet(response, clock(), configured.timezone))
    const finding = this.cache.find(owner, request.id, sentAt, observed.reported.status)
    const cached = finding instanceof Promise ? await finding : finding
    const mismatches = mayBeMismatch(cached) ? await this.mismatchesAmong([[response.body, cached]]) : noMismatches
    if (!mismatches || (cached.isUnread && !this.isAsBefore(cached.stored, observed))) throw ledgerUnavailable()
    const firstDeposit = await this.scope.judgeFirstDeposit(latestOf(cached), response)
    const { record, staleSeconds } = this.apply(owner, cached, [{ ...observed, firstDeposit }], mismatches)
    const { body: known, derived } = presented(record, context)
    const shown = staleSeconds === undefined ? withAttention(known, response.body.attention) : known
    const body = mismatches.has(request.id) ? withoutDeposit(shown) : shown
    return requireStatus({ ...response, body, derived, staleSeconds, doubt: doubtAbout(record) })
  }

  /** A page of the rows that pass the filter as they will be shown, cut from the whole list. */
  async filtered(
    { page, size, dateFrom, dateTo }: Request<'listTransactions'>,
    filter: ListFilter,
    context: Context,
    service: SwapService,
  ): Promise<ServiceResponse<'listTransactions'>> {
    const { capabilities, clock, configured } = this.scope
    const { timezone } = configured
    const owner = ownerOf(context)
    const dates = { ...(dateFrom !== undefined && { dateFrom }), ...(dateTo !== undefined && { dateTo }) }
    const read = () => readWholeList(service, context, capabilities.pageSize, dates)
    const key = JSON.stringify([owner, dates, this.lastCreates.get(owner, performance.now())])
    const { rows, characters: _, ...whole } = await this.snapshots.get(key, page === 1, read)
    const listed = await this.cache.findAll(owner, rows)
    // Without the ledger nobody knows what passes: a row would be missing without a word.
    if (listed.some(([, { isUnread }]) => isUnread)) throw ledgerUnavailable()
    const at = clock()
    const { derived = [], sequence } = whole
    const matching = listed.filter(([reported, cached]) => {
      const row = withoutAttention({ reported, derived, at, isComplete: false, sequence, timezone })
      const { unsaved } = cached
      const isNewest = unsaved !== undefined && isOvertaken(unsaved, row)
      const record = isNewest ? unsaved : mergeChecked(latestOf(cached), row, this.scope).record
      return passes(filter, withAttention(presented(record, context).body, reported.attention), record, timezone)
    })
    const reportedRows = matching.map(([reported]) => reported)
    return { ...whole, body: cutPage(reportedRows, { page, size }) }
  }

  /** Fills fields that the list lacks from the ledger, or from the provider's details, which are then stored in the ledger. */
  async list(
    response: ServiceResponse<'listTransactions'>,
    context: Context,
    service: SwapService,
  ): Promise<ServiceResponse<'listTransactions'>> {
    const { capabilities, clock, configured } = this.scope
    const { timezone } = configured
    const { derived = [], sequence } = response
    const owner = ownerOf(context)
    const listed = await this.cache.findAll(owner, response.body.items)
    const incomplete = needsDetails(context, capabilities) ? listed.filter(([, cached]) => !isDetailed(latestOf(cached))) : []
    const sentById = new Map(incomplete.map(([{ id }, cached]) => [id, latestOf(cached)?.sent]))
    const details = await readDetails(sentById, service, context)
    // Meanwhile later reports, and creates, may have been stored.
    const known = incomplete.length === 0 ? listed : await this.cache.findAll(owner, response.body.items)
    const found = await this.mismatchesAmong(known)
    const mismatches = found ?? noMismatches
    const isUnread = found === undefined || known.some(([, cached]) => cached.isUnread)
    const at = clock()
    const rows = known.map(([reported, cached]) => {
      const row = withoutAttention({ reported, derived, at, isComplete: false, sequence, timezone })
      const detail = details.get(reported.id)
      const later = detail ? [withoutAttention(observedFromGet(detail, at, timezone))] : []
      return { reported, ...this.apply(owner, cached, [row, ...later], mismatches) }
    })
    const shown = rows.map(({ reported, record }) => {
      const { body, derived } = presented(record, context)
      const item = withAttention(body, reported.attention)
      return { item: isUnread || mismatches.has(reported.id) ? withoutDeposit(item) : item, derived }
    })
    return {
      ...response,
      body: { ...response.body, items: shown.map(({ item }) => item) },
      derived: [...new Set(shown.flatMap(({ derived }) => derived))],
      staleSeconds: oldestOf(rows),
      ...(isUnread && { warning: 'ledger_unavailable' }),
    }
  }

  /** Whether a report says what the ledger has said before. */
  private isAsBefore(known: LedgerEntry | undefined, observed: ObservedTransaction): boolean {
    return known !== undefined && isStillSo(known, mergeChecked(known, observed, this.scope).record)
  }

  /**
   * The ids of responses that contradicted a create, and of what is withheld for one: its client was told not to pay. Undefined: the ledger
   * does not answer.
   */
  private async mismatchesAmong(
    transactions: readonly (readonly [Transaction, CachedTransaction])[],
  ): Promise<ReadonlySet<string> | undefined> {
    const { ledger, tag } = this.scope
    const ids = transactions.flatMap(([{ id }, cached]) => (mayBeMismatch(cached) ? [id] : []))
    return ids.length === 0 ? noMismatches : withDefault(ledger.mismatchedIds(tag, ids), maxLedgerWaitMs, undefined)
  }

  /**
   * Merges the provider's reports, in the order of their requests, into the latest state, and stores a change. Nothing is stored of a
   * mismatch: what the ledger has is no mismatch.
   */
  private apply(
    owner: string,
    cached: CachedTransaction,
    reports: readonly [ObservedTransaction, ...ObservedTransaction[]],
    mismatches: ReadonlySet<string>,
  ): AppliedRecord {
    const { tag: provider, freshness } = this.scope
    const { unsaved } = cached
    if (unsaved && reports.every((report) => isOvertaken(unsaved, report))) return { record: unsaved }
    const before = latestOf(cached)
    const isCreated = before?.isCreated ?? false
    // Spread first: otherwise V8 copies field by field.
    const toEntry = (record: TransactionRecord): LedgerEntry => ({ ...record, isCreated, owner, provider })
    const last = mergeInOrder(before, reports, toEntry, this.scope)
    const { record, rejected } = last.merged
    if (record !== before && !mismatches.has(record.transaction.id))
      if (this.writeBehind.write(cached, toEntry(record), last.observed.isComplete)) this.cache.resize(cached)
    return rejected.length === 0 ? { record } : { record, staleSeconds: Math.floor(freshness.ageSeconds(toEntry(record))) }
  }
}

/** What the ledger does not have otherwise, or has in doubt without having made it. */
function mayBeMismatch({ stored }: CachedTransaction): boolean {
  return stored === undefined || (!stored.isCreated && stored.doubt === 'contradicted')
}

function isDetailed(entry: LedgerEntry | undefined): boolean {
  return (
    entry !== undefined && (entry.fetchedAt !== undefined || (entry.isCreated && entry.transaction.depositAddress !== undefined))
  )
}

// Reads details of list items from the provider (docs/contract.md §3.4).

const concurrency = 8

type Detail = ServiceResponse<'getTransaction'>

/** Whether the client's list has a field that the provider has only in its details. */
function needsDetails({ clientCapabilities: client }: Context, provider: Capabilities): boolean {
  const listed = provider.responseFields.listTransactions
  const detailed = provider.responseFields.getTransaction
  for (const field of client.responseFields.listTransactions)
    if (!listed.has(field) && detailed.has(field) && !isExtra.has(field)) return true
  return false
}

/** A list may lack them: no row is read once more for them. */
const isExtra: ReadonlySet<string> = new Set<keyof Transaction>([
  ...(['attention', 'statusReason', 'validUntil', 'refundHash', 'refundAmount', 'supportUrl'] as const),
])

/** A provider that has answered none of the gets after this time hangs: its list does not wait for them. */
const noAnswerMs = 1_500

/**
 * Uses at most half of the remaining time, and stops if the provider is unavailable, rate-limited or hangs. Unread details are omitted.
 * `sentById`: what their creates have sent.
 */
async function readDetails(
  sentById: ReadonlyMap<string, SentWords | undefined>,
  service: SwapService,
  context: Context,
): Promise<ReadonlyMap<string, Detail>> {
  const now = performance.now()
  const deadline = now + (context.deadline - now) / 2
  const details = new Map<string, Detail>()
  let isStopped = false
  const reading = forEachConcurrently(concurrency, [...sentById], async ([id, sent]) => {
    if (isStopped || performance.now() >= deadline) return
    try {
      const response = await service.call('getTransaction', { id }, withValue({ ...context, deadline }, sentWords, sent))
      if (response.body.id === id) details.set(id, response)
    } catch (reason) {
      isStopped ||= Fault.from(reason).kind === 'limited' || Fault.from(reason).kind === 'unavailable'
    }
  })
  await withTimeout(reading, noAnswerMs, () => {})
  isStopped ||= details.size === 0
  if (!isStopped) await reading
  return details
}
