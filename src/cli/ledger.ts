/** `swapgate ledger`: inspects and maintains the ledger (docs/contract.md §10, docs/contract-operators.md §13). */

import { statSync } from 'node:fs'
import { resolve as absolute } from 'node:path'
import { type Command, Option } from 'commander'
import { findSwaps, findTextRule, maxPage, type SwapRow, toFindText, unresolvedWith } from '../core/operations/find.ts'
import { failedText, ownerText, type ReadsRow } from '../core/operations/reads.ts'
import { type Resolution, type ResolveResult, resolveCreate } from '../core/operations/resolve.ts'
import { noteRule, type Settlement, settleTransaction, toNote } from '../core/operations/settle.ts'
import { eventText, swapTimeline } from '../core/operations/timeline.ts'
import { shortRow } from '../core/operations/transaction-row.ts'
import { originLines, reasonOf, unresolvedCreates, unresolvedRows } from '../core/operations/unresolved.ts'
import {
  type ExportedEntry,
  type FoundTransaction,
  type Pruned,
  settledStatuses,
  type UnresolvedCreateReport,
} from '../core/ports/ledger-admin.ts'
import { onlyPayable } from '../core/visible-state.ts'
import { toIso, toTimestamp } from '../domain/instant.ts'
import { formatTransactionId, type Transaction } from '../domain/swap.ts'
import { resolvePorts } from '../process/ask-providers.ts'
import { addRestore } from './restore.ts'
import { type ExitCode, type Session, withConfig, withLedger } from './session.ts'
import { addSettleAll } from './settle-all.ts'
import { changing, refuse, type Terminal } from './terminal.ts'
import { configOption, despiteOption, formatTable, jsonOption, type Options, parsedBy } from './values.ts'

const dates = 'a date like 2026-11-20, or a time like 2026-11-20T08:00:00Z'
const asTimestamp = parsedBy(toTimestamp, dates)

interface MigrateOptions extends Options {
  readonly check?: boolean
}

interface PruneOptions extends Options {
  readonly before: number
}

interface ResolveOptions extends Options {
  readonly bind?: string
  readonly none?: boolean
  readonly accept?: boolean
  readonly force?: boolean
  readonly despite?: readonly string[]
  readonly note?: string
}

interface SettleOptions extends Options, Settlement {}

