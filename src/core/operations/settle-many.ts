/**
 * Many creates or transactions of one provider, settled with one confirmation (docs/contract-operators.md §10.2, §15). What a person confirms is
 * the list that was shown: nothing that came later, and of that list nothing that has changed since. Each row is settled as by a
 * command of its own.
 */
import { inSlices } from '../../domain/async.ts'
import { instantsOf, toIso } from '../../domain/instant.ts'
import { formatTransactionId, parseTransactionId } from '../../domain/swap.ts'
import {
  type FoundTransaction,
  type LedgerAdmin,
  maxPlannedRows,
  type PlannedRow,
  type SettlementOutcome,
  type SettlementPlan,
  settledStatuses,
  type UnresolvedCreateReport,
} from '../ports/ledger-admin.ts'
import { type ResolvePorts, resolveCreate, whyContradicted, whyRunning, whyUnacceptable, whyWithheld } from './resolve.ts'
import { settleTransaction, withoutAddresses } from './settle.ts'
import { reasonOf, unresolvedCreates } from './unresolved.ts'

/** `none` and `accept` of creates, as in `Resolution`; a status of transactions that need a person. */
export const settlementOutcomes = ['none', 'accept', ...settledStatuses] as const satisfies readonly SettlementOutcome[]

export interface Selection {
  /** Tag. */
  readonly provider: string
  /** Name of an account. */
  readonly account?: string | undefined
  /** Attempted, or created, then or later; milliseconds since 1970. */
  readonly since?: number | undefined
  /** Before then. */
  readonly until?: number | undefined
  /** Why a person is needed, as the lists show it: `timed_out`, `withdrawalAddress`, `failed`, …. */
  readonly reason?: string | undefined
}

export interface WantedSettlement extends Selection {
  readonly outcome: SettlementOutcome
  readonly note: string
}

/** What a confirmation would settle. */
export interface SettlementPreview {
  /** What to confirm; null if nothing can be settled. It begins with the number of rows. */
  readonly confirm: string | null
  readonly count: number
  /** How many more than can be confirmed at once. */
  readonly more: number
  readonly oldest: string | null
  readonly newest: string | null
  readonly groups: readonly SettlementGroup[]
  /** What is selected and cannot be settled in this way now. */
  readonly left: readonly LeftRow[]
}

interface SettlementGroup {
  readonly account: string | null
  readonly reason: string
  readonly count: number
  /** Of these creates, those that a transaction in the provider's list may belong to. */
  readonly withCandidates: number
}

/** A row that stays as it is. */
export interface LeftRow {
  /** The intent of a create, or the id of a transaction for clients. */
  readonly id: string
  readonly account: string | null
  readonly reason: string | null
  readonly why: string
}

/** The result of one step. */
export interface SettlementProgress {
  readonly settled: number
  /** Settled meanwhile: by an earlier run, another person, or because the outcome was found. */
  readonly already: number
  readonly left: readonly LeftRow[]
  /** After this step. */
  readonly remaining: number
}

export type StepResult =
  | { readonly outcome: 'stepped'; readonly progress: SettlementProgress }
  | { readonly outcome: 'missing'; readonly message: string }

export interface SettlementPorts extends ResolvePorts {
  readonly ledgerAdmin: ResolvePorts['ledgerAdmin'] &
    Pick<LedgerAdmin, 'unresolved' | 'needPerson' | 'findTransaction' | 'settle' | 'savePlan' | 'findPlan' | 'advancePlan'>
  /** That of a provider's times without a zone; undefined: UTC. */
  readonly timezoneOf: (tag: string) => string | undefined
}

interface Row {
  readonly id: string
  readonly provider: string
  readonly account: string | null
  readonly reason: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly hasCandidates: boolean
  /** Differs once anything has changed that a person may have judged by. */
  readonly seen: string
  /** Why it cannot be settled in this way now. */
  readonly obstacle?: string | undefined
}

/** Changes nothing: it only keeps what may be confirmed. */
export async function previewSettlement(wanted: WantedSettlement, ports: SettlementPorts): Promise<SettlementPreview> {
  const { outcome, note } = wanted
  const rows = (await rowsFor(outcome, ports)).filter((row) => isSelected(row, wanted))
  const ready = rows.filter(({ obstacle }) => obstacle === undefined)
  const confirmed = ready.slice(0, maxPlannedRows)
  const plan = { outcome, note: withoutAddresses(note), rows: confirmed.map(({ id, seen }) => ({ id, seen })) }
  const confirm = confirmed.length === 0 ? null : `${confirmed.length}-${crypto.randomUUID().slice(0, 8)}`
  if (confirm !== null) await ports.ledgerAdmin.savePlan(confirm, plan)
  return {
    confirm,
    count: confirmed.length,
    more: ready.length - confirmed.length,
    oldest: toIso(confirmed.at(0)?.at),
    newest: toIso(confirmed.at(-1)?.at),
    groups: groupsOf(confirmed),
    left: rows.flatMap(({ id, account, reason, obstacle }) =>
      obstacle === undefined ? [] : [{ id, account, reason, why: obstacle }],
    ),
  }
}

