/**
 * Kysely: what accounts use. Swaps are counted in their rows, by the hour of their place in a list. What is removed is added to sums in
 * the transaction that removes it, so that it is counted once, also while it is read. What came before the ledger had these tables is not
 * counted. An hour of 10,000 accounts takes some 100 ms, at the operator's port alone.
 */
import { type RawBuilder, sql } from 'kysely'
import type { TransactionRecord } from '../core/ports/ledger.ts'
import type { AccountUsage, CreateResult, RequestBatch, RequestResult, UsageStore } from '../core/ports/usage.ts'
import { AmountSum } from '../domain/amount.ts'
import { inSlices, pause } from '../domain/async.ts'
import { hourMs, hourOf } from '../domain/instant.ts'
import type { RequestName } from '../domain/question.ts'
import { type Status, statuses } from '../domain/status.ts'
import type { NewTransaction, Transaction } from '../domain/swap.ts'
import type { Database } from './database.ts'
import { clampSortKey, loadEntry, toNanoseconds } from './entry.ts'
import { position, values } from './page-index.ts'
import type { Store } from './store.ts'

export function usage(store: Store): UsageStore {
  const { database, write } = store
  return {
    async recordRequests(batch) {
      if (batch.counts.length > 0) await write((within) => addRequests(within, batch, store))
    },
    async read(since, account) {
      const accounts = await accountsNamed(account, database)
      const tallies = new Map<string, Tally>()
      await inSlices(accounts, ({ id }) => tallies.set(id, new Tally()))
      const [only] = account === undefined ? [] : accounts
      if (accounts.length > 0) await readInto(tallies, since, only?.id, store)
      const found: AccountUsage[] = []
      await inSlices(accounts, ({ id, name }) => found.push({ account: name, ...(tallies.get(id) ?? new Tally()).sums() }))
      return found
    },
  }
}

const accountsPerPage = 1_000

/** By name; all, if none is named. */
async function accountsNamed(
  name: string | undefined,
  database: Database,
): Promise<readonly { readonly id: string; readonly name: string }[]> {
  const named = database.selectFrom('accounts').select(['id', 'name']).orderBy('name')
  if (name !== undefined) return await named.where('name', '=', name.normalize()).execute()
  const found: { readonly id: string; readonly name: string }[] = []
  for (let after = ''; ; await pause()) {
    const rows = await named.where('name', '>', after).limit(accountsPerPage).execute()
    found.push(...rows)
    const last = rows.at(-1)
    if (!last || rows.length < accountsPerPage) return found
    after = last.name
  }
}

type Tallies = ReadonlyMap<string, Tally>

/** A create that gets its outcome meanwhile is counted once at most: swaps are read first. */
async function readInto(tallies: Tallies, since: number | undefined, owner: string | undefined, store: Store): Promise<void> {
  for (let start = since ?? Number.MIN_SAFE_INTEGER; ; ) {
    const end = await endOfSpan(start, owner, store)
    await readSpan(tallies, { start, end }, owner, store)
    if (end === undefined) break
    start = end
  }
  await readCreatesWithoutSwap(tallies, since, owner, store)
  await readRequests(tallies, since, store)
}

// Swaps, some hours at a time. One hour is read at once: of 10,000 accounts that is some 100 ms, for the operator's port alone.

interface Span {
  /** Hours: inclusive, and exclusive. */
  readonly start: number
  readonly end: number | undefined
}

/** About what a span has. */
const rowsPerSpan = 400
const sumsPerSpan = 2_000

/** Undefined: there is little more. */
async function endOfSpan(start: number, owner: string | undefined, { database }: Store): Promise<number | undefined> {
  const { rows } = await sql<{ readonly sort_key: string | null; readonly hour: number | null }>`
    select (
      select cast(sort_key as text) from transactions
      where state = 'done' and sort_key <= ${oldestFrom(start)} ${of('owner', owner)}
      order by transactions.sort_key desc limit 1 offset ${sql.lit(rowsPerSpan)}
    ) as sort_key, (
      select hour from usage_swaps where hour >= ${start} ${of('account', owner)}
      order by hour limit 1 offset ${sql.lit(sumsPerSpan)}
    ) as hour`.execute(database)
  const [{ sort_key, hour: kept } = { sort_key: null, hour: null }] = rows
  const hours = [...(sort_key === null ? [] : [hourOfKey(sort_key)]), ...(kept === null ? [] : [Number(kept)])]
  return hours.length === 0 ? undefined : Math.min(...hours) + hourMs
}

