/** Kysely: the store in PostgreSQL, for several gateways. */
import type { LookupFunction } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { withTimeout } from '../../domain/async.ts'
import { UncertainChange } from '../../domain/fault.ts'
import type { LostCommits } from '../../domain/observation.ts'
import type { OnTrouble, StoreTrouble } from '../../domain/store-trouble.ts'
import { type Database, serverTimeMs as databaseTimeMs, serverClock, type Workload } from '../database.ts'
import { FreshReads } from '../fresh-reads.ts'
import { knownSteps } from '../schema/migrate.ts'
import type { Tables } from '../schema/tables.ts'
import { type LedgerCapacity, type LockName, NewEvents, type Store, trackInFlight } from '../store.ts'
import { atOnce } from './at-once.ts'
import { DatabaseEncoding } from './encoding.ts'
import { tellOfStandby } from './locks.ts'
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
  const {
    waits,
    connections,
    warnings: sessionWarnings,
    ...pools
  } = openPools(url, timeoutMs, { connections: maxConnections, lookup, onTrouble })
  const over = (workload: Workload): Database => new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pools[workload] }) })
  const databases = { usual: over('usual'), result: over('result') }
  const database = over('read')
  const server = await readServer(database)
  const encoding = new DatabaseEncoding(server.encoding)
  const { track, idle } = trackInFlight()
  const newEvents = new NewEvents()
  const write = newEvents.watch((work, priority = 'usual') =>
    track(
      withRetries(
        (isRepeated) =>
          databases[priority]
            .transaction()
            .setIsolationLevel('read committed')
            .execute(async (within) => {
              const result = await work(within)
              if (isRepeated) await confirmEarlier(within)
              return result
            }),
        lockMs[priority],
      ),
    ),
  )
  const clock = serverClock(now)
  const { has, read: readSteps } = knownSteps(database)
  const asWritten = <T>(read: (within: Database) => Promise<T>): Promise<T> =>
    track(
      databases.usual.transaction().execute(async (within) => {
        await sql`lock table transactions in row exclusive mode`.execute(within) // no standby takes it, nor what routes reads to one
        return await read(within)
      }),
    )
  return {
    database,
    freshReads: new FreshReads(database, asWritten, onTrouble),
    write,
    writeOne: newEvents.watch((work, priority = 'usual') => track(again(() => work(databases[priority]), lockMs[priority]))),
    newEvents,
    newDeliveries: new NewEvents(),
    waits,
    connections,
    capacity: () => capacity(database),
    turns,
    warnings: [...durabilityWarnings(server), ...sessionWarnings()],
    troubles: encodingTroubles(server),
    obstacles: obstaclesOf(server),
    findLostCommits: lostCommitsFinder(database),
    confirmEarlier,
    async tellUnconfirmed() {
      const confirmed = write(confirmEarlier).catch(() => {}) // of any other failure others tell
      await withTimeout(confirmed, maxConfirmationMs, () => tellOfStandby(database, onTrouble).catch(() => {}))
    },
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
      databaseTimeMs,
      newEvents,
      encoding,
    }),
    databaseTimeMs,
    isIn: (column, list) => sql`${sql.ref(column)} = any(${list})`,
    listed: (list) => sql`unnest(${list}::text[]) as listed (value)`,
    recordset(json, columns) {
      const types = { text: 'text collate "C"', integer: 'bigint' }
      const described = Object.entries(columns).map(([name, type]) => sql`${sql.ref(name)} ${sql.raw(types[type])}`)
      return sql`json_to_recordset(${encoding.rows(json)}) as input (${sql.join(described)})`
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

/**
 * Writes to the server's log and to no table, so that the commit of this transaction is one that the server confirms: then it has
 * confirmed all that the transaction has seen.
 */
async function confirmEarlier(within: Database): Promise<void> {
  await sql`select pg_logical_emit_message(true, 'swapgate', '')`.execute(within)
}

/** A server that takes longer, at a start, may have a standby that is away. */
const maxConfirmationMs = 1_000

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
  failedReads: 7_927_081_172_031,
}
const maxAttempts = 5
/** Serialization failure, deadlock, a unique key that a concurrent transaction inserted, and a server that was replaced. */
const transientErrors = new Set(['40001', '40P01', '23505', readOnly])

/** A lock that was not had within the user's `lock_timeout`. */
const lockNotAvailable = '55P03'
/** How long it is asked for again. What a create has made is stored as long as the process that sent it may do so. */
const lockMs = { usual: 0, result: 5_000 }

/** How long to retry if it is unknown whether a change was committed. */
const lookUpMs = 2_000
const pauseMs = 50

/**
 * A write that a read-only server refused is run once more, over a new connection: after a failover it leads to the new server. One
 * that had no lock is run again for so long.
 */
async function again<T>(work: () => Promise<T>, maxLockMs: number): Promise<T> {
  const locked = whileLocked(maxLockMs)
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await work()
    } catch (reason) {
      if (locked(reason)) await delay(pauseMs)
      else if (!isFirst || codeOf(reason) !== readOnly) throw reason
    }
  }
}

/** Whether a failure is that of a lock, and it is still asked for. */
function whileLocked(maxLockMs: number): (reason: unknown) => boolean {
  const until = performance.now() + maxLockMs
  return (reason) => codeOf(reason) === lockNotAvailable && performance.now() < until
}

