/**
 * Reconciliation of creates with an unknown outcome (docs/contract-operators.md §10.2). It reads the provider's list and never guesses. If
 * several transactions may be those of a create that was refused in a foreign form, or nothing confirms the only one, the last look lists all.
 * The looks at one provider wait neither for those at another nor for reads of actions.
 */
import { eachAlone, forEachConcurrently } from '../../domain/async.ts'
import { Fault, failureCauseOf } from '../../domain/fault.ts'
import { type CreateOutcome, type Observation, type Observer, snakeCase } from '../../domain/observation.ts'
import { gatewayContext } from '../../domain/service.ts'
import type { Transaction } from '../../domain/swap.ts'
import { Timeline } from '../../domain/timeline.ts'
import { type Link, readTraceparent, type Span, type Tracing } from '../../domain/trace.ts'
import type { Clock } from '../clock.ts'
import type { DepositClaim, JournaledLedger, LedgerChanges, UnresolvedCreate } from '../ports/ledger.ts'
import type { Timelines } from '../timelines.ts'
import type { PendingCreateKeys } from './idempotency.ts'
import type { ListScans } from './list-scan.ts'
import { type CreateGroup, type MatchCreate, type MatchResult, matchCreates, type TransactionReader } from './match-create.ts'
import { type OtherDeposits, takingDeposit } from './other-deposits.ts'
import { unsafe } from './payable.ts'
import type { DeferredResults } from './record-result.ts'

interface ReconciliationOptions {
  readonly ledger: JournaledLedger
  readonly journal: Pick<LedgerChanges, 'bindFound' | 'markMismatch'>
  /** Of creates that are not due, since this process has their results. */
  readonly deferredResults: Pick<DeferredResults, 'isDeferred'>
  /** Readers of the transactions of the providers that have a list of them, by tag. */
  readonly readers: ReadonlyMap<string, TransactionReader>
  /** Scans of lists that are too long for one run. */
  readonly scans: ListScans
  /** By provider: gets how long its last look took. */
  readonly lookMs: Map<string, number>
  /** The searches that an earlier call still makes: they are left to it. */
  readonly searching: Set<string>
  /** The available client keys, if the provider accepts only the key of the client that made the create. */
  readonly pendingKeys?: PendingCreateKeys | undefined
  /** How long after its `attemptedAt` a create is checked: `ledger.reconcileFor` (default: 86400 seconds). */
  readonly windowMs: number
  readonly otherDeposits: OtherDeposits
  readonly timelines: Pick<Timelines, 'note'>
  readonly clock: Clock
  readonly observe: Observer
  /** Each run at a provider is a trace of its own, always recorded, with links to the traces of the creates. */
  readonly tracing?: Tracing | undefined
}

/** Shortest pause between two searches, and time until another process searches if this one crashes. */
const minPauseMs = 5_000
const leaseMs = 15_000
/** Creates per run. */
const maxCreatesPerRun = 1_000
/** At each provider: lists of owners, and creates of one list. */
const concurrency = 8

/** Creates of one kind that a provider's list is searched for. */
interface Search {
  /** Before the names of its searches and scans: what is read for one kind does not answer for the other. */
  readonly name: string
  readonly due: JournaledLedger['dueCreates']
  /** Undefined if another process was first. */
  readonly begin: JournaledLedger['beginCheck']
  /** False if another process was first. `next`: undefined if there is no further search. */
  readonly scheduleNext: (
    create: UnresolvedCreate,
    next: number | undefined,
    candidates?: readonly string[],
    withheld?: readonly string[],
  ) => Promise<boolean>
  /** Stores what the complete list means for a create. */
  readonly conclude: (create: UnresolvedCreate, found: MatchResult, now: number) => Promise<SearchResult>
  readonly nextTime: (create: UnresolvedCreate, result: SearchResult, now: number) => number | undefined
}

type SearchOutcome = Extract<
  CreateOutcome,
  'found' | 'notFound' | 'notCreated' | 'ambiguous' | 'duplicateId' | 'contradicted' | 'foundAfterRefusal' | 'lookupFailed'
>

/** The result of one search for one create. */
interface SearchResult {
  /** Undefined: there is nothing to count, or the provider is not configured, or has no list. */
  readonly outcome?: SearchOutcome | undefined
  /** Whether the list could be read. */
  readonly isRead: boolean
  /** Whether the create needs no further search. */
  readonly isDone: boolean
  /** Time until a new search makes sense, if known. */
  readonly retryAfterMs?: number | undefined
  /** Whether a further search costs one page, whatever it is for. */
  readonly isCheap?: boolean | undefined
  /** Ids of transactions that may be the create's, for the person who decides. */
  readonly candidates?: readonly string[] | undefined
  /** Those of them that nobody may pay for meanwhile. */
  readonly withheld?: readonly string[] | undefined
  /** Whether the found one could not be compared with a price. */
  readonly lacksPrice?: boolean | undefined
  /** Why the list or the details could not be read, or the result not be stored. */
  readonly fault?: Fault | undefined
}