function of(column: 'owner' | 'account', id: string | undefined): RawBuilder<unknown> {
  return id === undefined ? sql`` : sql`and ${sql.ref(column)} = ${id}`
}

/** The greatest sort key of what was created then or later. */
function oldestFrom(at: number): bigint {
  return clampSortKey(-toNanoseconds(at))
}

const hourNs = toNanoseconds(hourMs)

/** BigInt rounds towards zero: times before 1970 would get the hour after theirs. */
function hourOfKey(sort_key: string): number {
  const created = -BigInt(sort_key)
  const hour = created / hourNs - (created % hourNs < 0n ? 1n : 0n)
  return Number(hour) * hourMs
}

const rowsPerPage = 200

interface SwapRow extends CountedRow {
  readonly provider: string
  readonly provider_id: string
}

/** Reads the span again if something of it was removed between its rows and its sums. */
async function readSpan(tallies: Tallies, span: Span, owner: string | undefined, store: Store): Promise<void> {
  for (;;) {
    const before = removedOf(await keptSums(span, owner, store))
    const found = new Map<string, Tally>()
    for await (const row of swapsOf(span, owner, store)) if (tallies.has(row.owner)) tallyOf(found, row.owner).addSwap(row)
    const sums = await keptSums(span, owner, store)
    if (removedOf(sums) !== before) continue
    for (const { account, kind, name, total } of sums) if (tallies.has(account)) tallyOf(found, account).add(kind, name, total)
    for (const [id, tally] of found) tallies.get(id)?.merge(tally)
    return
  }
}

function tallyOf(tallies: Map<string, Tally>, id: string): Tally {
  return tallies.getOrInsertComputed(id, () => new Tally())
}

async function* swapsOf({ start, end }: Span, owner: string | undefined, { database }: Store): AsyncIterable<SwapRow> {
  const isBefore = end === undefined ? sql`` : sql`and sort_key > ${oldestFrom(end)}`
  let after = sql``
  for (;;) {
    await pause() // a file is read without a wait: requests come between
    const { rows } = await sql<SwapRow>`
      select ${countedColumns}, provider, provider_id from transactions
      where state = 'done' and sort_key <= ${oldestFrom(start)} ${isBefore} ${of('owner', owner)} ${after}
      order by ${positionOf('transactions')} limit ${sql.lit(rowsPerPage)}`.execute(database)
    yield* rows
    const last = rows.at(-1)
    if (!last || rows.length < rowsPerPage) return
    after = sql`and ${position} > (${values({ ...last, sort_key: BigInt(last.sort_key) })})`
  }
}

/** Beside a column of the same name that is text. */
function positionOf(table: string): RawBuilder<unknown> {
  return sql.join(['sort_key', 'provider_id', 'provider'].map((column) => sql.ref(`${table}.${column}`)))
}

// What was removed

type SumKind = 'created' | 'observed' | 'refused' | 'in' | 'out'

interface KeptSum {
  readonly account: string
  readonly kind: SumKind
  readonly name: string
  readonly total: string
}

/** One statement, so that counts and amounts are of one moment. */
async function keptSums({ start, end }: Span, owner: string | undefined, { database }: Store): Promise<readonly KeptSum[]> {
  const isWithin = sql`hour >= ${start} and hour < ${end ?? Number.MAX_SAFE_INTEGER} ${of('account', owner)}`
  const { rows } = await sql<KeptSum>`
    select account, kind, name, cast(count as text) as total from usage_swaps where ${isWithin}
    union all select account, direction as kind, code as name, amount as total from usage_amounts where ${isWithin}`.execute(
    database,
  )
  return rows
}

function removedOf(sums: readonly KeptSum[]): number {
  return sums.reduce((sum, { kind, total }) => (kind === 'created' || kind === 'observed' ? sum + Number(total) : sum), 0)
}

/** What of a row is counted. */
export const countedColumns = sql`owner, status, requested, record, cast(sort_key as text) as sort_key`

export interface CountedRow {
  readonly owner: string
  readonly status: Status | null
  readonly requested: string | null
  readonly record: string
  readonly sort_key: string
}