/**
 * Retries after a conflict, for so long after a lock that was not had in time (`test/ledger/poolers.test.ts`), and if it is unknown whether
 * the change was committed: the next run then finds its result, and has it confirmed. What is not found out in `lookUpMs` is 503 for a
 * client, and of a result 504 (docs/contract.md §10; `test/creation/slow-ledger.test.ts`).
 */
async function withRetries<T>(work: (isRepeated: boolean) => Promise<T>, maxLockMs = 0): Promise<T> {
  const locked = whileLocked(maxLockMs)
  let uncertain: { readonly until: number } | undefined
  for (let attempt = 1; ; attempt++) {
    let isLocked = false
    try {
      return await work(uncertain !== undefined)
    } catch (reason) {
      if (reason instanceof UncertainChange) uncertain ??= { until: performance.now() + lookUpMs }
      isLocked = locked(reason)
      const isMomentary = attempt < maxAttempts && transientErrors.has(codeOf(reason) ?? '')
      if (!uncertain && !isMomentary && !isLocked) throw reason
      if (uncertain && performance.now() > uncertain.until) throw new UncertainChange(reason)
    }
    if (uncertain || isLocked) await delay(pauseMs)
  }
}

// Kysely: what the server and the user are, as far as a ledger needs it.

interface Server {
  readonly encoding: string
  /** Null if no schema of the search path exists, or the user may use none. */
  readonly schema: string | null
  readonly may_make_tables: boolean | null
  /** A schema of the search path that has a ledger, behind the first one, which is there by the user's name alone. */
  readonly other_ledger: string | null
  /** One of the search path that is there, and that the user may not use. */
  readonly closed_schema: string | null
  /** This name, and those of schemas and databases, as a statement has them. */
  readonly user: string
  readonly database: string
  readonly database_in_utf8: string
  readonly fsync: string | null
  readonly full_page_writes: string | null
}

async function readServer(database: Database): Promise<Server> {
  const { rows } = await sql<Server>`
    select current_setting('server_encoding') as encoding, quote_ident(current_schema()) as schema, quote_ident(current_user) as user,
      has_schema_privilege(current_schema(), 'create') as may_make_tables, quote_ident(current_database()) as database,
      quote_ident(current_database() || '_utf8') as database_in_utf8,
      (
        select quote_ident(nspname) from pg_namespace
        where not has_schema_privilege(oid, 'usage')
          and nspname = any(string_to_array(regexp_replace(current_setting('search_path'), '["[:space:]]', '', 'g'), ',')) limit 1
      ) as closed_schema,
      (
        select quote_ident(schemaname) from pg_tables, pg_settings
        where pg_settings.name = 'search_path' and reset_val like '%$user%' and current_schema() = current_user
          and tablename in ('schema_steps', 'kysely_migration') and schemaname <> current_schema()
          and schemaname = any(string_to_array(regexp_replace(reset_val, '["[:space:]]', '', 'g'), ',')) limit 1
      ) as other_ledger,
      current_setting('fsync', true) as fsync, current_setting('full_page_writes', true) as full_page_writes`.execute(database)
  const [server] = rows
  if (!server) throw new Error('the server says nothing of itself')
  return server
}

/** What a new ledger, or a table more, cannot be made for. */
function obstaclesOf(server: Server): NonNullable<Store['obstacles']> {
  const { encoding, schema, closed_schema, may_make_tables, other_ledger, user, database, database_in_utf8 } = server
  const nowhere = `search_path names no schema that the user ${user} may use; set it: ALTER ROLE ${user} SET search_path = public`
  const closed = `the user ${user} may not use the schema ${closed_schema}; allow it: GRANT USAGE, CREATE ON SCHEMA ${closed_schema} TO ${user}`
  const noSchema = closed_schema === null ? nowhere : closed
  const noRight = `the user ${user} may not create tables in the schema ${schema}; allow it: GRANT CREATE ON SCHEMA ${schema} TO ${user}`
  const other = `the schema ${schema} is the first one by the user's name, and the ledger is in ${other_ledger}: ALTER ROLE ${user} SET search_path = ${other_ledger}, or ${schema} for a new one`
  return {
    ...(other_ledger !== null && { newLedger: other }),
    ...(encoding !== 'UTF8' && {
      newLedger: `the database ${database} has the encoding ${encoding}, and not UTF8; make another one: CREATE DATABASE ${database_in_utf8} ENCODING 'UTF8' TEMPLATE template0`,
    }),
    ...(schema === null && { newLedger: noSchema }),
    ...(!may_make_tables && { newTables: schema === null ? noSchema : noRight }),
  }
}

function encodingTroubles({ encoding, database }: Server): readonly StoreTrouble[] {
  if (encoding === 'UTF8') return []
  const message = `the database ${database} has the encoding ${encoding}: letters that it lacks are stored as escapes of JSON. Move the ledger to one in UTF8 (pg_dump, CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, psql)`
  return [{ cause: 'encoding', message }]
}

const durable = ['fsync', 'full_page_writes'] as const

/** Settings that only the server's operator can change: a line for each that makes it lose commits. */
function durabilityWarnings(server: Server): readonly string[] {
  return durable
    .filter((name) => server[name] === 'off')
    .map((name) => `ledger.url: ${name} is off at the PostgreSQL server: a loss of power can undo creates that it has confirmed`)
}

// Kysely: whether a server has lost commits that it had confirmed.

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