export function addLedger(program: Command, terminal: Terminal, end: (exitCode: number) => void): void {
  const ledger = program
    .command('ledger')
    .description('inspect and migrate the ledger, resolve creates, export and prune transactions')
  const run = async (options: Options, work: (session: Session) => Promise<ExitCode>): Promise<void> =>
    end(await withLedger(options, terminal, work))
  const add = (usage: string, description: string, parent = ledger): Command =>
    parent
      .command(usage)
      .description(description)
      .option(...configOption)
  add('stats', 'count transactions, unresolved creates, accounts and keys')
    .option(...jsonOption)
    .action((options: Options) => run(options, (session) => printStats(options, session)))
  add('unknown', 'list creates with an unknown outcome or a contradicting response, and transactions that need a person')
    .option('--find <text>', 'only those that ledger find would find by it', parsedBy(toFindText, findTextRule))
    .option(...jsonOption)
    .action((options: UnknownOptions) => run(options, (session) => printUnresolved(options, session)))
  add('find <text>', 'find creates and transactions by an id, a request, an Idempotency-Key, an address or an account')
    .option('--limit <number>', 'how many at most', parsedBy(toLimit, limitRule), 100)
    .option(...jsonOption)
    .action((text: string, { limit, ...options }: FindOptions, command: Command) => {
      const wanted = toFindText(text)
      if (wanted === undefined) command.error(`error: the text must be ${findTextRule}`)
      return run(options, (session) => find(wanted, limit, options, session))
    })
  add('show <id>', 'print what happened to a swap: by its transaction id or its intent')
    .option(...jsonOption)
    .action((id: string, options: Options) => run(options, (session) => show(id, options, session)))
  add('resolve <intent>', 'record the outcome of such a create')
    .option('--bind <id>', 'the transaction exists: its id at the provider, or its id for clients')
    .option('--none', 'nothing was created')
    .option('--accept', 'the response that contradicted the request counts after all')
    .option('--force', 'bind a transaction that cannot be read at the provider')
    .option(...despiteOption)
    .option('--note <text>', 'the reason, for the audit log', parsedBy(toNote, noteRule))
    .action(
      (
        intent: string,
        { bind, none = false, accept = false, force = false, despite, note, ...options }: ResolveOptions,
        command: Command,
      ) => {
        if ([bind !== undefined, none, accept].filter(Boolean).length !== 1)
          command.error('error: one of --bind <id>, --none and --accept is required')
        if (force && bind === undefined) command.error('error: --force requires --bind <id>')
        if (despite && none) command.error('error: --despite and --none exclude each other')
        const resolution = bind !== undefined ? { bind, force, despite } : accept ? { accept, despite } : ({ none: true } as const)
        return run(options, (session) => resolve(intent, { ...resolution, note }, changing(session)))
      },
    )
  add('settle <transaction>', 'record the outcome of a transaction that needs a person')
    .addOption(new Option('--status <status>', 'what became of it').choices(settledStatuses).makeOptionMandatory())
    .requiredOption('--note <text>', 'the reason, for the audit log', parsedBy(toNote, noteRule))
    .action((id: string, { status, note, ...options }: SettleOptions) =>
      run(options, (session) => settle(id, { status, note }, changing(session))),
    )
  addSettleAll(add('settle-all', 'show what one decision would settle at a provider, and settle it once that is confirmed'), run)
  add('migrate', 'bring the ledger to the schema of this version; besides start, no other command does')
    .option('--check', 'only print what is missing; exit code 1 if something is')
    .option(...jsonOption)
    .action(async ({ check = false, ...options }: MigrateOptions) =>
      end(
        await (check
          ? printMissing(options, terminal)
          : withLedger(options, terminal, (session) => printMigrations(options, changing(session)), 'migrate')),
      ),
    )
  add('backup <file>', 'copy a SQLite ledger to a new file, while gateways use it')
    .option(...jsonOption)
    .action(async (file: string, options: Options) =>
      end(await withConfig(options, terminal, (config) => backUp(file, options, changing({ config, terminal })))),
    )
  addRestore(ledger, add, async (options, work) => end(await withLedger(options, terminal, work, 'change')))
  add('export', 'print all transactions, one JSON object per line')
    .option('--since <date>', `only transactions created since: ${dates}`, asTimestamp)
    .option('--json', 'print one JSON array')
    .action((options: ExportOptions) => run(options, (session) => exportEntries(options, session)))
  add('prune', 'delete finished transactions')
    .requiredOption('--before <date>', `only transactions created before: ${dates}`, asTimestamp)
    .option(...jsonOption)
    .action((options: PruneOptions) => run(options, (session) => prune(options, changing(session))))
}

/** Prints the creates and transactions that an operator may have to settle. */
async function printUnresolved({ find: text, json }: UnknownOptions, { stores, terminal }: Session): Promise<ExitCode> {
  const lists = text === undefined ? stores.ledgerAdmin : await unresolvedWith(stores.ledgerAdmin, text)
  if (json) {
    terminal.out(JSON.stringify(await unresolvedRows(lists)))
    return 0
  }
  const creates = (await unresolvedCreates(lists)).map((create) => [
    create.intent,
    create.state,
    create.provider,
    toIso(create.attemptedAt),
    create.account ?? '',
    reasonOf(create),
    orderText(create.requested),
    reportedText(create),
  ])
  const transactions = (await lists.needPerson()).map(transactionColumns)
  if (creates.length + transactions.length === 0) terminal.out('No create is unresolved, and no transaction needs a person.')
  if (creates.length > 0)
    print([['intent', 'state', 'provider', 'attempted', 'account', 'reason', 'request', 'reported'], ...creates])
  if (creates.length > 0 && transactions.length > 0) terminal.out('')
  if (transactions.length > 0)
    print([['transaction', 'attention', 'status', 'created', 'last seen', 'account', 'order'], ...transactions])
  return 0

  function print(rows: readonly (readonly string[])[]): void {
    for (const line of formatTable(rows)) terminal.out(line)
  }
}