/** Adds removed swaps of one owner to the sums. The lock of its page index is held: amounts are read and written. */
export async function keepUsage(within: Database, rows: readonly CountedRow[], store: KeepingStore): Promise<void> {
  const [first] = rows
  if (!first || !(await isAccount(within, first.owner))) return
  const account = first.owner
  const byHour = new Map<number, Tally>()
  for (const row of rows) byHour.getOrInsertComputed(hourOfKey(row.sort_key), () => new Tally()).addSwap(row)
  const tallies = [...byHour]
  const counts = tallies.flatMap(([hour, tally]) => tally.counts().map(([kind, name, count]) => ({ hour, kind, name, count })))
  await addCounts(within, account, counts, store)
  const amounts = tallies.flatMap(([hour, tally]) =>
    tally.amounts().map(([direction, code, amount]) => ({ hour, direction, code, amount })),
  )
  if (amounts.length > 0) await addKeptAmounts(within, account, amounts, store)
}

type KeepingStore = Pick<Store, 'recordset'>

async function isAccount(within: Database, owner: string): Promise<boolean> {
  return (await within.selectFrom('accounts').select('id').where('id', '=', owner).executeTakeFirst()) !== undefined
}

interface KeptCount {
  readonly hour: number
  readonly kind: 'created' | 'observed' | 'refused'
  readonly name: string
  readonly count: number
}

async function addCounts(
  within: Database,
  account: string,
  counts: readonly KeptCount[],
  { recordset }: KeepingStore,
): Promise<void> {
  const columns = { hour: 'integer', kind: 'text', name: 'text', count: 'integer' } as const
  await sql`
    insert into usage_swaps (account, hour, kind, name, count)
    select ${account}, hour, kind, name, count from ${recordset(JSON.stringify(counts), columns)} where true
    ${addedUp}`.execute(within)
}

const addedUp = sql`on conflict (account, hour, kind, name) do update set count = usage_swaps.count + excluded.count`

interface KeptAmount {
  readonly hour: number
  readonly direction: Direction
  readonly code: string
  readonly amount: AmountSum
}

/** SQLite has no exact decimals. */
async function addKeptAmounts(
  within: Database,
  account: string,
  amounts: readonly KeptAmount[],
  { recordset }: KeepingStore,
): Promise<void> {
  const hours = amounts.map(({ hour }) => hour)
  const known = await within
    .selectFrom('usage_amounts')
    .select(['hour', 'direction', 'code', 'amount'])
    .where('account', '=', account)
    .where('hour', '>=', Math.min(...hours))
    .where('hour', '<=', Math.max(...hours))
    .execute()
  const keyOf = ({ hour, direction, code }: Omit<KeptAmount, 'amount'>) => `${hour} ${direction} ${code}`
  const kept = new Map(known.map((row) => [keyOf(row), row.amount]))
  for (const sum of amounts) sum.amount.add(kept.get(keyOf(sum)) ?? '0')
  const columns = { hour: 'integer', direction: 'text', code: 'text', amount: 'text' } as const
  await sql`
    insert into usage_amounts (account, hour, direction, code, amount)
    select ${account}, hour, direction, code, amount from ${recordset(JSON.stringify(amounts), columns)} where true
    on conflict (account, hour, direction, code) do update set amount = excluded.amount`.execute(within)
}

/** A create that was removed, since nothing was created. */
export interface RefusedCreate {
  readonly owner: string
  readonly attempted_at: number
}

/** Counts them in the transaction that removes them. */
export async function countRefused(within: Database, creates: readonly RefusedCreate[], store: KeepingStore): Promise<void> {
  for (const { owner, attempted_at } of creates) {
    const count = { hour: hourOf(attempted_at), kind: 'refused', name: '', count: 1 } as const
    if (await isAccount(within, owner)) await addCounts(within, owner, [count], store)
  }
}

/** The same in one statement, where a statement can have the `removal` in it, which returns their columns. */
export async function removeRefused(within: Database, removal: RawBuilder<RefusedCreate>): Promise<void> {
  await sql`
    with removed as (${removal})
    insert into usage_swaps (account, hour, kind, name, count)
    select owner, attempted_at - attempted_at % ${sql.lit(hourMs)}, 'refused', '', 1
    from removed where owner in (select id from accounts)
    ${addedUp}`.execute(within)
}

// Creates that are no swap

interface CreateCount {
  readonly owner: string
  readonly result: CreateResult
  readonly count: number
}

