/** Kysely: counts open transactions and unresolved creates from their own indexes. */
import { sql } from 'kysely'
import type { LedgerGauges, UnresolvedCount } from '../../../core/ledger-admin.ts'
import type { Database } from '../database.ts'
import { attentionCounts } from './attention.ts'

/** Must repeat the condition of the index, or the database does not use it. */
export const hasNotEnded = sql<boolean>`state = 'done' AND (status IS NULL OR status NOT IN ('success', 'refunded', 'overdue'))`
const isUnresolved = sql<boolean>`state <> 'done'`
/** The oldest creation time in milliseconds: sort keys are negative nanoseconds. */
const oldest = sql<number>`cast(-max(sort_key) / 1000000 as bigint)`

export async function ledgerGauges(database: Database): Promise<LedgerGauges> {
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
  }
}

/** Groups by expressions: by the columns, SQLite would read the whole table in the order of another index. */
async function unresolvedCounts(database: Database): Promise<readonly UnresolvedCount[]> {
  const { rows } = await sql<UnresolvedCount>`
    select min(provider) as provider, min(state) as state, count(*) as count, min(attempted_at) as oldest
    from transactions where ${isUnresolved} group by provider || '', state || ''`.execute(database)
  return rows
}
