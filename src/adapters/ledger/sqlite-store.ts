/** Kysely: the store in one SQLite file. One connection writes, another reads what is committed and waits for nobody. */
import { Kysely, sql } from 'kysely'
import { groupCommit } from './group-commit.ts'
import { running } from './running.ts'
import { openSqlite, sqliteDialect } from './sqlite.ts'
import type { Store } from './store.ts'
import type { Tables } from './tables.ts'

/** `:memory:` keeps nothing, and reads and writes over one connection. */
export async function sqliteStore(file: string): Promise<Store> {
  const writing = new Kysely<Tables>({ dialect: sqliteDialect(await openSqlite(file)) })
  const reading = file === ':memory:' ? writing : new Kysely<Tables>({ dialect: sqliteDialect(await openSqlite(file)) })
  await sql`select 1`.execute(reading)
  const { track, ended } = running()
  const commit = groupCommit(writing)
  const write: Store['write'] = (work) => track(commit(work))
  return {
    database: reading,
    write,
    writeOne: write,
    types: { whole: 'integer', text: 'text' },
    isAmong: (column, list) => sql`${sql.ref(column)} in (select value from json_each(${list}))`,
    toList: (texts) => JSON.stringify(texts),
    lockSchema: async () => {}, // whoever writes is alone
    close: async () => {
      await ended()
      await reading.destroy()
      if (reading !== writing) await writing.destroy()
    },
  }
}
