/** Kysely: what is open, read from indexes of what has not ended and of what is overdue, by when it became so. */
import { sql } from 'kysely'
import type { OpenCount } from '../../../core/ledger-admin.ts'
import type { Status } from '../../../domain/swap/status.ts'
import type { Store } from '../store.ts'
import { hasNotEnded } from './gauges.ts'

const overdueMs = 7 * 86_400_000

interface Row {
  readonly provider: string
  readonly state: OpenCount['state']
  readonly status: Status | null
  readonly count: number
}

/** One statement sees one moment: what becomes another kind meanwhile is counted once. Conditions in the words of the indexes. */
export async function openCounts({ database, databaseTimeMs }: Store): Promise<readonly OpenCount[]> {
  const { rows } = await sql<Row>`
    select provider, state, null as status, count(*) as count from transactions
    where state in ('pending', 'unknown') group by provider, state
    union all
    select provider, state, status, count(*) as count from transactions
    where ${hasNotEnded} group by provider, state, status
    union all
    select provider, state, status, count(*) as count from transactions
    where state = 'done' and status = 'overdue'
      and (coalesce(changed_at, -sort_key / 1000000)) > ${databaseTimeMs} - ${sql.lit(overdueMs)}
    group by provider, state, status`.execute(database)
  return rows.map(({ status, ...row }) => (status === null ? row : { ...row, status }))
}
