/** Kysely: what is not done, read from indexes that hold nothing else. */
import { sql } from 'kysely'
import type { LedgerFigures, Unsettled } from '../../core/bookkeeping.ts'
import type { Database } from './store.ts'

/** In the words of the index, or it is not used. */
const hasNotEnded = sql<boolean>`state = 'done' AND (status IS NULL OR status NOT IN ('success', 'refunded', 'overdue'))`
const isNotDone = sql<boolean>`state <> 'done'`
/** The latest place: places are nanoseconds, the newest first. */
const oldest = sql<number>`cast(-max(sort_key) / 1000000 as bigint)`

export async function figures(database: Database): Promise<LedgerFigures> {
  const { countAll, min } = database.fn
  const open = await database
    .selectFrom('transactions')
    .select(['provider', 'status', countAll<number>().as('count'), oldest.as('oldest')])
    .where(hasNotEnded)
    .groupBy(['provider', 'status'])
    .execute()
  const unsettled = await database
    .selectFrom('transactions')
    .select(['provider', 'state', countAll<number>().as('count'), min('attempted_at').as('oldest')])
    .where(isNotDone)
    .groupBy(['provider', 'state'])
    .execute()
  return {
    open: open.map(({ status, ...row }) => ({ ...row, ...(status !== null && { status }) })),
    unsettled: unsettled.map((row) => ({ ...row, state: row.state as Unsettled['state'], oldest: row.oldest as number })),
  }
}
