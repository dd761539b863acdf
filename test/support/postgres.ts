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

export interface Postgres {
  /** Of a user with all permissions. */
  readonly url: string
  /** The URL of a new empty database. */
  readonly createDatabase: () => Promise<string>
  /** Drops the databases that were made through this object; the server ends with the run. */
  readonly close: () => Promise<void>
}

/** A server that is started here ends with the process `guardian`: in a test that is the process of the whole run. */
export async function startPostgres(guardian = isMainThread ? process.ppid : process.pid): Promise<Postgres> {
  const url = process.env.DATABASE_URL || (await sharedServer(guardian))
  const databases: string[] = []
  return {
    url,
    async createDatabase() {
      const name = `swapgate_test_${randomBytes(6).toString('hex')}`
      await administration(url).query(`CREATE DATABASE ${name} STRATEGY FILE_COPY`)
      databases.push(name)
      return Object.assign(new URL(url), { pathname: `/${name}` }).href
    },
    async close() {
      for (const name of databases.splice(0)) await administration(url).query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
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
