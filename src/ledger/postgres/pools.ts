/** pg: a pool of connections to PostgreSQL. No connection hangs, and no failure of one ends the process. */
import { type LookupFunction, Socket } from 'node:net'
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import pg from 'pg'
import type { LedgerWaits } from '../../core/access/admission.ts'
import { currentSpans, inClientSpans } from '../../domain/current-span.ts'
import { UncertainChange } from '../../domain/fault.ts'
import type { OnTrouble } from '../../domain/store-trouble.ts'
import type { Attributes } from '../../domain/trace.ts'
import type { Workload } from '../database.ts'
import { isServerTrouble, troubleOf } from '../diagnosis.ts'
import type { LedgerConnections } from '../store.ts'

const connectTimeoutMs = 2_000
const defaultConnections = 13
/** Connections that only results of creates may use, and those that only reads may use. */
const resultConnections = 2
const readConnections = 3
/** How many creates go up in one statement. */
export const maxAtOnce = 64
/** Creates go up together. Reads leave connections to look-ups of keys, and to writes of what is no create. */
export const turns = { creates: maxAtOnce, reads: 6 }
const resultTimeoutMs = 5_000
/** At a server that stays read-only, reads keep their connections for this long. */
const retirementIntervalMs = 1_000
/** The server ends an idle transaction after this time, so that its locks are released. */
const idleTimeoutMs = 10_000
const int8 = 20

interface Pools extends Readonly<Record<Workload, PostgresPool>> {
  readonly waits: ConnectionQueue['waits']
  readonly connections: () => LedgerConnections
}

/** Opens one pool with an entry for each workload. `timeoutMs`: for one statement. `lookup`: the system's unless given. */
export function openPools(
  url: string,
  timeoutMs: number,
  { connections = defaultConnections, lookup, onTrouble }: Way = {},
): Pools {
  const pool = new pg.Pool({
    connectionString: withFullVerification(url),
    max: connections,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs,
    idle_in_transaction_session_timeout: idleTimeoutMs,
    application_name: 'swapgate',
    keepAlive: true,
    ...(lookup && { stream: () => new LookingUp(lookup) }),
    types: { getTypeParser },
  })
  // A broken connection leaves the pool, and its user gets the error. Without a listener the event would end the process.
  pool.on('error', () => {})
  const openedAt = new WeakMap<pg.PoolClient, number>()
  pool.on('connect', (client) => {
    openedAt.set(
      client.on('error', () => {}),
      performance.now(),
    )
  })
  let retiredAt = Number.NEGATIVE_INFINITY
  const isRetired = (client: pg.PoolClient): boolean => (openedAt.get(client) ?? 0) <= retiredAt
  // After a failover the other connections lead to the same server, so they are closed too: idle ones when they are next taken.
  const retire = (): void => {
    if (performance.now() - retiredAt >= retirementIntervalMs) retiredAt = performance.now()
  }
  const report = (reason: unknown): void => onTrouble?.(troubleOf(reason))
  const take = async (): Promise<pg.PoolClient> => {
    const client = await pool.connect().catch((reason) => {
      report(reason)
      throw reason
    })
    if (!isRetired(client)) return client
    client.release(true)
    return await take()
  }
  const { acquire: enter, waits } = connectionQueue({
    connections,
    resultConnections,
    readConnections,
    queueTimeoutMs: { usual: connectTimeoutMs, read: connectTimeoutMs, result: resultTimeoutMs },
  })
  const poolFor = (workload: Workload): PostgresPool => ({
    options: {},
    async connect() {
      const releaseSlot = await enter(workload)
      try {
        return guard(await take(), { releaseSlot, retire, isRetired, report })
      } catch (reason) {
        releaseSlot()
        throw reason
      }
    },
    end: async () => void (pool.ending || (await pool.end())),
  })
  const count = (): LedgerConnections => ({
    used: pool.totalCount - pool.idleCount,
    idle: pool.idleCount,
    max: connections,
  })
  return { usual: poolFor('usual'), read: poolFor('read'), result: poolFor('result'), waits, connections: count }
}

interface Way {
  /** 13 by default. */
  readonly connections?: number | undefined
  readonly lookup?: LookupFunction | undefined
  /** Told each time no connection is made, or the server cannot do what is asked: read-only, its disk full. */
  readonly onTrouble?: OnTrouble | undefined
}