const limitRule = 'a number from 1 to 10000'

function toLimit(text: string): number | undefined {
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return limit >= 1 && limit <= 10_000 ? limit : undefined
}

interface UnknownOptions extends Options {
  readonly find?: string
}

interface FindOptions extends Options {
  readonly limit: number
}

async function find(text: string, limit: number, { json }: Options, { stores, terminal }: Session): Promise<ExitCode> {
  let { rows, next } = await findSwaps(stores.ledgerAdmin, text, Math.min(limit, maxPage))
  while (next && rows.length < limit) {
    const page = await findSwaps(stores.ledgerAdmin, text, Math.min(limit - rows.length, maxPage), next)
    rows = [...rows, ...page.rows]
    next = page.next
  }
  if (json) {
    terminal.out(JSON.stringify(rows))
    return 0
  }
  if (rows.length === 0) terminal.out('The ledger has nothing of it. The log has every request by its id, also the refused ones.')
  else for (const line of formatTable([findHead, ...rows.map(foundColumns)])) terminal.out(line)
  if (next) terminal.out(`There are more: these are the newest ${rows.length}; --limit shows others.`)
  return 0
}

/** Of one swap: what it is, and what happened to it. */
export function swapLines({ swap, reads, timeline }: NonNullable<Awaited<ReturnType<typeof swapTimeline>>>): readonly string[] {
  const facts = [
    ['transaction', swap.id ?? 'unknown'],
    ['intent', swap.intent ?? 'none: it was not created here'],
    ['state', swap.state === 'done' ? (swap.status ?? 'unknown') : swap.state],
    ['provider', swap.provider],
    ['account', swap.account ?? ''],
    ['order', orderText(swap)],
    ...(reads ? readsFacts(swap.status, reads) : []),
  ]
  return [...formatTable(facts), '', ...formatTable(timeline.map((row) => [row.at, row.event, eventText(row)]))]
}

async function show(id: string, { json }: Options, { stores, terminal }: Session): Promise<ExitCode> {
  const read = await swapTimeline(stores.ledgerAdmin, id)
  if (!read) return refuse(`the ledger has no create and no transaction ${id}; swapgate ledger find looks for other ids`, terminal)
  if (json) {
    terminal.out(JSON.stringify(read))
    return 0
  }
  for (const line of swapLines(read)) terminal.out(line)
  return 0
}

function readsFacts(status: string | null, reads: ReadsRow): readonly (readonly string[])[] {
  const { readAt, ageSeconds, failing } = reads
  return [
    ['last read', `${readAt ?? 'never'}; what is known is ${ageSeconds} s old`],
    ...(failing ? [['reads', `${failedText(failing)}; the last at ${failing.lastAt}`]] : []),
    ['owner sees', ownerText(status, reads)],
  ]
}

const findHead = ['transaction or intent', 'state', 'attempted', 'account', 'request', 'order', 'found by']

function foundColumns(row: SwapRow): readonly string[] {
  const { id, intent, state, status, attemptedAt, account, requestId, matched } = row
  const shownState = state === 'done' ? (status ?? 'unknown') : state
  return [id ?? intent ?? '', shownState, attemptedAt ?? '', account ?? '', requestId ?? '', orderText(row), matched.join(', ')]
}

function transactionColumns(found: FoundTransaction): readonly string[] {
  const { id, attention, status, createdAt, reportedAt, account, ...order } = shortRow(found)
  return [id, attention ?? '', status ?? 'unknown', createdAt, reportedAt ?? '', account ?? '', orderText(order)]
}

type Order = { readonly [Field in (typeof orderFields)[number]]?: Transaction[Field] | undefined }
const orderFields = ['codeFrom', 'coinFrom', 'codeTo', 'coinTo', 'amountIn', 'amountOut', 'withdrawalAddress'] as const

function orderText(order: Order): string {
  const [from, to] = [order.codeFrom ?? order.coinFrom ?? '?', order.codeTo ?? order.coinTo ?? '?']
  const received = order.amountIn === undefined && order.amountOut !== undefined ? `${order.amountOut} ` : ''
  return `${order.amountIn === undefined ? '' : `${order.amountIn} `}${from} to ${received}${to} at ${order.withdrawalAddress ?? '?'}`
}

