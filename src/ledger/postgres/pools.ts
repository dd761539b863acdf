/**
 * pg: a pool of connections to PostgreSQL. No connection hangs, no failure of one ends the process, and the server never has more sessions
 * of this process than the pool has places: a session that the server has not ended keeps its own.
 */
import { type LookupFunction, Socket } from 'node:net'
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import pg from 'pg'
import type { LedgerWaits } from '../../core/access/admission.ts'
import { withTimeout } from '../../domain/async.ts'
import { currentSpans, inClientSpans } from '../../domain/current-span.ts'
import { UncertainChange } from '../../domain/fault.ts'
import type { OnTrouble } from '../../domain/store-trouble.ts'
import type { Attributes } from '../../domain/trace.ts'
import type { Workload } from '../database.ts'
import { isServerTrouble, troubleOf } from '../diagnosis.ts'
import type { LedgerConnections } from '../store.ts'
import { type AbandonedSessions, abandonedSessions } from './abandoned-sessions.ts'
import { DatabaseEncoding } from './encoding.ts'
import { isSessionNotKept, sessionSettings } from './session-settings.ts'

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
const idleTimeoutMs = 10_000
/** The server ends a statement that takes too long, and keeps its session. Only one that is silent is given up by this process. */
const silenceMs = 250
const int8 = 20

interface Pools extends Readonly<Record<Workload, PostgresPool>> {
  readonly waits: ConnectionQueue['waits']
  readonly connections: () => LedgerConnections
  /** About what is in force in the sessions that were opened so far. */
  readonly warnings: () => readonly string[]
}

/** Opens one pool with an entry for each workload. `timeoutMs`: for one statement. `lookup`: the system's unless given. */
export function openPools(
  url: string,
  timeoutMs: number,
  { connections = defaultConnections, lookup, onTrouble }: Way = {},
): Pools {
  let encoding = new DatabaseEncoding('UTF8')
  const timeouts = { statement_timeout: timeoutMs, idle_in_transaction_session_timeout: idleTimeoutMs }
  const connection = {
    connectionString: withFullVerification(url),
    connectionTimeoutMillis: connectTimeoutMs,
    ...timeouts,
    application_name: 'swapgate',
    keepAlive: true,
    ...(lookup && { stream: () => new LookingUp(lookup) }),
    types: { getTypeParser },
  }
  const settings = sessionSettings(timeouts, { ...connection, query_timeout: connectTimeoutMs })
  const abandoned = abandonedSessions({ ...connection, query_timeout: connectTimeoutMs }, isServerError, onTrouble)
  const processes = new WeakMap<pg.ClientBase, number>()
  const pool = new pg.Pool({
    ...connection,
    max: connections,
    onConnect: (client) =>
      withTimeout(settings.prepare(client as pg.PoolClient), connectTimeoutMs, silent).then((session) => {
        processes.set(client, session.pid)
        encoding = new DatabaseEncoding(session.encoding)
      }),
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
    whyHeld: () => abandoned.failure() ?? new Error('no connection to the ledger is free: the server has answered on none of them'),
    connections,
    resultConnections,
    readConnections,
    queueTimeoutMs: { usual: connectTimeoutMs, read: connectTimeoutMs, result: resultTimeoutMs },
  })
  const poolFor = (workload: Workload): PostgresPool => ({
    options: {},
    async connect() {
      const place = await enter(workload)
      try {
        const client = await take()
        const untilEnded = (answer: Promise<unknown>) => abandoned.untilEnded(processes.get(client) ?? 0, answer)
        return guard(client, {
          place,
          untilEnded,
          patienceMs: timeoutMs + silenceMs,
          retire,
          distrust: settings.distrust,
          isRetired,
          report,
          encoding: () => encoding,
        })
      } catch (reason) {
        place.release()
        throw reason
      }
    },
    async end() {
      if (!pool.ending) await Promise.all([abandoned.close(), pool.end()])
    },
  })
  const count = (): LedgerConnections => ({
    used: pool.totalCount - pool.idleCount,
    idle: pool.idleCount,
    max: connections,
  })
  const { warnings } = settings
  return { usual: poolFor('usual'), read: poolFor('read'), result: poolFor('result'), waits, connections: count, warnings }
}

function silent(): never {
  throw new Error('timeout: the server has not answered')
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
  readonly place: Place
  readonly untilEnded: (answer: Promise<unknown>) => ReturnType<AbandonedSessions['untilEnded']>
  /** For one statement. */
  readonly patienceMs: number
  /** The server accepts no writes, or a pooler keeps no session: closes all connections that are open now. */
  readonly retire: () => void
  /** A pooler keeps no session: the next ones ask it before they are used. */
  readonly distrust: () => void
  readonly isRetired: (client: pg.PoolClient) => boolean
  readonly report: (reason: unknown) => void
  readonly encoding: () => DatabaseEncoding
}

