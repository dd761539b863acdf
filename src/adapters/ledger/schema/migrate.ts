/** Kysely: migrates a store to the schema of this version. */
import { Migrator } from 'kysely/migration'
import type { Database } from '../database.ts'
import type { Store } from '../store.ts'
import { migrations } from './migrations.ts'

/**
 * Runs all missing steps or none. Returns whether the store was empty. Throws, without a change, if a newer version has migrated it,
 * or if it is empty and `mustExist`.
 */
export async function migrate(store: Store, mustExist: boolean): Promise<boolean> {
  const steps = migrations(store.types)
  return await store.write(async (within) => {
    await store.lock(within, 'schema')
    const isNew = !(await hasMigrations(within))
    if (isNew && mustExist) throw new Error(mustExistMessage)
    if (!isNew) await refuseNewer(within, Object.keys(steps))
    const migrator = new Migrator({ db: within, provider: { getMigrations: async () => steps } })
    const { error } = await migrator.migrateToLatest()
    if (error !== undefined) throw error
    return isNew
  })
}

export const mustExistMessage = 'it does not exist, and ledger.mustExist is true; correct ledger.url, or mount its volume'

async function hasMigrations(within: Database): Promise<boolean> {
  const tables = await within.introspection.getTables({ withInternalKyselyTables: true })
  return tables.some(({ name }) => name === 'kysely_migration')
}

async function refuseNewer(within: Database, known: readonly string[]): Promise<void> {
  const done = within.withTables<{ kysely_migration: { name: string } }>().selectFrom('kysely_migration').select('name')
  const strange = (await done.execute()).find(({ name }) => !known.includes(name))
  if (!strange) return
  throw new Error(`a newer swapgate has migrated it ("${strange.name}"): start that version, or restore an older backup`)
}
