/** Kysely: the store in one SQLite file. One connection writes; another reads committed data without waiting. */
import { uptime } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import { Kysely, sql } from 'kysely'
import { fixedClock, uptimeClock } from '../clock.ts'
import type { Write } from '../database.ts'
import { trackInFlight } from '../in-flight.ts'
import type { Tables } from '../schema/tables.ts'
import type { Store } from '../store.ts'
import { openSqlite, sqliteDialect } from './dialect.ts'
import { groupCommit, maxPerCommit } from './group-commit.ts'

/** A reader waits for a lock only while another process recovers from a crash. */
const recoveryTimeoutMs = 1_000

/** The database's clock in milliseconds since 1970. */
export const sqliteTimeMs = sql<number>`cast(unixepoch('subsec') * 1000 as integer)`

/** `now`: replaces the ledger's clock in tests. */
export async function sqliteStore(file: string, now?: () => number): Promise<Store> {
  const writing = await openSqlite(file, 0)
  const reading = await openSqlite(file, recoveryTimeoutMs)
  return { ...(await storeOf(writing, reading, now)), dataVersion: dataVersionOf(reading) }
}

/** Changes with every commit of another connection, in this process or another one (https://sqlite.org/pragma.html#pragma_data_version). */
function dataVersionOf(reading: DatabaseSync): () => number {
  const statement = reading.prepare('PRAGMA data_version')
  return () => Number(statement.get()?.data_version)
}

/** The two connections may be one. */
export async function storeOf(writing: DatabaseSync, reading: DatabaseSync, now?: () => number): Promise<Store> {
  const writer = new Kysely<Tables>({ dialect: sqliteDialect(writing) })
  const reader = reading === writing ? writer : new Kysely<Tables>({ dialect: sqliteDialect(reading) })
  await sql`select 1`.execute(reader)
  const { track, idle } = trackInFlight()
  const { commit, waitMs } = groupCommit(writer)
  const write: Write = (work, priority) => track(commit(work, priority))
  const clock = now ? fixedClock(now) : uptimeClock(reader, write)
  return {
    database: reader,
    write,
    writeOne: write,
    types: { integer: 'integer', text: 'text', identity: 'integer PRIMARY KEY AUTOINCREMENT', hasClock: false },
    clock,
    databaseTimeMs: sqliteTimeMs,
    uptimeMs: () => Math.round(uptime() * 1000),
    isIn: (column, list) => sql`${sql.ref(column)} in (select value from json_each(${list}))`,
    listed: (list) => sql`json_each(${list}) as listed`,
    toList: (texts) => JSON.stringify(texts),
    waits: () => ({ readMs: 0, writeMs: waitMs() }),
    // One commit waits while another is written. Reads are calls that return at once.
    turns: { creates: 2 * maxPerCommit, reads: Number.POSITIVE_INFINITY },
    warnings: [],
    findLostCommits: async () => undefined,
    lock: async () => {}, // SQLite has only one writer
    lockId: async () => {},
    close: async () => {
      await clock.stop()
      await idle()
      await reader.destroy()
      if (reader !== writer) await writer.destroy()
    },
  }
}