function reportedText({ state, reported, candidates = [] }: UnresolvedCreateReport): string {
  if (!reported && candidates.length === 0) return ''
  if (!reported) return `may be ${candidates.join(', ')}${state === 'mismatch' ? ', although the provider refused the create' : ''}`
  const { id, fields } = reported
  const differing = fields.filter((field) => field !== 'refused')
  const differs = differing.length > 0 ? `, and differs in ${differing.join(', ')}` : ''
  if (fields.includes('refused')) return `${id}, although the provider refused the create${differs}`
  return fields.includes('id') ? `${id}, an id that another create has or had` : `${id}, which differs in ${fields.join(', ')}`
}

async function resolve(intent: string, resolution: Resolution, { config, stores, terminal, actor }: Session): Promise<ExitCode> {
  const result = await resolveCreate(intent, resolution, resolvePorts(config, stores, actor))
  if (result.outcome === 'done') {
    for (const message of result.messages) terminal.out(message)
    return 0
  }
  return refuse(`${result.message}${result.outcome === 'refused' ? hintOf(result) : ''}`, terminal)
}

function hintOf({ canForce, contradictions = [] }: Extract<ResolveResult, { readonly outcome: 'refused' }>): string {
  if (contradictions.length > 0) return `; --despite ${contradictions.join(',')} does it all the same`
  return canForce ? '; --force binds it without reading' : ''
}

async function settle(id: string, settlement: Settlement, { stores, terminal, actor }: Session): Promise<ExitCode> {
  const result = await settleTransaction(stores.ledgerAdmin, id, settlement, actor)
  if (result.outcome !== 'settled') return refuse(result.message, terminal)
  terminal.out(`The transaction ${id} is settled: its client gets the status ${settlement.status}.`)
  for (const line of originLines(result.found.account, result.reason)) terminal.out(line)
  return 0
}

async function backUp(file: string, { json }: Options, { config, terminal }: Pick<Session, 'config' | 'terminal'>): Promise<0 | 2> {
  const { backUpLedger } = await import('../ledger/index.ts')
  if (!backUpLedger(config.ledger.url, file)) {
    terminal.err('swapgate: the ledger is in PostgreSQL: use pg_dump --format=custom, or point-in-time recovery (docs/backup.md)')
    return 2
  }
  const [path, { size: bytes }] = [absolute(file), statSync(file)]
  if (json) terminal.out(JSON.stringify({ file: path, bytes }))
  else terminal.out(`The ledger is copied to ${path} (${bytes} bytes), and the copy is whole.`)
  return 0
}

async function prune({ before, json }: PruneOptions, { stores, terminal, actor }: Session): Promise<ExitCode> {
  const result = await stores.ledgerAdmin.prune(before, actor)
  if (json) terminal.out(JSON.stringify(result))
  else for (const line of describePruned(result)) terminal.out(line)
  return 0
}

function describePruned({ pruned, kept: { overdue, recentKey, unresolved, attention } }: Pruned): readonly string[] {
  return [
    `Deleted: ${pruned} finished transactions.`,
    ...(overdue > 0 ? [`Kept: ${overdue} that are overdue for less than 30 days: a late deposit may still complete them.`] : []),
    ...(recentKey > 0 ? [`Kept: ${recentKey} with an Idempotency-Key younger than 24 hours.`] : []),
    ...(unresolved > 0
      ? [`Kept: ${unresolved} that may belong to an unresolved create; swapgate ledger unknown lists these creates.`]
      : []),
    ...(attention > 0 ? [`Kept: ${attention} that need a person; swapgate ledger unknown lists them.`] : []),
  ]
}

interface ExportOptions extends Options {
  readonly since?: number
}

/** Prints transactions while they are read: memory does not grow with their number. */
async function exportEntries({ since, json }: ExportOptions, { stores, terminal }: Session): Promise<ExitCode> {
  const entries = stores.ledgerAdmin.export(since)
  await terminal.stream(json ? asArray(entries) : asLines(entries))
  return 0
}

