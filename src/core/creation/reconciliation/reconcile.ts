/** Reconciliation of creates with an unknown outcome (docs/contract.md §10.2). It reads the provider's list and never guesses. */

import { forEachConcurrently } from '../../../domain/async.ts'
import type { Observer } from '../../../domain/observation.ts'
import type { Span, Tracing } from '../../../domain/trace.ts'
import { type Link, readTraceparent } from '../../../domain/trace.ts'
import type { Clock } from '../../clock.ts'
import type { Ledger, UnresolvedCreate } from '../../ledger.ts'
import type { PendingCreateKeys } from '../pending-create-keys.ts'
import { type CheckResult, checkCreate } from './check-create.ts'
import type { ListScans } from './list-scans.ts'
import type { TransactionReader } from './match-candidates.ts'
import { type MatchCreate, matchCreates } from './match-create.ts'

export interface ReconciliationOptions {
  readonly ledger: Ledger
  /** Readers of the transactions of the providers that have a list of them, by tag. */
  readonly readers: ReadonlyMap<string, TransactionReader>
  /** Scans of lists that are too long for one run. */
  readonly scans: ListScans
  /** The available client keys, if the provider accepts only the key of the client that made the create. */
  readonly pendingKeys?: PendingCreateKeys | undefined
  /** How long after its attempt a create is checked: `ledger.reconcile` (default: 86400 seconds). */
  readonly windowMs: number
  readonly clock: Clock
  readonly observe: Observer
  /** Each run at a provider is a trace of its own, always recorded, with links to the traces of the creates. */
  readonly tracing?: Tracing | undefined
}

/** Times of the checks after the attempt; after the last one, once an hour. */
const checkDelaysMs = [5_000, 30_000, 120_000, 600_000]
const hourMs = 3_600_000
/** Shortest pause between two checks, and time until another process checks if this one crashes. */
const minPauseMs = 5_000
export const leaseMs = 15_000
/** Creates per run, and concurrent lists and checks: a slow provider does not delay the others. */
export const maxCreatesPerRun = 200
export const concurrency = 8

/** Checks every due create. Throws if the ledger fails. If a provider fails, its creates wait for the next check. */
export async function reconcile(options: ReconciliationOptions): Promise<void> {
  const { ledger, pendingKeys, clock } = options
  if (pendingKeys) await pendingKeys.refreshOwners(() => ledger.ownersOfUnresolved())
  if (pendingKeys?.owners.length === 0) return
  const due = await ledger.dueCreates(clock(), maxCreatesPerRun, pendingKeys?.owners)
  // One read of a list for all creates that it can contain.
  const groups = Map.groupBy(due, ({ provider, owner }) => (pendingKeys ? `${provider} ${owner}` : provider))
  await forEachConcurrently(concurrency, [...groups], ([scanKey, creates]) => checkCreates(creates, scanKey, options))
}

async function checkCreates(due: readonly UnresolvedCreate[], scanKey: string, options: ReconciliationOptions): Promise<void> {
  const { ledger, clock, windowMs, scans, observe, tracing } = options
  // One time for all steps: a list that was begun before the end of a create's window must not end the create.
  const now = clock()
  const leasedUntil = now + leaseMs
  const isLeased = await Promise.all(due.map((create) => ledger.scheduleNextCheck(create, leasedUntil)))
  const creates = due
    .filter((_, at) => isLeased[at])
    .map((create) => ({ ...create, checkCount: create.checkCount + 1, nextCheckAt: leasedUntil }))
  if (creates.length === 0) return
  const root = tracing?.begin('internal', 'reconciliation', creates.flatMap(linkToCreate))
  const matching = startMatching(creates, scanKey, now, options, root)
  matching?.catch(() => {}) // each check handles the rejection
  const results: CheckResult[] = []
  const checks = forEachConcurrently(concurrency, creates, async (create) => {
    const isLast = now >= create.attemptedAt + windowMs
    const trace = { root, links: linkToCreate(create) }
    const result = await checkCreate(create, matching, { ledger, windowMs, isLastCheck: isLast, at: clock(), observe, trace })
    results.push(result)
    if (!result.isDone) await ledger.scheduleNextCheck(create, nextCheckTime(create, result, now, windowMs), result.candidates)
  })
  await checks.finally(() => root?.trace.finish(true))
  if (results.every(({ outcome }) => outcome !== 'lookupFailed')) scans.forget(scanKey)
}

/** A link to the trace of the request that made the create. */
function linkToCreate({ traceparent }: UnresolvedCreate): readonly Link[] {
  const link = readTraceparent(traceparent)
  return link ? [link] : []
}

/** Undefined if the provider is no longer configured, or has no list that it lets the gateway read. */
export function startMatching(
  creates: readonly UnresolvedCreate[],
  scanKey: string,
  now: number,
  options: ReconciliationOptions,
  root?: Span,
): Promise<MatchCreate> | undefined {
  const { ledger, readers, scans, pendingKeys, windowMs } = options
  const [first] = creates
  const reader = first && readers.get(first.provider)
  if (!reader || reader.isListRefused?.()) return undefined
  const key = pendingKeys?.keyOf(first.owner)
  const caller = { address: '', ...(key !== undefined && { identity: first.owner, key }) }
  // "Not created" needs a list whose read began after the end of the window.
  const ends = creates.map(({ attemptedAt }) => attemptedAt + windowMs).filter((end) => end <= now)
  const { provider } = first
  const notBefore = Math.max(0, ...ends)
  return matchCreates(creates, { provider, reader, caller, ledger, root, scans, scanKey, now, notBefore, windowMs })
}

/**
 * Time of the next check; the last one is at the end of the window. After that: undefined if there are candidates, because only
 * the operator can choose; otherwise again until the list was read completely.
 */
function nextCheckTime(
  { attemptedAt }: UnresolvedCreate,
  { outcome, retryAfterMs }: CheckResult,
  now: number,
  windowMs: number,
): number | undefined {
  const end = attemptedAt + windowMs
  if (now >= end && outcome === 'ambiguous') return undefined
  const nextDelayMs = checkDelaysMs.find((delayMs) => attemptedAt + delayMs > now + minPauseMs)
  const regular = nextDelayMs === undefined ? now + hourMs : attemptedAt + nextDelayMs
  const next = retryAfterMs === undefined ? regular : Math.min(regular, now + Math.max(minPauseMs, retryAfterMs))
  return now < end ? Math.min(next, end) : next
}
