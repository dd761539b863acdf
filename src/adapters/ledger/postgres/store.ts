/** Kysely: the store in PostgreSQL, for several gateways. */
import type { LookupFunction } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { UncertainChange } from '../../../domain/fault.ts'
import { serverClock } from '../clock.ts'
import type { Database, Lane } from '../database.ts'
import { trackInFlight } from '../in-flight.ts'
import type { Tables } from '../schema/tables.ts'
import type { LockName, Store } from '../store.ts'
import { durabilityWarnings, lostCommitsFinder } from './durability.ts'
import { codeOf, openPools, readOnly, turns } from './pools.ts'

export interface PostgresOptions {
  /** For one statement. */
  readonly timeoutMs: number
  /** How the name of the server is looked up; by default by the system. */
  readonly lookup?: LookupFunction | undefined
  /** Replaces the server's clock in tests. */
  readonly now?: (() => number) | undefined
}

export async function postgresStore(url: string, { timeoutMs, lookup, now }: PostgresOptions): Promise<Store> {
  const { waits, ...pools } = openPools(url, timeoutMs, lookup)
  const over = (lane: Lane): Database => new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pools[lane] }) })
  const databases = { usual: over('usual'), result: over('result') }
  const database = over('read')
  const warnings = await durabilityWarnings(database)
  const { track, idle } = trackInFlight()
  return {
    database,
    write: (work, priority = 'usual') =>
      track(withRetries(() => databases[priority].transaction().setIsolationLevel('read committed').execute(work))),
    writeOne: (work, priority = 'usual') => track(again(() => work(databases[priority]))),
    waits,
    turns,
    warnings,
    findLostCommits: lostCommitsFinder(database),
    types: {
      integer: 'bigint',
      text: 'text collate "C"',
      identity: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
      hasClock: true,
    },
    clock: serverClock(now),
    databaseTimeMs: sql`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
    isIn: (column, list) => sql`${sql.ref(column)} = any(${list})`,
    listed: (list) => sql`unnest(${list}::text[]) as listed (value)`,
    toList: (texts) => texts,
    lock: async (within, what) => void (await sql`select pg_advisory_xact_lock(${sql.lit(locks[what])})`.execute(within)),
    lockId: async (within, id) => void (await sql`select pg_advisory_xact_lock(hashtextextended(${id}, 0))`.execute(within)),
    close: async () => {
      await idle()
      await Promise.all([database, databases.usual, databases.result].map((each) => each.destroy()))
    },
  }
}

/** Arbitrary numbers that no other program uses. */
const locks: Readonly<Record<LockName, number>> = {
  schema: 7_927_081_172_026,
  overrides: 7_927_081_172_027,
  mismatches: 7_927_081_172_028,
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
