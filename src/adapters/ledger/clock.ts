/** Kysely: the time by which claims expire (docs/contract.md §10.1): never a wall clock of this machine, which may be set. */
import { type RawBuilder, sql } from 'kysely'
import type { Database, Write } from './database.ts'

export interface LedgerClock {
  /** Milliseconds; null where the database has the clock. A value for `at`. */
  readonly read: () => number | null
  /** The time in SQL, given what `read` returned or a placeholder for it. */
  readonly at: (read: unknown) => RawBuilder<number>
  /** Called once the schema is there. */
  readonly start: () => Promise<void>
  /** Called before the store closes. */
  readonly stop: () => Promise<void>
}

/** Processes on one file differ by at most what one has not yet written down. */
const toleranceMs = 5 * 60_000
/** A claim that is older than this has expired: none lives shorter than 24 hours. */
export const claimLifetimeMs = 24 * 3_600_000 + toleranceMs

const noop = async (): Promise<void> => {}

/** The clock of the PostgreSQL server, or `now` instead. */
export function serverClock(now?: () => number): LedgerClock {
  if (now) return fixedClock(now)
  const time = sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`
  return { read: () => null, at: (read) => sql`coalesce(cast(${read} as bigint), ${time})`, start: noop, stop: noop }
}

export function fixedClock(read: () => number): LedgerClock {
  return { read, at: asGiven, start: noop, stop: noop }
}

function asGiven(read: unknown): RawBuilder<number> {
  return sql`cast(${read} as bigint)`
}

const intervalMs = 60_000

/** The latest that was written down, also with a claim or a create: a process that is killed writes no more. */
const latest = sql<{ time: number }>`
  select max(time) as time from (
    select time from clock
    union all select max(created_at) from claims
    union all select max(begun_at) from transactions where state in ('pending', 'unknown')
  )`

/**
 * Counts the time in which processes run, on steady clocks: what is counted is written down each minute and read at the next
 * start. So a claim lasts longer by the time in which no process ran.
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
      if (timer) await persist().catch(() => {}) // what is lost of it only makes claims last longer
    },
  }
}
