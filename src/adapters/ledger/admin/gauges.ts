/** Kysely: counts open transactions and unresolved creates from their own indexes. */
import { type NotNull, sql } from 'kysely'
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

/** Groups the rows here: SQLite would read the whole table in the order of another index. */
async function unresolvedCounts(database: Database): Promise<readonly UnresolvedCount[]> {
  const unresolved = database.selectFrom('transactions').select(['provider', 'state', 'attempted_at']).where(isUnresolved)
  const rows = await unresolved.$narrowType<{ state: UnresolvedCount['state']; attempted_at: NotNull }>().execute()
  const groups = new Map<string, UnresolvedCount>()
  for (const { provider, state, attempted_at } of rows) {
    const key = `${provider} ${state}`
    const { count, oldest } = groups.get(key) ?? { count: 0, oldest: Number.POSITIVE_INFINITY }
    groups.set(key, { provider, state, count: count + 1, oldest: Math.min(oldest, attempted_at) })
  }
  return [...groups.values()]
}
