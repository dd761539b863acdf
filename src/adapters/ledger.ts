/** Where transactions, their owners and the keys of accounts are kept: SQLite or PostgreSQL, as the URL says. */
import type { Accounts } from '../core/accounts.ts'
import type { Bookkeeping } from '../core/bookkeeping.ts'
import type { CurrencyLists } from '../core/currency-lists.ts'
import type { Ledger } from '../core/ledger.ts'
import type { LedgerWaits } from '../core/shedding.ts'
import type { TagRecord, TagRecords } from '../core/tag-records.ts'
import { accounts } from './ledger/accounts.ts'
import { bookkeeping } from './ledger/bookkeeping.ts'
import { claims } from './ledger/claims.ts'
import { currencyLists } from './ledger/currency-lists.ts'
import { diagnose } from './ledger/diagnosis.ts'
import { entries } from './ledger/entries.ts'
import { intents } from './ledger/intents.ts'
import { looks } from './ledger/looks.ts'
import { migrate } from './ledger/migrate.ts'
import { sqliteStore } from './ledger/sqlite-store.ts'
import type { Store } from './ledger/store.ts'
import { readTagRecords, tagRecords } from './ledger/tag-records.ts'

export interface LedgerOptions {
  /** For one statement at a server, in milliseconds. */
  readonly timeout?: number
  /** In place of the clock by which claims expire: milliseconds. */
  readonly now?: () => number
}

export interface OpenLedger {
  readonly ledger: Ledger
  readonly accounts: Accounts
  readonly bookkeeping: Bookkeeping
  readonly tags: TagRecords
  /** How long the first question and the first change have waited for their turn. */
  readonly waits: () => LedgerWaits
  readonly currencyLists: CurrencyLists
  readonly close: () => Promise<void>
}

/**
 * `sqlite:<path>`, `sqlite::memory:` or `postgres://…`. Brings the store to this version's schema. Throws an `Error` that tells
 * an operator in one line what is wrong and what to do, without a credential.
 */
export async function openLedger(url: string, options: LedgerOptions = {}): Promise<OpenLedger> {
  const place = placeOf(url)
  try {
    return assemble(await openStore(url, options))
  } catch (reason) {
    throw new Error(`The ledger in ${place} cannot be opened: ${diagnose(reason)}.`)
  }
}

function assemble(store: Store): OpenLedger {
  const { close, waits } = store
  const ledger = { ...intents(store), ...claims(store), ...entries(store), ...looks(store), close }
  const lists = { tags: tagRecords(store), currencyLists: currencyLists(store) }
  return { ledger, accounts: accounts(store), bookkeeping: bookkeeping(store), ...lists, waits, close }
}

const sqliteUrl = /^sqlite:(.+)$/
const postgresUrl = /^postgres(?:ql)?:/
/** A step of a migration may take longer than other statements. */
const stepTimeout = 600_000
const inspectionTimeout = 1_000

async function openStore(url: string, { timeout = 5_000, now }: LedgerOptions): Promise<Store> {
  const file = sqliteUrl.exec(url)?.[1]
  if (file !== undefined) return await migrated(await sqliteStore(file, now))
  // Loaded only where it is wanted.
  const { postgresStore } = await import('./ledger/postgres-store.ts')
  const migrating = await migrated(await postgresStore(url, stepTimeout))
  await migrating.close()
  return await postgresStore(url, timeout, now)
}

/**
 * What a ledger knows of these tags and its own, without creating, changing or blocking it. Undefined where it cannot be read
 * so: it is not there yet, of another version, locked, or out of reach for a second.
 */
export async function inspectTags(url: string, tags: readonly string[]): Promise<readonly TagRecord[] | undefined> {
  const file = sqliteUrl.exec(url)?.[1]
  try {
    if (file !== undefined) return await (await import('./ledger/inspection.ts')).inspectSqlite(file, tags)
    const { postgresStore } = await import('./ledger/postgres-store.ts')
    const store = await postgresStore(url, inspectionTimeout)
    return await readTagRecords(store.database, tags).finally(store.close)
  } catch {
    return undefined
  }
}

/** Brought to this version's schema, or closed. */
async function migrated(store: Store): Promise<Store> {
  try {
    await migrate(store)
    await store.clock.start()
    return store
  } catch (reason) {
    await store.close()
    throw reason
  }
}

/** Without user and password. */
function placeOf(url: string): string {
  const file = sqliteUrl.exec(url)?.[1]
  if (file !== undefined) return file
  const server = postgresUrl.test(url) ? URL.parse(url) : null
  if (!server) throw new Error('The URL of the ledger is to begin with "sqlite:", "postgres://" or "postgresql://".')
  return `${server.host}${server.pathname}`
}
