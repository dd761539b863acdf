/**
 * Searches for the one transaction of a create (docs/contract-operators.md §10.2). A transaction that its owner has only listed stays a
 * candidate. Without a reference it is none, once the provider has listed one for a transaction that is not younger. It is possible also with a
 * name or network that the table lacks, and if a get contradicts its row; not if another create has it, or if it is older than the attempt in
 * every zone from -14 h to +14 h. The words of another token may be another name of the asset. A create for an amount to receive is found by
 * that. A swap with the id and deposit address of one in the ledger is bound to no other create, whatever the account. A row without id or time
 * keeps no create from ending if another create has its id.
 */
import { acceptsUnreadableRows } from '../../domain/call-options.ts'
import { withValue } from '../../domain/context-values.ts'
import { Fault } from '../../domain/fault.ts'
import { instantsOf, millisecondsOf } from '../../domain/instant.ts'
import type { JudgementKind } from '../../domain/observation.ts'
import type { Caller, Capabilities, Context, ServiceResponse, SwapService } from '../../domain/service.ts'
import { isTransactionId, requestedAmountOf, type Transaction } from '../../domain/swap.ts'
import type { Timeline } from '../../domain/timeline.ts'
import type { Span } from '../../domain/trace.ts'
import { assetIn, from, pickAssetFields } from '../assets/asset-naming.ts'
import { sentWords } from '../assets/translate-assets.ts'
import { type Destination, differences, mayBeOneAccount } from '../destination.ts'
import type { JournaledLedger, UnresolvedCreate } from '../ports/ledger.ts'
import type { JudgePolicies } from '../provider-scope.ts'
import { amountKeyOf } from '../quotes/offers.ts'
import {
  amountSizeOf,
  compareAll,
  compareCreate,
  createdAfterMs,
  createdBeforeMs,
  hasReferenceOf,
  isDisputed,
  maxSkewMs,
  otherTokensThanSent,
  type ReportedTransaction,
  type ReportReading,
  zoneErrorMs,
} from '../same-swap.ts'
import type { DateWindow, ListedRow, ListScans } from './list-scan.ts'
import { contradictionIn, fieldsOf, isPriceKnown, kindsOf, type MayBecomePayable } from './payable.ts'

/** The result of a search. */
export interface MatchResult {
  /** The only confirmed match. `contradicted`: for what nobody may get it. */
  readonly matched?: ServiceResponse<'getTransaction'>
  /** Of the candidates, those that nobody may pay for while the create is unresolved. */
  readonly withheld?: readonly string[]
  /** Whether no price was known that the match could be compared with. */
  readonly lacksPrice?: boolean
  /** What is wrong with the match, and only counted. `network`: of the deposit, by the table. */
  readonly counted?: readonly { readonly kind: JudgementKind; readonly network: string | undefined }[]
  /** Whether there are several candidates, another create competes for the match, or nothing confirms it. */
  readonly isAmbiguous: boolean
  /** Whether a transaction that is no match may still be the create's: then the list does not prove that it made nothing. */
  readonly isPossible?: boolean
  /** Ids of what may be the create's, at most 20. */
  readonly candidates?: readonly string[]
  /** Ids of what could be any create's, since the row cannot be read: at most 20. */
  readonly unreadable?: readonly string[]
  /** Whether one page, which was not full, was the whole list for all creates of the search. */
  readonly isListShort?: boolean
}

/** Returns the match for one of the creates. */
export type MatchCreate = (create: UnresolvedCreate, span?: Span) => Promise<MatchResult>

/** For more candidates no details are read. */
const maxCandidates = 20

/** Creates of one provider that one read of its list can contain. */
export interface CreateGroup {
  /** Tag of their provider. */
  readonly provider: string
  readonly creates: readonly UnresolvedCreate[]
  /** Whose list it is: the provider's, or that of the creates' owner there. */
  readonly scanKey: string
  /** One time for all steps, on the clock of `attemptedAt`. */
  readonly now: number
  /** How long after its `attemptedAt` a create is looked for. */
  readonly windowMs: number
  readonly root?: Span | undefined
  /** Gets the calls of the reading. */
  readonly timeline?: Timeline | undefined
}

interface MatchPorts {
  readonly ledger: JournaledLedger
  readonly scans: ListScans
}

