/**
 * What a person does after a restore: finds the orders that the ledger lacks, and says whose each is (docs/contract-operators.md §10.6). No key
 * is found by elimination. What nobody has confirmed of an order is printed with its decision.
 */
import { memoOf } from '../../domain/address/same-address.ts'
import { acceptsUnreadableRows } from '../../domain/call-options.ts'
import { withValue } from '../../domain/context-values.ts'
import { Fault } from '../../domain/fault.ts'
import { millisecondsOf, toIso } from '../../domain/instant.ts'
import { gatewayContext } from '../../domain/service.ts'
import { formatTransactionId, isTransactionId, parseTransactionId, type Transaction } from '../../domain/swap.ts'
import { BrokenList, type ListedRow, ListScan } from '../creation/list-scan.ts'
import type { TransactionReader } from '../creation/match-create.ts'
import { takingDeposit } from '../creation/other-deposits.ts'
import { contradictionIn, fieldsOf } from '../creation/payable.ts'
import type { DepositClaim, Ledger, UnresolvedCreate } from '../ports/ledger.ts'
import {
  type AssignedOrder,
  type DismissedOrder,
  type FoundOrder,
  type NotedCreate,
  type OrderAssignment,
  type RestoredProvider,
  type RestoreStore,
  restoredForMs,
  type Unassigned,
  type UndecidedOrder,
  type WithheldKey,
} from '../ports/restores.ts'
import { amountSizeOf, compareCreate, contradictedTerms, orderContradictions, type ReportedTransaction } from '../same-swap.ts'
import type { ResolvePorts } from './resolve.ts'
import { withoutAddresses } from './settle.ts'

// A provider's list is read whole, and what the ledger lacks of it is kept.

export interface RebuildPorts {
  readonly store: RestoreStore
  /** Undefined: the provider has no list of transactions, or refuses it. */
  readonly reader: TransactionReader | undefined
  /** Whether the reference of an order is that of a create of this owner. */
  readonly isIntentIdOf: (reference: string, owner: string) => boolean
  readonly wait: (milliseconds: number) => Promise<void>
  /** A line for the person who waits. */
  readonly report: (line: string) => void
  readonly actor: string
}

export type RebuildResult =
  | { readonly outcome: 'done'; readonly listed: number; readonly missing: number; readonly withoutDetails: number }
  /** What is stopped stays stopped. */
  | { readonly outcome: 'notRestored' | 'noList' | 'interrupted'; readonly message: string }

/** Ids that the ledger is asked about at a time, and orders that it keeps at a time. */
const idsPerQuery = 500
const ordersPerWrite = 100

/** `provider`: tag. What an earlier run found stays. A get of each order has what the list does not say; it is made once (`test/restore/restore.test.ts`). */
export async function rebuild(provider: string, ports: RebuildPorts): Promise<RebuildResult> {
  const { store, reader, report, actor } = ports
  const restored = (await store.read()).find((each) => each.provider === provider && each.holds)
  if (!restored)
    return { outcome: 'notRestored', message: `no restore holds for ${provider}: run swapgate ledger mark-restored first` }
  if (!reader || reader.isListRefused?.()) return { outcome: 'noList', message: withoutList(restored) }
  const rows = await readWhole(restored, reader, ports).catch(unread)
  if ('message' in rows) return { outcome: 'interrupted', message: `${provider}: ${rows.message}` }
  const byId = Map.groupBy(rows, ({ reported }) => (isTransactionId(reported.id ?? '') ? reported.id : undefined))
  const nameless = byId.get(undefined)?.length ?? 0
  byId.delete(undefined)
  const missing = await missingOf(provider, [...byId.keys()] as string[], store)
  const known = new Map((await store.undecided()).map((order) => [formatTransactionId(order.provider, order.id), order]))
  const orders = missing.map((id) => {
    const before = known.get(formatTransactionId(provider, id))
    const reports = (byId.get(id) ?? []).map(({ reported }) => reported)
    return before?.hasDetails ? before : { provider, id, reports, hasDetails: false }
  })
  await keep(await named(orders, ports), store)
  if (nameless > 0)
    return {
      outcome: 'interrupted',
      message: `${provider}: ${nameless} rows of its list have no id that can be read, so it is not whole`,
    }
  const isRead = await store.markRead(restored, { listed: byId.size, missing: missing.length }, actor)
  if (!isRead) return { outcome: 'interrupted', message: `${provider}: the ledger was marked as restored again meanwhile` }
  if (missing.length > 0) report(`reading ${missing.length} orders that the ledger lacks`)
  // Creates go on meanwhile: with more of each order known, fewer of them may be one.
  const read = await readDetails(orders, reader, ports)
  await keep(await named(read, ports), store)
  const withoutDetails = read.filter(({ hasDetails }) => !hasDetails).length
  return { outcome: 'done', listed: byId.size, missing: missing.length, withoutDetails }
}