/**
 * In the URL that providers of databases print: pg takes these modes for `verify-full`, with a warning of several lines about a later
 * version, and knows no word for the authorities of the system, which it takes anyway.
 */
function withFullVerification(connectionString: string): string {
  const url = new URL(connectionString)
  const { searchParams: query } = url
  if (query.get('uselibpqcompat') === 'true') return connectionString
  const isVerified = ['prefer', 'require', 'verify-ca'].includes(query.get('sslmode') ?? '')
  if (!isVerified && query.get('sslrootcert') !== 'system') return connectionString
  query.set('sslmode', 'verify-full')
  if (query.get('sslrootcert') === 'system') query.delete('sslrootcert')
  return url.href
}

/** A socket that looks up names in its own way, since pg passes no option for it. */
class LookingUp extends Socket {
  private readonly lookup: LookupFunction

  constructor(lookup: LookupFunction) {
    super()
    this.lookup = lookup
  }

  override connect(port: unknown, host?: unknown): this {
    if (typeof port !== 'number' || typeof host !== 'string') return super.connect(port as string) // the path of a Unix socket
    return super.connect({ port, host, lookup: this.lookup })
  }
}

interface Guarded {
  readonly releaseSlot: () => void
  /** The server accepts no writes: closes all connections that are open now. */
  readonly retire: () => void
  readonly isRetired: (client: pg.PoolClient) => boolean
  readonly report: (reason: unknown) => void
}

/** After a timeout, a connection error or a refused write nothing more is sent over the connection, and the pool replaces it. */
function guard(client: pg.PoolClient, { releaseSlot, retire, isRetired, report }: Guarded): PostgresPoolClient {
  let broken: unknown
  const send = async (statement: string, parameters: readonly unknown[]) => {
    if (broken !== undefined) throw broken
    try {
      if (statement.startsWith(beginning)) return await client.query(statement + durably)
      return await client.query({ name: nameOf(statement), text: statement, values: [...parameters] })
    } catch (reason) {
      if (isServerTrouble(reason)) report(reason)
      if (codeOf(reason) === readOnly) retire()
      else if (isServerError(reason)) throw reason
      // The server may have committed. The rollback that follows throws this error again.
      broken = statement.toLowerCase() === 'commit' || statement.startsWith(commits) ? new UncertainChange(reason) : reason
      throw broken
    }
  }
  const query = (statement: string, parameters: readonly unknown[] = []) =>
    inClientSpans(
      currentSpans(),
      () => describe(statement, client),
      () => send(statement, parameters),
    )
  const release = (): void => {
    client.release(broken !== undefined || isRetired(client))
    releaseSlot()
  }
  return { query: query as unknown as PostgresPoolClient['query'], release }
}

const descriptions = new Map<string, readonly [string, string | undefined]>()

/** The operation and its table, and no text of the statement. */
function describe(statement: string, { host, port }: pg.PoolClient): { readonly name: string; readonly attributes: Attributes } {
  const known = descriptions.get(statement) ?? operationOf(statement)
  descriptions.set(statement, known)
  const [operation, table] = known
  return {
    name: table === undefined ? operation : `${operation} ${table}`,
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      ...(table !== undefined && { 'db.collection.name': table }),
      'server.address': host,
      'server.port': port,
    },
  }
}

/** Of a statement that does several things, the last one that changes something. */
function operationOf(statement: string): readonly [string, string | undefined] {
  const text = statement.replaceAll('"', '')
  const changes = [...text.matchAll(/\b(?:(insert) into|(update)|(delete) from) ([a-z_]+)/gi)]
  const [, insert, update, remove, table] = changes.at(-1) ?? []
  const change = insert ?? update ?? remove
  if (change !== undefined) return [change.toUpperCase(), table]
  const [, read] = /\bfrom ([a-z_]+)/i.exec(text) ?? []
  const [first = 'QUERY'] = /[a-z]+/i.exec(text) ?? []
  return [/^(?:select|with)$/i.test(first) ? 'SELECT' : first.toUpperCase(), read]
}

/** The error of a write at a standby, or at a server that was made read-only before a failover. */
export const readOnly = '25006'

/** How Kysely begins a transaction. */
const beginning = 'start transaction'
/** In one message with the beginning. With `off` a server confirms commits that a loss of power undoes. */
const durably = '; set local synchronous_commit = on'

