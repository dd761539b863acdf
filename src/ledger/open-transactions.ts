/** Kysely: open transactions, which background work reads, each for one process at a time; and how many are open. Conditions repeat those of the indexes. */
import { type RawBuilder, sql } from 'kysely'
import type { Ledger, LedgerEntry } from '../core/ports/ledger.ts'
import type { AssetCount, DestinationCount, LedgerGauges, OpenCount, UnresolvedCount } from '../core/ports/ledger-admin.ts'
import { pause } from '../domain/async.ts'
import type { Status } from '../domain/status.ts'
import { attentionCounts } from './attention.ts'
import { isUnresolved } from './creates.ts'
import type { Database } from './database.ts'
import { entryColumns, toEntry } from './entry.ts'
import type { Store } from './store.ts'
import { watchedCounts } from './watches.ts'

type OpenTransactions = Pick<Ledger, 'leaseOpen' | 'leaseLost' | 'releaseOpen'>

export function openTransactions({ database, writeOne, clock, databaseTimeMs, isIn, toList }: Store): OpenTransactions {
  const nowOf = () => clock.at(clock.read())
  const dueIds = async (provider: string, maxEntries: number, pauseMs: number): Promise<readonly string[]> => {
    const isDue = sql`provider = ${provider} and polled_at <= ${nowOf()} - ${sql.lit(pauseMs)}`
    const { rows } = await sql<{ readonly provider_id: string }>`
      select provider_id from (
        select * from (
          select provider_id, polled_at, sort_key from transactions where ${isDue} and ${hasNotEnded}
          order by polled_at, sort_key desc limit ${maxEntries}
        ) as unfinished
        union all
        select * from (
          select provider_id, polled_at, sort_key from transactions
          where ${isDue} and ${overdueWithoutAttention}
            and (${overdueSince}) > ${databaseTimeMs} - ${sql.lit(openOverdueMs)}
          order by ${overdueSince} limit ${maxEntries}
        ) as overdue
        union all
        select * from (
          select provider_id, polled_at, sort_key from transactions where ${isDue} and ${overdueWithAttention}
          order by polled_at, sort_key desc limit ${maxEntries}
        ) as attended
      ) as due order by polled_at, sort_key desc limit ${maxEntries}`.execute(database)
    return rows.map(({ provider_id }) => provider_id)
  }
  const lostIds = async (provider: string, maxEntries: number, pauseMs: number, missingAt: number): Promise<readonly string[]> => {
    const { rows } = await sql<{ readonly provider_id: string }>`
      select provider_id from transactions
      where attention is not null and provider = ${provider} and attention = 'lost'
        and coalesce(missing_at, 0) <= ${missingAt} and polled_at <= ${nowOf()} - ${sql.lit(pauseMs)}
      order by sort_key desc limit ${maxEntries}`.execute(database)
    return rows.map(({ provider_id }) => provider_id)
  }
  const lease = async (provider: string, ids: readonly string[], pauseMs: number): Promise<readonly LedgerEntry[]> => {
    if (ids.length === 0) return []
    return writeOne(async (within) => {
      const leased = await within
        .updateTable('transactions')
        .set({ polled_at: nowOf() })
        .where('provider', '=', provider)
        .where(isIn('provider_id', toList(ids)))
        .where(sql<boolean>`polled_at <= ${nowOf()} - ${sql.lit(pauseMs)}`) // another process may have been first
        .returning(entryColumns)
        .execute()
      const entries = new Map(leased.map(toEntry).map((entry) => [entry.transaction.id, entry]))
      return ids.flatMap((id) => entries.get(id) ?? [])
    })
  }
  return {
    leaseOpen: async (provider, maxEntries, pauseMs) => lease(provider, await dueIds(provider, maxEntries, pauseMs), pauseMs),
    leaseLost: async (provider, maxEntries, pauseMs, missingAt) =>
      lease(provider, await lostIds(provider, maxEntries, pauseMs, missingAt), pauseMs),
    releaseOpen: (provider, ids) =>
      writeOne(async (within) => {
        const released = within.updateTable('transactions').set({ polled_at: 0 }).where('provider', '=', provider)
        await released.where(isIn('provider_id', toList(ids))).execute()
      }),
  }
}

// How many are open, by their states, destinations and assets.

