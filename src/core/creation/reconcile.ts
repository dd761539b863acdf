/** Reconciliation of creates with an unknown outcome (docs/contract.md §10.2). It reads the provider's list and never guesses. */
import { forEachConcurrently } from '../../domain/async.ts'
import { Fault } from '../../domain/fault.ts'
import type { CreateOutcome, Observer } from '../../domain/observation.ts'
import { type Link, readTraceparent, type Span, type Tracing } from '../../domain/trace.ts'
import type { Clock } from '../clock.ts'
import type { Ledger, UnresolvedCreate } from '../ledger.ts'
import type { PendingCreateKeys } from './idempotency.ts'
import type { ListScans } from './list-scan.ts'
import { type CreateGroup, type MatchCreate, matchCreates, type TransactionReader } from './match-create.ts'

interface ReconciliationOptions {
  readonly ledger: Ledger
  /** Readers of the transactions of the providers that have a list of them, by tag. */
  readonly readers: ReadonlyMap<string, TransactionReader>
  /** Scans of lists that are too long for one run. */
  readonly scans: ListScans
  /** The available client keys, if the provider accepts only the key of the client that made the create. */
  readonly pendingKeys?: PendingCreateKeys | undefined
  /** How long after its `attemptedAt` a create is checked: `ledger.reconcileFor` (default: 86400 seconds). */
  readonly windowMs: number
  readonly clock: Clock
  readonly observe: Observer
  /** Each run at a provider is a trace of its own, always recorded, with links to the traces of the creates. */
  readonly tracing?: Tracing | undefined
}

/** Times of the checks after `attemptedAt`; after the last one, once an hour. */
const checkDelaysMs = [5_000, 30_000, 120_000, 600_000]
const hourMs = 3_600_000
/** Shortest pause between two checks, and time until another process checks if this one crashes. */
const minPauseMs = 5_000
const leaseMs = 15_000
/** Creates per run, and concurrent lists and checks: a slow provider does not delay the others. */
const maxCreatesPerRun = 200
const concurrency = 8

/** Checks every due create. Throws if the ledger fails. If a provider fails, its creates wait for the next check. */
export async function reconcile(options: ReconciliationOptions): Promise<void> {
  const { ledger, pendingKeys, clock } = options
  if (pendingKeys) await pendingKeys.refreshOwners(() => ledger.ownersOfUnresolved())
  if (pendingKeys?.owners.length === 0) return
  await ledger.dropUnquoted(clock())
  const due = await ledger.dueCreates(clock(), maxCreatesPerRun, pendingKeys?.owners)
  // One read of a list for all creates that it can contain.
  const groups = Map.groupBy(due, ({ provider, owner }) => (pendingKeys ? `${provider} ${owner}` : provider))
  await forEachConcurrently(concurrency, [...groups], ([scanKey, creates]) => checkCreates(creates, scanKey, options))
}

