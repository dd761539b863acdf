/**
 * pg: sessions for whose statement nobody waits any more, and which the server may still have. A commit that waits for its synchronous
 * standby ends there alone: a cancelled or terminated one counts without its copy, and its row is visible. So nothing ends it here, and it
 * keeps its place until it has been answered, or the server says that it does not run that statement. The session that asks the server is
 * the only one beyond `ledger.maxConnections` (`test/ledger/standby.test.ts`).
 */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { OnTrouble, StoreTrouble } from '../../domain/store-trouble.ts'

export interface AbandonedSessions {
  /** Resolves once the session does not run its statement any more. `answer`: of the statement; only `isAnswer` of its failures are the server's. */
  readonly untilEnded: (pid: number, answer: Promise<unknown>) => Promise<void>
  /** Why the server could not be asked the last time; undefined if it has answered. */
  readonly failure: () => unknown
  readonly close: () => Promise<void>
}

interface Abandoned {
  readonly pid: number
  readonly since: number
  readonly end: () => void
}

interface Running {
  readonly pid: number
  readonly wait_event: string | null
}

const pauseMs = 1_000

/**
 * A process of the server is known by its number and by how long its statement has run: numbers are given again. Where the server does not
 * say what its processes do (`track_activities`), each counts until it is gone.
 */
const running = `
  select activity.pid, activity.wait_event
  from unnest($1::integer[], $2::float8[]) as abandoned (pid, ms) join pg_stat_activity as activity on activity.pid = abandoned.pid
  where activity.state = 'disabled'
    or activity.state = 'active' and activity.query_start <= clock_timestamp() - abandoned.ms * interval '1 millisecond'`

/** SQLSTATEs of a server without this view, or for users without a right to it. */
const notAllowed = /^42/

/** The server's word for it, in every language. */
export const waitsForStandby = 'SyncRep'

export const standbyAway: StoreTrouble = {
  cause: 'standby',
  message:
    'the server confirms no commit, since its synchronous standby is away: start the standby, or take it out of synchronous_standby_names there; creates that are not confirmed are 503',
}

/** `connection`: for the one connection beside the others that asks. `isAnswer`: whether a failure is the server's answer to the statement. */
export function abandonedSessions(
  connection: pg.PoolConfig,
  isAnswer: (reason: unknown) => boolean,
  onTrouble: OnTrouble | undefined,
): AbandonedSessions {
  const sessions = new Set<Abandoned>()
  const pool = new pg.Pool({ ...connection, max: 1, allowExitOnIdle: true }).on('error', () => {})
  let failure: unknown
  let isWatching = false
  let isClosed = false
  const ask = async (): Promise<void> => {
    const asked = [...sessions]
    const now = performance.now()
    const { rows } = await pool.query<Running>(running, [asked.map(({ pid }) => pid), asked.map(({ since }) => now - since)])
    const pids = new Set(rows.map(({ pid }) => pid))
    for (const session of asked) if (!pids.has(session.pid)) session.end()
    if (rows.some(({ wait_event }) => wait_event === waitsForStandby)) onTrouble?.(standbyAway)
  }
  /** A server that does not let itself be asked never ends that. */
  const fail = (reason: unknown): unknown => {
    if (notAllowed.test(String((reason as { code?: unknown }).code))) for (const session of [...sessions]) session.end()
    return reason
  }
  const watch = async (): Promise<void> => {
    isWatching = true
    while (sessions.size > 0) {
      failure = await ask().catch(fail)
      if (sessions.size > 0) await delay(pauseMs, undefined, { ref: false })
    }
    isWatching = false
  }
  return {
    untilEnded(pid, answer) {
      if (isClosed) return Promise.resolve()
      const { promise, resolve } = Promise.withResolvers<void>()
      const session: Abandoned = {
        pid,
        since: performance.now(),
        end() {
          sessions.delete(session)
          resolve()
        },
      }
      sessions.add(session)
      answer.then(session.end, (reason) => isAnswer(reason) && session.end())
      if (!isWatching) void watch()
      return promise
    },
    failure: () => failure,
    async close() {
      isClosed = true
      for (const session of [...sessions]) session.end()
      await pool.end()
    },
  }
}
