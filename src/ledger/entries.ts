/** Kysely: the known transactions, each of one owner. */
import { type NotNull, type RawBuilder, sql } from 'kysely'
import type { DepositClaim, Ledger, LedgerEntry, ListFilter, TransactionRecord } from '../core/ports/ledger.ts'
import { paymentAddressKey } from '../domain/address/same-address.ts'
import { DepositInUse } from '../domain/fault.ts'
import { piece } from '../domain/processor-time.ts'
import { isFinal, type Status } from '../domain/status.ts'
import { accountsOf, isOfAccount } from './accounts.ts'
import type { Database } from './database.ts'
import { type CreateWithoutEntry, clampSortKey, type EntryRow, entryColumns, maxSortKey, sortKey, toEntry, toRow } from './entry.ts'
import { readsOf } from './fresh-reads.ts'
import { addToPageIndex, firstPosition, oldestFirst, position, positionColumns, removeFromPageIndex } from './page-index.ts'
import { changeTime } from './schema/first-schema.ts'
import { prepare, type Store } from './store.ts'
import { addEvent, type EventWriter, eventOf, lastDigest, lastNumberOf } from './transaction-events.ts'
import type { LedgerTurns } from './turns.ts'

type Entries = Pick<
  Ledger,
  | 'find'
  | 'findAll'
  | 'list'
  | 'someOpen'
  | 'listElsewhere'
  | 'upsert'
  | 'knownOwners'
  | 'depositHolder'
  | 'existingIds'
  | 'mismatchedIds'
  | 'swapsNamed'
>