/** An overdue transaction counts as open for this long, since a late deposit may still complete it. */
const openOverdueMs = 7 * 86_400_000
/** When it became overdue, in milliseconds since 1970; if unknown, its creation time. */
const overdueSince = sql<number>`coalesce(changed_at, -sort_key / 1000000)`
/** Overdue transactions that are open for any time. */
const overdueWithAttention = sql<boolean>`attention is not null and status = 'overdue'`
/** All others; one that an operator settled is not open. */
const overdueWithoutAttention = sql<boolean>`state = 'done' and status = 'overdue' and attention is null and settled_at is null`

interface Row {
  readonly provider: string
  readonly state: OpenCount['state']
  readonly status: Status | null
  readonly count: number
}

/** One statement reads one snapshot, so that nothing is counted twice. The conditions repeat those of the indexes. */
export async function openCounts({
  database,
  databaseTimeMs,
}: Pick<Store, 'database' | 'databaseTimeMs'>): Promise<readonly OpenCount[]> {
  const { rows } = await sql<Row>`
    select provider, state, null as status, count(*) as count from transactions
    where state in ('pending', 'unknown') group by provider, state
    union all
    select provider, state, status, count(*) as count from transactions
    where ${hasNotEnded} group by provider, state, status
    union all
    select provider, state, status, count(*) as count from transactions
    where ${overdueWithoutAttention} and (${overdueSince}) > ${databaseTimeMs} - ${sql.lit(openOverdueMs)}
    group by provider, state, status
    union all
    select provider, state, status, count(*) as count from transactions
    where ${overdueWithAttention} group by provider, state, status`.execute(database)
  return addUp(rows).map(({ status, ...row }) => (status === null ? row : { ...row, status }))
}

export async function destinationCounts(database: Database): Promise<readonly DestinationCount[]> {
  const { rows } = await sql<{ readonly provider: string; readonly destination: string; readonly count: number }>`
    select provider, destination, count(*) as count from transactions
    where state in ('pending', 'unknown') and destination is not null group by provider, destination`.execute(database)
  return rows.map(({ destination, ...row }) => ({ ...row, destination: JSON.parse(destination) }))
}

/** Groups by the words that were sent: one create of a group says what the table called them. */
export async function assetCounts(database: Database): Promise<readonly AssetCount[]> {
  const counted = (condition: RawBuilder<unknown>) =>
    sql<{ readonly requested: string; readonly count: number }>`
    select min(requested) as requested, count(*) as count from transactions
    where ${condition} and sent is not null group by provider, sent`.execute(database)
  const { rows: creates } = await counted(sql`state in ('pending', 'unknown')`)
  await pause() // a file is read without a wait: requests come between
  const { rows: open } = await counted(hasNotEnded)
  return [...creates, ...open].map(({ requested, count }) => ({ pair: JSON.parse(requested), count }))
}

/** One row for each provider, state and status. */
function addUp(rows: readonly Row[]): readonly Row[] {
  const groups = Map.groupBy(rows, ({ provider, state, status }) => `${provider} ${state} ${status}`)
  return [...groups.values()].flatMap(([first, ...others]) =>
    first ? [{ ...first, count: others.reduce((sum, { count }) => sum + count, first.count) }] : [],
  )
}

// How many are open, and since when.

/** Must repeat the condition of the index, or the database does not use it. */
const hasNotEnded = sql<boolean>`state = 'done' AND (status IS NULL OR status NOT IN ('success', 'refunded', 'overdue'))`
/** The oldest creation time in milliseconds: sort keys are negative nanoseconds. */
const oldest = sql<number>`cast(-max(sort_key) / 1000000 as bigint)`

export async function ledgerGauges(store: Pick<Store, 'database' | 'has' | 'databaseTimeMs'>): Promise<LedgerGauges> {
  const { database } = store
  const open = await database
    .selectFrom('transactions')
    .select(['provider', 'status', database.fn.countAll<number>().as('count'), oldest.as('oldest')])
    .where(hasNotEnded)
    .groupBy(['provider', 'status'])
    .execute()
  return {
    unfinished: open.map(({ status, ...row }) => ({ ...row, ...(status !== null && { status }) })),
    unresolvedCounts: await unresolvedCounts(database),
    attentionCounts: await attentionCounts(database),
    watchedCounts: await watchedCounts(store),
  }
}

/** Groups by expressions: by the columns, SQLite would read the whole table in the order of another index. */
async function unresolvedCounts(database: Database): Promise<readonly UnresolvedCount[]> {
  const { rows } = await sql<UnresolvedCount>`
    select min(provider) as provider, min(state) as state, count(*) as count, min(attempted_at) as oldest
    from transactions where ${isUnresolved} group by provider || '', state || ''`.execute(database)
  return rows
}
