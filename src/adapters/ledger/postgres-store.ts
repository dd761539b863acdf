/** Kysely: the store in PostgreSQL, which many gateways share. */
import { Kysely, PostgresDialect, sql } from 'kysely'
import { serverClock } from './clock.ts'
import { codeOf, openPool } from './postgres.ts'
import { running } from './running.ts'
import type { Database, Store } from './store.ts'
import type { Tables } from './tables.ts'

/** `timeout`: for one statement, in milliseconds. `now`: in place of the server's clock. */
export async function postgresStore(url: string, timeout: number, now?: () => number): Promise<Store> {
  const database: Database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openPool(url, timeout) }) })
  await sql`select 1`.execute(database)
  const { track, ended } = running()
  return {
    database,
    write: (work) => track(persistently(() => database.transaction().setIsolationLevel('read committed').execute(work))),
    writeOne: (work) => track(work(database)),
    types: { whole: 'bigint', text: 'text collate "C"', hasClock: true },
    clock: serverClock(now),
    isAmong: (column, list) => sql`${sql.ref(column)} = any(${list})`,
    toList: (texts) => texts,
    lockSchema: async (within) => void (await sql`select pg_advisory_xact_lock(${sql.lit(schemaLock)})`.execute(within)),
    close: async () => {
      await ended()
      await database.destroy()
    },
  }
}

/** Any number that no other program takes. */
const schemaLock = 7_927_081_172_026
const attempts = 5
/** Serialization failure, deadlock, and a unique key that another transaction took in the meantime. */
const momentary = new Set(['40001', '40P01', '23505'])

/** Another transaction came between: the next try finds what it has left. */
async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (reason) {
      if (attempt === attempts || !momentary.has(codeOf(reason) ?? '')) throw reason
    }
  }
}
