/** Two PostgreSQL servers of their own: a primary and its streaming standby. Needs the programs of a whole installation. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from './free-port.ts'
import { memoryDirectory } from './memory-directory.ts'

export interface PostgresServers {
  readonly primary: string
  readonly standby: string
  /** The standby takes over. The old primary keeps its sessions, and lets none of them write. */
  readonly failOver: () => Promise<void>
  readonly close: () => Promise<void>
}

const installations = '/usr/lib/postgresql'
const [bin] = existsSync(installations)
  ? readdirSync(installations)
      .map((version) => join(installations, version, 'bin'))
      .filter((place) => ['initdb', 'postgres', 'pg_basebackup'].every((program) => existsSync(join(place, program))))
  : []

export const canFailOver = bin !== undefined

const identity = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

export async function startPostgresServers(): Promise<PostgresServers> {
  const directory = mkdtempSync(join(memoryDirectory(), 'swapgate-failover-'))
  if (identity.uid !== undefined) chownSync(directory, identity.uid, identity.gid)
  const run = (program: string, ...options: readonly string[]) =>
    void execFileSync(join(bin ?? '', program), options, { ...identity, cwd: directory, stdio: 'pipe' })
  const servers: ChildProcess[] = []
  const start = async (data: string): Promise<string> => {
    const port = await freePort(20_000, 8_000)
    const settings = ['fsync=off', 'listen_addresses=127.0.0.1', 'unix_socket_directories='].flatMap((setting) => ['-c', setting])
    const options = ['-D', data, '-p', String(port), ...settings]
    servers.push(spawn(join(bin ?? '', 'postgres'), options, { ...identity, cwd: directory, stdio: 'ignore' }))
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    await until(() => execute(url, 'SELECT').then(() => true))
    return url
  }
  const [first, second] = [join(directory, 'primary'), join(directory, 'standby')]
  run('initdb', `--pgdata=${first}`, '--username=postgres', '--auth=trust', '--no-sync', '--locale=C', '--encoding=UTF8')
  const primary = await start(first)
  run('pg_basebackup', `--dbname=${primary}`, `--pgdata=${second}`, '--write-recovery-conf', '--checkpoint=fast', '--no-sync')
  const standby = await start(second)
  return {
    primary,
    standby,
    async failOver() {
      const [{ position }] = await execute(primary, 'SELECT pg_current_wal_flush_lsn() AS position')
      await until(async () => (await execute(standby, `SELECT pg_last_wal_replay_lsn() >= '${position}' AS done`))[0].done)
      await execute(primary, 'ALTER SYSTEM SET default_transaction_read_only = on')
      await execute(primary, 'SELECT pg_reload_conf()')
      await execute(standby, 'SELECT pg_promote()')
    },
    async close() {
      for (const server of servers) if (server.exitCode === null && server.kill('SIGQUIT')) await once(server, 'exit')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function execute(url: string, statement: string) {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

/** A server that starts refuses connections. */
async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; await delay(50)) {
    if (await isDone().catch(() => false)) return
  }
  throw new Error('PostgreSQL was not ready in time.')
}
