/** Kysely: the store in one SQLite file. One connection writes, another reads what is committed and waits for nobody. */
import { uptime } from 'node:os'
import { Kysely, sql } from 'kysely'
import { fixedClock, runningClock } from './clock.ts'
import { groupCommit } from './group-commit.ts'
import { running } from './running.ts'
import { openSqlite, sqliteDialect } from './sqlite.ts'
import type { Store } from './store.ts'
import type { Tables } from './tables.ts'

/** A reader meets a lock only while another process mends what a crash has left, in milliseconds. */
const recovery = 1_000

/** `:memory:` keeps nothing, and reads and writes over one connection. `now`: in place of the ledger's own clock. */
export async function sqliteStore(file: string, now?: () => number): Promise<Store> {
  const writing = new Kysely<Tables>({ dialect: sqliteDialect(await openSqlite(file, 0)) })
  const reading = file === ':memory:' ? writing : new Kysely<Tables>({ dialect: sqliteDialect(await openSqlite(file, recovery)) })
  await sql`select 1`.execute(reading)
  const { track, ended } = running()
  const { commit, waitMs } = groupCommit(writing)
  const write: Store['write'] = (work, priority) => track(commit(work, priority))
  const clock = now ? fixedClock(now) : runningClock(reading, write)
  return {
    database: reading,
    write,
    writeOne: write,
    types: { whole: 'integer', text: 'text', hasClock: false },
    clock,
    databaseTime: sql`cast(unixepoch('subsec') * 1000 as integer)`,
    uptime: () => Math.round(uptime() * 1000),
    isAmong: (column, list) => sql`${sql.ref(column)} in (select value from json_each(${list}))`,
    listed: (list) => sql`json_each(${list}) as listed`,
    toList: (texts) => JSON.stringify(texts),
    waits: () => ({ readMs: 0, writeMs: waitMs() }),
    lockSchema: async () => {}, // whoever writes is alone
    close: async () => {
      await clock.stop()
      await ended()
      await reading.destroy()
      if (reading !== writing) await writing.destroy()
    },
  }
}
