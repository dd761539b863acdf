/** The store of transactions, their owners and the keys of accounts: SQLite or PostgreSQL, by the URL. */
import { existsSync } from 'node:fs'
import type { LookupFunction } from 'node:net'
import { resolve } from 'node:path'
import type { LedgerWaits } from '../../core/access/admission.ts'
import type { Accounts } from '../../core/access/authentication.ts'
import type { Ledger } from '../../core/ledger.ts'
import type { LedgerAdmin } from '../../core/ledger-admin.ts'
import type { SuspensionStore } from '../../core/mismatch-streaks.ts'
import type { AuditLog } from '../../core/operations/audit.ts'
import type { ReplicaFiguresStore } from '../../core/operations/provider-figures.ts'
import type { OverrideStore } from '../../core/operations/settings.ts'
import type { CurrencyListStore } from '../../core/quotes/read-currency-list.ts'
import type { TagRecords } from '../../core/routing/tag-records.ts'
import type { LostCommits } from '../../domain/observation.ts'
import { accounts } from './accounts.ts'
import { ledgerAdmin } from './admin/ledger-admin.ts'
import { claims } from './claims.ts'
import { currencyLists } from './currency-lists.ts'
import { diagnose } from './diagnose.ts'
import { dueCreates } from './due-creates.ts'
import { entries } from './entries.ts'
import { intents } from './intents.ts'
import { suspensions } from './mismatch-streaks.ts'
import { openTransactions } from './open-transactions.ts'
import { auditLog } from './operations/audit.ts'
import { overrides } from './operations/overrides.ts'
import { replicaFigures } from './operations/replica-figures.ts'
import { refusedCreates } from './refused-creates.ts'
import { migrate, mustExistMessage } from './schema/migrate.ts'
import type { LedgerInspection } from './sqlite/inspect.ts'
import { memoryStores } from './sqlite/memory.ts'
import { sqliteStore } from './sqlite/store.ts'
import type { Store } from './store.ts'
import { tagRecords } from './tag-records.ts'
import type { TurnLimits } from './turns.ts'

export interface LedgerOptions {
  /** Timeout of one statement at a server. */
  readonly timeoutMs?: number
  /** Whether a ledger that does not exist is an error; else it is made, with a warning. */
  readonly mustExist?: boolean
  /** How the name of a server is looked up; by default by the system. */
  readonly lookup?: LookupFunction
  /** Replaces the clock of claims, in milliseconds, for tests. */
  readonly now?: () => number
}

export interface OpenLedger {
  readonly ledger: Ledger
  readonly accounts: Accounts
  readonly ledgerAdmin: LedgerAdmin
  readonly tags: TagRecords
  /** How long the first queued read and the first queued write have waited. */
  readonly waits: () => LedgerWaits
  /** For `inTurns`: how many calls it takes at a time. */
  readonly turns: TurnLimits
  readonly currencyLists: CurrencyListStore
  readonly overrides: OverrideStore
  readonly suspensions: SuspensionStore
  readonly audit: AuditLog
  readonly replicaFigures: ReplicaFiguresStore
  /** For the operator: about the server, and that the ledger is new. */
  readonly warnings: readonly string[]
  /** Whether the server of the ledger has lost commits, or is another one, since the last call. */
  readonly findLostCommits: () => Promise<LostCommits | undefined>
  readonly close: () => Promise<void>
}

/**
 * Opens `sqlite:<path>`, `sqlite::memory:` or `postgres://…` and migrates it to this version's schema. Throws an `Error` with
 * one line for the operator: the cause and what to do, without a credential.
 */
export async function openLedger(url: string, options: LedgerOptions = {}): Promise<OpenLedger> {
  const location = locationOf(url)
  try {
    const { store, isNew } = await openStore(url, options)
    const made = isNew ? [`ledger.url: a new ledger was made: ${location}. If there was one before, this is not it`] : []
    return { ...assemble(store), warnings: [...made, ...store.warnings] }
  } catch (reason) {
    throw new Error(`The ledger in ${location} cannot be opened: ${diagnose(reason)}.`)
  }
}

function assemble(store: Store): Omit<OpenLedger, 'warnings'> {
  const { close, waits, turns, findLostCommits } = store
  const creates = { ...intents(store), ...claims(store), ...dueCreates(store), ...refusedCreates(store) }
  const ledger = { ...creates, ...entries(store), ...openTransactions(store), close }
  const lists = { tags: tagRecords(store), currencyLists: currencyLists(store) }
  const operations = {
    overrides: overrides(store),
    suspensions: suspensions(store),
    audit: auditLog(store),
    replicaFigures: replicaFigures(store),
  }
  return {
    ledger,
    accounts: accounts(store),
    ledgerAdmin: ledgerAdmin(store),
    ...lists,
    ...operations,
    findLostCommits,
    waits,
    turns,
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

interface OpenedStore {
  readonly store: Store
  readonly isNew: boolean
}

async function openStore(url: string, { timeoutMs = 5_000, mustExist = false, lookup, now }: LedgerOptions): Promise<OpenedStore> {
  const file = sqliteUrl.exec(url)?.[1]
  const prepare = (store: Store): Promise<boolean> => migrate(store, mustExist)
  if (file === memory) return await started(await memoryStore(now), async () => false)
  if (mustExist && isMissing(url)) throw new Error(mustExistMessage)
  if (file !== undefined) return await started(await sqliteStore(file, now), prepare)
  // Loaded only when needed.
  const { postgresStore } = await import('./postgres/store.ts')
  const migrating = await started(await postgresStore(url, { timeoutMs: migrationTimeoutMs, lookup }), prepare)
  await migrating.store.close()
  return { store: await postgresStore(url, { timeoutMs, lookup, now }), isNew: migrating.isNew }
}

/** Whether the ledger is a file that does not exist. */
export function isMissing(url: string): boolean {
  const file = sqliteUrl.exec(url)?.[1]
  return file !== undefined && file !== memory && !existsSync(file)
}

/**
 * Reads the records of these tags and of all tags in the ledger, and what is open, without creating, changing or blocking it.
 * Undefined if that is not possible: the ledger does not exist, has another version, is locked, or is unreachable for a second.
 */
export async function inspectLedger(url: string, tags: readonly string[]): Promise<LedgerInspection | undefined> {
  const file = sqliteUrl.exec(url)?.[1]
  try {
    const { inspect, inspectSqlite } = await import('./sqlite/inspect.ts')
    if (file !== undefined) return await inspectSqlite(file, tags)
    const { postgresStore } = await import('./postgres/store.ts')
    const store = await postgresStore(url, { timeoutMs: inspectionTimeoutMs })
    return await inspect(store, tags).finally(store.close)
  } catch {
    return undefined
  }
}

/** Prepares the store, which returns whether it was empty, and starts its clock. Closes it if that fails. */
async function started(store: Store, prepare: (store: Store) => Promise<boolean>): Promise<OpenedStore> {
  try {
    const isNew = await prepare(store)
    await store.clock.start()
    return { store, isNew }
  } catch (reason) {
    await store.close()
    throw reason
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
