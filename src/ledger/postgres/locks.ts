/** Kysely: what this program waits for at its start: a lock, and who holds it, or the synchronous standby. */
import { sql } from 'kysely'
import type { OnTrouble } from '../../domain/store-trouble.ts'
import type { Database } from '../database.ts'
import { standbyAway, waitsForStandby } from './abandoned-sessions.ts'

/** A wait that is longer is told. */
const patienceMs = 3_000

interface Holder {
  readonly pid: number
  readonly application: string
  readonly user: string
  readonly state: string
  readonly seconds: number
  readonly what: string
}

/** The first session that another one of this program waits for. */
const holder = sql<Holder>`
  select holding.pid, coalesce(holding.application_name, '') as application, coalesce(holding.usename, '') as user,
    coalesce(holding.state, 'a background process') as state,
    cast(coalesce(extract(epoch from clock_timestamp() - holding.xact_start), 0) as integer) as seconds,
    case when awaited.relation is null then awaited.locktype || ' lock' else 'table ' || cast(awaited.relation as regclass) end as what
  from pg_stat_activity as waiting
  join pg_locks as awaited on awaited.pid = waiting.pid and not awaited.granted
  cross join lateral unnest(pg_blocking_pids(waiting.pid)) as blocking (pid)
  join pg_stat_activity as holding on holding.pid = blocking.pid
  where waiting.application_name = 'swapgate' and waiting.datname = current_database()
  order by holding.xact_start limit 1`

const waitingForStandby = sql`
  select from pg_stat_activity
  where application_name = 'swapgate' and datname = current_database() and wait_event = ${sql.lit(waitsForStandby)} limit 1`

/** Tells if a session of this program waits for the synchronous standby. */
export async function tellOfStandby(database: Database, tell: OnTrouble | undefined): Promise<void> {
  const { rows } = await waitingForStandby.execute(database)
  if (rows.length > 0) tell?.(standbyAway)
}

/** Tells once what a work of the start waits for, if that takes some seconds. */
export async function whileNamingLocks<T>(database: Database, tell: OnTrouble | undefined, work: Promise<T>): Promise<T> {
  const ask = async (): Promise<void> => {
    const { rows } = await holder.execute(database)
    for (const found of rows) tell?.({ cause: 'locked', message: lineOf(found) })
    if (rows.length === 0) await tellOfStandby(database, tell)
  }
  const timer = setTimeout(() => void ask().catch(() => {}), patienceMs)
  try {
    return await work
  } finally {
    clearTimeout(timer)
  }
}

function lineOf({ pid, application, user, state, seconds, what }: Holder): string {
  const who = `session ${pid} (application ${application || 'without a name'}, user ${user || 'unknown'}, ${state}, for ${seconds} s)`
  return `the ledger waits for the ${what}, which ${who} holds: let it end, or end it with select pg_terminate_backend(${pid})`
}