async function checkCreates(due: readonly UnresolvedCreate[], scanKey: string, options: ReconciliationOptions): Promise<void> {
  const { ledger, clock, windowMs, scans, observe, tracing } = options
  // A list that was begun before the end of a create's window must not end the create.
  const now = clock()
  const leasedUntil = now + leaseMs
  const isLeased = await Promise.all(due.map((create) => ledger.scheduleNextCheck(create, leasedUntil)))
  const creates = due
    .filter((_, at) => isLeased[at])
    .map((create) => ({ ...create, checkCount: create.checkCount + 1, nextCheckAt: leasedUntil }))
  if (creates.length === 0) return
  const root = tracing?.begin('internal', 'reconciliation', creates.flatMap(linkToCreate))
  const matching = startMatching(creates, { scanKey, now, windowMs, root }, options)
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
function startMatching(
  creates: readonly UnresolvedCreate[],
  facts: Omit<CreateGroup, 'provider' | 'creates'>,
  { ledger, readers, scans, pendingKeys }: ReconciliationOptions,
): Promise<MatchCreate> | undefined {
  const [first] = creates
  const reader = first && readers.get(first.provider)
  if (!reader || reader.isListRefused?.()) return undefined
  const key = pendingKeys?.keyOf(first.owner)
  const caller = { address: '', ...(key !== undefined && { identity: first.owner, key }) }
  return matchCreates({ ...facts, provider: first.provider, creates }, reader, caller, { ledger, scans })
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

type CheckOutcome = Extract<
  CreateOutcome,
  'found' | 'notFound' | 'notCreated' | 'ambiguous' | 'duplicateId' | 'contradicted' | 'lookupFailed'
>

/** The result of one check. */
interface CheckResult {
  /** Undefined if the provider of the create is not configured, or has no list. */
  readonly outcome: CheckOutcome | undefined
  /** Whether the create needs no further check. */
  readonly isDone: boolean
  /** Time until a new check makes sense, if known. */
  readonly retryAfterMs?: number | undefined
  /** Ids of transactions that may be the create's, for the person who decides. */
  readonly candidates?: readonly string[] | undefined
}

interface CheckOptions {
  readonly ledger: Ledger
  /** How long after its `attemptedAt` a create is checked: `ledger.reconcileFor` (default: 86400 seconds). */
  readonly windowMs: number
  /** Whether the window is over: a list without a candidate then means that nothing was created. */
  readonly isLastCheck: boolean
  /** Milliseconds since 1970. */
  readonly at: number
  readonly observe: Observer
  readonly trace: { readonly root: Span | undefined; readonly links: readonly Link[] }
}

/** Checks one create once: searches for its transaction and stores the result. Throws if the ledger fails. */
async function checkCreate(
  create: UnresolvedCreate,
  matching: Promise<MatchCreate> | undefined,
  options: CheckOptions,
): Promise<CheckResult> {
  const { observe, trace } = options
  const { provider } = create
  if (!matching) return { outcome: undefined, isDone: false }
  const span = trace.root?.begin('check', { 'swapgate.provider': provider }, 'internal', trace.links)
  try {
    const result = await resultOf(create, matching, options, span)
    const { outcome } = result
    if (outcome) {
      observe({ what: 'create', provider, outcome })
      span?.setAttributes({ 'swapgate.outcome': outcome })
    }
    return result
  } finally {
    span?.end()
  }
}

async function resultOf(
  create: UnresolvedCreate,
  matching: Promise<MatchCreate>,
  options: CheckOptions,
  span: Span | undefined,
): Promise<CheckResult> {
  const { ledger, at, observe } = options
  try {
    const { matched, counted = [], isAmbiguous, isPossible = false, candidates } = await (await matching)(create, span)
    if (isAmbiguous) return { outcome: 'ambiguous', isDone: false, candidates }
    if (!matched) return { ...(await conclude(create, isPossible, options)), candidates: isPossible ? candidates : [] }
    const { derived = [], body, contradicted = [], sequence } = matched
    if (contradicted.length > 0) {
      await ledger.markMismatch(create.intent, body, contradicted)
      return { outcome: 'contradicted', isDone: true }
    }
    const transaction = { ...body, status: body.status ?? ('wait' as const) }
    const isBound = await ledger.bindFound(create.intent, { transaction, derived, reportedAt: at, fetchedAt: at, sequence })
    if (isBound)
      for (const judged of counted) observe({ what: 'judgement', provider: create.provider, outcome: 'counted', ...judged })
    return { outcome: isBound ? 'found' : 'duplicateId', isDone: isBound }
  } catch (reason) {
    const { kind, retryAfter, unavailableCause } = Fault.from(reason)
    if (kind === 'internal') throw reason
    return {
      outcome: 'lookupFailed',
      isDone: false,
      ...(unavailableCause === 'budget' && retryAfter && { retryAfterMs: retryAfter * 1000 }),
    }
  }
}

/** The result if the complete list has no candidate. With a possible one only a person may say that nothing was created. */
async function conclude(
  create: UnresolvedCreate,
  isPossible: boolean,
  { ledger, windowMs, isLastCheck }: CheckOptions,
): Promise<CheckResult> {
  if (!isLastCheck) return { outcome: 'notFound', isDone: false }
  if (isPossible) return { outcome: 'ambiguous', isDone: false }
  const isEnded = await ledger.markNotCreated(create, windowMs)
  // The ledger's clock may be behind this machine's, by at most one window.
  return isEnded ? { outcome: 'notCreated', isDone: true } : { outcome: 'notFound', isDone: false, retryAfterMs: windowMs }
}

// Looks for transactions of creates that were refused by an answer that may not be the provider's own (docs/contract.md §10.2).

/** After `attemptedAt`: the second look, and the last try of one that failed. */
const secondLookMs = 120_000
const lastLookMs = 3_600_000

/** Makes every due look. What is found is kept for a person and counted: the client has got the refusal, and its key is free. */
export async function lookAfterRefusals(options: ReconciliationOptions): Promise<void> {
  const { ledger, pendingKeys, clock } = options
  if (pendingKeys?.owners.length === 0) return
  const due = await ledger.dueLooks(clock(), maxCreatesPerRun, pendingKeys?.owners)
  const groups = Map.groupBy(due, ({ provider, owner }) => (pendingKeys ? `refused ${provider} ${owner}` : `refused ${provider}`))
  await forEachConcurrently(concurrency, [...groups], ([scanKey, creates]) => lookFor(creates, scanKey, options))
}

async function lookFor(due: readonly UnresolvedCreate[], scanKey: string, options: ReconciliationOptions): Promise<void> {
  const { ledger, clock, scans, windowMs } = options
  const now = clock()
  const isTaken = await Promise.all(due.map((create) => ledger.scheduleNextLook(create, now + leaseMs)))
  const creates = due.filter((_, at) => isTaken[at]).map((create) => ({ ...create, checkCount: create.checkCount + 1 }))
  if (creates.length === 0) return
  const matching = startMatching(creates, { scanKey, now, windowMs }, options)
  matching?.catch(() => {}) // each look handles the rejection
  await forEachConcurrently(concurrency, creates, async (create) => {
    const isRead = await look(create, matching, now, options)
    await ledger.scheduleNextLook(create, nextLookTime(create, isRead, now))
  })
  scans.forget(scanKey)
}

/** Returns whether the list could be read. */
async function look(
  create: UnresolvedCreate,
  matching: Promise<MatchCreate> | undefined,
  now: number,
  { ledger, observe }: ReconciliationOptions,
): Promise<boolean> {
  if (!matching) return false
  const { provider } = create
  try {
    const { matched, isAmbiguous, candidates = [] } = await (await matching)(create)
    // Until the last look another create may still turn out to have one of the candidates.
    const isUndecided = isAmbiguous && candidates.length > 0 && isLastLook(create, now)
    const isKept = matched ? await ledger.keepRefused(create, matched.body) : isUndecided
    if (isUndecided) await ledger.keepCandidates(create, candidates)
    if (isKept) observe({ what: 'create', provider, outcome: 'foundAfterRefusal' })
    return true
  } catch (reason) {
    if (Fault.from(reason).kind === 'internal') throw reason
    return false
  }
}

/** Whether no look follows, if the list can be read. */
function isLastLook({ attemptedAt }: UnresolvedCreate, now: number): boolean {
  return now >= attemptedAt + secondLookMs
}

/** Undefined: it was the last look. */
function nextLookTime(create: UnresolvedCreate, isRead: boolean, now: number): number | undefined {
  const { attemptedAt } = create
  if (!isLastLook(create, now)) return attemptedAt + secondLookMs
  return isRead || now >= attemptedAt + lastLookMs ? undefined : now + secondLookMs
}
