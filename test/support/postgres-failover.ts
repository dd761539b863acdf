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
  signalAll,
  startServer,
  stopServer,
  until,
  untilCommitsWait,
} from './postgres-server.ts'

export interface PostgresServers {
  readonly primary: string
  readonly standby: string
  /** The standby takes over. The old primary keeps its sessions, and lets none of them write. */
  readonly failOver: () => Promise<void>
  /** From now on the primary confirms no commit that the standby has not. */
  readonly synchronise: () => Promise<void>
  /** The standby stops where it is, and goes on. */
  readonly freezeStandby: () => void
  readonly thawStandby: () => void
  /** The old primary is gone in a moment, or answers nothing any more, and the standby takes over. */
  readonly loseAndPromote: (end: 'gone' | 'silent') => Promise<void>
  readonly close: () => Promise<void>
}

export const canFailOver = hasPostgresPrograms

/** `ofStandby`: settings of it. */
export async function startPostgresServers(ofStandby: readonly string[] = []): Promise<PostgresServers> {
  const directory = postgresDirectory()
  const servers: PostgresProcess[] = []
  const start = async (data: string, settings: readonly string[] = []): Promise<string> => {
    const started = await startServer(directory, data, settings)
    servers.push(started)
    return started.url
  }
  const [first, second] = [join(directory, 'primary'), join(directory, 'standby')]
  initialise(directory, first)
  const primary = await start(first)
  const copy = [`--dbname=${primary}`, `--pgdata=${second}`, '--write-recovery-conf', '--checkpoint=fast', '--no-sync']
  runPostgresProgram('pg_basebackup', directory, ...copy)
  const standby = await start(second, ofStandby)
  const freezeStandby = (): void => signalAll(servers[1]?.server.pid, 'SIGSTOP')
  const thawStandby = (): void => signalAll(servers[1]?.server.pid, 'SIGCONT')
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
    async synchronise() {
      await execute(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
      await execute(primary, 'SELECT pg_reload_conf()')
      const isSynchronous = "SELECT count(*) = 1 AS done FROM pg_stat_replication WHERE sync_state = 'sync'"
      await until(async () => (await execute(primary, isSynchronous))[0].done)
      freezeStandby()
      await untilCommitsWait(primary)
      thawStandby()
    },
    freezeStandby,
    thawStandby,
    async loseAndPromote(end) {
      const [old, next] = servers
      signalAll(next?.server.pid, 'SIGCONT')
      if (end === 'silent') signalAll(old?.server.pid, 'SIGSTOP')
      else if (old) await stopServer(old)
      await execute(standby, 'SELECT pg_promote()')
    },
    async close() {
      for (const { server } of servers) if (server.exitCode === null) signalAll(server.pid, 'SIGCONT')
      for (const server of servers) await stopServer(server)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