function withoutList({ provider, restoredAt }: RestoredProvider): string {
  const end = toIso(restoredAt + restoredForMs)
  return `${provider} has no list of transactions that can be read: creates there stay stopped until ${end}, or until swapgate ledger mark-restored --end ${provider}`
}

function unread(reason: unknown): { readonly message: string } {
  const { kind, message } = Fault.from(reason)
  if (kind === 'internal') throw reason
  return { message: `its list was not read whole: ${message.replace(/\.$/, '')}` }
}

/** Pauses in a row without a page between them, and lists that changed while they were read. */
const maxPauses = 5
const maxScans = 3
const failurePauseMs = 5_000
const maxPauseMs = 60_000

/** Throws the `Fault` for which it gave up. */
async function readWhole(
  { since = 0 }: RestoredProvider,
  reader: TransactionReader,
  ports: RebuildPorts,
): Promise<readonly ListedRow[]> {
  const { service, capabilities, timezone } = reader
  const { pageSize } = capabilities
  const isFiltered = since > 0 && capabilities.requestFields.listTransactions.has('dateFrom')
  const window = isFiltered ? { dateFrom: new Date(since).toISOString() } : {}
  const context = withValue(gatewayContext(capabilities), acceptsUnreadableRows, true)
  for (let scans = 1; ; scans++) {
    // The end is proven as for a create that made nothing: what is not listed makes a second swap possible.
    const scan = new ListScan({ window, since, startedAt: Date.now(), decidesNotCreated: true, pageSize, timezone })
    const pauses = new Pauses(ports)
    const readPage = async (query: Parameters<Parameters<ListScan['finish']>[0]>[0]) => {
      const { body } = await pauses.persist(() => service.call('listTransactions', query, context))
      if (query.page > 1) ports.report(`reading page ${query.page} of the list`)
      return body
    }
    try {
      return await scan.finish(readPage)
    } catch (reason) {
      if (!(reason instanceof BrokenList) || scans === maxScans) throw reason
    }
  }
}

/** Calls again what failed, after the pause that a budget or the provider requires, or a short one. */
class Pauses {
  private readonly ports: Pick<RebuildPorts, 'wait' | 'report'>

  constructor(ports: Pick<RebuildPorts, 'wait' | 'report'>) {
    this.ports = ports
  }

  /** Throws the last `Fault`, or at once one that no pause changes. */
  async persist<T>(call: () => Promise<T>): Promise<T> {
    for (let pauses = 1; ; pauses++) {
      try {
        return await call()
      } catch (reason) {
        const { kind, retryAfter } = Fault.from(reason)
        if (!momentary.has(kind) || pauses > maxPauses) throw reason
        const pauseMs = retryAfter === undefined ? failurePauseMs : Math.min(retryAfter * 1_000, maxPauseMs)
        this.ports.report(`waiting ${pauseMs / 1_000} s`)
        await this.ports.wait(pauseMs)
      }
    }
  }
}

