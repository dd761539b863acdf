/** Kysely: what a ledger has of the schema, and how it gets the rest. */
import { setTimeout as delay } from 'node:timers/promises'
import { SqliteIntrospector, sql } from 'kysely'
import type { Database } from '../database.ts'
import type { Store } from '../store.ts'
import { firstSchema, firstSchemaName } from './first-schema.ts'
import { type Step, schemaNumber, steps } from './steps.ts'

const first: Step = { schema: 1, kind: 'expand', statements: firstSchema }

/** Of a ledger that does not exist. */
export function allSteps(): readonly string[] {
  return [firstSchemaName, ...Object.keys(steps)]
}

/** Whether the ledger has a step. */
export interface KnownSteps {
  /**
   * By the last reading. A step that is not there is looked for again at most every two seconds: another process may migrate the ledger
   * at any time. One that is there stays.
   */
  readonly has: (name: string) => boolean
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
 * Throws, without a change, if the store has a schema that this version does not run on, or if it is empty and may not be. Each step
 * runs whole or not at all.
 */
export async function migrate(store: Store, options: MigrationOptions): Promise<Migrated> {
  const { mustExist, mayMake, mayMigrate } = options
  const before = await readSchema(store.database)
  const { newLedger, newTables } = store.obstacles ?? {}
  if (before.isNew && newLedger !== undefined) throw new Error(newLedger)
  if (before.isNew && mustExist) throw new Error(mustExistMessage)
  if (before.isNew && !mayMake) throw new MissingLedger(missingMessage)
  if (!before.isNew && !mayMigrate) {
    if (before.schema < schemaNumber() - 1) throw new Error(tooOldMessage)
    return { isNew: false, migrations: [], missing: before.missing }
  }
  const named = before.isUnnamed && (await nameFirstSchema(store)) ? [firstSchemaName] : []
  if (before.missing.length === 0) return { isNew: false, migrations: named, missing: [] }
  if (newTables !== undefined) throw new Error(newTables)
  const { migrations, ...ran } = await runSteps(store)
  return { ...ran, migrations: [...named, ...migrations] }
}

export const mustExistMessage = 'it does not exist, and ledger.mustExist is true; correct ledger.url, or mount its volume'
export const missingMessage = 'it does not exist; run swapgate ledger migrate, which makes it'
const tooOldMessage = 'an older swapgate has migrated it: start the gateway of this version, or run swapgate ledger migrate'

/** The error of a store that is empty and may not be. */
export class MissingLedger extends Error {}

interface SchemaState {
  readonly isNew: boolean
  /** Whether it has schema 1 without its name. */
  readonly isUnnamed: boolean
  /** The number of the last schema that it has whole; 0: less than the first one. */
  readonly schema: number
  /** In the order in which it gets them. */
  readonly missing: readonly string[]
}

/** Throws if a version has migrated the store whose schema is not the next one at most. */
export async function readSchema(database: Database): Promise<SchemaState> {
  const recorded = await recordedSteps(database)
  const has = (name: string): boolean => recorded.some((step) => step.name === name)
  const isUnnamed = stepsOfFirstSchema.every(has) && !has(firstSchemaName)
  if (!isUnnamed && !has(firstSchemaName)) {
    if (await hasTable(database, 'kysely_migration')) throw new Error(unfinishedMessage)
    return { isNew: true, isUnnamed: false, schema: 0, missing: allSteps() }
  }
  const ahead = isUnnamed ? undefined : recorded.find(({ schema }) => schema > schemaNumber() + 1)
  if (ahead) throw new Error(tooNewMessage(ahead.schema))
  const missing = Object.keys(steps).filter((name) => !has(name))
  const firstMissing = Math.min(...missing.map((name) => (steps[name] as Step).schema), schemaNumber() + 1)
  return { isNew: false, isUnnamed, schema: firstMissing - 1, missing }
}

function tooNewMessage(schema: number): string {
  const [lowest, own] = [Math.max(1, schemaNumber() - 1), schemaNumber()]
  return `a newer swapgate has migrated it ("schema ${schema}"): start that version, or one between; this one has schema ${own}, and runs on ${lowest} to ${own + 1}`
}

// A ledger of a build before schema 1, which had the same tables when all of these steps had run.

const unfinishedMessage =
  'a build from before 2026-11-30 has made it: run swapgate ledger migrate of the build of that day first, and then start this one'

const stepsOfFirstSchema: readonly string[] = [
  'room for updates',
  'create requests',
  'unknown reasons',
  'settlements',
  'restores',
  'found order keys',
  'background jobs',
  'timeline',
  'firm quotes',
  'swap actions',
  'key access',
  'room for responses',
  'transaction events',
  'watches',
  'webhooks',
  'usage',
  'restore marks',
  'payable swaps',
  'primary keys',
]

/**
 * Returns whether this process has done it. Where these tables cannot be written a start goes on without; the builds before schema 1 refuse
 * a ledger with a name that they do not know.
 */
async function nameFirstSchema(store: Store): Promise<boolean> {
  try {
    return await store.write(async (within) => {
      await store.lock(within, 'schema')
      if (!(await readSchema(within)).isUnnamed) return false
      await sql`delete from schema_steps where name in (${sql.join(stepsOfFirstSchema)})`.execute(within)
      await record(store, within, firstSchemaName, first)
      await sql`insert into kysely_migration (name, timestamp) values (${firstSchemaName}, ${new Date().toISOString()})`.execute(
        within,
      )
      return true
    })
  } catch (reason) {
    if (notWritable.includes(codeOf(reason))) return false
    throw reason
  }
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

/**
 * Kysely's introspection would read every table with its columns, for each step. PostgreSQL's `to_regclass` may not see a table that was
 * committed while this transaction waited for a lock: its session has noted that there is none.
 */
async function hasTable(database: Database, table: string): Promise<boolean> {
  const found =
    database.introspection instanceof SqliteIntrospector
      ? sql`select 1 from sqlite_schema where type = 'table' and name = ${table}`
      : sql`select 1 from pg_tables where schemaname = current_schema() and tablename = ${table}`
  return (await found.execute(database)).rows.length > 0
}

/** A step that waits longer for a table stops what waits behind it for as long. */
const lockTimeoutMs = 500
const maxAttempts = 5
const pauseMs = 300

/** Runs each step that is missing. One whose table stays locked is left out, with those after it. */
async function runSteps(store: Store): Promise<Migrated> {
  const migrations: string[] = []
  const isNew = (): boolean => migrations.includes(firstSchemaName)
  for (const name of allSteps()) {
    const result = await runStep(store, name)
    if (result === 'locked') return { isNew: isNew(), migrations, missing: (await readSchema(store.database)).missing }
    if (result === 'ran') migrations.push(name)
  }
  return { isNew: isNew(), migrations, missing: [] }
}

/** Throws if the version does not run without the step. */
async function runStep(store: Store, name: string): Promise<'ran' | 'was there' | 'locked'> {
  const step = steps[name] ?? first
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.write((within) => runMissing(store, within, name, step))
    } catch (reason) {
      if (codeOf(reason) !== notLocked) throw reason
      if (attempt === maxAttempts && (step === first || step.schema < schemaNumber())) throw reason
      if (attempt === maxAttempts) return 'locked'
      await delay(pauseMs)
    }
  }
}

