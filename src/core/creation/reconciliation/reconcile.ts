/** Finds out what became of creates whose outcome is unknown (docs/contract.md §10.2): by looking, never by guessing. */
import type { Observer } from '../../../domain/telemetry/observation.ts'
import type { Span } from '../../../domain/tracing/span.ts'
import type { Tracing } from '../../../domain/tracing/trace.ts'
import { type Link, readTraceparent } from '../../../domain/tracing/traceparent.ts'
import type { Clock } from '../../clock.ts'
import { forEachConcurrently } from '../../concurrency.ts'
import type { Ledger, UnresolvedCreate } from '../../ledger.ts'
import type { PendingCreateKeys } from '../pending-create-keys.ts'
import { type CheckResult, checkCreate } from './check-create.ts'
import type { ListScans } from './list-scans.ts'
import type { TransactionReader } from './match-candidates.ts'
import { type MatchCreate, matchCreates } from './match-create.ts'

export interface ReconciliationOptions {
  readonly ledger: Ledger
  /** How the transactions of each provider are read, by tag. */
  readonly readers: ReadonlyMap<string, TransactionReader>
  /** What was read of lists that are longer than one look reads. */
  readonly scans: ListScans
  /** Where a provider answers only to the key of the client who made the create: the keys that are at hand. */
  readonly pendingKeys?: PendingCreateKeys | undefined
  /** How long after its attempt a create is looked for, in milliseconds. */
  readonly windowMs: number
  readonly clock: Clock
  readonly observe: Observer
  /** Each reading is a trace of its own, always kept, which refers to those of the creates. */
  readonly tracing?: Tracing | undefined
}

/** When an outcome is looked for, in milliseconds after the attempt; after that once an hour. */
const checkDelaysMs = [5_000, 30_000, 120_000, 600_000]
const hourMs = 3_600_000
/** How soon after a look the next may come, in milliseconds; and how soon where the process that looks does not come back. */
const minPauseMs = 5_000
const leaseMs = 15_000
/** Creates that are looked for in one run, and at the same time: a slow provider does not hold up the others. */
const maxCreatesPerRun = 200
const concurrency = 8

/** Looks for every create that is due. Throws where the ledger fails; what a provider does not tell now waits for the next look. */
export async function reconcile(options: ReconciliationOptions): Promise<void> {
  const { ledger, pendingKeys, clock } = options
  if (pendingKeys) await pendingKeys.refreshOwners(() => ledger.ownersOfUnresolved())
  if (pendingKeys?.owners.length === 0) return
  const due = await ledger.dueCreates(clock(), maxCreatesPerRun, pendingKeys?.owners)
  // One reading of a list serves all who may see it.
  const groups = Map.groupBy(due, ({ provider, owner }) => (pendingKeys ? `${provider} ${owner}` : provider))
  await forEachConcurrently(concurrency, [...groups], ([scanKey, creates]) => checkCreates(creates, scanKey, options))
}

async function checkCreates(due: readonly UnresolvedCreate[], scanKey: string, options: ReconciliationOptions): Promise<void> {
  const { ledger, clock, windowMs, scans, observe, tracing } = options
  // One moment for all of it: a list that was begun before a create's time was over never ends it.
  const now = clock()
  const leasedUntil = now + leaseMs
  const isLeased = await Promise.all(due.map((create) => ledger.scheduleNextCheck(create, leasedUntil)))
  const creates = due
    .filter((_, at) => isLeased[at])
    .map((create) => ({ ...create, checkCount: create.checkCount + 1, nextCheckAt: leasedUntil }))
  if (creates.length === 0) return
  const root = tracing?.begin('internal', 'reconciliation', creates.flatMap(linkToCreate))
  const matching = startMatching(creates, scanKey, now, options, root)
  matching?.catch(() => {}) // each look meets it
  const results: CheckResult[] = []
  const checks = forEachConcurrently(concurrency, creates, async (create) => {
    const isLast = now >= create.attemptedAt + windowMs
    const trace = { root, links: linkToCreate(create) }
    const result = await checkCreate(create, matching, { ledger, windowMs, isLastCheck: isLast, at: clock(), observe, trace })
    results.push(result)
    if (!result.isDone) await ledger.scheduleNextCheck(create, nextCheckTime(create, result, now, windowMs))
  })
  await checks.finally(() => root?.trace.finish(true))
  if (results.every(({ outcome }) => outcome !== 'lookupFailed')) scans.forget(scanKey)
}

/** The request that made the create, in its trace. */
function linkToCreate({ traceparent }: UnresolvedCreate): readonly Link[] {
  const link = readTraceparent(traceparent)
  return link ? [link] : []
}

/** Undefined where their provider is not configured any more. */
function startMatching(
  creates: readonly UnresolvedCreate[],
  scanKey: string,
  now: number,
  options: ReconciliationOptions,
  root: Span | undefined,
): Promise<MatchCreate> | undefined {
  const { ledger, readers, scans, pendingKeys, windowMs } = options
  const [first] = creates
  const reader = first && readers.get(first.provider)
  if (!reader) return undefined
  const key = pendingKeys?.keyOf(first.owner)
  const caller = { address: '', ...(key !== undefined && { identity: first.owner, key }) }
  // Nothing was created only if a list says so that was begun to be read when the time for looking was over.
  const ends = creates.map(({ attemptedAt }) => attemptedAt + windowMs).filter((end) => end <= now)
  return matchCreates(creates, { reader, caller, ledger, root, scans, scanKey, now, notBefore: Math.max(0, ...ends) })
}

/**
 * The next look, and the last one when the time for looking is over. After that: undefined where the list has a candidate,
 * which only a person can tell from the others; else again until the list could be read whole.
 */
function nextCheckTime(
  { attemptedAt }: UnresolvedCreate,
  { outcome, retryAfterMs }: CheckResult,
  now: number,
  windowMs: number,
): number | undefined {
  const end = attemptedAt + windowMs
  if (now >= end && outcome === 'ambiguous') return undefined
  const nextDelayMs = checkDelaysMs.find((moment) => attemptedAt + moment > now + minPauseMs)
  const regular = nextDelayMs === undefined ? now + hourMs : attemptedAt + nextDelayMs
  const next = retryAfterMs === undefined ? regular : Math.min(regular, now + Math.max(minPauseMs, retryAfterMs))
  return now < end ? Math.min(next, end) : next
}
