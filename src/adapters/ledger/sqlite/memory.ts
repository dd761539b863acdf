/** node:sqlite: the store in memory, a copy of an empty one. Embedded gateways and tests open many, and a migration takes 5 ms. */
import { migrate } from '../schema/migrate.ts'
import type { Store } from '../store.ts'
import { openSqlite } from './dialect.ts'
import { storeOf } from './store.ts'

const memory = ':memory:'
/** Of a migrated store without rows, once for this process. */
let imaging: Promise<Uint8Array> | undefined

/** Migrated. Uses one connection for reads and writes. `now`: replaces the ledger's clock in tests. */
export async function memoryStore(now?: () => number): Promise<Store> {
  imaging ??= migratedImage()
  const database = await openSqlite(memory, 0)
  database.deserialize(await imaging)
  return await storeOf(database, database, now)
}

async function migratedImage(): Promise<Uint8Array> {
  const database = await openSqlite(memory, 0)
  const store = await storeOf(database, database)
  await migrate(store)
  const image = database.serialize()
  await store.close()
  return image
}