const momentary: ReadonlySet<string> = new Set(['unavailable', 'limited', 'unreachable', 'timedOut', 'failed', 'unreadable'])

async function missingOf(provider: string, ids: readonly string[], store: RestoreStore): Promise<readonly string[]> {
  const missing: string[] = []
  for (let at = 0; at < ids.length; at += idsPerQuery)
    missing.push(...(await store.missing(provider, ids.slice(at, at + idsPerQuery))))
  return missing
}

async function keep(orders: readonly FoundOrder[], store: RestoreStore): Promise<void> {
  const sized = orders.map((order) => ({ ...order, size: sizeOf(order) }))
  for (let at = 0; at < sized.length; at += ordersPerWrite) await store.keep(sized.slice(at, at + ordersPerWrite))
}

/** With the owner that the reference names. Of several orders with one reference it names nobody: a create makes one. */
async function named(orders: readonly FoundOrder[], { store, isIntentIdOf }: RebuildPorts): Promise<readonly FoundOrder[]> {
  const referenceOf = ({ reports }: FoundOrder): string | undefined => {
    const [reference, ...others] = new Set(reports.flatMap((reported) => reported.reference ?? []))
    return others.length === 0 ? reference : undefined
  }
  const byReference = Map.groupBy(orders, referenceOf)
  if ([...byReference.keys()].every((reference) => reference === undefined)) return orders
  const owners = await store.accountIds()
  return orders.map((order) => {
    const reference = referenceOf(order)
    if (reference === undefined || (byReference.get(reference) ?? []).length > 1) return order
    return { ...order, owner: owners.find((owner) => isIntentIdOf(reference, owner)) }
  })
}

/** Undefined also where the reports differ in it. */
function sizeOf({ reports }: FoundOrder): number | undefined {
  const [size, ...others] = new Set(reports.map(({ amountIn }) => amountSizeOf(amountIn)))
  return others.length === 0 ? size : undefined
}

/** The same orders, with what a get says of each that has been read. */
async function readDetails(
  orders: readonly FoundOrder[],
  reader: TransactionReader,
  ports: RebuildPorts,
): Promise<readonly FoundOrder[]> {
  const { service, capabilities } = reader
  const pauses = new Pauses(ports)
  const read: FoundOrder[] = []
  for (const order of orders) {
    const details = order.hasDetails
      ? undefined
      : await pauses
          .persist(() => service.call('getTransaction', { id: order.id }, gatewayContext(capabilities)))
          .catch((reason) => {
            if (Fault.from(reason).kind === 'internal') throw reason
            return undefined
          })
    const isRead = details?.body.id === order.id
    const whole = isRead ? { ...order, reports: [...order.reports, details.body], hasDetails: true } : order
    if (isRead) await keep([whole], ports.store)
    read.push(whole)
  }
  return read
}

// A person decides about an order.

export interface AssignPorts {
  readonly store: RestoreStore
  readonly ledger: Pick<Ledger, 'unresolvedBetween'>
  /** Undefined for a provider that the file lacks: nothing can judge its orders. */
  readonly readingOf: (
    tag: string,
  ) => Promise<Pick<TransactionReader, 'naming' | 'timezone' | 'capabilities' | 'mayBecomePayable'> | undefined>
  /** Both as in `ResolvePorts`. */
  readonly readReport: ResolvePorts['readReport']
  readonly claimAfter: (tag: string, transaction: Transaction) => Promise<DepositClaim | undefined>
  readonly actor: string
}

export interface OrderDecision {
  /** Its name; undefined: the one that the order's reference names. */
  readonly account?: string | undefined
  /** The `Idempotency-Key` of its create; null: none is known. */
  readonly key: string | null
  /** Where the client says that the swap pays out. Without it the decision must say `unconfirmed`. */
  readonly withdrawalAddress?: string | undefined
  readonly unconfirmed?: boolean | undefined
  /** Names of contradictions that a person has judged. */
  readonly despite?: readonly string[] | undefined
  readonly note: string
}