/** Matches the creates with the list of the caller. Throws if it cannot be read completely. */
export async function matchCreates(
  group: CreateGroup,
  reader: TransactionReader,
  caller: Caller,
  { ledger, scans }: MatchPorts,
): Promise<MatchCreate> {
  const { provider, creates, root, timeline } = group
  const { capabilities } = reader
  const context: Context = {
    requestId: crypto.randomUUID(),
    caller,
    clientCapabilities: capabilities,
    deadline: Number.POSITIVE_INFINITY,
    span: root,
    timeline,
    isGatewayCall: true,
  }
  const { candidatesOf, unplaced, isListShort } = await readCandidates(group, reader, context, scans)
  // First the unresolved creates, then the existing ids: a create that is resolved in between is in both, never in neither.
  const { atAccount, elsewhere } = await createsAround(provider, creates, Math.abs(reader.clockSkewMs?.() ?? 0), ledger)
  const listedRows = [...unplaced, ...creates.flatMap(candidatesOf)]
  const existingIds = await ledger.existingIds(provider, [...new Set(listedRows.flatMap(({ reported }) => reported.id ?? []))])
  const isNew = ({ reported }: ListedRow): boolean => reported.id === undefined || !existingIds.has(reported.id)
  const anyones = unplaced.filter(isNew)
  const unreadable = idsOf(anyones)
  return async (create, span) => {
    const listed = candidatesOf(create)
    const rows = listed.filter(isNew)
    const candidates = rows.filter(({ reported }) => compareCreate([reported], create, reader) !== 'possible')
    // A list that is read elsewhere than the create was sent proves nothing.
    const isElsewhere = create.destination !== undefined && differences(create.destination, reader.destination).length > 0
    const isOwn = listed.some(({ reported }) => hasReferenceOf(create, reported))
    const isPossible = isElsewhere || isOwn || anyones.length > 0 || candidates.length < rows.length
    const result = await onlyMatch(candidates, create, reader, withValue({ ...context, span }, sentWords, create.sent))
    const found = { candidates: idsOf(rows), unreadable, isListShort }
    if (!result?.match)
      return { isAmbiguous: result?.isAmbiguous ?? false, isPossible: isPossible || result !== undefined, ...found }
    const { reports, details } = result.match
    const amounts = new Set([amountKeyOf(create.requested), ...reports.flatMap(amountKeysOf)])
    const at = (group: Map<string, UnresolvedCreate[]>) => [...amounts].flatMap((amount) => group.get(amount) ?? [])
    const others = at(elsewhere).filter(({ destination }) => mayBeOneAccount(create.destination, destination))
    const competing = [...at(atAccount), ...others]
    const isReferenced = reports.some((reported) => hasReferenceOf(create, reported))
    const isContested =
      !isReferenced &&
      competing.some(
        (other) => other.intent !== create.intent && ['match', 'incomplete'].includes(compareCreate(reports, other, reader)),
      )
    const body = mergeReports(reports)
    const differing = [...(details.report?.contradicted ?? []), ...contradictionsOf(reports, create, reader)]
    const { requested, sent, quote } = create
    const report = {
      transaction: body,
      contradicted: differing.map(contradictionIn),
      isFound: true,
      mayLackPrice: !reader.capabilities.hasExpectedAmount,
    }
    const payability = await reader.mayBecomePayable({ requested, pair: pickAssetFields(requested), sent, quote }, report, context)
    const contradicted = fieldsOf(payability.refused)
    // A transaction without a deposit address is not bound yet: it would be no valid response to the create.
    const isAwaited = !body.depositAddress && contradicted.length === 0
    if (isContested || isAwaited) return { isAmbiguous: true, ...found }
    // Another create may have made it at that price, elsewhere: without a reference a person decides.
    if (payability.isPriceAlone && !isReferenced) return { isAmbiguous: true, withheld: [body.id], ...found }
    const bound = { ...payability.transaction, ...pickAssetFields(requested), ownAssets: undefined, reference: undefined }
    const network = assetIn(requested, from, reader.naming.table)?.network
    return {
      matched: { ...details, body: bound, report: { ...details.report, contradicted } },
      counted: kindsOf(payability.counted).map((kind) => ({ kind, network })),
      lacksPrice: !isPriceKnown(create, body),
      isAmbiguous: false,
    }
  }
}

/** What the transaction contradicts: only one with the create's reference contradicts more than the tokens. Its amount may be rounded. */
function contradictionsOf(
  reports: readonly ReportedTransaction[],
  create: UnresolvedCreate,
  { naming }: TransactionReader,
): readonly string[] {
  const { contradicted, alike } = compareAll(reports, create, naming)
  const tokens = reports.flatMap((reported) => otherTokensThanSent(reported, create, naming))
  return [...tokens, ...contradicted, ...alike.filter((field) => field !== 'amountIn' && field !== 'amountOut')]
}