/** How a statement begins that is a transaction of its own, and of which it may stay unknown whether it was committed. */
export const commits = 'with own_commit as'

const names = new Map<string, string>()

/** The name of a prepared statement. Statements are few, and planning one costs more than running it. */
function nameOf(statement: string): string {
  const name = names.get(statement) ?? `swapgate-${names.size}${statement.startsWith(commits) ? '-commits' : ''}`
  names.set(statement, name)
  return name
}

/** Codes after which a server closes the connection, in whatever language it says so. */
const endsConnection = /^(?:08|28|57P|25P0[34]|53300)/

/** Whether the server rejected a statement and keeps the connection. The severity is in the server's language (`lc_messages`). */
export function isServerError(reason: unknown): boolean {
  if (!(reason instanceof pg.DatabaseError)) return false
  const { severity = '', code = '' } = reason
  return severity === 'ERROR' || !(severity === 'FATAL' || severity === 'PANIC' || endsConnection.test(code))
}

/** The SQLSTATE of an error (PostgreSQL, Appendix A). */
export function codeOf(reason: unknown): string | undefined {
  return reason instanceof pg.DatabaseError ? reason.code : undefined
}

function getTypeParser(type: number, format?: 'text' | 'binary') {
  return type === int8 ? toNumber : pg.types.getTypeParser(type, format)
}

/** Parses counts and milliseconds. Throws if a number would lose precision. */
function toNumber(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new Error(`The ledger has ${text} where a smaller number belongs.`)
  return number
}

// The queue for connections. Results of creates have priority, then reads; each kind of work has some connections of its own.

interface ConnectionQueue {
  /** Resolves when a slot is free; the returned function releases it. Rejects after the queue timeout. */
  readonly acquire: (workload: Workload) => Promise<() => void>
  /** How long the first read and the first write without priority have waited. */
  readonly waits: () => LedgerWaits
}

interface ConnectionQueueOptions {
  readonly connections: number
  /** The number of slots that only results may use. */
  readonly resultConnections: number
  /** The number of slots that only reads may use. */
  readonly readConnections: number
  /** Maximum wait. */
  readonly queueTimeoutMs: Readonly<Record<Workload, number>>
}

interface Waiting {
  readonly since: number
  readonly admit: () => void
}

const workloads = ['result', 'read', 'usual'] as const

function connectionQueue(options: ConnectionQueueOptions): ConnectionQueue {
  const { connections, resultConnections, readConnections, queueTimeoutMs } = options
  const queues: Readonly<Record<Workload, Set<Waiting>>> = { result: new Set(), read: new Set(), usual: new Set() }
  const taken: Record<Workload, number> = { result: 0, read: 0, usual: 0 }
  const hasFreeConnection = (workload: Workload): boolean => {
    const { result, read, usual } = taken
    const keptForResults = workload === 'result' ? 0 : Math.max(0, resultConnections - result)
    const keptForReads = workload === 'read' ? 0 : Math.max(0, readConnections - read)
    return result + read + usual + keptForResults + keptForReads < connections
  }
  const admitNext = (): void => {
    for (const workload of workloads) {
      const [first] = queues[workload]
      if (!first || !hasFreeConnection(workload)) continue
      first.admit()
      return
    }
  }
  const occupy = (workload: Workload): (() => void) => {
    taken[workload]++
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      taken[workload]--
      admitNext()
    }
  }
  const wait = (workload: Workload): Promise<() => void> => {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>()
    const queue = queues[workload]
    const leaveQueue = (): void => {
      clearTimeout(timer)
      queue.delete(waiting)
    }
    const waiting: Waiting = {
      since: performance.now(),
      admit() {
        leaveQueue()
        resolve(occupy(workload))
      },
    }
    const timer = setTimeout(() => {
      leaveQueue()
      reject(new Error('timeout: no connection to the ledger was free'))
    }, queueTimeoutMs[workload])
    queue.add(waiting)
    return promise
  }
  const waitMs = (workload: Workload): number => {
    const [first] = queues[workload]
    return first ? performance.now() - first.since : 0
  }
  return {
    acquire: async (workload) => (queues[workload].size === 0 && hasFreeConnection(workload) ? occupy(workload) : wait(workload)),
    waits: () => ({ readMs: waitMs('read'), writeMs: waitMs('usual') }),
  }
}
