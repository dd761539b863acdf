/** Ownership of transactions by the ledger, for issued keys (docs/contract.md §5, docs/contract-operators.md §8, §12). */
import { maxTimerMs, withDefault, withTimeout } from '../../domain/async.ts'
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import { ContextKey, valueIn, withValue } from '../../domain/context-values.ts'
import { contradictedReport, Fault, faultTable, otherTransaction } from '../../domain/fault.ts'
import type { CacheOutcome } from '../../domain/observation.ts'
import { ownerOf, type ServiceResponse, timedUpstream } from '../../domain/service.ts'
import { isFinal } from '../../domain/status.ts'
import { sentWords } from '../assets/translate-assets.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { LedgerChanges, LedgerEntry, TransactionRecord } from '../ports/ledger.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { doubtAbout } from '../visible-state.ts'
import { requireStatus } from './derive-fields.ts'
import { fromLedger, staleFromLedger } from './from-ledger.ts'
import { observedFromGet, presented } from './merge-transaction.ts'
import { mergeChecked, reportDiscrepancies, saveObserved } from './save-observed.ts'

/** How long a response waits for its write to the ledger. After that the write continues in the background. */
const ledgerTimeoutMs = 500

/** How long a get waits for a provider that is known not to answer. The read goes on in the background: it is what finds out that it is back. */
const failingWaitMs = 100

/** Whether a get is sent to the provider, even if the last one was a moment ago. */
export const isReadAnew = new ContextKey(false)

type Details = ServiceResponse<'getTransaction'>

/**
 * Throws `notFound` for a transaction of another owner. A final or fresh transaction is returned from the ledger without a call;
 * if the provider fails or does not find it, the last known state is returned with `staleSeconds`.
 */
export function ownership(scope: ProviderScope): Layer {
  const { ledger, tag: provider, freshness, sequences, clock, observe } = scope
  const isOff = scope.state === 'off'
  const count = (outcome: CacheOutcome, entry?: LedgerEntry): void =>
    observe({ what: 'cache', cache: 'transaction', outcome, ...(entry && { ageSeconds: freshness.ageSeconds(entry) }) })
  const finals = new KnownFinals(scope.mayTakeBack)
  const refreshes = new Map<string, ReturnType<typeof refreshEntry>>()
  return onOperations({
    async getTransaction(request, context, next) {
      const owner = ownerOf(context)
      const entry = finals.get(owner, request.id) ?? (await findOwn(owner, request.id, scope))
      finals.keep(entry)
      if (isOff || isMissingForNow(entry, clock())) {
        count('stale', entry)
        return requireStatus(staleFromLedger(entry, context, freshness))
      }
      const isAlreadyFinal = isFinal(entry.transaction.status)
      const isAnew = valueIn(context, isReadAnew) && !isAlreadyFinal
      if (!isAnew && !freshness.needsRefresh(entry)) {
        count('hit', entry)
        return requireStatus(fromLedger(entry, context))
      }
      const lastKnown = (latest: LedgerEntry): Details => {
        count('stale', latest)
        return requireStatus(isAlreadyFinal ? fromLedger(latest, context) : staleFromLedger(latest, context, freshness))
      }
      if (isAlreadyFinal) freshness.recordPayoutRead(entry)
      sequences.observe(entry.sequence)
      const isFailing = scope.isFailing('getTransaction')
      // Concurrent gets share one refresh.
      const sharedRefresh = isAnew ? undefined : refreshes.get(request.id)
      try {
        const refresh = sharedRefresh
          ? timedUpstream(context, sharedRefresh)
          : refreshEntry(entry, next.call('getTransaction', request, withValue(context, sentWords, entry.sent)), scope)
        if (!sharedRefresh) refreshes.set(request.id, refresh)
        const waitMs = isFailing ? failingWaitMs : maxTimerMs
        const refreshed = await withTimeout(
          refresh.finally(() => refreshes.get(request.id) === refresh && refreshes.delete(request.id)),
          waitMs,
          () => undefined,
        )
        if (!refreshed) return lastKnown(entry)
        const { response, record, isRejected } = refreshed
        if (isRejected) return lastKnown({ ...entry, ...record })
        count(sharedRefresh ? 'shared' : 'miss')
        return requireStatus({ ...response, ...presented(record, context), doubt: doubtAbout(record) })
      } catch (reason) {
        const { kind, refusal } = Fault.from(reason)
        // A 403 may be about the one call.
        if (!faultTable[kind].isStaleServed && refusal !== 'forbidden' && !isAlreadyFinal) throw reason
        // Another process may have stored a newer state.
        return lastKnown((await withDefault(ledger.find(owner, provider, request.id), ledgerTimeoutMs, entry)) ?? entry)
      }
    },
  })
}