/** The oldest first. */
async function rowsFor(outcome: SettlementOutcome, ports: SettlementPorts): Promise<readonly Row[]> {
  const { ledgerAdmin } = ports
  const rows: Row[] = []
  if (outcome !== 'none' && outcome !== 'accept') {
    const transactions = await ledgerAdmin.needPerson(maxPlannedRows + 1)
    await inSlices(transactions, (found) => rows.push(transactionRow(found, ports.timezoneOf)))
    return rows
  }
  await inSlices(await unresolvedCreates(ledgerAdmin), (create) => {
    if (outcome === 'none' || create.state === 'mismatch')
      rows.push({ ...createRow(create), obstacle: obstacleTo(create, outcome, ports) })
  })
  return rows
}

function obstacleTo(create: UnresolvedCreateReport, outcome: 'none' | 'accept', ports: SettlementPorts): string | undefined {
  const waiting = whyWithheld(create) ?? whyRunning(create, ports)
  if (outcome === 'none') return waiting
  return waiting ?? whyUnacceptable(create) ?? whyContradicted(create, ports)
}

function createRow(create: UnresolvedCreateReport): Row {
  const { intent, provider, account = null, state, attemptedAt, candidates = [], reported } = create
  return {
    id: intent,
    provider,
    account,
    reason: reasonOf(create),
    at: attemptedAt,
    hasCandidates: candidates.length > 0,
    seen: [state === 'mismatch', reported?.id, ...candidates].join(' '),
  }
}

function transactionRow({ entry, account }: FoundTransaction, timezoneOf: SettlementPorts['timezoneOf']): Row {
  const { provider, transaction, reportedAt } = entry
  const { id, attention, status, createdAt } = transaction
  const [created] = instantsOf(createdAt, timezoneOf(provider))
  return {
    id: formatTransactionId(provider, id),
    provider,
    account: account ?? null,
    reason: attention ?? '',
    at: created === undefined ? reportedAt : Number(created / 1_000_000n),
    hasCandidates: false,
    seen: `${attention} ${status}`,
  }
}

function isSelected({ provider, account, reason, at }: Row, wanted: Selection): boolean {
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = wanted
  if (provider !== wanted.provider || at < since || at >= until) return false
  if (wanted.account !== undefined && account !== wanted.account.normalize()) return false
  return wanted.reason === undefined || reason.split(', ').includes(wanted.reason)
}

function groupsOf(rows: readonly Row[]): readonly SettlementGroup[] {
  const groups = Map.groupBy(rows, ({ account, reason }) => JSON.stringify([account, reason]))
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    const withCandidates = group.filter(({ hasCandidates }) => hasCandidates).length
    return first ? [{ account: first.account, reason: first.reason, count: group.length, withCandidates }] : []
  })
}

/** Settles the next rows of what was confirmed. The same again continues after them, also in another process. */
export async function settleNext(confirm: string, maxRows: number, ports: SettlementPorts): Promise<StepResult> {
  const { ledgerAdmin } = ports
  const found = await ledgerAdmin.findPlan(confirm)
  if (!found) return { outcome: 'missing', message: `there is nothing to confirm as ${confirm}; please preview it again` }
  const { plan, position } = found
  const step = plan.rows.slice(position, position + maxRows)
  const left: LeftRow[] = []
  const counts = { settled: 0, already: 0 }
  for (const row of step) {
    const result = await settleRow(row, plan, ports)
    if (typeof result === 'string') counts[result]++
    else left.push({ id: row.id, ...result })
  }
  // A process that ends in between repeats its step: what it has settled is not settled again.
  const next = position + step.length
  await ledgerAdmin.advancePlan(confirm, next)
  return { outcome: 'stepped', progress: { ...counts, left, remaining: plan.rows.length - next } }
}

type RowResult = 'settled' | 'already' | Omit<LeftRow, 'id'>

async function settleRow({ id, seen }: PlannedRow, plan: SettlementPlan, ports: SettlementPorts): Promise<RowResult> {
  const { outcome, note } = plan
  const isOfCreate = outcome === 'none' || outcome === 'accept'
  const row = isOfCreate ? await findCreate(id, ports) : await findTransaction(id, ports)
  if (!row) return 'already'
  const { account, reason } = row
  if (row.seen !== seen) return { account, reason, why: 'it has changed since it was shown' }
  if (!isOfCreate) {
    const result = await settleTransaction(ports.ledgerAdmin, id, { status: outcome, note }, ports.actor)
    return result.outcome === 'settled'
      ? 'settled'
      : result.outcome === 'unneeded'
        ? 'already'
        : { account, reason, why: result.message }
  }
  const result = await resolveCreate(id, outcome === 'none' ? { none: true, note } : { accept: true, note }, ports)
  if (result.outcome === 'done') return 'settled'
  return result.outcome === 'missing' ? 'already' : { account, reason, why: result.message }
}

async function findCreate(intent: string, { ledgerAdmin }: SettlementPorts): Promise<Row | undefined> {
  const create = await ledgerAdmin.findUnresolved(intent)
  return create && createRow(create)
}

/** Undefined also if it needs no person any more. */
async function findTransaction(name: string, { ledgerAdmin, timezoneOf }: SettlementPorts): Promise<Row | undefined> {
  const { tag = '', id } = parseTransactionId(name)
  const found = await ledgerAdmin.findTransaction(tag, id)
  return found?.entry.transaction.attention ? transactionRow(found, timezoneOf) : undefined
}
