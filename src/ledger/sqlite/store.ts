/** Kysely: the store in one SQLite file. One connection writes; another reads committed data without waiting. */

import { existsSync } from 'node:fs'
import { stat, statfs } from 'node:fs/promises'
import { uptime } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { Kysely, sql } from 'kysely'
import type { StoredOverride } from '../../core/operations/settings.ts'
import type { AssetCount, DestinationCount, OpenCount } from '../../core/ports/ledger-admin.ts'
import type { TagRecord } from '../../core/routing/tag-records.ts'
import { memoize } from '../../domain/async.ts'
import type { OnTrouble } from '../../domain/store-trouble.ts'
import { countNetworkKeys } from '../accounts.ts'
import { type Database, fixedClock, type Priority, uptimeClock, type Write } from '../database.ts'
import { troubleOf } from '../diagnosis.ts'
import { assetCounts, destinationCounts, openCounts } from '../open-transactions.ts'
import { readAllOverrides } from '../operations.ts'
import { readTagRecords, type StoredRows, storedLists } from '../provider-records.ts'
import { knownSteps, migrate } from '../schema/migrate.ts'
import type { Tables } from '../schema/tables.ts'
import { type LedgerCapacity, NewEvents, type Store, trackInFlight } from '../store.ts'
import { sealedSecrets } from '../webhooks.ts'
import { openSqlite, sqliteDialect } from './dialect.ts'

/** A reader waits for a lock only while another process recovers from a crash. */
const recoveryTimeoutMs = 1_000

/** The database's clock in milliseconds since 1970. */
export const sqliteTimeMs = sql<number>`cast(unixepoch('subsec') * 1000 as integer)`

interface SqliteOptions {
  /** Replaces the ledger's clock in tests. */
  readonly now?: (() => number) | undefined
  /** Gets one line each time a commit fails because of the file or its disk. */
  readonly onTrouble?: OnTrouble | undefined
}

export async function sqliteStore(file: string, options: SqliteOptions = {}): Promise<Store> {
  const writing = await openSqlite(file, 0)
  const reading = await openSqlite(file, recoveryTimeoutMs)
  return { ...(await storeOf(writing, reading, options)), dataVersion: dataVersionOf(reading), capacity: () => capacityOf(file) }
}

/** With the log of writes beside the file. */
async function capacityOf(file: string): Promise<LedgerCapacity> {
  const [{ bsize, blocks, bavail }, ...files] = await Promise.all([
    statfs(file),
    stat(file),
    stat(`${file}-wal`).catch(() => ({ size: 0 })),
  ])
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  return { bytes, volume: { bytes: blocks * bsize, availableBytes: bavail * bsize } }
}

/** Changes with every commit of another connection, in this process or another one (https://sqlite.org/pragma.html#pragma_data_version). */
function dataVersionOf(reading: DatabaseSync): () => number {
  const statement = reading.prepare('PRAGMA data_version')
  return () => Number(statement.get()?.data_version)
}

/** The two connections may be one. */
export async function storeOf(
  writing: DatabaseSync,
  reading: DatabaseSync,
  { now, onTrouble }: SqliteOptions = {},
): Promise<Store> {
  const writer = new Kysely<Tables>({ dialect: sqliteDialect(writing) })
  const reader = reading === writing ? writer : new Kysely<Tables>({ dialect: sqliteDialect(reading) })
  // Kysely closes what it has used.
  for (const each of [writer, reader]) await sql`select 1`.execute(each)
  const { track, idle } = trackInFlight()
  const { commit, waitMs } = groupCommit(writer, (reason) => onTrouble?.(troubleOf(reason)))
  const newEvents = new NewEvents()
  const write = newEvents.watch((work, priority) => track(commit(work, priority)))
  const clock = now ? fixedClock(now) : uptimeClock(reader, write)
  const { has, read: readSteps } = knownSteps(reader)
  return {
    database: reader,
    write,
    writeOne: write,
    newEvents,
    newDeliveries: new NewEvents(),
    types: { integer: 'integer', text: 'text', identity: 'integer PRIMARY KEY AUTOINCREMENT', hasClock: false },
    has,
    readSteps,
    clock,
    databaseTimeMs: sqliteTimeMs,
    uptimeMs: () => Math.round(uptime() * 1000),
    isIn: (column, list) => sql`${sql.ref(column)} in (select value from json_each(${list}))`,
    listed: (list) => sql`json_each(${list}) as listed`,
    recordset(json, columns) {
      const members = Object.keys(columns).map((name) => sql`value ->> ${sql.lit(name)} as ${sql.ref(name)}`)
      return sql`(select ${sql.join(members)} from json_each(${json})) as input`
    },
    toList: (texts) => JSON.stringify(texts),
    waits: () => ({ readMs: 0, writeMs: waitMs() }),
    capacity: async () => ({ bytes: 0 }),
    // One commit waits while another is written. Reads are calls that return at once.
    turns: { creates: 2 * maxPerCommit, reads: Number.POSITIVE_INFINITY },
    warnings: [],
    findLostCommits: async () => undefined,
    confirmEarlier: async () => {},
    lock: async () => {}, // SQLite has only one writer
    tryLock: async () => true,
    lockId: async () => {},
    close: async () => {
      await clock.stop()
      await idle()
      await reader.destroy()
      if (reader !== writer) await writer.destroy()
    },
  }
}

