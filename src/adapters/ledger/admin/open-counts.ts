/** Kysely: counts open transactions and creates, from the indexes of open and of overdue transactions. */
import { sql } from 'kysely'
import type { AssetCount, DestinationCount, OpenCount } from '../../../core/ledger-admin.ts'
import type { Status } from '../../../domain/status.ts'
import type { Database } from '../database.ts'
import type { Store } from '../store.ts'
import { hasNotEnded } from './gauges.ts'

/** An overdue transaction counts as open for this long, since a late deposit may still complete it. */
export const openOverdueMs = 7 * 86_400_000
/** When it became overdue, in milliseconds since 1970; if unknown, its creation time. */
export const overdueSince = sql<number>`coalesce(changed_at, -sort_key / 1000000)`
/** Overdue transactions that are open for any time. */
export const overdueWithAttention = sql<boolean>`attention is not null and status = 'overdue'`
/** All others; one that an operator settled is not open. */
export const overdueWithoutAttention = sql<boolean>`state = 'done' and status = 'overdue' and attention is null and settled_at is null`

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
  const { rows } = await sql<{ readonly asked: string; readonly count: number }>`
    select min(asked) as asked, count(*) as count from transactions
    where state in ('pending', 'unknown') and sent is not null group by provider, sent
    union all
    select min(asked) as asked, count(*) as count from transactions
    where ${hasNotEnded} and sent is not null group by provider, sent`.execute(database)
  return rows.map(({ asked, count }) => ({ pair: JSON.parse(asked), count }))
}

/** One row for each provider, state and status. */
function addUp(rows: readonly Row[]): readonly Row[] {
  const groups = Map.groupBy(rows, ({ provider, state, status }) => `${provider} ${state} ${status}`)
  return [...groups.values()].flatMap(([first, ...others]) =>
    first ? [{ ...first, count: others.reduce((sum, { count }) => sum + count, first.count) }] : [],
  )
}