/** `account`: that of an assigned order; `notes`: what a person should know of it. `contradictions`: the same is done despite them. */
export type OrderResult =
  | { readonly outcome: 'done'; readonly account?: string; readonly notes: readonly string[] }
  | { readonly outcome: 'missing' | 'refused'; readonly message: string; readonly contradictions?: readonly string[] | undefined }

/** `id`: with the tag. */
export async function assignOrder(id: string, decision: OrderDecision, ports: AssignPorts): Promise<OrderResult> {
  const { account: named, key, withdrawalAddress, unconfirmed = false, despite = [], note } = decision
  const { store, ledger, readingOf, readReport, actor } = ports
  const known = await findOrder(id, store)
  if (!known) return noSuchOrder(id)
  // It may have gone on, or have failed, since it was found.
  const report = await readReport(known.provider, known.id)
  const now = report.outcome === 'read' && report.response.body.id === known.id ? report.response.body : undefined
  const order = now ? { ...known, reports: [...known.reports, now] } : known
  const account = named ?? order.account
  if (account === undefined) return { outcome: 'refused', message: `nothing names the account of ${id}: --account is required` }
  const { provider, reports } = order
  const reading = await readingOf(provider)
  if (!reading)
    return { outcome: 'refused', message: `${provider} is not in the file, so that nothing judges ${id}: add it, with state: off` }
  const creates = await ledger.unresolvedBetween(provider, 0, Number.MAX_SAFE_INTEGER)
  // A person decides about these in the same way.
  const withheld = new Set((await store.withheldKeys()).map(({ intent }) => intent))
  const isOther = (each: UnresolvedCreate): boolean => withheld.has(each.intent)
  const create = creates.find((each) => !isOther(each) && compareCreate(reports, each, reading) !== 'other')
  if (create)
    return {
      outcome: 'refused',
      message: `${id} may be the result of the create ${create.intent}: swapgate ledger resolve ${create.intent} --bind ${id}`,
    }
  const transaction = mergedReport(order)
  if (!transaction)
    return { outcome: 'refused', message: `${id} was never read whole: run swapgate ledger rebuild ${provider} again` }
  if (withdrawalAddress === undefined && !unconfirmed)
    return {
      outcome: 'refused',
      message: `${id} needs the withdrawal address as the client names it, or that it is assigned unconfirmed; its addresses, memos and amounts are not confirmed by anybody`,
    }
  const requested = key === null ? undefined : await store.requestUnder(account, key)
  const contradictions = [
    ...new Set([
      ...(order.account !== undefined && order.account !== account.normalize() ? ['account'] : []),
      ...(await contradictionsOf(transaction, withdrawalAddress, reading)),
      ...(requested ? orderContradictions(transaction, requested, reading.naming.table) : []),
    ]),
  ]
  const left = contradictions.filter((field) => !despite.includes(field))
  if (left.length > 0)
    return {
      outcome: 'refused',
      message: `${id} is not what the client names, or has requested: it differs in ${left.join(', ')}`,
      contradictions,
    }
  const at = Date.now()
  const createdAt = millisecondsOf(transaction.createdAt, reading.timezone) ?? order.foundAt
  const assignment: OrderAssignment = {
    ...{
      provider,
      id: order.id,
      account,
      key,
      transaction,
      createdAt,
      reportedAt: at,
      note: withoutAddresses(note),
      withdrawalAddress,
    },
    ...(contradictions.length > 0 && { despite: contradictions }),
  }
  const result = await takingDeposit(
    (claim) => store.assign(assignment, actor, claim),
    () => ports.claimAfter(provider, transaction),
  )
  if (result === 'depositTaken') return { outcome: 'refused', message: `${id} has the deposit address of another open swap` }
  if (result.outcome === 'assigned')
    return {
      outcome: 'done',
      account,
      notes: [
        ...unconfirmedNotes(transaction, withdrawalAddress),
        ...(now ? [] : [`It could not be read at the provider now: what is known of it is as of ${toIso(known.foundAt)}.`]),
        ...(key === null ? [] : [`Its create is the one with the key ${key}.`]),
        ...freedNotes(result.freed),
      ],
    }
  if (result.outcome === 'noAccount') return { outcome: 'refused', message: `there is no account ${account}` }
  if (result.outcome === 'known') return { outcome: 'refused', message: `the ledger has ${id} by now` }
  if (result.outcome === 'keyInUse')
    return {
      outcome: 'refused',
      message: `another create of ${account} has the Idempotency-Key ${key}: swapgate ledger find ${key}`,
    }
  return noSuchOrder(id)
}