/** After a timeout, a connection error or a refused write nothing more is sent over the connection, and the pool replaces it. */
function guard(client: pg.PoolClient, guarded: Guarded): PostgresPoolClient {
  const { place, untilEnded, patienceMs, retire, distrust, isRetired, report, encoding } = guarded
  let broken: unknown
  /** Why the server ends the transaction, which it says once. */
  let failed: unknown
  let unanswered: Promise<unknown> | undefined
  let isUnconfirmed = false
  const note = ({ routine }: { readonly routine?: string | undefined }): void => {
    isUnconfirmed ||= routine === standbyWait
  }
  client.on('notice', note)
  const ask = async (statement: string, parameters: readonly unknown[]) => {
    const answer = statement.startsWith(beginning)
      ? client.query(statement + durably)
      : client.query({
          name: nameOf(statement),
          text: statement,
          values: parameters.map((each) => encoding().parameter(each)),
        })
    unanswered = answer
    const result = await withTimeout(answer, patienceMs, silent)
    unanswered = undefined
    if (isUnconfirmed) throw new Error('the server has given up the wait for its synchronous standby')
    return result
  }
  const send = async (statement: string, parameters: readonly unknown[]) => {
    if (broken !== undefined) throw broken
    try {
      return await ask(statement, parameters)
    } catch (reason) {
      if (isServerError(reason)) unanswered = undefined
      if (isServerTrouble(reason) || isSessionNotKept(reason)) report(reason)
      if (isSessionNotKept(reason)) distrust()
      if (codeOf(reason) === readOnly || isSessionNotKept(reason)) retire()
      else if (isServerError(reason)) {
        failed = codeOf(reason) === endedTransaction ? (failed ?? reason) : reason
        throw failed
      }
      // The server may have committed. The rollback that follows throws this error again.
      broken = isUnconfirmed || isCommit(statement) ? new UncertainChange(reason) : reason
      throw broken
    }
  }
  const query = (statement: string, parameters: readonly unknown[] = []) =>
    inClientSpans(
      currentSpans(),
      () => describe(statement, client),
      () => send(statement, parameters),
    )
  const end = (): void => {
    client.off('notice', note)
    client.release(broken !== undefined || isRetired(client))
    place.release()
  }
  const release = (): void => {
    if (unanswered === undefined) {
      end()
      return
    }
    place.hold()
    void untilEnded(unanswered).then(end)
  }
  return { query: query as unknown as PostgresPoolClient['query'], release }
}

/** Of the notice with which a server says that a commit counts although its standby has not confirmed it: someone has cancelled the wait. */
const standbyWait = 'SyncRepWaitForLSN'

function isCommit(statement: string): boolean {
  return statement.toLowerCase() === 'commit' || statement.startsWith(commits)
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

/**
 * The error of a write at a standby, or at a server that was made read-only before a failover. The first one closes all connections, and
 * runs again over a new one (`test/ledger/failover.test.ts`).
 */
export const readOnly = '25006'

/** Of each statement after the one that failed. */
const endedTransaction = '25P02'

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
  /** Resolves when a place is free. Rejects after the queue timeout, and at once where sessions that do not end have all places: only results wait then. */
  readonly acquire: (workload: Workload) => Promise<Place>
  /** How long the first read and the first write without priority have waited. */
  readonly waits: () => LedgerWaits
}

interface Place {
  readonly release: () => void
  /** It is taken until the server ends a session: nobody should wait for it. */
  readonly hold: () => void
}

interface ConnectionQueueOptions {
  readonly connections: number
  /** The number of places that only results may use. */
  readonly resultConnections: number
  /** The number of places that only reads may use. */
  readonly readConnections: number
  /** Maximum wait. */
  readonly queueTimeoutMs: Readonly<Record<Workload, number>>
  /** Thrown where all places are held. */
  readonly whyHeld: () => unknown
}

interface Waiting {
  readonly since: number
  readonly admit: () => void
}

const workloads = ['result', 'read', 'usual'] as const

type Counts = Record<Workload, number>

function connectionQueue(options: ConnectionQueueOptions): ConnectionQueue {
  const { connections, resultConnections, readConnections, queueTimeoutMs, whyHeld } = options
  const queues: Readonly<Record<Workload, Set<Waiting>>> = { result: new Set(), read: new Set(), usual: new Set() }
  const taken: Counts = { result: 0, read: 0, usual: 0 }
  const held: Counts = { result: 0, read: 0, usual: 0 }
  const isRoom = (workload: Workload, { result, read, usual }: Counts): boolean => {
    const keptForResults = workload === 'result' ? 0 : Math.max(0, resultConnections - result)
    const keptForReads = workload === 'read' ? 0 : Math.max(0, readConnections - read)
    return result + read + usual + keptForResults + keptForReads < connections
  }
  const hasFreeConnection = (workload: Workload): boolean => isRoom(workload, taken)
  const admitNext = (): void => {
    for (const workload of workloads) {
      const [first] = queues[workload]
      if (!first || !hasFreeConnection(workload)) continue
      first.admit()
      return
    }
  }
  const occupy = (workload: Workload): Place => {
    taken[workload]++
    let state: 'used' | 'held' | 'released' = 'used'
    return {
      hold() {
        if (state !== 'used') return
        state = 'held'
        held[workload]++
      },
      release() {
        if (state === 'released') return
        if (state === 'held') held[workload]--
        state = 'released'
        taken[workload]--
        admitNext()
      },
    }
  }
  const wait = (workload: Workload): Promise<Place> => {
    const { promise, resolve, reject } = Promise.withResolvers<Place>()
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
    async acquire(workload) {
      if (queues[workload].size === 0 && hasFreeConnection(workload)) return occupy(workload)
      if (workload !== 'result' && !isRoom(workload, held)) throw whyHeld()
      return await wait(workload)
    },
    waits: () => ({ readMs: waitMs('read'), writeMs: waitMs('usual') }),
  }
}
