/** Kysely: the store in PostgreSQL, for several gateways. */
import type { LookupFunction } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { UncertainChange } from '../../domain/fault.ts'
import type { LostCommits } from '../../domain/observation.ts'
import type { OnTrouble } from '../../domain/store-trouble.ts'
import { type Database, serverTimeMs as databaseTimeMs, serverClock, type Workload } from '../database.ts'
import { knownSteps } from '../schema/migrate.ts'
import type { Tables } from '../schema/tables.ts'
import { type LedgerCapacity, type LockName, NewEvents, type Store, trackInFlight } from '../store.ts'
import { atOnce } from './at-once.ts'
import { codeOf, openPools, readOnly, turns } from './pools.ts'

export interface PostgresOptions {
  /** For one statement. */
  readonly timeoutMs: number
  /** The most connections of this process; 13 by default. */
  readonly maxConnections?: number | undefined
  /** How the name of the server is looked up; by default by the system. */
  readonly lookup?: LookupFunction | undefined
  /** Gets one line each time no connection is made. */
  readonly onTrouble?: OnTrouble | undefined
  /** Replaces the server's clock in tests. */
  readonly now?: (() => number) | undefined
}

export async function postgresStore(url: string, options: PostgresOptions): Promise<Store> {
  const { timeoutMs, maxConnections, lookup, onTrouble, now } = options
  const { waits, connections, ...pools } = openPools(url, timeoutMs, { connections: maxConnections, lookup, onTrouble })
  const over = (workload: Workload): Database => new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pools[workload] }) })
  const databases = { usual: over('usual'), result: over('result') }
  const database = over('read')
  const warnings = await durabilityWarnings(database)
  const { track, idle } = trackInFlight()
  const newEvents = new NewEvents()
  const write = newEvents.watch((work, priority = 'usual') =>
    track(withRetries(() => databases[priority].transaction().setIsolationLevel('read committed').execute(work))),
  )
  const clock = serverClock(now)
  const { has, read: readSteps } = knownSteps(database)
  return {
    database,
    write,
    writeOne: newEvents.watch((work, priority = 'usual') => track(again(() => work(databases[priority])))),
    newEvents,
    newDeliveries: new NewEvents(),
    waits,
    connections,
    capacity: () => capacity(database),
    turns,
    warnings,
    findLostCommits: lostCommitsFinder(database),
    types: {
      integer: 'bigint',
      text: 'text collate "C"',
      identity: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
      hasClock: true,
    },
    has,
    readSteps,
    clock,
    atOnce: atOnce({
      database: databases.usual,
      results: databases.result,
      write,
      withRetries,
      track,
      clock,
      has,
      databaseTimeMs,
      newEvents,
    }),
    databaseTimeMs,
    isIn: (column, list) => sql`${sql.ref(column)} = any(${list})`,
    listed: (list) => sql`unnest(${list}::text[]) as listed (value)`,
    recordset(json, columns) {
      const types = { text: 'text collate "C"', integer: 'bigint' }
      const described = Object.entries(columns).map(([name, type]) => sql`${sql.ref(name)} ${sql.raw(types[type])}`)
      return sql`json_to_recordset(${json}) as input (${sql.join(described)})`
    },
    toList: (texts) => texts,
    lock: async (within, what) => void (await sql`select pg_advisory_xact_lock(${sql.lit(locks[what])})`.execute(within)),
    async tryLock(within, what) {
      const { rows } = await sql<{ readonly is_mine: boolean }>`
        select pg_try_advisory_xact_lock(${sql.lit(locks[what])}) as is_mine`.execute(within)
      return rows[0]?.is_mine === true
    },
    lockId: async (within, id) => void (await sql`select pg_advisory_xact_lock(hashtextextended(${id}, 0))`.execute(within)),
    close: async () => {
      await idle()
      await Promise.all([database, databases.usual, databases.result].map((each) => each.destroy()))
    },
  }
}

/** What takes longer says too little of the server's clock. */
const maxClockQueryMs = 1_000

async function capacity(database: Database): Promise<LedgerCapacity> {
  const question = sql<{ bytes: number; now: number }>`
    select pg_database_size(current_database()) as bytes, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now`
  const askedAt = Date.now()
  const { rows } = await question.execute(database)
  const tookMs = Date.now() - askedAt
  const [row = { bytes: 0, now: 0 }] = rows
  return { bytes: row.bytes, ...(tookMs <= maxClockQueryMs && { clockOffsetMs: askedAt + tookMs / 2 - row.now }) }
}

/** Arbitrary numbers that no other program uses. */
const locks: Readonly<Record<LockName, number>> = {
  schema: 7_927_081_172_026,
  overrides: 7_927_081_172_027,
  mismatches: 7_927_081_172_028,
  events: 7_927_081_172_029,
  removal: 7_927_081_172_030,
}
const maxAttempts = 5
/** Serialization failure, deadlock, a unique key that a concurrent transaction inserted, and a server that was replaced. */
const transientErrors = new Set(['40001', '40P01', '23505', readOnly])

/** How long to retry if it is unknown whether a change was committed. */
const lookUpMs = 2_000
const pauseMs = 50

/** A write that a read-only server refused is run once more, over a new connection: after a failover it leads to the new server. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  return await work().catch((reason) => {
    if (codeOf(reason) !== readOnly) throw reason
    return work()
  })
}

/** Retries after a conflict, and if it is unknown whether the change was committed: the next run then finds its result. */
async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  let uncertain: { readonly until: number } | undefined
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (reason) {
      if (reason instanceof UncertainChange) uncertain ??= { until: performance.now() + lookUpMs }
      const isMomentary = attempt < maxAttempts && transientErrors.has(codeOf(reason) ?? '')
      if (!uncertain && !isMomentary) throw reason
      if (uncertain && performance.now() > uncertain.until) throw new UncertainChange(reason)
    }
    if (uncertain) await delay(pauseMs)
  }
}

// Kysely: what makes a PostgreSQL server lose commits that it has confirmed, and whether it has.

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
