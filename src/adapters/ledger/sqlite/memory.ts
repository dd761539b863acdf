/** node:sqlite: stores in memory, copies of an empty one. Embedded gateways and tests open many, and a migration takes 5 ms. */
import { memoize } from '../../../domain/async.ts'
import { migrate } from '../schema/migrate.ts'
import type { Store } from '../store.ts'
import { openSqlite } from './dialect.ts'
import { storeOf } from './store.ts'

const memory = ':memory:'
/** The copy has the time at which its original was made. */
const startClock = 'UPDATE clock SET time = unixepoch() * 1000'

/**
 * Returns a function that opens a migrated store, each a copy of one that the first call makes. It uses one connection for reads and
 * writes. `now`: replaces the ledger's clock in tests.
 */
export function memoryStores(): (now?: () => number) => Promise<Store> {
  const image = memoize(emptyImage)
  return async (now) => {
    const copied = await image()
    const database = await openSqlite(memory, 0)
    database.deserialize(copied)
    database.exec(startClock)
    return await storeOf(database, database, now)
  }
}

/** The bytes of a migrated store without rows. */
async function emptyImage(): Promise<Uint8Array> {
  const database = await openSqlite(memory, 0)
  const store = await storeOf(database, database)
  try {
    await migrate(store, false)
    return database.serialize()
  } finally {
    await store.close()
  }
}
