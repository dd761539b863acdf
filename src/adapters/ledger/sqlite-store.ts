/** Kysely: the store in one SQLite file. One connection writes, another reads what is committed and waits for nobody. */
import { Kysely, sql } from 'kysely'
import { openSqlite, sqliteDialect } from './sqlite.ts'
import type { Store } from './store.ts'
import type { Tables } from './tables.ts'

/** `:memory:` keeps nothing, and reads and writes over one connection. */
export async function sqliteStore(file: string): Promise<Store> {
  const writing = new Kysely<Tables>({ dialect: sqliteDialect(await openSqlite(file)) })
  const reading = file === ':memory:' ? writing : new Kysely<Tables>({ dialect: sqliteDialect(await openSqlite(file)) })
  return {
    database: reading,
    write: (work) => writing.transaction().execute(work),
    types: { whole: 'integer', text: 'text' },
    isAmong: (column, list) => sql`${sql.ref(column)} in (select value from json_each(${list}))`,
    toList: (texts) => JSON.stringify(texts),
    lockSchema: async () => {}, // whoever writes is alone
    close: async () => {
      await reading.destroy()
      if (reading !== writing) await writing.destroy()
    },
  }
}
