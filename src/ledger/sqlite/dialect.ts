/** Kysely: a driver for one connection of node:sqlite. */

import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type SelectModifierNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { piece } from '../../domain/processor-time.ts'

/** How long to wait for another process that writes. */
const lockTimeoutMs = 5_000
const sqliteBusy = 5

/**
 * Opens the file, or creates it and its directory, for their owner only. A commit is durable. `timeoutMs`: how long a
 * statement may block this process at a lock.
 */
export async function openSqlite(file: string, timeoutMs: number): Promise<DatabaseSync> {
  makePrivate(file)
  const database = new DatabaseSync(file, { timeout: timeoutMs })
  try {
    await retryWhileLocked(() => database.exec('PRAGMA journal_mode = WAL'))
    database.exec('PRAGMA synchronous = FULL')
    return database
  } catch (reason) {
    database.close()
    throw reason
  }
}

/** A dialect that runs queries one after another. A transaction takes the write lock when it begins. */
export function sqliteDialect(database: DatabaseSync): Dialect {
  return {
    createDriver: () => driver(database),
    createAdapter: () => new Adapter(),
    createQueryCompiler: () => new Compiler(),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
  }
}

class Adapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** SQLite has no `for update`, and does not need it: no other connection writes during a transaction. */
class Compiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier !== 'ForUpdate') super.visitSelectModifier(node)
  }
}

function driver(database: DatabaseSync): Driver {
  const connection = connect(database)
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: () => retryWhileLocked(() => database.exec('BEGIN IMMEDIATE')),
    commitTransaction: async () => database.exec('COMMIT'),
    rollbackTransaction: async () => {
      // With a full disk SQLite has already rolled back.
      if (database.isTransaction) database.exec('ROLLBACK')
    },
    releaseConnection: async () => {},
    destroy: async () => database.close(),
  }
}

/** Retries while another process has the lock, without blocking this process. */
async function retryWhileLocked(action: () => void): Promise<void> {
  const deadline = performance.now() + lockTimeoutMs
  for (;;) {
    try {
      return action()
    } catch (reason) {
      if (!isBusy(reason) || performance.now() > deadline) throw reason
    }
    await delay(1 + Math.random() * 4)
  }
}

function isBusy(reason: unknown): boolean {
  return reason instanceof Error && 'errcode' in reason && (Number(reason.errcode) & 0xff) === sqliteBusy
}

interface Prepared {
  readonly statement: StatementSync
  readonly hasRows: boolean
}

function connect(database: DatabaseSync): DatabaseConnection {
  const prepared = new Map<string, Prepared>()
  const prepare = (sql: string): Prepared => {
    const known = prepared.get(sql)
    if (known) return known
    const statement = database.prepare(sql)
    const made = { statement, hasRows: statement.columns().length > 0 }
    prepared.set(sql, made)
    return made
  }
  return {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery) {
      const { statement, hasRows } = prepare(sql)
      const values = parameters as readonly SQLInputValue[]
      if (hasRows) {
        const read = (): Row[] => statement.all(...values) as Row[]
        // Others write in the same transaction.
        return { rows: database.isTransaction ? read() : piece(read) }
      }
      return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) }
    },
    streamQuery() {
      throw new Error('The ledger reads in batches, not in streams.')
    },
  }
}

// node:fs: makes a database file, and the files that SQLite writes beside it, readable only for their owner.

const ownerOnly = 0o600

/**
 * Creates the file and its missing directories for their owner only, and removes other users' permissions from existing
 * files. Does not change an existing directory: it may contain other files. Files that SQLite adds get the same permissions.
 */
export function makePrivate(file: string): void {
  if (file === ':memory:') return
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  ignoringErrors(() => closeSync(openSync(file, 'wx', ownerOnly)))
  for (const suffix of ['', '-wal', '-shm']) ignoringErrors(() => chmodSync(file + suffix, ownerOnly))
}

/** Ignores errors: the file does not exist or has another owner. SQLite reports a file that it cannot use. */
function ignoringErrors(action: () => void): void {
  try {
    action()
  } catch {}
}
