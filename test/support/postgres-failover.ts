/** Two PostgreSQL servers of their own: a primary and its streaming standby. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  execute,
  hasPostgresPrograms,
  initialise,
  type PostgresProcess,
  postgresDirectory,
  runPostgresProgram,
  startServer,
  stopServer,
  until,
} from './postgres-server.ts'

export interface PostgresServers {
  readonly primary: string
  readonly standby: string
  /** The standby takes over. The old primary keeps its sessions, and lets none of them write. */
  readonly failOver: () => Promise<void>
  readonly close: () => Promise<void>
}

export const canFailOver = hasPostgresPrograms

export async function startPostgresServers(): Promise<PostgresServers> {
  const directory = postgresDirectory()
  const servers: PostgresProcess[] = []
  const start = async (data: string): Promise<string> => {
    const started = await startServer(directory, data)
    servers.push(started)
    return started.url
  }
  const [first, second] = [join(directory, 'primary'), join(directory, 'standby')]
  initialise(directory, first)
  const primary = await start(first)
  const copy = [`--dbname=${primary}`, `--pgdata=${second}`, '--write-recovery-conf', '--checkpoint=fast', '--no-sync']
  runPostgresProgram('pg_basebackup', directory, ...copy)
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
      for (const server of servers) await stopServer(server)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
