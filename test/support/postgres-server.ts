/** PostgreSQL servers of a test's own, which may be harmed. They need the programs of a whole installation. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from './free-port.ts'
import { memoryDirectory } from './memory-directory.ts'

const installations = '/usr/lib/postgresql'
const [bin] = existsSync(installations)
  ? readdirSync(installations)
      .map((version) => join(installations, version, 'bin'))
      .filter((place) => ['initdb', 'postgres', 'pg_basebackup'].every((program) => existsSync(join(place, program))))
  : []

export const hasPostgresPrograms = bin !== undefined
/** The directory of the programs; undefined without a whole installation. */
export const postgresPrograms = bin

/** PostgreSQL refuses to run as root. */
const identity = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** A directory for the data of servers. */
export function postgresDirectory(): string {
  const directory = mkdtempSync(join(memoryDirectory(), 'swapgate-postgres-own-'))
  if (identity.uid !== undefined) chownSync(directory, identity.uid, identity.gid)
  return directory
}

export function runPostgresProgram(program: string, directory: string, ...options: readonly string[]): void {
  execFileSync(join(bin ?? '', program), options, { ...identity, cwd: directory, stdio: 'pipe' })
}

export function initialise(directory: string, data: string): void {
  const options = ['--username=postgres', '--auth=trust', '--no-sync', '--locale=C', '--encoding=UTF8']
  runPostgresProgram('initdb', directory, `--pgdata=${data}`, ...options)
}

export interface PostgresProcess {
  readonly url: string
  readonly server: ChildProcess
}

/** `more`: settings in place of those for a test. */
export async function startServer(directory: string, data: string, more: readonly string[] = []): Promise<PostgresProcess> {
  const port = await freePort(20_000, 8_000)
  const settings = ['fsync=off', 'listen_addresses=127.0.0.1', 'unix_socket_directories=', ...more]
  const options = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
  const server = spawn(join(bin ?? '', 'postgres'), options, { ...identity, cwd: directory, stdio: 'ignore' })
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  await until(() => execute(url, 'SELECT').then(() => true))
  return { url, server }
}

export async function stopServer({ server }: PostgresProcess): Promise<void> {
  if (server.exitCode === null && server.kill('SIGQUIT')) await once(server, 'exit')
}

export interface OwnPostgres {
  readonly url: string
  /** Its processes run no more: connections stay open, new ones are taken by the system, and nothing is answered. */
  readonly freeze: () => void
  readonly thaw: () => void
  readonly close: () => Promise<void>
}

/** One server. `settings` as in `postgresql.conf`. */
export async function startOwnPostgres(settings: readonly string[] = []): Promise<OwnPostgres> {
  const directory = postgresDirectory()
  const data = join(directory, 'data')
  initialise(directory, data)
  const started = await startServer(directory, data, settings)
  const signal = (name: NodeJS.Signals): void => signalAll(started.server.pid, name)
  return {
    url: started.url,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async close() {
      signal('SIGCONT')
      await stopServer(started)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** To a server and its processes. */
export function signalAll(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return
  for (const each of [pid, ...childrenOf(pid)]) send(each, name)
}

/** Some of its processes end by themselves. */
function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    return
  }
}

function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
}

export async function execute(url: string, statement: string) {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

/** A server that starts refuses connections. */
export async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; await delay(50)) {
    if (await isDone().catch(() => false)) return
  }
  throw new Error('PostgreSQL was not ready in time.')
}

/** While no standby confirms anything. Sessions see the setting at once; commits wait when the checkpointer has seen it, too. */
export function untilCommitsWait(url: string): Promise<void> {
  const cancelWait = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = '' AND wait_event = 'SyncRep'`
  return until(async () => {
    let isOver = false
    const committing = execute(url, "SELECT pg_logical_emit_message(true, 'test', '')").finally(() => {
      isOver = true
    })
    let isCancelled = false
    while (!isOver && !isCancelled) isCancelled = (await execute(url, cancelWait)).length > 0
    await committing
    return isCancelled
  })
}