/** Those in other tables may become a swap or a mismatch yet. */
async function readCreatesWithoutSwap(
  tallies: Tallies,
  since: number | undefined,
  owner: string | undefined,
  { database }: Store,
): Promise<void> {
  const isThere = sql`${since === undefined ? sql`true` : sql`attempted_at >= ${since}`} ${of('owner', owner)}`
  const counts = [
    sql<CreateCount>`
      select owner, case when state = 'mismatch' then 'mismatch' else 'unknown' end as result, count(*) as count from transactions
      where state <> 'done' and quoting is null and ${isThere} group by owner, state`,
    sql<CreateCount>`select owner, 'refused' as result, count(*) as count from refused_creates where ${isThere} group by owner`,
    sql<CreateCount>`select owner, 'refused' as result, count(*) as count from ended where ${isThere} group by owner`,
  ]
  for (const count of counts) {
    const { rows } = await count.execute(database)
    for (const { owner: id, result, count } of rows) tallies.get(id)?.addCreates(result, Number(count))
    await pause()
  }
}

// Requests

async function addRequests(within: Database, { writer, number, counts }: RequestBatch, store: Store): Promise<void> {
  const { databaseTimeMs, recordset } = store
  // The work runs again where its commit was not confirmed.
  const { numAffectedRows } = await sql`
    insert into usage_writers (writer, batch, at) values (${writer}, ${number}, ${databaseTimeMs})
    on conflict (writer) do update set batch = excluded.batch, at = excluded.at where usage_writers.batch < excluded.batch`.execute(
    within,
  )
  if (numAffectedRows !== 1n) return
  const columns = { account: 'text', hour: 'integer', operation: 'text', result: 'text', count: 'integer' } as const
  // In one order, so that no two processes wait for each other.
  await sql`
    insert into usage_requests (account, hour, operation, result, count)
    select account, hour, operation, result, count from ${recordset(JSON.stringify(counts), columns)}
    where true order by account, hour, operation, result
    on conflict (account, hour, operation, result) do update set count = usage_requests.count + excluded.count`.execute(within)
}

interface RequestRow {
  readonly account: string
  readonly operation: RequestName
  readonly result: RequestResult
  readonly count: number
}

const accountsPerRead = 50

async function readRequests(tallies: Tallies, since: number | undefined, { database, isIn, toList }: Store): Promise<void> {
  const ids = [...tallies.keys()]
  const isSince = since === undefined ? sql`` : sql`and hour >= ${since}`
  for (let at = 0; at < ids.length; at += accountsPerRead) {
    const { rows } = await sql<RequestRow>`
      select account, operation, result, cast(sum(count) as bigint) as count from usage_requests
      where ${isIn('account', toList(ids.slice(at, at + accountsPerRead)))} ${isSince}
      group by account, operation, result order by operation`.execute(database)
    for (const { account, operation, result, count } of rows) tallies.get(account)?.addRequests(operation, result, Number(count))
    await pause()
  }
}

const dayMs = 24 * hourMs
const requestsKeptMs = 400 * dayMs
/** A process that is as old does not try again. */
const writersKeptMs = 30 * dayMs
const rowsPerStep = 500

/** Removes counts of requests that are older than 400 days, some at a time. Returns whether there may be more. */
export async function removeOldRequests(within: Database, { databaseTimeMs: now }: Store): Promise<boolean> {
  await sql`delete from usage_writers where at < ${now} - ${sql.lit(writersKeptMs)}`.execute(within)
  const { numAffectedRows = 0n } = await sql`
    delete from usage_requests where (account, hour, operation, result) in (
      select account, hour, operation, result from usage_requests where hour < ${now} - ${sql.lit(requestsKeptMs)}
      limit ${sql.lit(rowsPerStep)}
    )`.execute(within)
  return numAffectedRows === BigInt(rowsPerStep)
}

// One account's counts and sums

const directions = ['in', 'out'] as const

type Direction = (typeof directions)[number]
type Sums = Readonly<Record<Direction, Map<string, AmountSum>>>
type MutableRequests = { [Operation in RequestName]?: Record<RequestResult, number> }

const noSums = (): Sums => ({ in: new Map(), out: new Map() })

class Tally {
  private readonly creates: Record<CreateResult, number> = { done: 0, refused: 0, unknown: 0, mismatch: 0 }
  private readonly swaps: Record<'created' | 'observed', Map<string, number>> = { created: new Map(), observed: new Map() }
  private readonly paid = noSums()
  private readonly open = noSums()
  private readonly requests: MutableRequests = {}

