/** pg: what is in force in a new session, whatever stands before the server: a pooler may drop what a connection asks for. */
import pg from 'pg'
import { withTimeout } from '../../domain/async.ts'

/** In milliseconds. */
export interface SessionTimeouts {
  readonly statement_timeout: number
  /** The server ends an idle transaction after this time, so that its locks are released. */
  readonly idle_in_transaction_session_timeout: number
}

export interface SessionSettings {
  /**
   * Sets in a new session what is not in force, and as its search path the schema of the first session alone (`test/ledger/requirements.test.ts`): a schema that is made later,
   * and stands before it, is another ledger's. Throws if no session is kept.
   */
  readonly prepare: (client: pg.PoolClient) => Promise<Session>
  /** A session was not kept: asks the pooler again, whatever it has shown before. */
  readonly distrust: () => void
  /** What was found so far: a line for each. */
  readonly warnings: () => readonly string[]
}

const names = ['statement_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout'] as const

/** What the server says of it. */
interface Session {
  /** Of its process, which a pooler tells wrongly. */
  readonly pid: number
  /** Of the database. */
  readonly encoding: string
}

interface InForce extends SessionTimeouts, Session {
  /** The first of its search path, as that names it. Undefined: none of it exists. */
  readonly schema: string | undefined
  readonly lock_timeout: number
}

/** Rows that others write for a moment are waited for that long, as a rule. */
const leastLockTimeoutMs = 1_000

/** Another connection through the pooler may have to wait there. */
const maxCheckMs = 1_000

/** Without a path, the one in force stays. A commit that is not confirmed is told by a notice alone. */
const settings = `set_config('search_path', coalesce($1, current_setting('search_path')), false)
  || set_config('client_min_messages', 'notice', false)`

const inForce = {
  // Prepared, so that a pooler which keeps no session is found out by this statement. Until the first has passed, it changes nothing.
  name: 'swapgate-session',
  text: `select pg_backend_pid() as pid, current_setting('server_encoding') as encoding, quote_ident(current_schema()) as schema,
    case when $1::text is not null then ${settings} end as settings,
    ${names.map((name) => `current_setting('${name}') as ${name}`).join(', ')}`,
}

export function sessionSettings(wanted: SessionTimeouts, connection: pg.ClientConfig): SessionSettings {
  const warnings = new Set<string>()
  let checking: Promise<void> | undefined
  let searchPath: string | undefined
  const checkPooler = async (client: pg.ClientBase, pid: number): Promise<void> => {
    const other = new pg.Client(connection).on('error', () => {})
    try {
      await other.connect()
      const [theirs, own] = [await read(other), await read(client)]
      if (theirs.pid === own.pid || own.pid !== pid) throw sessionsNotKept()
    } catch (reason) {
      if (isSessionNotKept(reason)) throw reason // any other failure says nothing about it
    } finally {
      void other.end()
    }
  }
  return {
    async prepare(client) {
      const known = searchPath
      const { pid, encoding, schema, lock_timeout, ...timeouts } = await read(client, known)
      if (pid !== (client as { readonly processID?: number }).processID) {
        checking ??= withTimeout(checkPooler(client, pid), maxCheckMs, () => {}).catch((reason) => {
          checking = undefined
          throw reason
        })
        await checking
      }
      searchPath ??= schema
      if (known === undefined) await client.query(`select ${settings}`, [searchPath])
      if (lock_timeout > 0 && lock_timeout < leastLockTimeoutMs) warnings.add(shortLocks(lock_timeout))
      const dropped = namesOf(wanted).filter((name) => timeouts[name] !== wanted[name])
      if (dropped.length === 0) return { pid, encoding }
      warnings.add(droppedParameters(dropped, wanted))
      await client.query(`select ${dropped.map((name) => `set_config('${name}', '${wanted[name]}', false)`).join(', ')}`)
      return { pid, encoding }
    },
    distrust() {
      checking = undefined
    },
    warnings: () => [...warnings],
  }
}

/** Changes the session only where the search path is given. */
async function read(client: pg.ClientBase, searchPath?: string): Promise<InForce> {
  const { rows } = await client.query({ ...inForce, values: [searchPath] })
  const [{ pid, encoding, schema, ...found }] = rows
  const timeouts = names.map((name) => [name, millisecondsOf(found[name])])
  return { pid, encoding, schema: schema ?? undefined, ...Object.fromEntries(timeouts) }
}

const millisecondsIn: Readonly<Record<string, number>> = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 }

/** As PostgreSQL writes it: `5s`, `0`. */
function millisecondsOf(setting: string): number {
  const [, number, unit = ''] = /^(\d+)(\D*)$/.exec(setting) ?? []
  return Number(number) * (millisecondsIn[unit] ?? 1)
}

function namesOf(wanted: SessionTimeouts): readonly (keyof SessionTimeouts)[] {
  return Object.keys(wanted) as (keyof SessionTimeouts)[]
}

/** A prepared statement is there before it was prepared, or no more afterwards: another session of the server has the connection. */
const notKept: ReadonlySet<unknown> = new Set(['42P05', '26000'])

export function isSessionNotKept(reason: unknown): boolean {
  return notKept.has((reason as { readonly code?: unknown }).code)
}

/** Two connections that are open have one process of the server, or one has another than before. */
function sessionsNotKept(): Error {
  return Object.assign(new Error('a connection does not keep its session of the server'), { code: '42P05' })
}

function droppedParameters(dropped: readonly (keyof SessionTimeouts)[], wanted: SessionTimeouts): string {
  const statements = dropped.map((name) => `ALTER ROLE CURRENT_USER SET ${name} = ${wanted[name]}`)
  return `ledger.url: PgBouncer, or another pooler, drops the start parameter ${dropped.join(' and ')}, so each connection sets it by itself: run ${statements.join('; ')}, so that it is in force from the beginning`
}

function shortLocks(ms: number): string {
  return `ledger.url: lock_timeout is ${ms} ms for this user: a create that waits for another one asks for its rows again and again, and takes longer: run ALTER ROLE CURRENT_USER RESET lock_timeout, or correct it in postgresql.conf`
}
