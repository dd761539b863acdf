/** Kysely: the ledger's tables and its write function. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from './schema/tables.ts'

export type Database = Kysely<Tables>

/** `result`: the result of a create; it precedes all other writes. */
export type Priority = 'result' | 'usual'

/** Work that has connections of its own. */
export type Workload = Priority | 'read'

/**
 * Runs the work in one durable transaction. The work may run more than once, also after a commit that was not confirmed.
 * Throws an `UncertainChange` if it stays unknown whether the transaction was committed.
 */
export type Write = <T>(work: (within: Database) => Promise<T>, priority?: Priority) => Promise<T>

// Kysely: the clock of idempotency keys (docs/contract.md §10.1). Never this machine's wall clock, which may be changed.

export interface LedgerClock {
  /** Returns a value for `at`: milliseconds, or null if the database has the clock. */
  readonly read: () => number | null
  /** The time in SQL. Takes the value of `read` or a placeholder for it. */
  readonly at: (read: unknown) => RawBuilder<number>
  /** Called after the migration. */
  readonly start: () => Promise<void>
  /** Called before the store closes. */
  readonly stop: () => Promise<void>
}

/** The clocks of processes on one file differ by at most the time that one has not yet stored. */
const toleranceMs = 5 * 60_000
/** The lifetime of an idempotency key, at least 24 hours. */
export const idempotencyKeyLifetimeMs = 24 * 3_600_000 + toleranceMs

const noop = async (): Promise<void> => {}

/** The PostgreSQL server's clock in milliseconds since 1970. In a subquery a statement reads it once, so that conditions can use an index. */
export const serverTimeMs = sql<number>`(select cast(extract(epoch from clock_timestamp()) * 1000 as bigint))`

/** The clock of the PostgreSQL server, or `now`, for tests. */
export function serverClock(now?: () => number): LedgerClock {
  if (now) return fixedClock(now)
  return { read: () => null, at: (read) => sql`coalesce(cast(${read} as bigint), ${serverTimeMs})`, start: noop, stop: noop }
}

export function fixedClock(read: () => number): LedgerClock {
  return { read, at: asGiven, start: noop, stop: noop }
}

function asGiven(read: unknown): RawBuilder<number> {
  return sql`cast(${read} as bigint)`
}

const intervalMs = 60_000

/** The latest stored time, also of idempotency keys and creates: a killed process stores no more. */
const latest = sql<{ time: number }>`
  select max(time) as time from (
    select time from clock
    union all select max(created_at) from claims
    union all select max(begun_at) from transactions where state in ('pending', 'unknown')
  )`

/**
 * Counts the uptime of processes on monotonic clocks. Stores it every minute and continues from there at the next start. So
 * the time in which no process runs does not count towards the lifetime of an idempotency key.
 */
export function uptimeClock(database: Database, write: Write): LedgerClock {
  let offsetMs = 0
  let timer: NodeJS.Timeout | undefined
  const read = (): number => Math.floor(offsetMs + performance.now())
  const persist = (): Promise<void> =>
    write(async (within) => void (await sql`update clock set time = max(time, ${read()})`.execute(within)))
  return {
    read,
    at: asGiven,
    async start() {
      const { rows } = await latest.execute(database)
      offsetMs = Math.max(...rows.map(({ time }) => time)) - performance.now()
      timer = setInterval(() => void persist().catch(() => {}), intervalMs).unref()
    },
    async stop() {
      clearInterval(timer)
      if (timer) await persist().catch(() => {}) // on failure idempotency keys only last longer
    },
  }
}
