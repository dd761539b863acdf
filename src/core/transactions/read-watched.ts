/** The gateway's own reads of open transactions that a stream or a webhook watches (docs/contract-operators.md §18.4). */
import { forEachConcurrently, singleFlight } from '../../domain/async.ts'
import { budgetPart } from '../../domain/call-options.ts'
import { withValue } from '../../domain/context-values.ts'
import { Fault, isHeldBack } from '../../domain/fault.ts'
import { type Context, gatewayContext, type SwapService } from '../../domain/service.ts'
import { sentWords } from '../assets/translate-assets.ts'
import type { LedgerEntry } from '../ports/ledger.ts'
import { type DueTransaction, hintPauseMs, type WatchStore, watchPauseMs } from '../ports/watches.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { isMissingForNow, refreshEntry } from './ownership.ts'
import { mergeChecked } from './save-observed.ts'

/** That many are taken at a time, and read side by side. */
const maxTaken = 200
const concurrency = 8
/** For fewer a page of a list is no gain. */
const leastForPage = 3
/** Of one look. What is older is read by gets. */
const maxPages = 20
/** How long there are only gets after a page that had too few of them, or could not be read. */
const pagePauseMs = 60_000
/** After a read that failed. */
const retryPauseMs = 5_000

/**
 * Returns a function that reads from `service`, as the provider reports them, what is due: many by a page of the list, if it has their status;
 * those that differ from what is known, and all others, by gets. It uses what no client has asked for of the provider's budget,
 * and pauses while that or the provider rejects reads. `retired`: another configuration is in force.
 */
export function watchedReads(
  scope: ProviderScope,
  service: SwapService,
  watches: WatchStore,
  retired: AbortSignal,
): () => Promise<void> {
  const { tag, capabilities, sequences, steadyClock, hasList } = scope
  const context = withValue(gatewayContext(capabilities), budgetPart, 'unrequested')
  const hasStatus = capabilities.responseFields.listTransactions.has('status')
  let pausedUntil = Number.NEGATIVE_INFINITY
  let pagesPausedUntil = Number.NEGATIVE_INFINITY
  const isPaused = (): boolean => retired.aborted || steadyClock() < pausedUntil
  const faultOf = (reason: unknown): Fault => {
    const fault = Fault.from(reason)
    if (isHeldBack(fault)) pausedUntil = Math.max(pausedUntil, steadyClock() + (fault.retryAfter ?? 1) * 1000)
    return fault
  }

  const withoutUnchanged = async (due: readonly LedgerEntry[]): Promise<readonly LedgerEntry[]> => {
    if (!hasStatus || !hasList() || due.length < leastForPage || steadyClock() < pagesPausedUntil) return due
    const { left, isWorthwhile } = await readPages(due, service, scope, context).catch((reason) => {
      faultOf(reason)
      return { left: due, isWorthwhile: false }
    })
    if (!isWorthwhile) pagesPausedUntil = steadyClock() + pagePauseMs
    return left
  }

  const isRead = async (entry: LedgerEntry): Promise<boolean> => {
    if (isPaused()) return false
    sequences.observe(entry.sequence)
    try {
      await refreshEntry(
        entry,
        service.call('getTransaction', { id: entry.transaction.id }, withValue(context, sentWords, entry.sent)),
        scope,
      )
      return true
    } catch (reason) {
      return faultOf(reason).kind === 'notFound'
    }
  }

  const flight = singleFlight(async () => {
    if (isPaused()) return
    const taken = await watches.takeDue(tag, maxTaken)
    const present = taken.filter(({ entry }) => !isMissingForNow(entry, scope.clock()))
    const skipped = new Set(present.filter((each) => wasReadByClient(each, scope)))
    const due = present.filter((each) => !skipped.has(each))
    const unread: string[] = []
    await forEachConcurrently(concurrency, await withoutUnchanged(due.map(({ entry }) => entry)), async (entry) => {
      if (!(await isRead(entry))) unread.push(entry.transaction.id)
    })
    const failed = new Set(unread)
    await watches.recordReads(
      tag,
      taken.flatMap(({ entry: { transaction } }) => (failed.has(transaction.id) ? [] : [transaction.id])),
    )
    const readBefore = skipped.values().filter(({ entry }) => !scope.freshness.wasReadWithin(entry, hintPauseMs))
    await watches.recordSkipped(tag, [...readBefore.map(({ entry }) => entry.transaction.id)])
    await watches.postpone(tag, unread, Math.max(retryPauseMs, pausedUntil - steadyClock()))
  })
  return () => flight.run()
}

/** A client's get is one of the reads: by half of the pause, since the last one of these may have taken its time. */
function wasReadByClient({ entry, ageMs, hintedAt = 0, isHintNew }: DueTransaction, { freshness }: ProviderScope): boolean {
  if (isHintNew || (entry.fetchedAt ?? 0) < hintedAt) return false
  return freshness.wasReadWithin(entry, watchPauseMs(ageMs, entry.transaction.status === 'overdue') / 2)
}

interface PagesRead {
  /** Those that a get must read: the list shows them changed, or not at all. */
  readonly left: readonly LedgerEntry[]
  /** Whether the first page had enough of them. */
  readonly isWorthwhile: boolean
}

/** Reads the list, newest first, while its pages have enough of what is due. */
async function readPages(
  due: readonly LedgerEntry[],
  service: SwapService,
  scope: ProviderScope,
  context: Context,
): Promise<PagesRead> {
  const { clock, configured, capabilities } = scope
  const changed: LedgerEntry[] = []
  const missing = new Map(due.map((entry) => [entry.transaction.id, entry]))
  for (let page = 1; page <= maxPages && missing.size >= leastForPage; page++) {
    const { body, derived = [], sequence } = await service.call('listTransactions', { page, size: capabilities.pageSize }, context)
    const { timezone } = configured
    const before = missing.size
    for (const reported of body.items) {
      const entry = missing.get(reported.id)
      if (!entry) continue
      missing.delete(reported.id)
      const observed = { reported, derived, at: clock(), isComplete: false, sequence, timezone }
      if (differs(entry, mergeChecked(entry, observed, scope))) changed.push(entry)
    }
    if (before - missing.size < leastForPage) return { left: [...changed, ...missing.values()], isWorthwhile: page > 1 }
  }
  return { left: [...changed, ...missing.values()], isWorthwhile: true }
}

/** A change of anything else comes with one of these. */
const telltale = ['status', 'attention', 'statusReason', 'txHashIn', 'txHashOut', 'refundHash'] as const

function differs({ transaction }: LedgerEntry, { record, rejected }: ReturnType<typeof mergeChecked>): boolean {
  return rejected.length > 0 || telltale.some((field) => record.transaction[field] !== transaction[field])
}