/** Facts that no request confirms: the provider's word alone. */
const unconfirmedFields = [
  'withdrawalAddress',
  'withdrawalExtraId',
  'refundAddress',
  'refundExtraId',
  'amountIn',
  'amountOut',
] as const satisfies readonly (keyof Transaction)[]

/** For the person who assigns it. What the client has named is confirmed. */
function unconfirmedNotes(transaction: Transaction, withdrawalAddress: string | undefined): readonly string[] {
  const fields = unconfirmedFields.filter((field) => field !== 'withdrawalAddress' || withdrawalAddress === undefined)
  const facts = fields.flatMap((field) => (transaction[field] ? [`${field} ${transaction[field]}`] : []))
  return facts.length === 0 ? [] : [`Not confirmed by anybody: ${facts.join(', ')}.`]
}

/** An order has no request: what the client names is compared, and the rest must be possible. */
async function contradictionsOf(
  transaction: Transaction,
  withdrawalAddress: string | undefined,
  reading: NonNullable<Awaited<ReturnType<AssignPorts['readingOf']>>>,
): Promise<readonly string[]> {
  const { rateType = 'float', amountIn, withdrawalAddress: reported, withdrawalExtraId, refundAddress, refundExtraId } = transaction
  const named = withdrawalAddress ?? reported ?? ''
  const requested = { amountIn, withdrawalAddress: named, withdrawalExtraId, refundAddress, refundExtraId, rateType }
  // A memo in the address that the client names counts, too.
  const terms = { withdrawalAddress: named, ...(memoOf(named, undefined) === undefined && { withdrawalExtraId }) }
  const differing = withdrawalAddress === undefined ? [] : contradictedTerms({ ...requested, ...terms }, transaction)
  const payability = await reading.mayBecomePayable(
    { requested, pair: transaction },
    { transaction, contradicted: differing.map(contradictionIn), isFound: true, mayLackPrice: true },
    gatewayContext(reading.capabilities),
  )
  return fieldsOf(payability.refused)
}

export async function dismissOrder(id: string, note: string, store: RestoreStore, actor: string): Promise<OrderResult> {
  const order = await findOrder(id, store)
  const dismissed = order && (await store.dismiss(order.provider, order.id, withoutAddresses(note), actor))
  return dismissed ? { outcome: 'done', notes: freedNotes(dismissed.freed) } : noSuchOrder(id)
}

/** Of the creates that waited for the decision. */
function freedNotes(freed: readonly NotedCreate[]): readonly string[] {
  if (freed.length === 0) return ['No other create waited for it.']
  const creates = freed.map(({ account, key, at }) => `${key} of ${account}, first at ${toIso(at)}`)
  return [
    `${freed.length} other ${freed.length === 1 ? 'create that waited for it is' : 'creates that waited for it are'} new from now on: ${creates.join('; ')}.`,
  ]
}

/** What was dismissed waits for a person again. */
export async function undismissOrder(id: string, note: string, store: RestoreStore, actor: string): Promise<OrderResult> {
  const { tag, id: providerId } = parseTransactionId(id)
  const isDone = tag !== undefined && (await store.undismiss(tag, providerId, withoutAddresses(note), actor))
  return isDone ? { outcome: 'done', notes: [] } : { outcome: 'missing', message: `no found order with the id ${id} is dismissed` }
}