interface Match {
  readonly reports: readonly ReportedTransaction[]
  readonly details: ServiceResponse<'getTransaction'>
}

/** Undefined without a candidate. Ambiguous if there are several, or the only one is not confirmed; neither if its details make it merely possible. */
async function onlyMatch(
  rows: readonly ListedRow[],
  create: UnresolvedCreate,
  reader: TransactionReader,
  context: Context,
): Promise<{ readonly match?: Match; readonly isAmbiguous: boolean } | undefined> {
  if (rows.length > maxCandidates) return { isAmbiguous: true }
  let match: Match | undefined
  let isPossible = false
  for (const row of rows) {
    const details = await readDetails(row, reader.service, context)
    const reports = details ? [row.reported, details.body] : [row.reported]
    const verdict = compareCreate(reports, create, reader)
    isPossible ||= details !== undefined && isDisputed(row.reported, details.body, create, reader.naming)
    if (verdict === 'other') continue
    isPossible ||= verdict === 'possible'
    if (verdict === 'possible') continue
    if (verdict === 'incomplete' || !row.isReadable || !details || match) return { isAmbiguous: true }
    match = { reports, details }
  }
  return match || isPossible ? { ...(match && { match }), isAmbiguous: false } : undefined
}

/** Undefined if the details add nothing to the row: another transaction, none, or one that is unreadable too. */
async function readDetails(
  { reported, isReadable }: ListedRow,
  service: TransactionReader['service'],
  context: Context,
): Promise<ServiceResponse<'getTransaction'> | undefined> {
  const { id } = reported
  if (id === undefined || !isTransactionId(id)) return undefined
  try {
    const details = await service.call('getTransaction', { id }, context)
    return details.body.id === id ? details : undefined
  } catch (reason) {
    const { kind } = Fault.from(reason)
    if (kind === 'notFound' || (kind === 'unreadable' && !isReadable)) return undefined
    throw reason
  }
}

/** Merges the reports; later ones win. Empty texts count as missing. */
function mergeReports(reports: readonly ReportedTransaction[]): Transaction {
  const reported = reports.flatMap((report) => Object.entries(report).filter(([, value]) => value !== undefined && value !== ''))
  const merged: object = Object.fromEntries(reported)
  return merged as Transaction
}

/** Unresolved creates that may have made the same transactions, by their amounts: at the account of now, and elsewhere. */
async function createsAround(provider: string, creates: readonly UnresolvedCreate[], skewMs: number, ledger: JournaledLedger) {
  const spanMs = createdAfterMs + createdBeforeMs + 2 * skewMs
  const times = creates.map(({ attemptedAt }) => attemptedAt)
  const [first, last] = [Math.min(...times) - spanMs, Math.max(...times) + spanMs]
  const byAmount = ({ requested }: UnresolvedCreate): string => amountKeyOf(requested)
  return {
    atAccount: Map.groupBy(await ledger.unresolvedBetween(provider, first, last), byAmount),
    elsewhere: Map.groupBy(await ledger.unresolvedElsewhere(provider, first, last), byAmount),
  }
}

/** Of the requests that the transaction may be of, by each of its amounts. */
function amountKeysOf({ amountIn, amountOut }: ReportedTransaction): readonly string[] {
  return [...(amountIn === undefined ? [] : [{ amountIn }]), ...(amountOut === undefined ? [] : [{ amountOut }])].map(amountKeyOf)
}

/** For a person. */
function idsOf(rows: readonly ListedRow[]): readonly string[] {
  return rows.flatMap(({ reported }) => reported.id ?? []).slice(0, maxCandidates)
}

// Finds rows of a provider's list that may belong to creates of unknown outcome (docs/contract-operators.md §10.2).

/** Reads a provider's transactions, with the table's asset names. */
export interface TransactionReader extends ReportReading {
  readonly service: SwapService
  /** The fields of the provider's form. */
  readonly capabilities: Capabilities
  /** Whether the provider refuses to list: then nothing is looked for. */
  readonly isListRefused?: (() => boolean) | undefined
  readonly destination: Destination
  /** By the provider's configuration. */
  readonly mayBecomePayable: MayBecomePayable
  /** `providers.<name>.judge`. */
  readonly policies: JudgePolicies
}

/** The rows of the list that do not contradict a create; only those with its reference if there are any. */
type CandidatesOf = (create: UnresolvedCreate) => readonly ListedRow[]

