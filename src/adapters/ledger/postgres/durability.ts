/** Kysely: what makes a PostgreSQL server lose commits that it has confirmed, and whether it has. */
import { sql } from 'kysely'
import type { LostCommits } from '../../../domain/observation.ts'
import type { Database } from '../database.ts'
import { codeOf } from './pools.ts'

const needed = ['fsync', 'full_page_writes'] as const

/** Settings that only the server's operator can change: a line for each that is off. */
export async function durabilityWarnings(database: Database): Promise<readonly string[]> {
  const columns = needed.map((name) => sql`current_setting(${sql.lit(name)}, true) as ${sql.ref(name)}`)
  const { rows } = await sql<Record<string, string>>`select ${sql.join(columns)}`.execute(database)
  return needed
    .filter((name) => rows[0]?.[name] === 'off')
    .map((name) => `ledger.url: ${name} is off at the PostgreSQL server: a loss of power can undo creates that it has confirmed`)
}

interface LogPosition {
  readonly system: string
  readonly position: number
}

interface Read extends LogPosition {
  readonly kept_system: string | null
  readonly kept_position: number | null
}

/** The kept row is that of the statement's beginning, so no other process has written a later position than the server has now. */
const read = sql<Read>`
  select cast(server.system_identifier as text) as system,
    cast(pg_current_wal_flush_lsn() - '0/0' as bigint) as position,
    log_position.system as kept_system, log_position.position as kept_position
  from pg_control_system() as server left join log_position on true`

/** The user may not call these functions, or the server has none. */
const neverReadable: ReadonlySet<string> = new Set(['42501', '42883'])

/** The row is written once for so much of the log: to keep a position adds to the log itself. */
const keptStepBytes = 65_536

/**
 * Compares the position of the server's log with the latest that this process has seen, and with the one in the ledger. A
 * ledger whose last commits were lost has an old position itself; one that was restored elsewhere has a position of before.
 */
export function lostCommitsFinder(database: Database): () => Promise<LostCommits | undefined> {
  let latest: LogPosition | undefined
  let isReadable = true
  return async () => {
    if (!isReadable) return undefined
    const { rows } = await read.execute(database).catch((reason) => {
      isReadable = !neverReadable.has(codeOf(reason) ?? '')
      throw reason
    })
    const [now] = rows
    if (!now) return undefined
    const { system, position, kept_system, kept_position } = now
    const kept = kept_system === null || kept_position === null ? undefined : { system: kept_system, position: kept_position }
    const lost = compare(latest, now) ?? compare(kept, now)
    latest = { system, position }
    if (lost || !kept || position - kept.position > keptStepBytes) await keep(database, latest)
    return lost
  }
}

function compare(before: LogPosition | undefined, now: LogPosition): LostCommits | undefined {
  if (!before) return undefined
  if (before.system !== now.system) return 'server'
  return now.position < before.position ? 'position' : undefined
}

async function keep(database: Database, { system, position }: LogPosition): Promise<void> {
  await sql`
    insert into log_position (only_row, system, position) values (true, ${system}, ${position})
    on conflict (only_row) do update set system = excluded.system, position = excluded.position`.execute(database)
}