// Kysely: commits concurrent transactions together, with one flush to the disk.

/** The number of tasks per commit, so that other work of the process is not blocked for long. */
export const maxPerCommit = 32

interface Task {
  readonly since: number
  /** Returns what to do after the commit. */
  readonly run: (within: Database) => Promise<() => void>
  readonly fail: (reason: unknown) => void
}

export interface GroupCommit {
  readonly commit: Write
  /** How long the first task without priority has waited. */
  readonly waitMs: () => number
}

/** Each task commits or fails on its own. Only an error of the whole commit, such as a full disk, fails all tasks: `onFailure` gets it. */
export function groupCommit(database: Database, onFailure: (reason: unknown) => void = () => {}): GroupCommit {
  const tasks: Tasks = { result: [], usual: [] }
  let isWriting = false
  const writeAll = async (): Promise<void> => {
    isWriting = true
    while (tasks.result.length + tasks.usual.length > 0) {
      await commit(database, tasks, onFailure)
      await pause()
    }
    isWriting = false
  }
  return {
    commit: (work, priority = 'usual') =>
      new Promise((resolve, reject) => {
        const run = async (within: Database) => {
          const result = await work(within)
          return () => resolve(result)
        }
        tasks[priority].push({ run, fail: reject, since: performance.now() })
        if (!isWriting) void writeAll()
      }),
    waitMs() {
      const [first] = tasks.usual
      return first ? performance.now() - first.since : 0
    },
  }
}

type Tasks = Readonly<Record<Priority, Task[]>>

/** The next tasks, results first. */
function takeTasks({ result, usual }: Tasks, maxPerCommit: number): readonly Task[] {
  const results = result.splice(0, maxPerCommit)
  return [...results, ...usual.splice(0, maxPerCommit - results.length)]
}

/** Takes the tasks once it has the lock: more may have arrived while it waited. */
async function commit(database: Database, tasks: Tasks, onFailure: (reason: unknown) => void): Promise<void> {
  let taken: readonly Task[] = []
  try {
    const callbacks = await database.transaction().execute((within) => {
      taken = takeTasks(tasks, maxPerCommit)
      return runEach(within, taken)
    })
    for (const end of callbacks) end()
  } catch (reason) {
    onFailure(reason)
    for (const { fail } of taken.length > 0 ? taken : takeTasks(tasks, Number.POSITIVE_INFINITY)) fail(reason)
  }
}

async function runEach(within: Database, tasks: readonly Task[]): Promise<readonly (() => void)[]> {
  const callbacks: (() => void)[] = []
  for (const { run, fail } of tasks) {
    await sql`savepoint task`.execute(within)
    try {
      callbacks.push(await run(within))
    } catch (reason) {
      await sql`rollback to task`.execute(within).catch(() => Promise.reject(reason))
      callbacks.push(() => fail(reason))
    }
    await sql`release task`.execute(within)
  }
  return callbacks
}

// node:sqlite: stores in memory, copies of an empty one. Embedded gateways and tests open many, and a migration takes 5 ms.

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
    return await storeOf(database, database, { now })
  }
}

/** The bytes of a migrated store without rows. */
async function emptyImage(): Promise<Uint8Array> {
  const database = await openSqlite(memory, 0)
  const store = await storeOf(database, database)
  try {
    await migrate(store, { mustExist: false, mayMake: true, mayMigrate: true })
    return database.serialize()
  } finally {
    await store.close()
  }
}

// Kysely: reads a ledger that may be in use or of another version, without creating, changing or waiting.

export interface LedgerInspection {
  readonly tags: readonly TagRecord[]
  readonly openCounts: readonly OpenCount[]
  readonly destinationCounts: readonly DestinationCount[]
  readonly assetCounts: readonly AssetCount[]
  readonly overrides: readonly StoredOverride[]
  /** Keys in use that are valid from some networks only. */
  readonly networkKeys: number
  readonly accountNames: readonly string[]
  readonly currencyLists: readonly StoredRows[]
  /** Of webhooks, encrypted. */
  readonly sealedSecrets: Awaited<ReturnType<typeof sealedSecrets>>
}

export async function inspect(
  store: Pick<Store, 'database' | 'databaseTimeMs'>,
  tags: readonly string[],
): Promise<LedgerInspection> {
  return {
    tags: await readTagRecords(store.database, tags),
    openCounts: await openCounts(store),
    destinationCounts: await destinationCounts(store.database),
    assetCounts: await assetCounts(store.database),
    overrides: await readAllOverrides(store.database),
    networkKeys: await countNetworkKeys(store.database),
    accountNames: (await store.database.selectFrom('accounts').select('name').execute()).map(({ name }) => name),
    currencyLists: await storedLists(store.database).catch(() => []), // nothing depends on them
    sealedSecrets: await sealedSecrets(store.database),
  }
}

/** Throws if the file does not exist or cannot be read in this way. */
export async function readSqlite<T>(file: string, read: (database: Database) => Promise<T>): Promise<T> {
  const location = pathToFileURL(file)
  // Without a write-ahead log the file is complete. In normal mode SQLite would create an empty log.
  if (!existsSync(`${file}-wal`)) location.searchParams.set('immutable', '1')
  const database = new Kysely<Tables>({ dialect: sqliteDialect(new DatabaseSync(location, { readOnly: true, timeout: 0 })) })
  try {
    return await read(database)
  } finally {
    await database.destroy()
  }
}