/**
 * Searches for every due create, at each provider for itself: another call may begin before this one ends. Throws if the ledger fails.
 * If a provider fails, its creates wait for the next search.
 */
export async function reconcile(options: ReconciliationOptions): Promise<void> {
  const { ledger, pendingKeys, clock } = options
  if (pendingKeys) await pendingKeys.refreshOwners(() => ledger.ownersOfUnresolved())
  if (pendingKeys?.owners.length === 0) return
  await ledger.dropUnquoted(clock())
  const ends = await Promise.allSettled([searchAll(checks(options), options), searchAll(refusedChecks(options), options)])
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed) throw failed.reason
}

async function searchAll(search: Search, options: ReconciliationOptions): Promise<void> {
  const { pendingKeys, clock, searching } = options
  const { name } = search
  const busy = [...searching].filter((each) => each.startsWith(name)).map((each) => each.slice(name.length))
  const due = await search.due(clock(), maxCreatesPerRun, pendingKeys?.owners, busy)
  const byProvider = Map.groupBy(due, ({ provider }) => name + provider)
  await eachAlone(searching, byProvider, (creates) => searchAt(search, creates, options))
}

/** All creates are at one provider. */
async function searchAt(search: Search, creates: readonly UnresolvedCreate[], options: ReconciliationOptions): Promise<void> {
  // One read of a list for all creates that it can contain.
  const scanKeyOf = ({ provider, owner }: UnresolvedCreate): string =>
    search.name + (options.pendingKeys ? `${provider} ${owner}` : provider)
  const groups = Map.groupBy(creates, scanKeyOf)
  await forEachConcurrently(concurrency, [...groups], ([scanKey, group]) => searchGroup(search, group, scanKey, options))
}

async function searchGroup(
  search: Search,
  due: readonly UnresolvedCreate[],
  scanKey: string,
  options: ReconciliationOptions,
): Promise<void> {
  const { clock, windowMs, scans, lookMs, observe, tracing } = options
  const startedAt = performance.now()
  // A list that was begun before the end of a create's window must not end the create.
  const now = clock()
  const leasedUntil = now + leaseMs
  const leased = new Map<UnresolvedCreate, UnresolvedCreate | undefined>()
  await forEachConcurrently(concurrency, due, async (create) => {
    leased.set(create, await search.begin(create, leasedUntil))
  })
  const creates = due.flatMap((create) => leased.get(create) ?? [])
  if (creates.length === 0) return
  const root = tracing?.begin('internal', 'reconciliation', creates.flatMap(linkToCreate))
  const timeline = new Timeline()
  const matching = startMatching(creates, { scanKey, now, windowMs, root, timeline }, options)
  matching?.catch(() => {}) // each search handles the rejection
  const results: SearchResult[] = []
  const searches = forEachConcurrently(concurrency, creates, async (create) => {
    const span = root?.begin('check', { 'swapgate.provider': create.provider }, 'internal', linkToCreate(create))
    const result = await searchFor(search, create, { matching, now, span, timeline }, options).finally(() => span?.end())
    results.push(result)
    if (!result.isDone) await search.scheduleNext(create, search.nextTime(create, result, now), result.candidates, result.withheld)
  })
  await searches.finally(() => {
    root?.trace.finish(true)
    if (matching) observe(searched(creates[0]?.provider ?? '', results, clock()))
  })
  const [first] = creates
  if (!first || !results.every(({ isRead }) => isRead)) return
  scans.forget(scanKey)
  lookMs.set(first.provider, performance.now() - startedAt)
}

/** All creates of one search fail for one reason, unless only the details of some cannot be read: then the first one is told. */
function searched(provider: string, results: readonly SearchResult[], at: number): Observation {
  const faults = results.flatMap(({ fault }) => fault ?? [])
  const [fault] = faults.toSorted((one, other) => Number(isBudgetUsedUp(one)) - Number(isBudgetUsedUp(other)))
  if (!fault) return { what: 'search', provider, result: 'read', at }
  if (isBudgetUsedUp(fault)) return { what: 'search', provider, result: 'unfinished', at }
  return { what: 'search', provider, result: 'failed', at, fault, creates: faults.length }
}