interface Candidates {
  readonly candidatesOf: CandidatesOf
  /** Rows whose id or time cannot be read: each could be any create's. */
  readonly unplaced: readonly ListedRow[]
  readonly isListShort: boolean
}

/** Reads the list once for all these creates. Throws if it is not complete yet. */
async function readCandidates(
  { creates, scanKey, now, windowMs }: CreateGroup,
  reader: TransactionReader,
  context: Context,
  scans: ListScans,
): Promise<Candidates> {
  const { service, capabilities, timezone } = reader
  const filters = capabilities.requestFields.listTransactions
  const ranges = creates.map(({ attemptedAt }) => rangeOf(attemptedAt, now >= attemptedAt + windowMs, timezone))
  const since = Math.min(...ranges.map(({ first }) => first))
  const intents = creates.map(({ intent }) => intent)
  // "Not created" needs a list whose read began after the end of the window.
  const ends = creates.map(({ attemptedAt }) => attemptedAt + windowMs).filter((end) => end <= now)
  const reading = { scanKey, notBefore: Math.max(0, ...ends), intents }
  const rows: ListedRow[] = []
  const windows = filters.has('dateFrom') ? windowsOf(ranges) : [{}]
  let isListShort = windows.length === 1
  for (const window of windows) {
    const { pageSize } = capabilities
    const knownWindow = filters.has('dateTo') ? window : { dateFrom: window.dateFrom }
    const options = { window: knownWindow, since, startedAt: now, decidesNotCreated: ends.length > 0, pageSize, timezone }
    const read = await scans.finish(reading, options, async (query) => {
      const listed = await service.call('listTransactions', query, withValue(context, acceptsUnreadableRows, true))
      return listed.body
    })
    rows.push(...read.rows)
    isListShort &&= read.isShort
  }
  const referenced = rows.filter(({ reported }) => Boolean(reported.reference))
  const times = referenced.flatMap(({ reported }) => millisecondsOf(reported.createdAt ?? '', timezone) ?? [])
  // Another account may keep none.
  const referencesSince = scans.referencesSince(JSON.stringify([scanKey, reader.destination]), times)
  const readerSince = { ...reader, referencesSince }
  const bySize = {
    amountIn: Map.groupBy(rows, ({ reported }) => amountSizeOf(reported.amountIn)),
    amountOut: Map.groupBy(rows, ({ reported }) => amountSizeOf(reported.amountOut)),
  }
  const candidatesOf = (create: UnresolvedCreate): readonly ListedRow[] => {
    const own = referenced.filter(({ reported }) => hasReferenceOf(create, reported))
    if (own.length > 0) return own
    const { requested } = create
    const field = requested.amountOut === undefined ? 'amountIn' : 'amountOut'
    const size = amountSizeOf(requestedAmountOf(requested)) ?? 0
    const near = [size - 1, size, size + 1, undefined].flatMap((key) => bySize[field].get(key) ?? [])
    return near.filter(({ reported }) => compareCreate([reported], create, readerSince) !== 'other')
  }
  const unplaced = rows.filter(({ reported }) => !hasPlace(reported, timezone))
  return { candidatesOf, unplaced, isListShort }
}

function hasPlace({ id, createdAt = '' }: ReportedTransaction, timezone: string | undefined): boolean {
  return id !== undefined && instantsOf(createdAt, timezone).length > 0
}

interface Range {
  readonly first: number
  readonly last: number
}

/** The times that the create's transaction may have in the list. To decide that there is none, they may be in any zone, and are read in the configured one. */
function rangeOf(attemptedAt: number, decidesNotCreated: boolean, timezone = 'UTC'): Range {
  const errorMs = decidesNotCreated ? (timezone === 'UTC' ? zoneErrorMs : 2 * zoneErrorMs) : maxSkewMs
  return { first: attemptedAt - createdBeforeMs - errorMs, last: attemptedAt + createdAfterMs + errorMs }
}

/** Overlapping ranges are joined. */
function windowsOf(ranges: readonly Range[]): readonly DateWindow[] {
  const joined: Range[] = []
  for (const range of ranges.toSorted((a, b) => a.first - b.first)) {
    const before = joined.at(-1)
    if (before && range.first <= before.last) joined.splice(-1, 1, { first: before.first, last: Math.max(before.last, range.last) })
    else joined.push(range)
  }
  return joined.map(({ first, last }) => ({ dateFrom: new Date(first).toISOString(), dateTo: new Date(last).toISOString() }))
}
