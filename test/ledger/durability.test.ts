/** What PostgreSQL must not lose, whatever its settings (docs/contract.md §10). */
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openLedger } from '../../src/ledger/index.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { startPostgresProxy } from '../support/postgres-proxy.ts'
import { query } from './raw.ts'
import { facts, intent } from './samples.ts'

let server: Postgres
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.close())

async function open(url: string) {
  const opened = await openLedger(url)
  onTestFinished(opened.close)
  return opened
}

/** The value of `synchronous_commit` in each transaction that changes a create, in a database where it is off. */
async function recordedCommits(url: string): Promise<void> {
  await query(
    url,
    `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`,
    'CREATE TABLE commits (at_commit text)',
    `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO commits VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$`,
    'CREATE TRIGGER noted AFTER INSERT OR UPDATE ON transactions FOR EACH ROW EXECUTE FUNCTION note()',
  )
}

test('L160: intents and results are flushed by a server whose synchronous_commit is off', async () => {
  const url = await server.createLedger()
  await recordedCommits(url)
  const { ledger } = await open(url)
  const created = intent()
  await ledger.begin(created)
  await ledger.complete(created.id, facts('x'))
  const commits = await query(url, 'SELECT at_commit FROM commits')
  expect(commits.length).toBeGreaterThan(1)
  expect(commits).toEqual(commits.map(() => ({ at_commit: 'on' })))
})

test('L160: what makes them durable travels with the intent, with the result, and with BEGIN', async () => {
  const url = await server.createLedger()
  const proxy = await startPostgresProxy(url)
  onTestFinished(proxy.close)
  const sent: string[] = []
  proxy.onSent((text) => sent.push(text))
  const { ledger } = await open(proxy.url)
  const created = intent()
  await ledger.begin(created)
  const ownCommit = /with own_commit as \(\s*select set_config\('synchronous_commit', 'on', true\)/
  expect(sent.join('')).toMatch(ownCommit)
  sent.length = 0
  // The first one of an account goes up twice: alone the second time.
  await ledger.complete(created.id, facts('x'))
  const durable = sent.filter((text) => text.includes('synchronous_commit'))
  expect(durable).toEqual(
    [ownCommit, /start transaction.*; set local synchronous_commit = on/].map((each) => expect.stringMatching(each)),
  )
})

test('L161: a server that does not flush is a warning for each setting', async () => {
  const url = await server.createDatabase()
  const [settings = {}] = await query(
    url,
    `SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes`,
  )
  const { warnings } = await open(url)
  for (const name of ['fsync', 'full_page_writes'])
    expect(warnings.some((warning) => warning.startsWith(`ledger.url: ${name} is off`))).toBe(settings[name] === 'off')
})

let replaced = 0

/** In place of the server's function in this database: one of its own goes by its number, whatever its body is. */
const replacePosition = (body: string): readonly string[] => [
  'SET allow_system_table_mods = on',
  `ALTER FUNCTION pg_catalog.pg_current_wal_flush_lsn() RENAME TO replaced_${++replaced}`,
  `CREATE FUNCTION pg_catalog.pg_current_wal_flush_lsn() RETURNS pg_lsn ${body}`,
]

/** A database in which a table has the position of the server's log. */
async function databaseWithPosition() {
  const url = await server.createLedger()
  await query(
    url,
    'CREATE SCHEMA chosen',
    "CREATE TABLE chosen.position AS SELECT '0/1000'::pg_lsn AS position",
    ...replacePosition("LANGUAGE sql AS 'SELECT position FROM chosen.position'"),
  )
  return { url, set: (position: string) => query(url, `UPDATE chosen.position SET position = '${position}'`) }
}

test('L162: a log position that goes back is found by a process that knew a later one, once', async () => {
  const { url, set } = await databaseWithPosition()
  const { findLostCommits } = await open(url)
  expect(await findLostCommits()).toBeUndefined()
  await set('0/2000')
  expect(await findLostCommits()).toBeUndefined()
  await query(url, 'UPDATE log_position SET position = 0')
  await set('0/1800')
  expect(await findLostCommits()).toBe('position')
  expect(await findLostCommits()).toBeUndefined()
})

test('L162: a log position before the one that the ledger has kept is found after a restart', async () => {
  const { url, set } = await databaseWithPosition()
  await set('0/2000')
  const first = await openLedger(url)
  await first.findLostCommits()
  await first.close()
  await set('0/1000')
  const { findLostCommits } = await open(url)
  expect(await findLostCommits()).toBe('position')
  expect(await findLostCommits()).toBeUndefined()
})

test('L162: a ledger that was moved to another server is found', async () => {
  const { url } = await databaseWithPosition()
  const { findLostCommits } = await open(url)
  await findLostCommits()
  await query(url, "UPDATE log_position SET system = '1'")
  expect(await (await open(url)).findLostCommits()).toBe('server')
})

test('L162: an ordinary user may read what is compared', async () => {
  const url = await server.createDatabase()
  const role = `user_${new URL(url).pathname.slice(1)}`
  const administration = new pg.Client({ connectionString: url })
  await administration.connect()
  await administration.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
  await administration.query(`GRANT ALL ON SCHEMA public TO ${role}`)
  const { findLostCommits, close } = await openLedger(Object.assign(new URL(url), { username: role, password: 'secret' }).href)
  await findLostCommits()
  expect(await query(url, 'SELECT count(*)::int AS rows FROM log_position')).toEqual([{ rows: 1 }])
  await close()
  await administration.query(`DROP OWNED BY ${role}`)
  await administration.query(`DROP ROLE ${role}`)
  await administration.end()
})

test('L162: a server that does not let its position be read is asked once', async () => {
  const { url } = await databaseWithPosition()
  const { findLostCommits } = await open(url)
  await query(
    url,
    'CREATE SEQUENCE chosen.calls',
    ...replacePosition(`LANGUAGE plpgsql AS $$
      BEGIN PERFORM nextval('chosen.calls'); RAISE EXCEPTION 'no' USING ERRCODE = '42501'; END $$`),
  )
  await expect(findLostCommits()).rejects.toThrow('no')
  expect(await findLostCommits()).toBeUndefined()
  expect(await query(url, 'SELECT last_value::int FROM chosen.calls')).toEqual([{ last_value: 1 }])
})

test('L162: SQLite has no other place for its commits', async () => {
  const { findLostCommits } = await open('sqlite::memory:')
  expect(await findLostCommits()).toBeUndefined()
})