/** A key that returned an order until that was taken back: its account may use it for another create. */
export async function freeKey(
  account: string,
  key: string,
  note: string,
  store: RestoreStore,
  actor: string,
): Promise<OrderResult> {
  const freed = await store.freeKey(account, key, withoutAddresses(note), actor)
  if (!freed) return { outcome: 'missing', message: `no Idempotency-Key ${key} of ${account} waits for a person` }
  return { outcome: 'done', account, notes: [shownNote(freed)] }
}

function shownNote({ hasShownAddress }: Pick<WithheldKey, 'hasShownAddress'>): string {
  return hasShownAddress
    ? 'A response to it had shown the deposit address of the order: its client may have paid there.'
    : 'No response to it had shown a deposit address.'
}

/** `account` of the result: the one that had it. */
export async function unassignOrder(id: string, note: string, store: RestoreStore, actor: string): Promise<OrderResult> {
  const { tag, id: providerId } = parseTransactionId(id)
  if (tag === undefined) return { outcome: 'missing', message: notAssigned(id) }
  const result = await store.unassign(tag, providerId, withoutAddresses(note), actor)
  if (result.outcome === 'unassigned') {
    const { account, withheld } = result
    const waits =
      withheld && `The Idempotency-Key ${withheld.key} of ${account} is 409 until found assign --key or found free names it.`
    return { outcome: 'done', account, notes: withheld && waits !== undefined ? [waits, shownNote(withheld)] : [] }
  }
  if (result.outcome === 'missing') return { outcome: 'missing', message: notAssigned(id) }
  return { outcome: 'refused', message: `${id} stays assigned: ${whyItStays[result.outcome]}` }
}

const whyItStays: Readonly<Record<Exclude<Unassigned['outcome'], 'unassigned' | 'missing'>, string>> = {
  hasAction: 'a refund, a continuation or a refund address was asked for',
  isSettled: 'a person has recorded its outcome',
}

function notAssigned(id: string): string {
  return `no found order with the id ${id} is assigned`
}

async function findOrder(id: string, store: RestoreStore): Promise<UndecidedOrder | undefined> {
  const { tag, id: providerId } = parseTransactionId(id)
  return tag === undefined ? undefined : await store.findUndecided(tag, providerId)
}

function noSuchOrder(id: string): OrderResult {
  return { outcome: 'missing', message: `no found order that waits for a person has the id ${id}` }
}

/** What a later report says counts. Undefined if it is not even known what is swapped. */
function mergedReport({ id, reports, foundAt }: UndecidedOrder): Transaction | undefined {
  const merged: ReportedTransaction = Object.assign({}, ...reports.map(withoutUndefined))
  const { amountIn, createdAt = new Date(foundAt).toISOString() } = merged
  if (amountIn === undefined) return undefined
  return { ...merged, id, amountIn, createdAt }
}

function withoutUndefined(report: ReportedTransaction): ReportedTransaction {
  return Object.fromEntries(Object.entries(report).filter(([, value]) => value !== undefined && value !== null))
}

/** As JSON, and for a table. */
export function orderRow(order: UndecidedOrder | AssignedOrder | DismissedOrder) {
  const { provider, id, reports, hasDetails, foundAt } = order
  const { ownAssets: _, reference: __, ...reported }: ReportedTransaction = Object.assign({}, ...reports.map(withoutUndefined))
  return {
    ...reported,
    id: formatTransactionId(provider, id),
    provider,
    account: 'account' in order ? (order.account ?? null) : null,
    hasDetails,
    foundAt: toIso(foundAt),
    ...('creates' in order && { creates: order.creates.map(({ at, ...create }) => ({ ...create, at: toIso(at) })) }),
    ...('decidedAt' in order && { [isAssigned(order) ? 'assignedAt' : 'dismissedAt']: toIso(order.decidedAt) }),
  }
}

function isAssigned(order: AssignedOrder | DismissedOrder): order is AssignedOrder {
  return 'account' in order
}
