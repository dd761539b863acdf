/** docs/ledger.md: what the ledger needs of PostgreSQL is said before a create is sent, with the line that mends it. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type LedgerOptions, type OpenLedger, openLedger } from '../../src/ledger/index.ts'
import { startPostgresProxy } from '../support/postgres-proxy.ts'
import { hasPostgresPrograms, type OwnPostgres, startOwnPostgres } from '../support/postgres-server.ts'
import { restorePrevious } from './previous/previous.ts'
import { query } from './raw.ts'
import { facts, intent } from './samples.ts'

describe.runIf(hasPostgresPrograms)('of PostgreSQL', () => {
  let server: OwnPostgres
  beforeAll(async () => {
    server = await startOwnPostgres(['wal_level=logical'])
  })
  afterAll(() => server.close())

  let made = 0

  /** The URL of a new database, of this user. */
  async function newDatabase(options = ''): Promise<string> {
    const name = `ledger_${++made}`
    await query(server.url, `CREATE DATABASE ${name} TEMPLATE template0 ${options}`)
    return Object.assign(new URL(server.url), { pathname: `/${name}` }).href
  }

  /** The URL for a new user that has nothing but these rights. */
  async function asUser(url: string, ...grants: readonly string[]): Promise<string> {
    const user = `user_${++made}`
    await query(url, `CREATE ROLE ${user} LOGIN`, ...grants.map((grant) => grant.replaceAll('$user', user)))
    return Object.assign(new URL(url), { username: user }).href
  }

  async function newLedger(): Promise<string> {
    const url = await newDatabase()
    await (await openLedger(url)).close()
    return url
  }

  async function open(url: string, options: LedgerOptions = {}): Promise<OpenLedger> {
    const opened = await openLedger(url, options)
    onTestFinished(opened.close)
    return opened
  }

  const wholeTable = 'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO $user'

  test('every table has a primary key', async () => {
    const url = await newLedger()
    const without = `SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE relkind = 'r' AND nspname = 'public'
      AND NOT EXISTS (SELECT 1 FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary)`
    expect(await query(url, without)).toEqual([])
  })

  test('a publication of all tables changes nothing', async () => {
    const url = await newLedger()
    await query(url, 'CREATE PUBLICATION everything FOR ALL TABLES')
    const { ledger, warmUp } = await open(url)
    expect(await warmUp()).toEqual([])
    const create = intent()
    expect(await ledger.begin(create)).toBe(true)
    expect(await ledger.complete(create.id, facts('x'))).toBe(true)
  })

  test('the probe leaves no row', async () => {
    const url = await newLedger()
    const { createProbe } = await open(url)
    await createProbe.run()
    expect([createProbe.refusal(), createProbe.hasPassed()]).toEqual([undefined, true])
    const tables = await query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    const probed = tables.map(
      ({ tablename }) => `SELECT '${tablename}' AS name FROM ${tablename} AS row WHERE row::text LIKE '%probe %'`,
    )
    expect(await query(url, probed.join(' UNION ALL '))).toEqual([])
  })

  test.each([
    {
      what: 'a user that may not update',
      set: [wholeTable, 'REVOKE UPDATE ON claims FROM $user'],
      mend: ['GRANT UPDATE ON claims TO $user'],
      says: /the user lacks a privilege; .*GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES/,
    },
    {
      what: 'a user that may not delete',
      set: [wholeTable, 'REVOKE DELETE ON withheld_candidates FROM $user'],
      mend: ['GRANT DELETE ON withheld_candidates TO $user'],
      says: /the user lacks a privilege/,
    },
    {
      what: 'a user that may only read',
      set: [wholeTable, 'ALTER ROLE $user SET default_transaction_read_only = on'],
      mend: ['ALTER ROLE $user RESET default_transaction_read_only'],
      says: /the server is read-only; make it take writes/,
      reconnects: true,
    },
    {
      what: 'a row policy that lets none in',
      set: [wholeTable, 'ALTER TABLE open_deposits ENABLE ROW LEVEL SECURITY'],
      mend: ['ALTER TABLE open_deposits DISABLE ROW LEVEL SECURITY'],
      says: /the user lacks a privilege/,
    },
    {
      what: 'a publication of a table that lost its primary key',
      set: [wholeTable, 'ALTER TABLE transactions DROP COLUMN row_id', 'CREATE PUBLICATION all_tables FOR ALL TABLES'],
      mend: ['ALTER TABLE transactions REPLICA IDENTITY FULL'],
      says: /no primary key; ALTER TABLE transactions REPLICA IDENTITY FULL/,
    },
    {
      what: 'a publication of some columns, without the key',
      set: [wholeTable, 'CREATE PUBLICATION changes FOR TABLE transactions (provider, state)'],
      mend: ["ALTER PUBLICATION changes SET (publish = 'insert')"],
      says: /a list of columns, or a filter of rows, without its primary key; .*ALTER PUBLICATION <name> SET \(publish = 'insert'\)/,
    },
    {
      what: 'a publication of some rows, by what is not the key',
      set: [wholeTable, "CREATE PUBLICATION changes FOR TABLE transactions WHERE (state = 'done')"],
      mend: ["ALTER PUBLICATION changes SET (publish = 'insert')"],
      says: /a list of columns, or a filter of rows, without its primary key/,
    },
    {
      what: 'a row policy that lets none be changed',
      set: [
        wholeTable,
        'ALTER TABLE transactions ENABLE ROW LEVEL SECURITY',
        'CREATE POLICY seen ON transactions FOR SELECT USING (true)',
        'CREATE POLICY added ON transactions FOR INSERT WITH CHECK (true)',
      ],
      mend: ['ALTER TABLE transactions DISABLE ROW LEVEL SECURITY'],
      says: /row level security is on; ALTER TABLE <table> DISABLE ROW LEVEL SECURITY/,
    },
    {
      what: 'a user that may not read what a create compares',
      set: [wholeTable, 'REVOKE SELECT ON restore_marks FROM $user'],
      mend: ['GRANT SELECT ON restore_marks TO $user'],
      says: /the user lacks a privilege/,
    },
    {
      what: 'a constraint of another program',
      set: [wholeTable, "ALTER TABLE transactions ADD CONSTRAINT another CHECK (state <> 'done')"],
      mend: ['ALTER TABLE transactions DROP CONSTRAINT another'],
      says: /a constraint, a column or a trigger that is not of swapgate .*: remove it/,
    },
    {
      what: 'a trigger of another program',
      set: [
        wholeTable,
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'",
        'CREATE TRIGGER another BEFORE UPDATE ON claims FOR EACH ROW EXECUTE FUNCTION refuse()',
      ],
      mend: ['DROP TRIGGER another ON claims'],
      says: /a constraint, a column or a trigger that is not of swapgate .*: remove it/,
    },
    {
      what: 'a copy whose sequences are behind its rows',
      set: [
        wholeTable,
        `INSERT INTO transactions (intent, owner, provider, provider_id, state, attempted_at, requested, sort_key, record)
          SELECT n, 'owner', 'alpha', n, 'done', 0, '{}', 0, '{}' FROM generate_series(1, 100) AS n`,
        `INSERT INTO transaction_events (owner, provider, provider_id, at, transaction_number, digest, state, is_final)
          SELECT 'owner', 'alpha', n, 0, 1, '', '{}', 0 FROM generate_series(1, 100) AS n`,
        "SELECT setval(pg_get_serial_sequence('transaction_events', 'id'), 1)",
      ],
      mend: ["SELECT setval(pg_get_serial_sequence('transaction_events', 'id'), max(id)) FROM transaction_events"],
      says: /its sequence is behind its rows; set it: SELECT setval\(pg_get_serial_sequence\('<table>', '<column>'\), max\(<column>\)\) FROM <table>/,
    },
    {
      what: 'a table that is not there',
      set: [wholeTable, 'ALTER TABLE usage_swaps RENAME TO another'],
      mend: ['ALTER TABLE another RENAME TO usage_swaps'],
      says: /a table of the ledger is not there/,
    },
  ])('$what: creates are refused before they are sent, and go on once it is mended', async ({ set, mend, says, reconnects }) => {
    const owner = await newLedger()
    const url = await asUser(owner, ...set)
    const user = new URL(url).username
    const told: string[] = []
    const first = await open(url, { mayMigrate: false, onTrouble: ({ message }) => told.push(message) })
    expect(await first.warmUp()).toEqual([expect.stringMatching(says)])
    expect([first.createProbe.hasPassed(), first.createProbe.refusal()?.message]).toEqual([false, expect.stringMatching(says)])
    expect(told).toContainEqual(expect.stringMatching(says))
    await expect(first.ledger.begin(intent())).rejects.toThrow(says)
    await query(owner, ...mend.map((statement) => statement.replaceAll('$user', user)))
    const then = reconnects ? await open(url, { mayMigrate: false }) : first
    await then.createProbe.runIfDue()
    expect(then.createProbe.refusal()).toBeUndefined()
    expect(await then.ledger.begin(intent())).toBe(true)
  })

  test('what keeps a result from being stored is noticed by the create that it hits, and refuses the next one', async () => {
    const owner = await newLedger()
    const { ledger, createProbe } = await open(await asUser(owner, wholeTable), { mayMigrate: false })
    const [create, next] = [intent(), intent()]
    await ledger.begin(create)
    await query(owner, `REVOKE UPDATE ON transactions FROM user_${made}`)
    await expect(ledger.complete(create.id, facts('y'))).rejects.toThrow('permission denied')
    await expect.poll(() => createProbe.refusal()?.cause).toBe('permissions')
    await expect(ledger.begin(next)).rejects.toThrow('the user lacks a privilege')
  })

  test('what keeps a create from being begun is told by the create that it hits', async () => {
    const owner = await newLedger()
    const { ledger, createProbe } = await open(await asUser(owner, wholeTable), { mayMigrate: false })
    await query(owner, `REVOKE INSERT ON transactions FROM user_${made}`)
    await expect(ledger.begin(intent())).rejects.toThrow('permission denied')
    await expect.poll(() => createProbe.refusal()?.cause).toBe('permissions')
  })

  test('a create whose key is in use stays a repeat while others are refused', async () => {
    const owner = await newLedger()
    const url = await asUser(owner, wholeTable)
    const { ledger, createProbe } = await open(url, { mayMigrate: false })
    const idempotencyKey = { key: 'one', fingerprint: 'same' }
    await ledger.begin(intent({ idempotencyKey }))
    await query(owner, `REVOKE INSERT ON claims FROM ${new URL(url).username}`)
    await createProbe.run()
    expect(await ledger.begin(intent({ idempotencyKey }))).toBe(false)
  })

  test('a lock, a time-out or a lost connection refuses nothing', async () => {
    const url = await newLedger()
    const { createProbe } = await open(url, { timeoutMs: 300 })
    await createProbe.run()
    const other = new pg.Client({ connectionString: url })
    await other.connect()
    await other.query('BEGIN')
    await other.query('LOCK TABLE claims')
    await createProbe.run()
    expect(createProbe.refusal()).toBeUndefined()
    await other.end()
  })

  test('a probe that gets only some of its answers says nothing, and the next one is made', async () => {
    const owner = await newLedger()
    const url = await asUser(owner, wholeTable)
    const proxy = await startPostgresProxy(url)
    onTestFinished(proxy.close)
    const { ledger, createProbe } = await open(proxy.url, { mayMigrate: false, timeoutMs: 300 })
    const state = () => [createProbe.hasPassed(), createProbe.refusal()?.cause]
    const runHalf = async () => {
      let left = 20
      proxy.onSent(() => --left === 0 && proxy.silence())
      await createProbe.run()
      expect(left).toBeLessThanOrEqual(0)
      proxy.onSent(() => {})
    }
    await runHalf()
    expect(state()).toEqual([false, undefined])
    expect(await ledger.begin(intent())).toBe(true)
    await createProbe.runIfDue()
    expect(state()).toEqual([true, undefined])
    await runHalf()
    expect(state()).toEqual([true, undefined])
    await query(owner, `REVOKE INSERT ON usage_swaps FROM ${new URL(url).username}`)
    await createProbe.run()
    expect(state()).toEqual([true, 'permissions'])
    await query(owner, `GRANT INSERT ON usage_swaps TO ${new URL(url).username}`)
    await runHalf()
    expect(state()).toEqual([true, 'permissions'])
    await createProbe.runIfDue()
    expect(state()).toEqual([true, undefined])
  })

  test('a probe that is refused on one connection counts, while the other one is silent', async () => {
    const owner = await newLedger()
    const url = await asUser(owner, wholeTable)
    const proxy = await startPostgresProxy(url)
    onTestFinished(proxy.close)
    const { createProbe, connections } = await open(proxy.url, { mayMigrate: false, timeoutMs: 300 })
    expect(connections?.().idle, 'the first one takes it').toBe(1)
    proxy.silence()
    await query(owner, `REVOKE INSERT ON claims FROM ${new URL(url).username}`)
    await createProbe.run()
    expect(createProbe.refusal()?.cause).toBe('permissions')
  })

  test('a user that may not create tables is told so, with the line that allows it', async () => {
    const url = await asUser(await newDatabase(), 'REVOKE CREATE ON SCHEMA public FROM PUBLIC')
    const user = new URL(url).username
    await expect(openLedger(url)).rejects.toThrow(`GRANT CREATE ON SCHEMA public TO ${user}`)
  })

  test.each(['REVOKE', 'GRANT'])(
    'a user that may not write its name uses a ledger of the build before schema 1 as it is: %s CREATE',
    async (verb) => {
      const owner = await newDatabase()
      await restorePrevious('postgres', owner)
      const word = verb === 'GRANT' ? 'TO' : 'FROM'
      const url = await asUser(
        owner,
        wholeTable,
        'REVOKE CREATE ON SCHEMA public FROM PUBLIC',
        `${verb} CREATE ON SCHEMA public ${word} $user`,
      )
      await query(owner, 'REVOKE INSERT ON schema_steps FROM PUBLIC', `REVOKE INSERT ON schema_steps FROM ${new URL(url).username}`)
      const { migrations, missingSteps, warmUp } = await open(url)
      expect([migrations, missingSteps, await warmUp()]).toEqual([[], [], []])
      expect((await open(owner)).migrations).toEqual(['schema 1'])
    },
  )

  test.each([{ mustExist: false }, { mustExist: true }])('a user that may not use the schema is told so: %o', async (options) => {
    const owner = await newLedger()
    const url = await asUser(owner, wholeTable, 'REVOKE ALL ON SCHEMA public FROM PUBLIC')
    await expect(openLedger(url, options)).rejects.toThrow(`GRANT USAGE, CREATE ON SCHEMA public TO ${new URL(url).username}`)
  })

  test('names that must be quoted are so in the line that allows it', async () => {
    const url = await newDatabase()
    await query(url, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC', 'CREATE ROLE "swap-gate" LOGIN')
    const asQuoted = Object.assign(new URL(url), { username: 'swap-gate' }).href
    await expect(openLedger(asQuoted)).rejects.toThrow('GRANT CREATE ON SCHEMA public TO "swap-gate"')
  })

  test.each([
    { set: 'REVOKE CONNECT ON DATABASE $database FROM PUBLIC', says: 'GRANT CONNECT ON DATABASE <database> TO <user>' },
    { set: 'ALTER DATABASE $database WITH ALLOW_CONNECTIONS false', says: 'WITH ALLOW_CONNECTIONS true' },
  ])('a database that takes no connection is told: $set', async ({ set, says }) => {
    const url = await asUser(await newDatabase())
    await query(server.url, set.replace('$database', new URL(url).pathname.slice(1)))
    await expect(openLedger(url)).rejects.toThrow(says)
  })

  test('the first error of a transaction is the one that is told', async () => {
    const owner = await newDatabase()
    const url = await asUser(owner, 'GRANT CREATE ON SCHEMA public TO $user')
    await query(owner, 'CREATE TABLE transactions (mine integer)')
    await expect(openLedger(url)).rejects.toThrow('relation "transactions" already exists')
  })

  test('a second ledger has a schema of its own, by search_path, and sees nothing of the one in public', async () => {
    const url = await newLedger()
    const one = await open(url)
    await one.ledger.upsert('owner', 'alpha', facts('in-public'))
    const staging = await asUser(
      url,
      'CREATE SCHEMA staging AUTHORIZATION $user',
      'ALTER ROLE $user SET search_path = staging, public',
      wholeTable,
    )
    const two = await open(staging)
    expect(two.warnings.join()).toContain('a new ledger was made')
    expect(await two.warmUp()).toEqual([])
    expect(await two.ledger.find('owner', 'alpha', 'in-public')).toBeUndefined()
    await two.ledger.upsert('owner', 'alpha', facts('in-staging'))
    expect(await one.ledger.find('owner', 'alpha', 'in-staging')).toBeUndefined()
    await two.close()
    const again = await open(staging, { mustExist: true })
    expect(await again.ledger.find('owner', 'alpha', 'in-staging')).toBeDefined()
  })

  test('a schema of the name of the user that is made later is no new ledger, neither for a process that runs nor at a start', async () => {
    const owner = await newLedger()
    const url = await asUser(owner, wholeTable)
    const { username } = new URL(url)
    const { ledger, createProbe } = await open(url, { mayMigrate: false })
    await ledger.upsert('owner', 'alpha', facts('kept'))
    await query(owner, `CREATE SCHEMA ${username} AUTHORIZATION ${username}`)
    await expect(openLedger(url)).rejects.toThrow(`ALTER ROLE ${username} SET search_path = public, or ${username} for a new one`)
    await query(owner, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${username}'`)
    await expect.poll(() => ledger.find('owner', 'alpha', 'kept').catch(() => undefined)).toBeDefined()
    await createProbe.run()
    expect(createProbe.refusal()).toBeUndefined()
    await query(owner, `ALTER ROLE ${username} SET search_path = public`)
    expect(await (await open(url, { mayMigrate: false })).ledger.find('owner', 'alpha', 'kept')).toBeDefined()
  })

  test.each(['schema_steps', 'kysely_migration'])(
    'nor is it beside a ledger of a build before schema 1, without %s',
    async (table) => {
      const owner = await newDatabase()
      await restorePrevious('postgres', owner)
      await query(owner, `DROP TABLE ${table}`)
      const url = await asUser(owner, wholeTable)
      const { username } = new URL(url)
      await query(owner, `CREATE SCHEMA ${username} AUTHORIZATION ${username}`)
      await expect(openLedger(url)).rejects.toThrow(`ALTER ROLE ${username} SET search_path = public, or ${username} for a new one`)
      await query(owner, `ALTER ROLE ${username} SET search_path = ${username}, public`)
      expect((await open(url)).migrations).toEqual(['schema 1'])
    },
  )

  test('a refused create that was begun before is no repeat of itself', async () => {
    const owner = await newLedger()
    const url = await asUser(owner, wholeTable)
    const { ledger, createProbe } = await open(url, { mayMigrate: false })
    const create = intent({ idempotencyKey: { key: 'own', fingerprint: 'same' } })
    await ledger.begin(create)
    await query(owner, `REVOKE INSERT ON claims FROM ${new URL(url).username}`)
    await createProbe.run()
    await expect(ledger.begin(create)).rejects.toThrow('the user lacks a privilege')
  })

  test('a search path without a schema is told, with the line that sets one', async () => {
    const url = await asUser(await newDatabase(), 'ALTER ROLE $user SET search_path = nowhere')
    await expect(openLedger(url)).rejects.toThrow('search_path names no schema that the user')
  })

  describe.each(['LATIN1', 'WIN1250', 'SQL_ASCII'])('a database in %s', (encoding) => {
    const ofEncoding = `ENCODING '${encoding}' LOCALE 'C'`

    test('takes no new ledger', async () => {
      await expect(openLedger(await newDatabase(ofEncoding))).rejects.toThrow(
        /has the encoding \w+, and not UTF8; make another one: CREATE DATABASE \w+ ENCODING 'UTF8' TEMPLATE template0/,
      )
    })

    test('that has a ledger is a warning, and stores each swap, whatever its letters', async () => {
      const url = await oldLedgerIn(ofEncoding)
      const { ledger, warnings } = await open(url)
      expect(warnings).toContainEqual(expect.stringContaining(`has the encoding ${encoding}`))
      const texts = ['plain', 'é', '☃ Ω', '😀']
      for (const [n, text] of texts.entries()) {
        const create = intent({ owner: `owner-${text}`, idempotencyKey: { key: text, fingerprint: 'digest' } })
        expect(await ledger.begin(create)).toBe(true)
        expect(await ledger.complete(create.id, facts(`id-${n}`, { withdrawalExtraId: text, depositExtraId: text }))).toBe(true)
        const found = await ledger.find(create.owner, 'alpha', `id-${n}`)
        expect(found?.transaction).toMatchObject({ withdrawalExtraId: text, depositExtraId: text })
        expect(await ledger.findIdempotencyKey(create.owner, text)).toMatchObject({ fingerprint: 'digest' })
      }
      await ledger.upsert('owner', 'alpha', facts('☃', { depositExtraId: '☃' }))
      expect((await ledger.find('owner', 'alpha', '☃'))?.transaction.depositExtraId).toBe('☃')
    })
  })

  /** As an earlier build made it there. */
  async function oldLedgerIn(options: string): Promise<string> {
    const [from, to] = [await newLedger(), await newDatabase(options)]
    const { execFileSync } = await import('node:child_process')
    const dump = execFileSync('pg_dump', [`--dbname=${from}`, '--no-owner'], { encoding: 'utf8' })
    execFileSync('psql', [`--dbname=${to}`, '--quiet', '--set=ON_ERROR_STOP=1'], { input: dump, stdio: ['pipe', 'ignore', 'pipe'] })
    return to
  }
})
