/** Kysely: what a ledger has of the schema, and how it gets the rest. */
import { setTimeout as delay } from 'node:timers/promises'
import { SqliteIntrospector, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import type { Database } from '../database.ts'
import type { Store } from '../store.ts'
import { migrations } from './migrations.ts'
import { type StepName, schemaNumber, steps } from './steps.ts'

const firstMigrations = Object.keys(migrations({ integer: '', text: '', identity: '', hasClock: false }))
const stepNames = Object.keys(steps) as readonly StepName[]

/** Of a ledger that does not exist. */
export function allSteps(): readonly string[] {
  return [...firstMigrations, ...stepNames]
}

/** Whether the ledger has a step. */
export interface KnownSteps {
  /**
   * By the last reading. A step that is not there is looked for again at most every two seconds: another process may migrate the ledger
   * at any time. One that is there stays.
   */
  readonly has: (name: StepName) => boolean
  readonly read: () => Promise<void>
}

const rereadAfterMs = 2_000

export function knownSteps(database: Database): KnownSteps {
  let recorded: ReadonlySet<string> = new Set()
  let readAt = Number.NEGATIVE_INFINITY
  const read = async (): Promise<void> => {
    readAt = performance.now()
    recorded = new Set((await recordedSteps(database)).map(({ name }) => name))
  }
  return {
    has(name) {
      const isThere = recorded.has(name)
      if (!isThere && performance.now() - readAt > rereadAfterMs) read().catch(() => {})
      return isThere
    },
    read,
  }
}

export interface MigrationOptions {
  /** Whether an empty store is an error. */
  readonly mustExist: boolean
  /** Whether an empty store gets the schema; else it is an error. */
  readonly mayMake: boolean
  /** Whether a store gets what it lacks of the schema; else it is an error if this version does not run without that. */
  readonly mayMigrate: boolean
}

export interface Migrated {
  /** Whether the store was empty. */
  readonly isNew: boolean
  /** What ran. */
  readonly migrations: readonly string[]
  /** What the store lacks of the schema of this version, which runs without it. */
  readonly missing: readonly string[]
}

/**
 * Throws, without a change, if the store has a schema that this version does not run on, or if it is empty and may not be. The
 * migrations of schema 1 run all or none; each step after them by itself.
 */
export async function migrate(store: Store, options: MigrationOptions): Promise<Migrated> {
  const { mustExist, mayMake, mayMigrate } = options
  const before = await readSchema(store.database)
  if (before.isNew && mustExist) throw new Error(mustExistMessage)
  if (before.isNew && !mayMake) throw new MissingLedger(missingMessage)
  if (!before.isNew && !mayMigrate) {
    if (before.schema < schemaNumber - 1) throw new Error(tooOldMessage)
    return { isNew: false, migrations: [], missing: before.missing }
  }
  if (before.missing.length === 0) return { isNew: false, migrations: [], missing: [] }
  const first = await migrateFirstSchema(store)
  return { isNew: first.isNew, ...(await runSteps(store, first.migrations)) }
}

export const mustExistMessage = 'it does not exist, and ledger.mustExist is true; correct ledger.url, or mount its volume'
export const missingMessage = 'it does not exist; run swapgate ledger migrate, which makes it'
const tooOldMessage = 'an older swapgate has migrated it: start the gateway of this version, or run swapgate ledger migrate'

/** The error of a store that is empty and may not be. */
export class MissingLedger extends Error {}

interface SchemaState {
  readonly isNew: boolean
  /** The number of the last schema that it has whole; 0: less than the first one. */
  readonly schema: number
  /** In the order in which it gets them. */
  readonly missing: readonly string[]
}

/** Throws if a version has migrated the store whose schema is not the next one at most. */
export async function readSchema(database: Database): Promise<SchemaState> {
  const hasFirst = new Set(await recordedMigrations(database))
  const recorded = await recordedSteps(database)
  const strange = [...hasFirst].find((name) => !firstMigrations.includes(name))
  const ahead = recorded.find(({ schema }) => schema > schemaNumber + 1)
  if (strange !== undefined || ahead) throw new Error(tooNewMessage(strange ?? `schema ${ahead?.schema}`))
  const missingOfFirst = firstMigrations.filter((name) => !hasFirst.has(name))
  const missing = stepNames.filter((name) => !recorded.some((step) => step.name === name))
  const firstMissing = Math.min(...missing.map((name) => steps[name].schema), schemaNumber + 1)
  return {
    isNew: hasFirst.size === 0,
    schema: missingOfFirst.length > 0 ? 0 : firstMissing - 1,
    missing: [...missingOfFirst, ...missing],
  }
}

function tooNewMessage(name: string): string {
  return `a newer swapgate has migrated it ("${name}"): start that version, or one between; this one has schema ${schemaNumber}, and runs on ${schemaNumber - 1} to ${schemaNumber + 1}`
}

async function recordedMigrations(database: Database): Promise<readonly string[]> {
  if (!(await hasTable(database, 'kysely_migration'))) return []
  const { rows } = await sql<{ readonly name: string }>`select name from kysely_migration`.execute(database)
  return rows.map(({ name }) => name)
}

interface RecordedStep {
  readonly name: string
  readonly schema: number
}

/** Also those of the next schema. */
async function recordedSteps(database: Database): Promise<readonly RecordedStep[]> {
  if (!(await hasTable(database, 'schema_steps'))) return []
  const { rows } = await sql<RecordedStep>`select name, schema from schema_steps`.execute(database)
  return rows
}

/** Kysely's introspection would read every table with its columns, for each step. */
async function hasTable(database: Database, table: string): Promise<boolean> {
  const found =
    database.introspection instanceof SqliteIntrospector
      ? sql`select 1 from sqlite_schema where type = 'table' and name = ${table}`
      : sql`select 1 where to_regclass(${table}) is not null`
  return (await found.execute(database)).rows.length > 0
}

async function migrateFirstSchema(store: Store): Promise<Pick<Migrated, 'isNew' | 'migrations'>> {
  const all = migrations(store.types)
  return await store.write(async (within) => {
    await store.lock(within, 'schema')
    const { isNew } = await readSchema(within)
    const migrator = new Migrator({ db: within, provider: { getMigrations: async () => all } })
    const { error, results = [] } = await migrator.migrateToLatest()
    if (error !== undefined) throw error
    return { isNew, migrations: results.map(({ migrationName }) => migrationName) }
  })
}

/** A step that waits longer for a table stops what waits behind it for as long. */
const lockTimeoutMs = 500
const maxAttempts = 5
const pauseMs = 300

/** Runs each step that is missing. One whose table stays locked is left out, with those after it. */
async function runSteps(store: Store, migrations: readonly string[]): Promise<Pick<Migrated, 'migrations' | 'missing'>> {
  const ran = [...migrations]
  for (const name of stepNames) {
    const result = await runStep(store, name)
    if (result === 'locked') return { migrations: ran, missing: (await readSchema(store.database)).missing }
    if (result === 'ran') ran.push(name)
  }
  return { migrations: ran, missing: [] }
}

/** Throws if the version does not run without the step. */
async function runStep(store: Store, name: StepName): Promise<'ran' | 'was there' | 'locked'> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.write((within) => runMissing(store, within, name))
    } catch (reason) {
      if (!isLocked(reason)) throw reason
      if (attempt === maxAttempts && steps[name].schema < schemaNumber) throw reason
      if (attempt === maxAttempts) return 'locked'
      await delay(pauseMs)
    }
  }
}

// Not by Kysely's migrator: it sets `lock_timeout` itself, and the lock that it takes stays with the connection after a failure.
async function runMissing(store: Store, within: Database, name: StepName): Promise<'ran' | 'was there'> {
  const { types } = store
  const { schema, kind, statements } = steps[name]
  await store.lock(within, 'schema')
  const recorded = await recordedSteps(within)
  if (recorded.some((step) => step.name === name)) return 'was there'
  const table = `CREATE TABLE IF NOT EXISTS schema_steps (
    name ${types.text} PRIMARY KEY, schema ${types.integer} NOT NULL, kind ${types.text} NOT NULL, ran_at ${types.integer} NOT NULL
  )`
  await sql.raw(table).execute(within)
  if (types.hasClock) await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(within)
  for (const statement of statements(types)) await sql.raw(statement).execute(within)
  await sql`insert into schema_steps (name, schema, kind, ran_at)
    values (${name}, ${schema}, ${kind}, ${store.databaseTimeMs})`.execute(within)
  return 'ran'
}

/** PostgreSQL's lock_not_available. */
function isLocked(reason: unknown): boolean {
  return (reason as { readonly code?: unknown }).code === '55P03'
}