/** Throws where the owner has none. After a restore a person may assign it between the two looks: then it is no other owner's. */
async function findOwn(owner: string, id: string, { ledger, tag, absentSwaps, mayTakeBack }: ProviderScope): Promise<LedgerEntry> {
  const found = await ledger.find(owner, tag, id)
  if (found) return found
  const absent = await absentSwaps.fault(tag, id)
  const assigned = mayTakeBack() && absent.kind === 'notFound' ? await ledger.find(owner, tag, id) : undefined
  if (!assigned) throw absent
  return assigned
}

/** How long a final transaction is served without a read. */
const finalLifetimeMs = 60_000
/** A bound on memory. A dropped entry is read from the ledger again. */
const maxFinals = 2_000

/** Final transactions that were read a moment ago: a get of one does not wait for the ledger. Nothing about them changes any more; where a person may change whose they are, none is served so. */
class KnownFinals {
  private readonly entries = new BoundedMap<{ readonly entry: LedgerEntry; readonly until: number }>({
    share: cacheShares.transactions,
    maxEntries: maxFinals,
  })
  private readonly mayTakeBack: () => boolean

  constructor(mayTakeBack: () => boolean) {
    this.mayTakeBack = mayTakeBack
  }

  get(owner: string, id: string): LedgerEntry | undefined {
    const known = this.entries.get(keyOf(owner, id))
    return known && performance.now() < known.until && !this.mayTakeBack() ? known.entry : undefined
  }

  /** Keeps it if it is final and its provider has said all of it. */
  keep(entry: LedgerEntry): void {
    const { owner, transaction, payoutMissingSince, missingSince } = entry
    if (!isFinal(transaction.status) || payoutMissingSince !== undefined || missingSince !== undefined) return
    const key = keyOf(owner, transaction.id)
    if (this.entries.get(key)?.entry !== entry) this.entries.set(key, { entry, until: performance.now() + finalLifetimeMs })
  }
}

function keyOf(owner: string, id: string): string {
  return `${owner} ${id}`
}

/** If another report was stored meanwhile, that stays. */
async function noteMissing(entry: LedgerEntry, now: number, journal: LedgerChanges): Promise<void> {
  const missing = withMissing(entry, now)
  if (missing !== entry) await withDefault(journal.upsert(entry.owner, entry.provider, missing, entry), ledgerTimeoutMs, undefined)
}

interface Refreshed {
  readonly response: Details
  readonly record: TransactionRecord
  /** The response cannot be about this transaction: nothing but that is noted of it. */
  readonly isRejected: boolean
}

/** Reads the provider's state, merges it and stores the result; of one that changes nothing only sometimes, unless `isStored`. */
export async function refreshEntry(
  entry: LedgerEntry,
  pendingResponse: Promise<Details>,
  scope: ProviderScope,
  isStored = false,
): Promise<Refreshed> {
  const { journal, tag: provider, configured, clock, freshness, failedReads } = scope
  const { id, status } = entry.transaction
  const reading = pendingResponse.then((response) => {
    if (response.body.id !== id) throw otherTransaction(provider)
    return response
  })
  const response = await reading.catch(async (reason) => {
    const fault = Fault.from(reason)
    if (!isFinal(status)) failedReads.note(provider, id, fault)
    if (fault.kind === 'notFound') await noteMissing(entry, clock(), journal)
    throw reason
  })
  const firstDeposit = await scope.judgeFirstDeposit(entry, response)
  const observed = { ...observedFromGet(response, clock(), configured.timezone), firstDeposit }
  const merged = mergeChecked(entry, observed, scope)
  const hadFailed = merged.rejected.length === 0 && failedReads.end(provider, id)
  // The time of a read that ends failures is stored: it says that they are over.
  if (!hadFailed && !isStored && isOnlyRead(entry, merged.record)) {
    reportDiscrepancies(merged, scope)
    freshness.recordRead(provider, id, entry.fetchedAt)
    return { response, record: merged.record, isRejected: false }
  }
  const saving = saveObserved(entry.owner, observed, { merged, stored: entry }, scope)
  const latest = (await withDefault(saving, ledgerTimeoutMs, undefined)) ?? merged
  reportDiscrepancies(latest, scope)
  const isRejected = latest.rejected.length > 0
  if (!isRejected) freshness.recordRead(provider, id, observed.at)
  else if (!isFinal(status)) failedReads.note(provider, id, contradictedReport(provider))
  return { response, record: latest.record, isRejected }
}

