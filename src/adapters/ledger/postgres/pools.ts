/** pg: a pool of connections to PostgreSQL, none of which hangs and none of whose failures ends the process. */
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { UncertainChange } from '../../../domain/faults/ledger-error.ts'
import type { Priority } from '../database.ts'
import { connectionQueue } from './connection-queue.ts'

const connectTimeoutMs = 2_000
const connections = 10
/** Connections that only results of creates take. */
const reservedConnections = 2
const resultTimeoutMs = 5_000
/** A transaction that its process has forgotten lets go of its locks. */
const idleTimeoutMs = 10_000
const int8 = 20

export interface Pools extends Readonly<Record<Priority, PostgresPool>> {
  /** How long the first without priority has waited for a connection, in milliseconds. */
  readonly waitMs: () => number
}

/** One pool, with a way in for each priority. `timeout`: for one statement, in milliseconds. */
export function openPools(url: string, timeoutMs: number): Pools {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs,
    idle_in_transaction_session_timeout: idleTimeoutMs,
    application_name: 'swapgate',
    keepAlive: true,
    types: { getTypeParser },
  })
  // A connection that breaks leaves the pool; whoever uses it or asks next is told. Unheard, it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => void client.on('error', () => {}))
  const { acquire: enter, waitMs } = connectionQueue({
    connections: connections,
    reservedConnections,
    queueTimeoutMs: { usual: connectTimeoutMs, result: resultTimeoutMs },
  })
  const poolFor = (priority: Priority): PostgresPool => ({
    options: {},
    async connect() {
      const releaseSlot = await enter(priority)
      try {
        return guard(await pool.connect(), releaseSlot)
      } catch (reason) {
        releaseSlot()
        throw reason
      }
    },
    end: async () => void (pool.ending || (await pool.end())),
  })
  return { usual: poolFor('usual'), result: poolFor('result'), waitMs }
}

/** After a time-out or a broken connection nothing more is sent over it, and the pool makes another. */
function guard(client: pg.PoolClient, releaseSlot: () => void): PostgresPoolClient {
  let broken: unknown
  const query = async (statement: string, parameters: readonly unknown[] = []) => {
    if (broken !== undefined) throw broken
    try {
      return await client.query({ name: nameOf(statement), text: statement, values: [...parameters] })
    } catch (reason) {
      if (isServerError(reason)) throw reason
      // The server may have done it. What is thrown here comes back from the rollback that follows.
      broken = statement.toLowerCase() === 'commit' ? new UncertainChange(reason) : reason
      throw broken
    }
  }
  const release = (): void => {
    client.release(broken !== undefined)
    releaseSlot()
  }
  return { query: query as unknown as PostgresPoolClient['query'], release }
}

const names = new Map<string, string>()

/** Of a statement that each connection prepares once: there are not many, and to plan one costs more than to run it. */
function nameOf(statement: string): string {
  const name = names.get(statement) ?? `swapgate-${names.size}`
  names.set(statement, name)
  return name
}

/** Whether the server refused a statement, and goes on. */
function isServerError(reason: unknown): boolean {
  return reason instanceof pg.DatabaseError && reason.severity === 'ERROR'
}

/** The five characters that name what the server refused (PostgreSQL, Appendix A). */
export function codeOf(reason: unknown): string | undefined {
  return reason instanceof pg.DatabaseError ? reason.code : undefined
}

function getTypeParser(type: number, format?: 'text' | 'binary') {
  return type === int8 ? toNumber : pg.types.getTypeParser(type, format)
}

/** Counts and milliseconds, exactly. */
function toNumber(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new Error(`The ledger has ${text} where a smaller number belongs.`)
  return number
}
