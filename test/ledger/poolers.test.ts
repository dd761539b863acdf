/** docs/ledger.md: what stands between the gateway and PostgreSQL, and what the user's own settings are, is told at the start. */
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type OpenLedger, openLedger } from '../../src/ledger/index.ts'
import { type SessionSettings, sessionSettings } from '../../src/ledger/postgres/session-settings.ts'
import { startPgBouncer } from '../support/pgbouncer.ts'
import { execute, hasPostgresPrograms, type OwnPostgres, startOwnPostgres, until } from '../support/postgres-server.ts'
import { facts, intent } from './samples.ts'

const ignored = 'ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout'

/** What docs/ledger.md says to write. */
function documentedSettings(): readonly string[] {
  const page = readFileSync(new URL('../../docs/ledger.md', import.meta.url), 'utf8')
  const [, block = ''] = /```ini\n\[pgbouncer\]\n([^`]+)```/.exec(page) ?? []
  return block.trim().split('\n')
}

let server: OwnPostgres

async function open(url: string, options: Parameters<typeof openLedger>[1] = {}): Promise<OpenLedger> {
  const opened = await openLedger(url, options)
  onTestFinished(opened.close)
  return opened
}

async function connected(config: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(config)
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

const inForce = `current_setting('search_path') AS search_path, current_setting('client_min_messages') AS client_min_messages`

function settingsOf(connectionString: string): SessionSettings {
  return sessionSettings({ statement_timeout: 0, idle_in_transaction_session_timeout: 0 }, { connectionString })
}

async function pooler(...settings: readonly string[]) {
  const started = await startPgBouncer(server.url, settings)
  onTestFinished(started.close)
  return started
}

describe.runIf(hasPostgresPrograms)('a start', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    server = await startOwnPostgres()
    await (await openLedger(server.url)).close()
  }, 60_000)
  afterAll(() => server?.close())

  test('directly at a server with its own settings says nothing of them', async () => {
    const { warnings } = await open(server.url)
    expect(warnings.filter((line) => !line.includes('fsync'))).toEqual([])
  })

  test('behind PgBouncer, as the page says, tells that the time-outs are dropped, and sets them', async () => {
    const { url } = await pooler(...documentedSettings())
    const { warnings, ledger } = await open(url, { timeoutMs: 300 })
    expect(warnings).toContainEqual(
      expect.stringMatching(
        /^ledger\.url: PgBouncer, or another pooler, drops .*statement_timeout and idle_in_transaction_session_timeout.*ALTER ROLE CURRENT_USER SET statement_timeout = 300; ALTER ROLE CURRENT_USER SET idle_in_transaction_session_timeout = 10000/,
      ),
    )
    const other = await connected({ connectionString: server.url })
    await other.query('BEGIN; LOCK TABLE transactions')
    await expect(ledger.find('owner', 'alpha', 'x')).rejects.toThrow('canceling statement due to statement timeout')
    await other.query('ROLLBACK')
    const created = intent()
    expect([await ledger.begin(created), await ledger.complete(created.id, facts('x'))]).toEqual([true, true])
  })

  test.each(['transaction', 'statement'])('behind PgBouncer that pools by %s is refused in one line', async (mode) => {
    const { url } = await pooler(`pool_mode = ${mode}`, ignored)
    await expect(openLedger(url)).rejects.toThrow(
      /^The ledger in .* cannot be opened: PgBouncer, or another pooler, does not keep a session for each connection; set pool_mode = session .*in pgbouncer\.ini\.$/,
    )
  })

  test('behind PgBouncer that pools by transaction leaves the sessions of another program as they were', async () => {
    const { url } = await pooler('pool_mode = transaction', 'default_pool_size = 2', ignored)
    const [one, two, ...clients] = await Promise.all(Array.from({ length: 4 }, () => connected({ connectionString: url })))
    const others = [one, two] as readonly pg.Client[]
    const sessions = async () => {
      await Promise.all(others.map((other) => other.query('BEGIN')))
      const found = await Promise.all(others.map((other) => other.query(`SELECT pg_backend_pid(), ${inForce}`)))
      await Promise.all(others.map((other) => other.query('SET client_min_messages = error; COMMIT')))
      return Object.fromEntries(found.map(({ rows: [{ pg_backend_pid: pid, ...settings }] }) => [pid, settings]))
    }
    await sessions()
    const before = await sessions()
    const settings = settingsOf(url)
    const opened = await Promise.allSettled(clients.map((client) => settings.prepare(client as unknown as pg.PoolClient)))
    expect(opened).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
    const after = await sessions()
    // PgBouncer may have ended one: that in which a statement failed.
    const kept = Object.keys(before).filter((pid) => after[pid])
    expect(kept.length).toBeGreaterThan(0)
    for (const pid of kept) expect(after[pid]).toEqual(before[pid])
  })

  test('behind PgBouncer that comes to pool by transaction: creates are refused before they are sent, and go on once it is mended', async () => {
    const { url, reload } = await pooler(...documentedSettings())
    const { ledger, createProbe } = await open(url)
    const createAll = async () => {
      const creates = Array.from({ length: 12 }, () => intent({ owner: 'pooled' }))
      const begun = await Promise.allSettled(creates.map((create) => ledger.begin(create)))
      const sent = creates.filter((_, n) => begun[n]?.status === 'fulfilled')
      const stored = await Promise.allSettled(sent.map(({ id }) => ledger.complete(id, facts(`of-${id}`))))
      return { sent: sent.length, stored: stored.filter(({ status }) => status === 'fulfilled').length }
    }
    expect(await createAll()).toEqual({ sent: 12, stored: 12 })
    reload(['pool_mode = transaction', ignored])
    await until(async () => {
      await createAll()
      return createProbe.refusal()?.cause === 'pooler'
    })
    for (let round = 0; round < 5; round++) {
      await createProbe.runIfDue()
      expect(await createAll()).toEqual({ sent: 0, stored: 0 })
    }
    reload(documentedSettings())
    await until(async () => {
      await createProbe.runIfDue()
      return (await createAll()).stored === 12
    })
  })

  const openHurried = () => open(Object.assign(new URL(server.url), { username: 'hurried' }).href)

  test('with a lock_timeout of the user: of creates at a time, all are stored', async () => {
    await execute(server.url, 'CREATE ROLE hurried SUPERUSER LOGIN; ALTER ROLE hurried SET lock_timeout = 5')
    const { ledger } = await openHurried()
    const creates = Array.from({ length: 40 }, () => intent({ owner: 'crowd' }))
    for (const create of creates) await ledger.begin(create)
    const stored = await Promise.allSettled(creates.map(({ id }) => ledger.complete(id, facts(`of-${id}`))))
    expect(stored.filter(({ status }) => status === 'rejected')).toEqual([])
  })

  test('with a lock_timeout of the user is told, and what a create has made waits for a row', async () => {
    const { warnings, ledger } = await openHurried()
    expect(warnings).toContainEqual(
      expect.stringMatching(/^ledger\.url: lock_timeout is 5 ms for this user: .*ALTER ROLE CURRENT_USER RESET lock_timeout/),
    )
    const created = intent({ owner: 'hurried' })
    await ledger.begin(created)
    const other = await connected({ connectionString: server.url })
    await other.query(`BEGIN; SELECT FROM transactions WHERE intent = '${created.id}' FOR UPDATE`)
    const completing = ledger.complete(created.id, facts('of-hurried'))
    const refused = `SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()`
    const [{ xact_rollback: before }] = await execute(server.url, refused)
    await until(async () => Number((await execute(server.url, refused))[0].xact_rollback) > Number(before) + 3)
    await other.query('ROLLBACK')
    expect(await completing).toBe(true)
  })

  describe('the sessions of a process', () => {
    beforeAll(() => execute(server.url, 'CREATE SCHEMA IF NOT EXISTS "One"; CREATE SCHEMA IF NOT EXISTS two'))

    /** Opened together, each with a search path of its own. */
    async function prepared(settings: SessionSettings, ...paths: readonly string[]) {
      const options = paths.map((path) => `-c search_path=${path} -c client_min_messages=error`)
      const clients = await Promise.all(options.map((each) => connected({ connectionString: server.url, options: each })))
      await Promise.all(clients.map((client) => settings.prepare(client as unknown as pg.PoolClient)))
      const found = await Promise.all(clients.map((client) => client.query(`SELECT ${inForce}`)))
      return found.map(({ rows }) => rows[0])
    }
    test('that are opened together have one schema, and so have later ones', async () => {
      const settings = settingsOf(server.url)
      const [one, two] = await prepared(settings, '"One"', 'two')
      expect(['"One"', 'two']).toContain(one.search_path)
      expect(one.client_min_messages).toBe('notice')
      expect([two, ...(await prepared(settings, 'two', 'public'))]).toEqual([one, one, one])
    })

    test('without a schema keep their search path, until there is one', async () => {
      const settings = settingsOf(server.url)
      const paths = async (...paths: readonly string[]) => (await prepared(settings, ...paths)).map((each) => each.search_path)
      expect(await paths('nowhere', 'elsewhere')).toEqual(['nowhere', 'elsewhere'])
      expect([...(await paths('two')), ...(await paths('nowhere'))]).toEqual(['two', 'two'])
    })
  })
})