/**
 * How long the time of a read is not stored, if nothing else has changed: other processes read the transaction themselves meanwhile
 * (docs/contract-operators.md §8; `ownership.test.ts`).
 */
const unstoredReadMs = 60_000

/** Whether a get has found what the ledger has, and its time need not be stored. */
function isOnlyRead(entry: LedgerEntry, record: TransactionRecord): entry is LedgerEntry & { readonly fetchedAt: number } {
  const { fetchedAt, missingSince, changedAt, doubt, payoutMissingSince } = entry
  if (record === entry || fetchedAt === undefined || missingSince !== undefined) return false
  const ageMs = record.reportedAt - fetchedAt
  const isYoung = ageMs >= 0 && ageMs < unstoredReadMs && entry.reportedAt === fetchedAt
  const isSame = record.changedAt === changedAt && record.doubt === doubt && record.payoutMissingSince === payoutMissingSince
  return isYoung && isSame && haveSameFields(record.transaction, entry.transaction) && isEqualList(record.derived, entry.derived)
}

function haveSameFields(one: object, other: object): boolean {
  const [a, b]: readonly Readonly<Record<string, unknown>>[] = [{ ...one }, { ...other }]
  return Object.keys({ ...a, ...b }).every((field) => a?.[field] === b?.[field])
}

function isEqualList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, at) => item === other[at])
}

/** Sends a client's key to another provider only for transactions that the client created there. Throws `notFound` otherwise (docs/contract.md §5). */
export function createdHereOnly({ ledger, tag, absentSwaps }: ProviderScope): Layer {
  return onOperations({
    async getTransaction(request, context, next) {
      const entry = await ledger.find(ownerOf(context), tag, request.id)
      if (!entry?.isCreated) throw await absentSwaps.fault(tag, request.id)
      return next.call('getTransaction', request, withValue(context, sentWords, entry.sent))
    },
  })
}

// A transaction that was created here and that its provider does not find any more (docs/contract-operators.md §12).

const hourMs = 3_600_000

/** The entry after the provider's 404: one that lasts an hour needs a person. The entry itself if nothing changes. */
function withMissing(entry: LedgerEntry, now: number): LedgerEntry {
  const { transaction, missingSince = now, settledAt } = entry
  if (entry.missingSince === undefined) return { ...entry, missingSince }
  if (!isLost(entry, now)) return entry
  const needsPerson = !isFinal(transaction.status) && settledAt === undefined
  if (transaction.attention !== undefined || !needsPerson) return { ...entry, missingAt: now }
  // With a later sequence, so that a report that was merged before is merged again.
  const sequence = (entry.sequence ?? 0) + 1
  return { ...entry, transaction: { ...transaction, attention: 'lost' }, missingAt: now, sequence }
}

/** Whether the provider has not found it for an hour, and was asked within the last hour. */
export function isMissingForNow(entry: LedgerEntry, now: number): boolean {
  const { missingAt } = entry
  return missingAt !== undefined && missingAt <= now && now - missingAt < hourMs && isLost(entry, now)
}

function isLost({ missingSince }: LedgerEntry, now: number): boolean {
  return missingSince !== undefined && now - missingSince >= hourMs
}