async function* asLines(entries: AsyncIterable<ExportedEntry>): AsyncIterable<string> {
  for await (const entry of entries) yield JSON.stringify(exportedFields(entry))
}

async function* asArray(entries: AsyncIterable<ExportedEntry>): AsyncIterable<string> {
  let last: string | undefined
  yield '['
  for await (const line of asLines(entries)) {
    if (last !== undefined) yield `${last},`
    last = line
  }
  if (last !== undefined) yield last
  yield ']'
}

/** The transaction under its id for clients, without a deposit address that may not be paid. Amounts are text with the provider's digits. */
function exportedFields(entry: ExportedEntry) {
  const { owner, provider, isCreated, quotedAmountOut, derived, transaction: _, ...others } = entry
  const { id, ...fields } = onlyPayable(entry)
  const [reportedAt, fetchedAt, changedAt] = [toIso(others.reportedAt), toIso(others.fetchedAt), toIso(others.changedAt)]
  const settledAt = toIso(others.settledAt) ?? undefined
  return {
    id: formatTransactionId(provider, id),
    owner,
    isCreated,
    ...fields,
    quotedAmountOut,
    agreedAmountIn: others.agreedAmountIn,
    agreedAmountOut: others.agreedAmountOut,
    derived,
    reportedAt,
    fetchedAt,
    changedAt,
    settledAt,
  }
}

/** The session has migrated the ledger, but for what others hold. */
async function printMigrations({ json }: Options, { stores, terminal }: Session): Promise<ExitCode> {
  const { migrations, missingSteps: missing } = stores
  if (json) terminal.out(JSON.stringify({ migrations, ...(missing.length > 0 && { missing }) }))
  else if (migrations.length === 0 && missing.length === 0) terminal.out(hasSchema)
  else if (migrations.length > 0) terminal.out(`${hasSchemaNow} Migrations: ${migrations.join(', ')}.`)
  if (missing.length === 0) return 0
  return refuse(`other sessions hold tables of the ledger, so it lacks: ${missing.join(', ')}; run this again`, terminal)
}

const hasSchema = 'The ledger already has the schema of this version.'
const hasSchemaNow = 'The ledger now has the schema of this version.'

/** Opens the ledger for reading only. */
async function printMissing(options: Options, terminal: Terminal): Promise<ExitCode> {
  return await withConfig(options, terminal, async ({ ledger: { url } }) => {
    const { missingSteps } = await import('../ledger/index.ts')
    const missing = await missingSteps(url)
    if (options.json) terminal.out(JSON.stringify({ missing }))
    else if (missing.length === 0) terminal.out(hasSchema)
    else for (const step of missing) terminal.out(`missing: ${step}`)
    return missing.length > 0 ? 1 : 0
  })
}

/** Prints counts of the ledger. */
async function printStats({ json }: Options, { stores, terminal }: Session): Promise<ExitCode> {
  const { entries, oldestAttempt, ...totals } = await stores.ledgerAdmin.stats(Date.now())
  if (json) {
    const counts = entries.map(({ provider, status = null, count }) => ({ provider, status, count }))
    // `claims` is the earlier name of `idempotencyKeys`.
    terminal.out(
      JSON.stringify({ entries: counts, ...totals, claims: totals.idempotencyKeys, oldestAttempt: toIso(oldestAttempt) }),
    )
    return 0
  }
  const since = oldestAttempt === undefined ? '' : `, the oldest from ${toIso(oldestAttempt)}`
  const rows = [
    ...entries.map(({ provider, status, count }) => [`transactions at ${provider}, ${status ?? 'unknown status'}`, String(count)]),
    ['creates running or interrupted', String(totals.pending)],
    ['creates with an unknown outcome', `${totals.unknown}${since}`],
    ['creates with a contradicting response', String(totals.mismatches)],
    ['transactions that need a person', String(totals.needPerson)],
    ['idempotency keys', String(totals.idempotencyKeys)],
    ['accounts', String(totals.accounts)],
    ['valid keys', String(totals.validKeys)],
  ]
  for (const line of formatTable(rows)) terminal.out(line)
  return 0
}
