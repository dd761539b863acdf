/** Kysely: migrates a store to the schema of this version. */
import { Migrator } from 'kysely/migration'
import type { Database } from '../database.ts'
import type { Store } from '../store.ts'
import { migrations } from './migrations.ts'

/** Runs all missing steps or none. Throws, without a change, if a newer version has migrated the store. */
export async function migrate(store: Store): Promise<void> {
  const steps = migrations(store.types)
  await store.write(async (within) => {
    await store.lock(within, 'schema')
    await refuseNewer(within, Object.keys(steps))
    const migrator = new Migrator({ db: within, provider: { getMigrations: async () => steps } })
    const { error } = await migrator.migrateToLatest()
    if (error !== undefined) throw error
  })
}

async function refuseNewer(within: Database, known: readonly string[]): Promise<void> {
  const tables = await within.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === 'kysely_migration')) return
  const done = within.withTables<{ kysely_migration: { name: string } }>().selectFrom('kysely_migration').select('name')
  const strange = (await done.execute()).find(({ name }) => !known.includes(name))
  if (!strange) return
  throw new Error(`a newer swapgate has migrated it ("${strange.name}"): start that version, or restore an older backup`)
}