// Not by Kysely's migrator: it sets `lock_timeout` itself, and the lock that it takes stays with the connection after a failure.
async function runMissing(store: Store, within: Database, name: string, step: Step): Promise<'ran' | 'was there'> {
  const { types } = store
  await store.lock(within, 'schema')
  const recorded = await recordedSteps(within)
  if (recorded.some((other) => other.name === name)) return 'was there'
  const table = `CREATE TABLE IF NOT EXISTS schema_steps (
    name ${types.text} PRIMARY KEY, schema ${types.integer} NOT NULL, kind ${types.text} NOT NULL, ran_at ${types.integer} NOT NULL
  )`
  await sql.raw(table).execute(within)
  if (types.hasClock) await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(within)
  for (const statement of step.statements(types)) await sql.raw(statement).execute(within)
  await record(store, within, name, step)
  return 'ran'
}

async function record({ databaseTimeMs }: Store, within: Database, name: string, { schema, kind }: Step): Promise<void> {
  await sql`insert into schema_steps (name, schema, kind, ran_at)
    values (${name}, ${schema}, ${kind}, ${databaseTimeMs})`.execute(within)
}

/** PostgreSQL's lock_not_available. */
const notLocked = '55P03'
/** Its insufficient_privilege and read_only_sql_transaction. */
const notWritable: readonly unknown[] = ['42501', '25006']

function codeOf(reason: unknown): unknown {
  return (reason as { readonly code?: unknown }).code
}
