/** A real PostgreSQL for tests: the server of `DATABASE_URL`, or one that is started once for the whole run. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import pg from 'pg'
import { openLedger } from '../../src/ledger/index.ts'

export interface Postgres {
  /** Of a user with all permissions. */
  readonly url: string
  /** The URL of a new empty database. */
  readonly createDatabase: () => Promise<string>
  /** The URL of a new database with the schema of a ledger, copied: its migration would take five times the work. */
  readonly createLedger: () => Promise<string>
  /** Drops the databases that were made through this object; the server ends with the run. */
  readonly close: () => Promise<void>
}

/** A server that is started here ends with the process `guardian`: in a test that is the process of the whole run. */
export async function startPostgres(guardian = isMainThread ? process.ppid : process.pid): Promise<Postgres> {
  const url = process.env.DATABASE_URL || (await sharedServer(guardian))
  const databases: string[] = []
  const create = async (template: string): Promise<string> => {
    const name = `swapgate_test_${randomBytes(6).toString('hex')}`
    await administration(url).query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
    databases.push(name)
    return databaseUrl(url, name)
  }
  return {
    url,
    createDatabase: () => create('template1'),
    createLedger: async () => create(process.env.DATABASE_URL ? 'template1' : await ledgerTemplate(url)),
    async close() {
      for (const name of databases.splice(0)) await administration(url).query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
}

function databaseUrl(url: string, name: string): string {
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}

let template: Promise<string> | undefined

/** The name of a database of the shared server that one process makes and all copy. */
function ledgerTemplate(url: string): Promise<string> {
  template ??= makeLedgerTemplate(url, 'swapgate_ledger')
  return template
}

async function makeLedgerTemplate(url: string, name: string): Promise<string> {
  const client = await administration(url).connect()
  try {
    await client.query('SELECT pg_advisory_lock(1)')
    const { rows } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name])
    if (rows.length === 0) {
      await client.query(`CREATE DATABASE ${name}_unfinished`)
      await (await openLedger(databaseUrl(url, `${name}_unfinished`))).close()
      await client.query(`ALTER DATABASE ${name}_unfinished RENAME TO ${name}`)
    }
    await client.query('SELECT pg_advisory_unlock(1)')
    return name
  } finally {
    client.release()
  }
}

let pool: pg.Pool | undefined

/** One connection for all files of a process; it keeps no process alive. */
function administration(connectionString: string): pg.Pool {
  pool ??= new pg.Pool({ connectionString, max: 1, connectionTimeoutMillis: 10_000, allowExitOnIdle: true }).on('error', () => {})
  return pool
}

/** In milliseconds. */
const startTimeoutMs = 25_000

/** The process that makes the directory starts the server; the others wait for its URL. */
async function sharedServer(guardian: number): Promise<string> {
  const directory = join(tmpdir(), `swapgate-postgres-${guardian}`)
  for (const deadline = Date.now() + startTimeoutMs; Date.now() < deadline; await delay(25)) {
    if (makes(directory)) startKeeper(directory, guardian)
    const failure = read(join(directory, 'failure'))
    if (failure !== undefined) throw new Error(`PostgreSQL does not start: ${failure}`)
    const url = read(join(directory, 'url'))
    if (url !== undefined && isKept(directory)) return url
  }
  throw new Error(`PostgreSQL did not start in ${startTimeoutMs} ms; see ${directory}`)
}

/** False where another test was first. */
function makes(directory: string): boolean {
  if (existsSync(directory)) return false
  try {
    mkdirSync(directory)
    return true
  } catch {
    return false
  }
}

/** A process of its own: it outlives every test, and notices when the run was killed. */
function startKeeper(directory: string, guardian: number): void {
  const keeper = fileURLToPath(new URL('postgres-keeper.ts', import.meta.url))
  spawn(process.execPath, [keeper, directory, String(guardian)], { detached: true, stdio: 'ignore' }).unref()
}

/** What a keeper that was killed has left behind is thrown away. */
function isKept(directory: string): boolean {
  try {
    process.kill(Number(read(join(directory, 'keeper'))), 0)
    return true
  } catch {
    rmSync(directory, { recursive: true, force: true })
    return false
  }
}

function read(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