export function entries(store: Store, turns: LedgerTurns): Entries {
  const { database, write, isIn: isAmong, listed, toList, dataVersion, databaseTimeMs } = store
  const reads = readsOf(store)
  /** The store's data version before an entry was read. */
  const dataVersions = new WeakMap<LedgerEntry, number>()
  const find = prepare(database, ['owner', 'provider', 'id'], ({ owner, provider, id }) =>
    ofOwner(database, owner).where('provider', '=', provider).where('provider_id', '=', id).compile(),
  )
  const findAll = prepare(database, ['owner', 'provider', 'ids'], ({ owner, provider, ids }) =>
    ofOwner(database, owner).where('provider', '=', provider).where(isAmong('provider_id', ids)).compile(),
  )
  const existingIds = prepare(database, ['provider', 'ids'], ({ provider, ids }) =>
    database
      .selectFrom('transactions')
      .select('provider_id')
      .where(isOfAccount('provider', provider))
      .where(isAmong('provider_id', ids))
      .where('intent', 'is not', null)
      .$narrowType<{ provider_id: NotNull }>()
      .unionAll(
        database
          .selectFrom('pruned_ids')
          .select('provider_id')
          .where(isOfAccount('provider', provider))
          .where(isAmong('provider_id', ids)),
      )
      .compile(),
  )
  const mismatched = (provider: never, ids: never) =>
    database
      .selectFrom('transactions')
      .select('provider_id')
      .where(isOfAccount('provider', provider))
      .where(isAmong('provider_id', ids))
      .where('state', '=', 'mismatch')
      .$narrowType<{ provider_id: NotNull }>()
  const mismatchedIds = prepare(database, ['provider', 'ids'], ({ provider, ids }) =>
    mismatched(provider, ids)
      .unionAll(
        database
          .selectFrom('withheld_candidates')
          .innerJoin('transactions', 'transactions.intent', 'withheld_candidates.intent')
          .select('withheld_candidates.provider_id')
          .where(isOfAccount('withheld_candidates.provider', provider))
          .where(isAmong('withheld_candidates.provider_id', ids))
          .where('state', 'in', ['unknown', 'mismatch']),
      )
      .compile(),
  )
  const list = lister(database)
  const swapsNamed = prepare(database, ['owner', 'provider', 'ids'], ({ owner, provider, ids }) =>
    database
      .selectFrom('transactions')
      .select(['provider_id', sql<number | boolean>`owner = ${owner} and state = 'done'`.as('is_own')])
      .where(isOfAccount('provider', provider))
      .where(isAmong('provider_id', ids))
      .$narrowType<{ provider_id: NotNull }>()
      .compile(),
  )
  return {
    async find(owner, provider, id, known) {
      // The data version costs a third of a read, so only callers that read again pay for it.
      const current = known && dataVersion?.()
      const isUnchanged = known && current !== undefined && dataVersions.get(known) === current
      if (isUnchanged && isOf(known, owner, provider, id)) return known
      const row = await turns.readRow(owner, () => reads.find(async (on) => (await find({ owner, provider, id }, on))[0]))
      const entry = row && toEntry(row)
      if (entry && current !== undefined) dataVersions.set(entry, current)
      return entry
    },
    async findAll(owner, provider, ids) {
      return (await turns.read(owner, () => findAll({ owner, provider, ids: toList(ids) }))).map(toEntry)
    },
    list: (owner, query) => turns.read(owner, () => list(owner, query)),
    async someOpen(owner, providers, maxEntries) {
      const ofStatus = (condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`
        select ${columns('transactions')} from transactions where owner = ${owner} and ${isListed} and ${condition}`
      const known = sql`status in (${sql.join(openStatuses)})`
      const some = sql<EntryRow>`
        select * from (${ofStatus(known)} union all ${ofStatus(sql`status is null`)}) as open
        where ${isAmong('provider', toList(providers))} order by random() limit cast(${maxEntries} as bigint)`
      return (await turns.read(owner, () => some.execute(database))).rows.map(toEntry)
    },
    listElsewhere: (owner, provider, maxEntries) =>
      turns.read(owner, async () => {
        if (!(await hasOtherProviders(database, provider))) return { entries: [], isOneAccount: (tag, other) => tag === other }
        const rows = database.selectFrom('transactions').select(entryColumns).where('owner', '=', owner).where(isListed)
        const elsewhere = await rows.where('provider', '!=', provider).orderBy('sort_key').limit(maxEntries).execute()
        return { entries: elsewhere.map(toEntry), isOneAccount: await accountsOf(database) }
      }),
    upsert: (owner, provider, record, before) =>
      turns.read(owner, async () => {
        const changed = before && (await write((within) => writeEntry(within, { kind: 'entry', entry: before }, record, store)))
        // A created one that is gone was pruned, or taken from the account: it does not come back as one that was only observed.
        const mayInsert = !changed && !before?.isCreated
        const written = mayInsert
          ? await write((within) => writeEntry(within, { kind: 'nothing', owner, provider }, record, store))
          : changed
        const row = written ?? (await find({ owner, provider, id: record.transaction.id }))[0]
        return row && toEntry(row)
      }),
    async knownOwners(owners) {
      const { rows } = await sql<{ readonly owner: string }>`
        select listed.value as owner from ${listed(toList(owners))}
        where exists (select 1 from transactions where owner = listed.value and state = 'done')
          or exists (select 1 from transactions where owner = listed.value and state <> 'done')`.execute(database)
      return new Set(rows.map(({ owner }) => owner))
    },
    async depositHolder(key) {
      const held = await database
        .selectFrom('open_deposits')
        .innerJoin('transactions', (join) =>
          join
            .onRef('transactions.provider', '=', 'open_deposits.provider')
            .onRef('transactions.provider_id', '=', 'open_deposits.provider_id'),
        )
        .select(entryColumns.map((column) => `transactions.${column}` as const))
        .select('taken_at')
        .select(databaseTimeMs.as('now'))
        .where('open_deposits.deposit', '=', key)
        .where('state', '=', 'done')
        .executeTakeFirst()
      const row = held ?? (await unlistedHolder(database, key, databaseTimeMs))
      return row && { entry: toEntry(row), takenAt: Number(row.taken_at), now: Number(row.now) }
    },
    async existingIds(provider, ids) {
      const rows = await existingIds({ provider, ids: toList(ids) })
      return new Set(rows.map(({ provider_id }) => provider_id))
    },
    async swapsNamed(owner, provider, ids) {
      const rows = await swapsNamed({ owner, provider, ids: toList(ids) })
      // Under several tags of the account an id may be several rows.
      const byId = Map.groupBy(rows, (row) => row.provider_id)
      return new Map([...byId].map(([id, named]) => [id, named.some(({ is_own }) => Boolean(is_own))]))
    },
    async mismatchedIds(provider, ids) {
      const rows = await mismatchedIds({ provider, ids: toList(ids) })
      return new Set(rows.map(({ provider_id }) => provider_id))
    },
  }
}

/** Must repeat the condition of the index. */
const isListed = sql<boolean>`state = 'done'`

/** Two steps into the index of ids: that most ledgers have one provider must cost them nothing. */
async function hasOtherProviders(database: Database, provider: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from (select 1 from transactions where provider < ${provider} limit 1) as before
    union all
    select 1 from (select 1 from transactions where provider > ${provider} limit 1) as after`.execute(database)
  return rows.length > 0
}

function isOf(entry: LedgerEntry, owner: string, provider: string, id: string): boolean {
  return entry.owner === owner && entry.provider === provider && entry.transaction.id === id
}

/**
 * Prevents the use of the index of owners, which may be slower than the one of ids. The database skips another owner's row,
 * so that it takes as long as a missing row.
 */
function ofOwner(database: Database, owner: string) {
  const isOfOwner = sql<boolean>`owner || '' = ${owner} and state = 'done'`
  return database.selectFrom('transactions').select(entryColumns).where(isOfOwner)
}

// Kysely: the one place that writes an entry.

/** What the ledger has of a transaction before a change. */
export type Before =
  | { readonly kind: 'nothing'; readonly owner: string; readonly provider: string }
  /** `replaced`: an entry of any owner that was only observed under the id. `lastNumber`: of the events that it had before. */
  | {
      readonly kind: 'create'
      readonly create: CreateWithoutEntry
      readonly replaced: StoredPosition | undefined
      readonly lastNumber?: number
      readonly deposit: DepositClaim
    }
  /** As it was read. */
  | { readonly kind: 'entry'; readonly entry: LedgerEntry }

interface StoredPosition {
  readonly owner: string
  /** As text: it exceeds a number's precision. */
  readonly sort_key: string
}

/**
 * Every change of a transaction passes here, but for results of creates that PostgreSQL gets together (`postgres/at-once.ts`), and writes its
 * event, if its owner can see it. Returns its row; undefined, without a change, if the ledger has something else by now than `before`. An
 * entry is changed by a single statement.
 */
export async function writeEntry(
  within: Database,
  before: Before,
  after: TransactionRecord,
  store: EventWriter,
): Promise<EntryRow | undefined> {
  if (before.kind === 'entry') return await changeEntry(within, before.entry, after, store)
  return before.kind === 'create'
    ? await completeEntry(within, before, after, store)
    : await insertEntry(within, before, after, store)
}

async function insertEntry(
  within: Database,
  { owner, provider }: Extract<Before, { readonly kind: 'nothing' }>,
  after: TransactionRecord,
  store: EventWriter,
): Promise<EntryRow | undefined> {
  const at = { sort_key: sortKey(after), provider_id: after.transaction.id, provider }
  // It would be shown as it is stored.
  if (await isWithheld(within, provider, at.provider_id)) return undefined
  const row = await within
    .insertInto('transactions')
    .values({ ...toRow(after), ...at, owner, state: 'done' })
    .onConflict((conflict) => conflict.columns(['provider', 'provider_id']).doNothing())
    .returning(entryColumns)
    .executeTakeFirst()
  if (!row) return undefined
  await addEvent(within, row, at.provider_id, store)
  await addToPageIndex(within, owner, at)
  return row
}

async function completeEntry(
  within: Database,
  {
    create: { intent, owner, provider, attempted_at },
    replaced,
    deposit,
    lastNumber: known = 0,
  }: Extract<Before, { readonly kind: 'create' }>,
  after: TransactionRecord,
  store: EventWriter,
): Promise<EntryRow> {
  const { id } = after.transaction
  const lastNumber = replaced?.owner === owner ? await lastNumberOf(within, provider, id) : known
  if (replaced) await removeEntry(within, provider, id, replaced)
  const entry = entryOfCreate({ attempted_at }, after)
  const row = await within
    .updateTable('transactions')
    .set({ ...entry, state: 'done', next_check_at: null })
    .where('intent', '=', intent)
    .returning(entryColumns)
    .executeTakeFirstOrThrow()
  await takeDeposit(within, { provider, id }, entry.deposit, deposit, store)
  await addEvent(within, row, id, store, lastNumber)
  await addToPageIndex(within, owner, { ...entry, provider })
  return row
}

/**
 * The swap has the deposit address from now on. Throws `DepositInUse` if another one has it, and has not given it up: whether that one may
 * still get a deposit is the caller's question.
 */
export async function takeDeposit(
  within: Database,
  { provider, id }: { readonly provider: string; readonly id: string },
  deposit: string | null,
  { givenUpBy, isShared = false }: DepositClaim,
  { databaseTimeMs }: Pick<Store, 'databaseTimeMs'>,
): Promise<void> {
  if (deposit === null) return
  await listHolder(within, { provider, id }, deposit)
  await sql`
    insert into open_deposits (deposit, provider, provider_id, taken_at) values (${deposit}, ${provider}, ${id}, ${databaseTimeMs})
    on conflict (deposit) do nothing`.execute(within)
  const holder = await within
    .selectFrom('open_deposits')
    .select(['provider', 'provider_id'])
    .where('deposit', '=', deposit)
    .forUpdate()
    .executeTakeFirst()
  const isOwn = holder?.provider === provider && holder.provider_id === id
  if (isOwn || isShared) return
  if (!holder || holder.provider !== givenUpBy?.provider || holder.provider_id !== givenUpBy.id) throw new DepositInUse()
  await sql`
    update open_deposits set provider = ${provider}, provider_id = ${id}, taken_at = ${databaseTimeMs}
    where deposit = ${deposit}`.execute(within)
}

// Kysely: who has a deposit address by its row alone: a create of a build that did not know `open_deposits`.

/** The newest one. `columns` of `transactions`. */
function newestAt(deposit: string, columns: RawBuilder<unknown>, condition = sql`true`) {
  return sql<EntryRow & { readonly taken_at: number; readonly now: number }>`
    select ${columns}, coalesce(attempted_at, 0) as taken_at from transactions
    where deposit = ${deposit} and state = 'done' and ${condition} order by +sort_key, provider_id || '' limit 1`
}

async function unlistedHolder(database: Database, deposit: string, now: RawBuilder<number>) {
  const { rows } = await newestAt(deposit, sql`${now} as now, ${columns('transactions')}`).execute(database)
  return rows[0]
}

/** It is listed before this one may take the address. */
async function listHolder(
  within: Database,
  { provider, id }: { readonly provider: string; readonly id: string },
  deposit: string,
): Promise<void> {
  const isOther = sql`not (provider = ${provider} and provider_id = ${id})
    and not exists (select 1 from open_deposits where open_deposits.deposit = ${deposit})`
  await sql`
    insert into open_deposits (deposit, provider, provider_id, taken_at)
    select * from (${newestAt(deposit, sql`deposit, provider, provider_id`, isOther)}) as newest where true
    on conflict (deposit) do nothing`.execute(within)
}

/** What a create becomes with its result. */
export function entryOfCreate({ attempted_at }: Pick<CreateWithoutEntry, 'attempted_at'>, after: TransactionRecord) {
  const { id, depositAddress, depositExtraId } = after.transaction
  const deposit = depositAddress ? paymentAddressKey({ address: depositAddress, extraId: depositExtraId }) : null
  return { ...toRow(after), sort_key: sortKey(after, attempted_at), provider_id: id, deposit }
}

const isFinalRow = sql<boolean>`status in ('success', 'refunded')`
const isSettledRow = sql<boolean>`(status in ('success', 'refunded') or settled_at is not null)`

/** Updates under the row's lock, safe with concurrent processes. A final status does not change, nor one that an operator recorded. */
async function changeEntry(
  within: Database,
  before: LedgerEntry,
  after: TransactionRecord,
  store: EventWriter,
): Promise<EntryRow | undefined> {
  const isCleared = !before.isCreated && before.doubt === 'contradicted' && after.doubt === undefined
  if (isCleared && (await isWithheld(within, before.provider, after.transaction.id))) return undefined
  const { status, attention, changed_at, ...row } = toRow(after)
  const isKept = isFinal(status) ? isFinalRow : isSettledRow
  const changed = await within
    .updateTable('transactions')
    .set({
      ...row,
      status: sql`case when ${isKept} then status else coalesce(${status}, status) end`,
      attention: sql`case when ${isSettledRow} then null else ${attention} end`,
      changed_at: sql`case when ${isKept} and ${status} is distinct from status then changed_at else ${changed_at} end`,
      ...(after.settledAt !== undefined && { settled_at: after.settledAt }),
    })
    .where('owner', '=', before.owner)
    .where('provider', '=', before.provider)
    .where('provider_id', '=', after.transaction.id)
    .where('state', '=', 'done')
    .where('sequence', 'is not distinct from', before.sequence ?? null)
    .where('requested', before.isCreated ? 'is not' : 'is', null)
    .returning([...entryColumns, lastDigest.as('last_digest')])
    .executeTakeFirst()
  if (!changed) return undefined
  const { last_digest, ...written } = changed
  if (last_digest !== eventOf(written).digest) await addEvent(within, written, after.transaction.id, store)
  return written
}

/** Whether nobody may pay for it while a create of unknown outcome is unresolved, by any tag of the account. */
async function isWithheld(within: Database, provider: string, id: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from withheld_candidates join transactions on transactions.intent = withheld_candidates.intent
    where withheld_candidates.provider_id = ${id} and ${isOfAccount('withheld_candidates.provider', provider)}
      and state = 'unknown' limit 1`.execute(within)
  return rows.length > 0
}

/** What was only observed under the id, of any owner, at any tag of the account, is not to be paid any more. */
export async function contradictObserved(within: Database, provider: string, id: string, store: EventWriter): Promise<void> {
  const observed = await within
    .selectFrom('transactions')
    .select(entryColumns)
    .where('provider_id', '=', id)
    .where(isOfAccount('provider', provider))
    .where('state', '=', 'done')
    .where('intent', 'is', null)
    .forUpdate()
    .execute()
  for (const entry of observed.map(toEntry)) {
    if (entry.doubt === 'contradicted') continue
    const after: TransactionRecord = { ...entry, doubt: 'contradicted', sequence: (entry.sequence ?? 0) + 1 }
    await changeEntry(within, entry, after, store)
  }
}

/** Removes an entry that was only observed, and whose id turned out to be a create's. */
export async function removeEntry(
  within: Database,
  provider: string,
  provider_id: string,
  { owner, sort_key }: StoredPosition,
): Promise<void> {
  await sql`delete from transactions where provider = ${provider} and provider_id = ${provider_id}`.execute(within)
  await removeFromPageIndex(within, owner, { sort_key: BigInt(sort_key), provider_id, provider })
}

// Kysely: reads pages of an owner's entries with their exact total. Without a filter the cost does not grow with the number of entries.

/** One statement, so that the entries and the total come from one snapshot. */
function lister(database: Database): Ledger['list'] {
  const readPage = prepare(database, ['owner', 'first', 'end', 'offset', 'size'], (blank) => listQuery(blank).compile(database))
  return async (owner, { page, size, created, filter }) => {
    const span = { first: clampSortKey(-created.last), end: clampSortKey(-created.first) + 1n }
    const place = { owner, ...span, offset: BigInt(page - 1) * BigInt(size), size }
    const rows = filter ? (await filteredQuery(place, filter).execute(database)).rows : await readPage(place)
    return { entries: piece(() => rows.filter(({ record }) => record !== null).map(toEntry)), total: rows[0]?.total ?? 0 }
  }
}

interface ListPlace {
  readonly owner: string
  /** Sort keys: inclusive, and exclusive. */
  readonly first: bigint
  readonly end: bigint
  readonly offset: bigint
  readonly size: number
}

/** Of more entries that pass, a page is found in the order of the list: they are dense there. */
const maxSorted = 1_000

/**
 * Counts what passes in an index of the filter: by status for open ones, which are few, and without a time; else by the time of change. The
 * page is sorted out of the same index, or found in the order of the list. One of both has the limit 0.
 */
function filteredQuery({ owner, first, end, offset, size }: ListPlace, filter: ListFilter): RawBuilder<Row> {
  const { statuses, changedSince } = filter
  const isByStatus = changedSince === undefined || statuses?.every((status) => openStatuses.includes(status))
  const matches = (index: FilterIndex): RawBuilder<unknown> => sql`
    owner = ${owner} and state = 'done' and ${unless(index === 'change')}sort_key >= ${first}
    and ${unless(index === 'change')}sort_key < ${end} and ${passes(filter, index)}`
  const page = (index: FilterIndex, isUsed: RawBuilder<boolean>): RawBuilder<unknown> => sql`
    select * from (
      select sort_key, provider_id, ${columns('transactions')} from transactions where ${matches(index)}
      order by ${newestFirst(index)}
      limit case when ${isUsed} then cast(${size} as bigint) else 0 end offset cast(${offset} as bigint)
    ) as ${sql.ref(`by_${index}`)}`
  const isSparse = sql<boolean>`(select total from counted) <= ${maxSorted}`
  const isDense = sql<boolean>`(select total from counted) > ${maxSorted}`
  return sql<Row>`
    with counted as materialized (
      select count(*) as total from transactions where ${matches(isByStatus ? 'status' : 'change')}
    ), page as (${isByStatus ? page('status', sql`true`) : sql`${page('change', isSparse)} union all ${page('order', isDense)}`})
    select counted.total, ${columns('page')} from counted left join page on true
    order by page.sort_key, page.provider_id, page.provider`
}

/** By which index the rows are found: of statuses, of times of change, or of the list's order. */
type FilterIndex = 'status' | 'change' | 'order'

/** SQLite has no statistics: a sign keeps it from the index of what stands behind. */
function unless(isOther: boolean): RawBuilder<unknown> {
  return isOther ? sql`+` : sql``
}

/** The order of the list, which the index of the list alone has whole. */
function newestFirst(index: FilterIndex): RawBuilder<unknown> {
  if (index === 'order') return positionColumns
  return sql`${unless(index === 'change')}sort_key, provider_id || '', provider || ''`
}

function passes({ statuses, changedSince }: ListFilter, index: FilterIndex): RawBuilder<unknown> {
  const [status, ...more] = statuses ?? []
  const column = index === 'status' ? sql`status` : sql`coalesce(status, '')`
  const conditions = [
    ...(status === undefined
      ? []
      : [more.length === 0 ? sql`${column} = ${status}` : sql`${column} in (${sql.join([status, ...more])})`]),
    ...(changedSince === undefined ? [] : [sql`${unless(index !== 'change')}${sql.raw(changeTime)} >= ${changedSince}`]),
  ]
  return sql.join(conditions, sql` and `)
}

/** Neither ended nor overdue. */
export const openStatuses: readonly Status[] = ['wait', 'confirmation', 'confirmed', 'exchanging', 'sending']

/** The parameters of the query: sort keys from `first` (inclusive) to `end` (exclusive). */
type ListParameters = Readonly<Record<'owner' | 'first' | 'end' | 'offset' | 'size', never>>

interface Row extends EntryRow {
  readonly total: number
}

const columns = (table: 'page' | 'transactions') => sql.join(entryColumns.map((column) => sql.ref(`${table}.${column}`)))

/** `span`: the numbers of entries that are newer than the range, and that are not older than it. Positions count from the oldest. */
function listQuery({ owner, first, end, offset, size }: ListParameters): RawBuilder<Row> {
  return sql<Row>`
    with span as materialized (
      select newer, reached, total - 1 - newer - cast(${offset} as bigint) as start from (
        select total, ${newerThan(owner, first)} as newer, ${newerThan(owner, end)} as reached from (
          select older + entries as total from page_index where owner = ${owner} and sort_key = ${firstPosition.sort_key}
        ) as counted
      ) as bounds
    ), page as (
      select sort_key, provider_id, ${columns('transactions')} from transactions
      where owner = ${owner} and state = 'done' and sort_key < ${end} and ${position} >= (${placeAt(owner)})
      order by ${positionColumns} limit cast(${size} as bigint)
    )
    select reached - newer as total, ${columns('page')} from span left join page on true
    order by page.sort_key, page.provider_id, page.provider`
}

/** The number of the owner's entries with a lower sort key: all of newer segments, and a part of one more. */
function newerThan(owner: never, key: never): RawBuilder<number> {
  return sql`case when cast(${key} as bigint) > ${maxSortKey} then total else coalesce((
    select total - segment.older - segment.entries + (
      select count(*) from transactions
      where owner = ${owner} and state = 'done' and sort_key < ${key}
      and ${position} >= (segment.sort_key, segment.provider_id, segment.provider)
    )
    from page_index as segment where owner = ${owner} and sort_key < ${key} order by ${oldestFirst} limit 1
  ), 0) end`
}

/** The position at which the page starts: an offset into a segment. */
function placeAt(owner: never): RawBuilder<unknown> {
  const segment = (column: RawBuilder<unknown>) => sql`(
    select ${column} from page_index where owner = ${owner} and older <= (select start from span)
    order by older desc, ${positionColumns} limit 1
  )`
  return sql`
    select ${positionColumns} from transactions where owner = ${owner} and state = 'done' and ${position} >= ${segment(positionColumns)}
    order by ${positionColumns} limit 1 offset coalesce(${segment(sql`older + entries - 1`)} - (select start from span), 0)`
}