/** It goes on when there is budget again. */
function isBudgetUsedUp({ unavailableCause }: Fault): boolean {
  return unavailableCause === 'budget'
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

interface Searching {
  readonly matching: Promise<MatchCreate> | undefined
  readonly now: number
  readonly span: Span | undefined
  /** Has the calls of the reading. */
  readonly timeline: Timeline
}

/** Of a long list. */
const maxNotedCalls = 5

/** Searches for one create once, and stores the result. Never rejects. */
async function searchFor(
  search: Search,
  create: UnresolvedCreate,
  { matching, now, span, timeline }: Searching,
  { observe, timelines }: ReconciliationOptions,
): Promise<SearchResult> {
  if (!matching) return { isRead: false, isDone: false }
  const result = await matching
    .then((match) => match(create, span))
    .then((found) => search.conclude(create, found, now))
    .catch(unreadResult)
  const { outcome, fault } = result
  if (outcome) {
    observe({ what: 'create', provider: create.provider, outcome })
    span?.setAttributes({ 'swapgate.outcome': outcome })
    const candidates = result.candidates?.length ?? 0
    const calls = timeline.calls.slice(0, maxNotedCalls)
    const cause = fault && { cause: snakeCase(failureCauseOf(fault) ?? fault.kind) }
    const price = result.lacksPrice ? ({ price: 'unknown' } as const) : {}
    timelines.note(
      { intent: create.intent },
      { event: 'search', outcome: snakeCase(outcome), candidates, calls, ...price, ...cause },
    )
  }
  return result
}

/** Whatever was thrown: a search that fails in the gateway itself has found nothing out either. */
function unreadResult(reason: unknown): SearchResult {
  const fault = Fault.from(reason)
  const retryAfterMs = isBudgetUsedUp(fault) && fault.retryAfter ? fault.retryAfter * 1000 : undefined
  return { outcome: 'lookupFailed', isRead: false, isDone: false, retryAfterMs, fault }
}

// Creates with an unknown outcome: what is found is theirs, and a complete list without them ends them after the window.

/** Times of the checks after `attemptedAt`; after the last one, once an hour. */
const checkDelaysMs = [5_000, 30_000, 120_000, 600_000]
const hourMs = 3_600_000
/**
 * Times between cheap checks, until so long after `attemptedAt`. They are at whole multiples, each of which is one of the shorter ones:
 * all creates of a provider are checked by one reading of its list.
 */
const cheapIntervals = [
  { untilMs: 120_000, everyMs: 15_000 },
  { untilMs: 600_000, everyMs: 60_000 },
  { untilMs: Number.POSITIVE_INFINITY, everyMs: 300_000 },
]

function checks(options: ReconciliationOptions): Search {
  const { ledger, deferredResults, windowMs } = options
  return {
    name: 'unknown ',
    due: async (...query) => (await ledger.dueCreates(...query)).filter(({ intent }) => !deferredResults.isDeferred(intent)),
    begin: ledger.beginCheck,
    scheduleNext: ledger.scheduleNextCheck,
    conclude: (create, found, now) => concludeCheck(create, found, now, options),
    nextTime: (create, result, now) => nextCheckTime(create, result, now, windowMs),
  }
}

async function concludeCheck(
  create: UnresolvedCreate,
  found: MatchResult,
  now: number,
  options: ReconciliationOptions,
): Promise<SearchResult> {
  const { ledger, journal, readers, windowMs, clock, observe } = options
  const { matched, counted = [], isAmbiguous, isPossible = false, candidates = [], withheld, lacksPrice, isListShort } = found
  const { unreadable = [] } = found
  const isRead = true
  if (isAmbiguous) return { outcome: 'ambiguous', isRead, isDone: false, candidates, withheld }
  if (!matched) {
    // With a possible one only a person may say that nothing was created.
    const shown = isPossible ? [...new Set([...candidates, ...unreadable])] : []
    const isCheap = isListShort && candidates.length === 0
    if (now < create.attemptedAt + windowMs) return { outcome: 'notFound', isRead, isDone: false, candidates: shown, isCheap }
    if (isPossible) return { outcome: 'ambiguous', isRead, isDone: false, candidates: shown }
    if (await ledger.markNotCreated(create, windowMs)) return { outcome: 'notCreated', isRead, isDone: true }
    // The ledger's clock may be behind this machine's, by at most one window.
    return { outcome: 'notFound', isRead, isDone: false, candidates: shown, retryAfterMs: windowMs }
  }
  const { derived = [], body, report: { contradicted = [] } = {}, sequence } = matched
  if (contradicted.length > 0) {
    await journal.markMismatch(create.intent, body, contradicted)
    return { outcome: 'contradicted', isRead, isDone: true }
  }
  const transaction = { ...body, status: body.status ?? ('wait' as const) }
  const at = clock()
  const record = { transaction, derived, reportedAt: at, fetchedAt: at, sequence }
  const store = (claim: DepositClaim): Promise<boolean> => journal.bindFound(create.intent, record, claim)
  const isFree = await takingDeposit(store, () => claimAfter(create, transaction, options))
  if (isFree === 'depositTaken' && readers.get(create.provider)?.policies.depositAddress !== 'count') {
    await journal.markMismatch(create.intent, body, [unsafe.field])
    return { outcome: 'contradicted', isRead, isDone: true }
  }
  const isBound = isFree === 'depositTaken' ? await store({ isShared: true }) : isFree
  if (!isBound) return { outcome: 'duplicateId', isRead, isDone: false }
  for (const judged of counted) observe({ what: 'judgement', provider: create.provider, outcome: 'counted', ...judged })
  return { outcome: 'found', isRead, isDone: true, lacksPrice }
}

/** Reads who has the deposit address, with the key of the create's owner where the provider takes no other. */
async function claimAfter(
  { provider, owner }: UnresolvedCreate,
  transaction: Transaction,
  { readers, otherDeposits, pendingKeys }: ReconciliationOptions,
): Promise<DepositClaim | undefined> {
  const reader = readers.get(provider)
  const key = pendingKeys?.keyOf(owner)
  const caller = { address: '', ...(key !== undefined && { identity: owner, key }) }
  return await otherDeposits.claimAfter(transaction, reader && { ...gatewayContext(reader.capabilities), caller })
}

/**
 * Time of the next check; the last one is at the end of the window. After that: undefined if there are candidates, because only
 * the operator can choose; otherwise again until the list was read completely.
 */
function nextCheckTime(
  { attemptedAt }: UnresolvedCreate,
  { outcome, retryAfterMs, isCheap }: SearchResult,
  now: number,
  windowMs: number,
): number | undefined {
  const end = attemptedAt + windowMs
  if (now >= end && outcome === 'ambiguous') return undefined
  const nextDelayMs = checkDelaysMs.find((delayMs) => attemptedAt + delayMs > now + minPauseMs)
  const scheduled = nextDelayMs === undefined ? now + hourMs : attemptedAt + nextDelayMs
  const regular = isCheap ? Math.min(scheduled, nextCheapTime(attemptedAt, now)) : scheduled
  const next = retryAfterMs === undefined ? regular : Math.min(regular, now + Math.max(minPauseMs, retryAfterMs))
  return now < end ? Math.min(next, end) : next
}

function nextCheapTime(attemptedAt: number, now: number): number {
  const { everyMs } = cheapIntervals.find(({ untilMs }) => now - attemptedAt < untilMs) ?? { everyMs: hourMs }
  return Math.ceil((now + minPauseMs) / everyMs) * everyMs
}

// Creates that were refused by an answer that may not be the provider's own. What is found is kept for a person: the client has got the
// refusal, and its key is free.

/** After `attemptedAt`. */
const secondRefusedCheckMs = 120_000

function refusedChecks({ ledger, windowMs }: ReconciliationOptions): Search {
  return {
    name: 'refused ',
    due: ledger.dueRefusedCreates,
    begin: async (create, until) =>
      (await ledger.scheduleNextRefusedCheck(create, until))
        ? { ...create, checkCount: create.checkCount + 1, nextCheckAt: until }
        : undefined,
    scheduleNext: ledger.scheduleNextRefusedCheck,
    conclude: (create, found, now) => concludeRefused(create, found, now, ledger),
    nextTime: (create, result, now) => nextRefusedCheckTime(create, result, now, windowMs),
  }
}

async function concludeRefused(
  create: UnresolvedCreate,
  { matched, isAmbiguous, candidates = [], withheld }: MatchResult,
  now: number,
  ledger: JournaledLedger,
): Promise<SearchResult> {
  // Until the last check another create may still turn out to have one of the candidates.
  const isUndecided = isAmbiguous && candidates.length > 0 && isLastRefusedCheck(create, now)
  const isKept = matched ? await ledger.keepRefused(create, matched.body, matched.report?.contradicted) : isUndecided
  if (isUndecided) await ledger.keepCandidates(create, candidates, withheld)
  return { outcome: isKept ? 'foundAfterRefusal' : undefined, isRead: true, isDone: isKept }
}

/** Whether no check follows, if the list can be read. */
function isLastRefusedCheck({ attemptedAt }: UnresolvedCreate, now: number): boolean {
  return now >= attemptedAt + secondRefusedCheckMs
}

/** Undefined: it was the last check. One that failed has shown nothing: it is made again until the end of the window. */
function nextRefusedCheckTime(
  create: UnresolvedCreate,
  { isRead }: SearchResult,
  now: number,
  windowMs: number,
): number | undefined {
  const { attemptedAt } = create
  if (!isLastRefusedCheck(create, now)) return attemptedAt + secondRefusedCheckMs
  if (isRead || now >= attemptedAt + windowMs) return undefined
  return now + (now < attemptedAt + hourMs ? secondRefusedCheckMs : hourMs)
}