  addSwap({ status, requested, record }: CountedRow): void {
    const { transaction, quotedAmountOut } = loadEntry(record)
    this.add(requested === null ? 'observed' : 'created', status ?? 'unknown', 1)
    if (status === 'success') addAmounts(this.paid, transaction, transaction)
    if (status !== null && hasEnded.has(status)) return
    addAmounts(this.open, transaction, agreedAmounts(requested, { transaction, quotedAmountOut }))
  }

  /** Of swaps or creates that were removed, or their amounts. */
  add(kind: SumKind, name: string, total: number | string): void {
    if (kind === 'refused') this.addCreates('refused', Number(total))
    else if (kind === 'in' || kind === 'out') addTo(this.paid[kind], name, String(total))
    else this.swaps[kind].set(name, (this.swaps[kind].get(name) ?? 0) + Number(total))
  }

  addCreates(result: CreateResult, count: number): void {
    this.creates[result] += count
  }

  addRequests(operation: RequestName, result: RequestResult, count: number): void {
    this.requests[operation] ??= { ok: 0, limited: 0, refused: 0, failed: 0 }
    this.requests[operation][result] += count
  }

  merge(other: Tally): void {
    for (const [kind, name, count] of other.counts()) this.add(kind, name, count)
    this.creates.refused += other.creates.refused
    for (const sums of ['paid', 'open'] as const)
      for (const direction of directions)
        for (const [code, sum] of other[sums][direction]) addTo(this[sums][direction], code, sum.toString())
  }

  /** Of swaps, by status. */
  counts(): readonly (readonly ['created' | 'observed', string, number])[] {
    return (['created', 'observed'] as const).flatMap((kind) =>
      [...this.swaps[kind]].map(([name, count]) => [kind, name, count] as const),
    )
  }

  /** Of swaps of `success`. */
  amounts(): readonly (readonly [Direction, string, AmountSum])[] {
    return directions.flatMap((direction) => [...this.paid[direction]].map(([code, sum]) => [direction, code, sum] as const))
  }

  sums(): Omit<AccountUsage, 'account'> {
    const { created, observed } = this.swaps
    const found = new Set([...created.keys(), ...observed.keys()])
    const names = [...statuses, 'unknown'].filter((name) => found.has(name))
    return {
      creates: { ...this.creates, done: created.values().reduce((sum, count) => sum + count, 0) },
      swaps: Object.fromEntries(names.map((name) => [name, (created.get(name) ?? 0) + (observed.get(name) ?? 0)])),
      amounts: toTexts(this.paid),
      open: toTexts(this.open),
      requests: this.requests,
    }
  }
}

/** Nothing is under way. */
const hasEnded: ReadonlySet<Status> = new Set(['success', 'refunded', 'overdue'])

/** As the create named them; what it left open as it was quoted. */
export function agreedAmounts(
  requested: string | null,
  { transaction, quotedAmountOut = transaction.amountOut }: Pick<TransactionRecord, 'transaction' | 'quotedAmountOut'>,
): Pick<Partial<Transaction>, 'amountIn' | 'amountOut'> {
  const { amountIn = transaction.amountIn, amountOut = quotedAmountOut }: Partial<NewTransaction> = JSON.parse(requested ?? '{}')
  return { amountIn, amountOut }
}

function addAmounts(sums: Sums, names: Partial<Transaction>, { amountIn, amountOut }: Partial<Transaction>): void {
  const { codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo } = names
  if (amountIn !== undefined) addTo(sums.in, codeOf(codeFrom, coinFrom, networkFrom), amountIn)
  if (amountOut !== undefined) addTo(sums.out, codeOf(codeTo, coinTo, networkTo), amountOut)
}

/** The code as it was at the create; of an asset that has none its coin and network. */
function codeOf(code: string | undefined, coin = 'unknown', network: string | undefined): string {
  return code ?? (network === undefined ? coin : `${coin}:${network}`)
}

function addTo(sums: Map<string, AmountSum>, code: string, amount: string): void {
  sums.getOrInsertComputed(code, () => new AmountSum()).add(amount)
}

function toTexts(sums: Sums): Readonly<Record<Direction, Readonly<Record<string, string>>>> {
  const texts = (of: ReadonlyMap<string, AmountSum>) =>
    Object.fromEntries([...of].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([code, sum]) => [code, sum.toString()]))
  return { in: texts(sums.in), out: texts(sums.out) }
}
