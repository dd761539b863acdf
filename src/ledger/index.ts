/** The store of transactions, their owners and the keys of accounts: SQLite or PostgreSQL, by the URL. */
import { randomUUID } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import type { LookupFunction } from 'node:net'
import { dirname, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { LedgerWaits } from '../core/access/admission.ts'
import type { Accounts } from '../core/access/authentication.ts'
import type { FailedReadStore } from '../core/failed-reads.ts'
import type { SuspensionStore } from '../core/mismatch-streaks.ts'
import type { AuditLog } from '../core/operations/audit.ts'
import type { ReplicaFiguresStore } from '../core/operations/provider-figures.ts'
import type { OverrideStore } from '../core/operations/settings.ts'
import type { Ledger } from '../core/ports/ledger.ts'
import type { LedgerAdmin } from '../core/ports/ledger-admin.ts'
import type { RestoreStore } from '../core/ports/restores.ts'
import type { Retention } from '../core/ports/retention.ts'
import type { SwapActionStore } from '../core/ports/swap-actions.ts'
import type { EventStore } from '../core/ports/transaction-events.ts'
import type { UsageStore } from '../core/ports/usage.ts'
import type { WatchStore } from '../core/ports/watches.ts'
import type { WebhookStore } from '../core/ports/webhooks.ts'
import type { CurrencyListStore } from '../core/quotes/read-currency-list.ts'
import type { TagRecords } from '../core/routing/tag-records.ts'
import type { TimelineStore } from '../core/timelines.ts'
import { withDefault } from '../domain/async.ts'
import type { LostCommits } from '../domain/observation.ts'
import type { OnTrouble } from '../domain/store-trouble.ts'
import { accounts } from './accounts.ts'
import { ledgerAdmin } from './admin.ts'
import { type CreateProbe, createProbe } from './create-probe.ts'
import { creates } from './creates.ts'
import type { Database } from './database.ts'
import { diagnose, diagnoseCopy } from './diagnosis.ts'
import { entries } from './entries.ts'
import { firmQuotes } from './firm-quotes.ts'
import { lagMessage } from './fresh-reads.ts'
import { idempotencyKeys } from './idempotency-keys.ts'
import { suspensions } from './mismatch-streaks.ts'
import { openTransactions } from './open-transactions.ts'
import { auditLog, overrides, replicaFigures } from './operations.ts'
import { currencyLists, tagRecords } from './provider-records.ts'
import { restores } from './restores.ts'
import { retention } from './retention.ts'
import { allSteps, type Migrated, MissingLedger, migrate, missingMessage, mustExistMessage, readSchema } from './schema/migrate.ts'
import { backUpSqlite } from './sqlite/backup.ts'
import { inspect, type LedgerInspection, memoryStores, readSqlite, sqliteStore, sqliteTimeMs } from './sqlite/store.ts'
import type { LedgerCapacity, LedgerConnections, Store } from './store.ts'
import { swapActions } from './swap-actions.ts'
import { failedReads, timelines } from './timeline.ts'
import { transactionEvents } from './transaction-events.ts'
import { LedgerTurns } from './turns.ts'
import { usage } from './usage.ts'
import { watches } from './watches.ts'
import { deliveries } from './webhook-deliveries.ts'
import { webhooks } from './webhooks.ts'

export type { LedgerInspection } from './sqlite/store.ts'

export interface LedgerOptions {
  /** Timeout of one statement at a server. */
  readonly timeoutMs?: number
  /** Whether a ledger that does not exist is an error; else it is made, with a warning. */
  readonly mustExist?: boolean
  /** Whether a ledger that does not exist is made (default); else that is an error, or an empty one in memory takes its place. */
  readonly whenMissing?: 'make' | 'refuse' | 'show empty'
  /** Whether a ledger gets what it lacks of this version's schema (default); else that is off, or an error if this version does not run without. */
  readonly mayMigrate?: boolean
  /** The most connections of this process to a server; 13 by default. */
  readonly maxConnections?: number
  /** How the name of a server is looked up; by default by the system. */
  readonly lookup?: LookupFunction
  /** Gets one line each time something is wrong with the server or the file, or with the way to it: what, and what to set. */
  readonly onTrouble?: OnTrouble
  /** Accounts take turns, and what gets none in time is told; by default no call waits for others. */
  readonly onTurnRefused?: (work: 'create' | 'read') => void
  /** Replaces the clock of idempotency keys, in milliseconds, for tests. */
  readonly now?: () => number
}

export interface OpenLedger {
  readonly ledger: Ledger
  readonly accounts: Accounts
  readonly ledgerAdmin: LedgerAdmin
  readonly tags: TagRecords
  /** How long the first queued read and the first queued write have waited. */
  readonly waits: () => LedgerWaits
  /** Of a server; absent of a file. */
  readonly connections?: (() => LedgerConnections) | undefined
  readonly capacity: () => Promise<LedgerCapacity>
  /** How long the first read and the first create of an account have waited for their turn. */
  readonly turnWaits: (account: string) => LedgerWaits
  readonly currencyLists: CurrencyListStore
  readonly overrides: OverrideStore
  readonly suspensions: SuspensionStore
  readonly restores: RestoreStore
  readonly retention: Retention
  readonly audit: AuditLog
  readonly timelines: TimelineStore
  readonly failedReads: FailedReadStore
  readonly swapActions: SwapActionStore
  readonly events: EventStore
  readonly watches: WatchStore
  readonly webhooks: WebhookStore
  readonly replicaFigures: ReplicaFiguresStore
  readonly usage: UsageStore
  readonly createProbe: CreateProbe
  /** For the operator: about the server, and that the ledger is new. */
  readonly warnings: readonly string[]
  /** What ran of the schema when it was opened, and what it lacks. */
  readonly migrations: readonly string[]
  readonly missingSteps: readonly string[]
  /** Whether the server of the ledger has lost commits, or is another one, since the last call. */
  readonly findLostCommits: () => Promise<LostCommits | undefined>
  /**
   * Resolves once the ledger has answered on each connection that a create needs, and was probed: with warnings for the operator. Throws an
   * `Error` with one line for the operator if it does not answer within half a minute.
   */
  readonly warmUp: () => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

/**
 * Opens `sqlite:<path>`, `sqlite::memory:` or `postgres://…`, with this version's schema. Throws an `Error` with one line for the operator: the cause and what to do, without a credential.
 */
export async function openLedger(url: string, options: LedgerOptions = {}): Promise<OpenLedger> {
  const location = locationOf(url)
  try {
    const { store, isNew, migrations, missing } = await openStore(url, options)
    const made = isNew ? [`ledger.url: a new ledger was made: ${location}. If there was one before, this is not it`] : []
    const troubles = (store.troubles ?? []).map(({ message }) => `ledger.url: ${message}`)
    const assembled = assemble(store, options)
    const warnings = [...made, ...missingWarnings(missing, options), ...troubles, ...store.warnings]
    return {
      ...assembled,
      migrations,
      missingSteps: missing,
      warnings,
      warmUp: () =>
        askOnEachConnection(store)
          .then(() => store.tellUnconfirmed?.())
          .then(() => probe(store, assembled))
          .catch((reason) => {
            throw new Error(`The ledger in ${location} takes no creates: ${diagnose(reason)}.`)
          }),
    }
  } catch (reason) {
    throw new Error(`The ledger in ${location} cannot be opened: ${diagnose(reason)}.`)
  }
}

function missingWarnings(missing: readonly string[], { mayMigrate = true }: LedgerOptions): readonly string[] {
  if (missing.length === 0) return []
  const why = mayMigrate ? 'other sessions hold its tables' : 'ledger.migrate is manual'
  return [
    `ledger.migrate: the ledger lacks "${missing.join('", "')}", since ${why}: what needs it is off; run swapgate ledger migrate`,
  ]
}

/** A busy server takes longer for a connection than a request may wait. */
const maxWarmUpMs = 30_000
const warmUpPauseMs = 200
/** A commit may wait for a standby that is away. */
const maxLookMs = 1_000

/** At the same time, so that at a server each has its own connection. */
async function askOnEachConnection({ database, write }: Store): Promise<void> {
  const ask = (within: Database) => sql`select 1`.execute(within)
  for (const deadline = performance.now() + maxWarmUpMs; ; await delay(warmUpPauseMs)) {
    const answers = await Promise.allSettled([ask(database), write(ask, 'usual'), write(ask, 'result')])
    const refused = answers.find((answer) => answer.status === 'rejected')
    if (!refused) return
    if (performance.now() > deadline) throw refused.reason
  }
}

/** What a create writes, and whether reads see what was written: by a row of figures that is gone again. */
async function probe({ freshReads }: Store, { createProbe, replicaFigures }: Assembled): Promise<readonly string[]> {
  await createProbe.run()
  const refusal = createProbe.refusal()
  if (!freshReads || refusal) return refusal ? [`ledger.url: no create is taken, since ${refusal.message}`] : []
  const replica = randomUUID()
  const seen = replicaFigures.write(replica, { providers: [], mirror: null }).then(() => replicaFigures.remove(replica))
  await withDefault(seen, maxLookMs, undefined) // a failure says nothing of reads
  return freshReads.isLagging ? [`ledger.url: ${lagMessage}`] : []
}

type Assembled = Omit<OpenLedger, 'warnings' | 'migrations' | 'missingSteps' | 'warmUp'>

function assemble(store: Store, { onTrouble, onTurnRefused }: LedgerOptions): Assembled {
  const probe = createProbe(store, onTrouble)
  const { close, waits, connections, capacity, findLostCommits } = store
  const turns = new LedgerTurns(store.turns, onTurnRefused)
  const ledger = {
    ...creates(store, probe, turns),
    ...idempotencyKeys(store, turns),
    ...firmQuotes(store, turns),
    ...entries(store, turns),
    ...openTransactions(store),
    close,
  }
  const lists = { tags: tagRecords(store), currencyLists: currencyLists(store) }
  const operations = {
    overrides: overrides(store),
    suspensions: suspensions(store),
    restores: restores(store),
    retention: retention(store),
    audit: auditLog(store),
    timelines: timelines(store),
    failedReads: failedReads(store),
    swapActions: swapActions(store),
    events: transactionEvents(store),
    watches: watches(store),
    webhooks: { ...webhooks(store), ...deliveries(store) },
    replicaFigures: replicaFigures(store),
    usage: usage(store),
  }
  return {
    ledger,
    accounts: accounts(store),
    ledgerAdmin: ledgerAdmin(store),
    createProbe: probe,
    ...lists,
    ...operations,
    findLostCommits,
    waits,
    connections,
    capacity,
    turnWaits: (account) => turns.waits(account),
    close,
  }
}

const sqliteUrl = /^sqlite:(.+)$/
const postgresUrl = /^postgres(?:ql)?:/
const memory = ':memory:'
/** A step of a migration may take longer than other statements. */
const migrationTimeoutMs = 600_000
const inspectionTimeoutMs = 1_000

const memoryStore = memoryStores()

interface OpenedStore extends Migrated {
  readonly store: Store
}

async function openStore(url: string, options: LedgerOptions): Promise<OpenedStore> {
  try {
    return await openExisting(url, options)
  } catch (reason) {
    if (!(reason instanceof MissingLedger) || options.whenMissing !== 'show empty') throw reason
    return await openInMemory(options)
  }
}

async function openExisting(url: string, options: LedgerOptions): Promise<OpenedStore> {
  const {
    timeoutMs = 5_000,
    mustExist = false,
    whenMissing = 'make',
    mayMigrate = true,
    maxConnections,
    lookup,
    onTrouble,
    now,
  } = options
  const file = sqliteUrl.exec(url)?.[1]
  const prepare = (store: Store): Promise<Migrated> => migrate(store, { mustExist, mayMake: whenMissing === 'make', mayMigrate })
  if (file === memory) return await openInMemory(options)
  if (mustExist && isMissing(url)) throw new Error(mustExistMessage)
  if (whenMissing !== 'make' && file !== undefined && mightBeMade(file)) throw new MissingLedger(missingMessage)
  if (file !== undefined) return await started(await sqliteStore(file, { now, onTrouble }), prepare)
  // Loaded only when needed.
  const [{ postgresStore }, { whileNamingLocks }] = await Promise.all([
    import('./postgres/store.ts'),
    import('./postgres/locks.ts'),
  ])
  const { store: migrating, ...migrated } = await started(
    await postgresStore(url, { timeoutMs: migrationTimeoutMs, lookup }),
    (store) => whileNamingLocks(store.database, onTrouble, prepare(store)),
  )
  await migrating.close()
  return await started(await postgresStore(url, { timeoutMs, maxConnections, lookup, onTrouble, now }), async () => migrated)
}

async function openInMemory({ now }: LedgerOptions): Promise<OpenedStore> {
  return await started(await memoryStore(now), async () => ({ isNew: false, migrations: [], missing: [] }))
}

/** Whether the file does not exist, and no other file is in the place of its directory. */
function mightBeMade(file: string): boolean {
  if (existsSync(file)) return false
  const directory = dirname(resolve(file))
  return existsSync(directory) ? statSync(directory).isDirectory() : mightBeMade(directory)
}

/** Whether the ledger is a file that does not exist. */
export function isMissing(url: string): boolean {
  const file = sqliteUrl.exec(url)?.[1]
  return file !== undefined && file !== memory && !existsSync(file)
}

/**
 * Copies the ledger to a file that does not exist yet, while gateways use it, whatever its version. False for a server, which has programs of
 * its own for that. Throws an `Error` with one line for the operator.
 */
export function backUpLedger(url: string, target: string): boolean {
  const file = sqliteUrl.exec(url)?.[1]
  if (file === undefined) return false
  const location = locationOf(url)
  if (file === memory) throw new Error('The ledger is in memory: there is no file to copy.')
  if (!existsSync(file)) throw new Error(`There is no ledger in ${location}: correct ledger.url, or mount its volume.`)
  if (existsSync(target)) throw new Error(`${resolve(target)} exists, and is not overwritten: name another file.`)
  try {
    backUpSqlite(file, target)
    return true
  } catch (reason) {
    throw new Error(`The ledger in ${location} cannot be copied to ${resolve(target)}: ${diagnoseCopy(reason)}.`)
  }
}

/**
 * Reads the records of these tags and of all tags in the ledger, and what is open, without creating, changing or blocking it.
 * Undefined if that is not possible: the ledger does not exist, has another version, is locked, or is unreachable for a second.
 */
export async function inspectLedger(url: string, tags: readonly string[]): Promise<LedgerInspection | undefined> {
  const file = sqliteUrl.exec(url)?.[1]
  try {
    if (file !== undefined) return await readSqlite(file, (database) => inspect({ database, databaseTimeMs: sqliteTimeMs }, tags))
    const { postgresStore } = await import('./postgres/store.ts')
    const store = await postgresStore(url, { timeoutMs: inspectionTimeoutMs })
    return await inspect(store, tags).finally(store.close)
  } catch {
    return undefined
  }
}

/**
 * What the ledger lacks of this version's schema, in the order in which it gets it. Creates, changes and blocks nothing. Throws like
 * `openLedger`; of a ledger that does not exist all is missing.
 */
export async function missingSteps(url: string): Promise<readonly string[]> {
  const location = locationOf(url)
  const file = sqliteUrl.exec(url)?.[1]
  try {
    if (file === memory) return []
    if (isMissing(url)) return allSteps()
    if (file !== undefined) return await readSqlite(file, missingIn)
    const { postgresStore } = await import('./postgres/store.ts')
    const store = await postgresStore(url, { timeoutMs: inspectionTimeoutMs })
    return await missingIn(store.database).finally(store.close)
  } catch (reason) {
    throw new Error(`The ledger in ${location} cannot be opened: ${diagnose(reason)}.`)
  }
}

async function missingIn(database: Database): Promise<readonly string[]> {
  return (await readSchema(database)).missing
}

/** Prepares the store and starts its clock. Closes it if that fails. */
async function started(store: Store, prepare: (store: Store) => Promise<Migrated>): Promise<OpenedStore> {
  try {
    const migrated = await prepare(store)
    if (migrated.migrations.length > 0) await untilReadable(store, migrated.missing)
    await store.readSteps()
    await store.clock.start()
    return { ...migrated, store }
  } catch (reason) {
    await store.close()
    throw reason
  }
}

/** Where reads go to a standby, it gets the tables later. */
async function untilReadable({ database }: Store, missing: readonly string[]): Promise<void> {
  for (const deadline = performance.now() + maxWarmUpMs; ; await delay(warmUpPauseMs)) {
    const seen = await readSchema(database).catch(() => undefined)
    if (seen && seen.missing.length <= missing.length) return
    if (performance.now() > deadline) throw new Error(lagMessage)
  }
}

/** Without user and password. */
function locationOf(url: string): string {
  const file = sqliteUrl.exec(url)?.[1]
  if (file !== undefined) return resolve(file)
  const server = postgresUrl.test(url) ? URL.parse(url) : null
  if (!server) throw new Error('The URL of the ledger must begin with "sqlite:", "postgres://" or "postgresql://".')
  return `${server.host}${server.pathname}`
}
