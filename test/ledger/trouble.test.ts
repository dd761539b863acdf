// Takes long: outages last.
/** A store that fails: the call fails, the process lives, and nothing is half done (docs/contract.md §10). */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { UncertainChange } from '../../src/domain/fault.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { startPostgres } from '../support/postgres.ts'
import { type Lost, startPostgresProxy } from '../support/postgres-proxy.ts'
import { query, wrongPageIndex } from './raw.ts'
import { facts, intent, unique } from './samples.ts'

afterEach(() => void vi.useRealTimers())

async function ledgerFile() {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-trouble-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'ledger.db')
  const opened = await openLedger(`sqlite:${file}`)
  onTestFinished(opened.close)
  return { ...opened, file, url: `sqlite:${file}` }
}

describe('SQLite', () => {
  /** Another process that writes. */
  function locked(file: string) {
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    onTestFinished(() => other.close())
    return other
  }

  test('L15: while another process writes, reads go on, and writes wait for it', async () => {
    const { ledger, file } = await ledgerFile()
    const before = await ledger.upsert('owner', 'alpha', facts('x'))
    const other = locked(file)
    const writing = ledger.upsert('owner', 'alpha', facts('x', { status: 'success' }), before)
    expect((await ledger.find('owner', 'alpha', 'x'))?.transaction.status).toBe('wait')
    other.exec('COMMIT')
    expect((await writing)?.transaction.status).toBe('success')
  })

  test('L15: a lock that is held for five seconds fails all that wait', async () => {
    const { ledger, file } = await ledgerFile()
    const other = locked(file)
    vi.useFakeTimers({ toFake: ['performance'] })
    const made = intent()
    const waiting = Promise.allSettled([ledger.begin(made), ledger.upsert('owner', 'alpha', facts('x'))])
    const clock = setInterval(() => vi.advanceTimersByTime(1_000), 2)
    const ends = await waiting
    clearInterval(clock)
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    other.exec('ROLLBACK')
    expect(await ledger.find('owner', 'alpha', 'x')).toBeUndefined()
    expect(await ledger.begin(made)).toBe(true)
  })

  test('what is written at once is flushed to the disk together', async () => {
    const [alone, together] = [await ledgerFile(), await ledgerFile()]
    const names = Array.from({ length: 60 }, (_, n) => `${n}`)
    for (const name of names) await alone.ledger.upsert('owner', 'alpha', facts(name))
    await Promise.all(names.map((name) => together.ledger.upsert('owner', 'alpha', facts(name))))
    const logged = ({ file }: { file: string }) => statSync(`${file}-wal`).size
    expect(logged(together) * 3).toBeLessThan(logged(alone))
  })

  test('L15: on a full disk nothing is half kept, and what was kept stays', async () => {
    const { file, url, close } = await ledgerFile()
    await close()
    const program = fileURLToPath(new URL('full-disk.ts', import.meta.url))
    // No file of this process may be larger: 512 bytes each.
    const command = ['-c', 'ulimit -f 2000 && exec "$@"', 'sh', process.execPath, program, `sqlite:${file}`]
    const { stdout } = await promisify(execFile)('sh', command)
    const { kept, reasons, lines } = JSON.parse(stdout) as { kept: number; reasons: string[]; lines: string[] }
    expect(kept).toBeGreaterThan(10)
    expect(reasons).toEqual(reasons.map(() => expect.stringMatching(/^(?:disk I\/O error|database or disk is full)$/)))
    expect(reasons).toHaveLength(3)
    expect(lines.length - reasons.length).toBeOneOf([0, 1]) // and of the clock, which is written at the end, if nothing of it fits either
    expect(lines).toEqual(
      lines.map(() =>
        expect.stringMatching(/^(?:disk: the disk does not write or read it; .*|full: the disk is full; free some space)$/),
      ),
    )
    const { ledgerAdmin, close: closeAgain } = await openLedger(url)
    onTestFinished(closeAgain)
    expect((await ledgerAdmin.stats(0)).entries).toEqual([{ provider: 'alpha', status: 'wait', count: kept }])
    expect(await wrongPageIndex(url)).toEqual([])
  })
})

describe('PostgreSQL', () => {
  async function proxy(database: string) {
    const started = await startPostgresProxy(database)
    onTestFinished(started.close)
    return started
  }

  async function serverWithDatabase() {
    const server = await startPostgres()
    onTestFinished(server.close)
    return { database: await server.createLedger() }
  }

  /** With a shorter patience than the gateway's. */
  async function impatient(url: string) {
    const { ledger, close } = await openLedger(url, { timeoutMs: 300 })
    onTestFinished(close)
    return ledger
  }

  test('L15: connections that break are reported, and the next call has another', async () => {
    const { database } = await serverWithDatabase()
    const { url, cut } = await proxy(database)
    const ledger = await impatient(url)
    const calls = Array.from({ length: 20 }, (_, n) => ledger.upsert('owner', 'alpha', facts(`${n}`)))
    cut()
    const ends = await Promise.allSettled(calls)
    expect(ends.some(({ status }) => status === 'rejected')).toBe(true)
    expect(await ledger.upsert('owner', 'alpha', facts('x'))).toBeDefined()
    cut()
    await vi.waitFor(async () => expect(await ledger.find('owner', 'alpha', 'x')).toBeDefined(), eventTimeoutMs)
    expect(await wrongPageIndex(database)).toEqual([])
  })

  test('L15: a server that falls silent is given up, and the next call has another connection', async () => {
    const { database } = await serverWithDatabase()
    const { url, silence } = await proxy(database)
    const ledger = await impatient(url)
    await ledger.upsert('owner', 'alpha', facts('x'))
    silence()
    const start = performance.now()
    await expect(ledger.upsert('owner', 'alpha', facts('y'))).rejects.toThrow('timeout')
    expect(performance.now() - start).toBeLessThan(2_000)
    expect(await ledger.find('owner', 'alpha', 'x')).toBeDefined()
  })

  test('L15: a server that is gone is reported at once, and found when it is back', async () => {
    const { database } = await serverWithDatabase()
    const { url, cut, refuse, admit } = await proxy(database)
    const ledger = await impatient(url)
    await ledger.upsert('owner', 'alpha', facts('x'))
    refuse()
    cut()
    await vi.waitFor(() => expect(ledger.find('owner', 'alpha', 'x')).rejects.toThrow('ECONNREFUSED'), eventTimeoutMs)
    await expect(ledger.begin(intent())).rejects.toThrow('ECONNREFUSED')
    await admit()
    expect(await ledger.find('owner', 'alpha', 'x')).toBeDefined()
  })

  test('L15: a locked table is waited for no longer than the timeout of a statement', async () => {
    const { database } = await serverWithDatabase()
    const ledger = await impatient(database)
    const other = new pg.Client({ connectionString: database })
    await other.connect()
    onTestFinished(() => other.end())
    await other.query('BEGIN')
    await other.query('LOCK TABLE transactions')
    const made = intent()
    await expect(ledger.begin(made)).rejects.toThrow(/timeout|broke off/)
    await expect(ledger.find('owner', 'alpha', 'x')).rejects.toThrow('timeout')
    await other.query('ROLLBACK')
    expect(await ledger.begin(made)).toBe(true)
  })

  const idempotencyKey = { key: 'key', fingerprint: 'f' }

  test.each<Lost>(['request', 'response'])('L48: a COMMIT of which the %s is lost is looked up, and done once', async (lost) => {
    const { database } = await serverWithDatabase()
    const { url, loseCommits } = await proxy(database)
    const { ledger, ledgerAdmin, close } = await openLedger(url)
    onTestFinished(close)
    const [made, refused, wrong] = [intent({ idempotencyKey }), intent({ owner: 'stranger' }), intent()]
    loseCommits(lost, 2)
    expect(await ledger.begin(made)).toBe(true)
    expect(await ledger.findIdempotencyKey('owner', 'key')).toMatchObject({ state: 'open' })
    loseCommits(lost, 1)
    expect(await ledger.begin(intent({ idempotencyKey }))).toBe(false)
    loseCommits(lost, 1)
    expect(await ledger.complete(made.id, facts('x'))).toBe(true)
    expect(await ledger.findIdempotencyKey('owner', 'key')).toMatchObject({ state: 'done', first: { transaction: { id: 'x' } } })
    await ledger.begin(refused)
    await ledger.begin(wrong)
    loseCommits(lost, 1)
    await ledger.markMismatch(wrong.id, facts('y').transaction, ['coinTo'])
    loseCommits(lost, 1)
    expect(await ledger.complete(refused.id, facts('x'))).toBe(false)
    const { entries, mismatches, pending } = await ledgerAdmin.stats(0)
    expect({ entries, mismatches, pending }).toEqual({
      entries: [{ provider: 'alpha', status: 'wait', count: 1 }],
      mismatches: 2,
      pending: 0,
    })
    expect(await wrongPageIndex(database)).toEqual([])
  })

  test.each<Lost>(['request', 'response'])(
    'O1: what a person settles, and the COMMIT’s %s is lost, is reported as settled, with one record',
    async (lost) => {
      const { database } = await serverWithDatabase()
      const { url, loseCommits } = await proxy(database)
      const { ledger, ledgerAdmin, audit, close } = await openLedger(url)
      onTestFinished(close)
      const [bound, dismissed] = [intent(), intent()]
      for (const create of [bound, dismissed]) await ledger.begin(create)
      await ledger.upsert('o', 'alpha', facts('f', { attention: 'failed' }))
      loseCommits(lost, 1)
      expect(await ledgerAdmin.bind(bound.id, 'x', 7, undefined, 'alice')).toBe('bound')
      loseCommits(lost, 1)
      expect(await ledgerAdmin.markNotCreated(dismissed.id, 'alice')).toBe(true)
      loseCommits(lost, 1)
      const settlement = { status: 'refunded', note: 'ticket 7', at: Date.now() } as const
      expect(await ledgerAdmin.settle('alpha', 'f', settlement, 'alice')).toBe('settled')
      expect((await audit.read({})).map(({ subject }) => subject)).toEqual(['alpha~f', dismissed.id, bound.id])
    },
  )

  test.each<Lost>(['request', 'response'])(
    'O1: a change of which the COMMIT’s %s is lost is done once, with one record',
    async (lost) => {
      const { database } = await serverWithDatabase()
      const { url, loseCommits } = await proxy(database)
      const { accounts, overrides, audit, close } = await openLedger(url)
      onTestFinished(close)
      loseCommits(lost, 1)
      await accounts.addKey({ id: 'k1', name: 'acme', createdAt: 1 }, 'd1', 'alice')
      loseCommits(lost, 1)
      expect(await accounts.rotateKey('k1', 9_000, { id: 'k2', createdAt: 2 }, 'd2', 'alice')).toBe(true)
      loseCommits(lost, 1)
      expect(await accounts.revokeKey('k2', 5, 'alice')).toBe(true)
      loseCommits(lost, 1)
      const shown = { key: 'state:alpha', before: 'active', after: 'draining' } as const
      const drain = { key: 'state:alpha', value: 'draining', fileValue: 'active', shown } as const
      await overrides.change([drain], 'alice')
      expect((await audit.read({})).map(({ action, subject }) => [action, subject])).toEqual([
        ['provider.state', 'alpha'],
        ['key.revoke', 'k2'],
        ['key.rotate', 'k1'],
        ['key.create', 'k1'],
        ['account.create', 'acme'],
      ])
      expect([(await accounts.listKeys()).length, (await overrides.read()).length]).toEqual([2, 1])
    },
  )

  test.each<Lost>(['request', 'response'])(
    'L48: if it cannot be looked up, the outcome is unknown (%s lost), and a new begin is safe',
    async (lost) => {
      const { database } = await serverWithDatabase()
      const { url, loseCommits, refuse, admit } = await proxy(database)
      const { ledger, ledgerAdmin, close } = await openLedger(url)
      onTestFinished(close)
      const made = intent({ idempotencyKey })
      loseCommits(lost, 1, refuse)
      await expect(ledger.begin(made)).rejects.toThrow(UncertainChange)
      await admit()
      expect(await ledger.begin(made)).toBe(true)
      loseCommits(lost, 1, refuse)
      await expect(ledger.complete(made.id, facts('x'))).rejects.toThrow(UncertainChange)
      await admit()
      expect(await ledger.complete(made.id, facts('x'))).toBe(true)
      expect((await ledgerAdmin.stats(0)).entries).toEqual([{ provider: 'alpha', status: 'wait', count: 1 }])
    },
  )

  test('L48: a connection that breaks before the COMMIT has done nothing', async () => {
    const { database } = await serverWithDatabase()
    const { url, cut } = await proxy(database)
    const ledger = await impatient(url)
    const [made, unresolved] = [intent({ idempotencyKey }), intent()]
    await ledger.begin(unresolved)
    const other = new pg.Client({ connectionString: database })
    await other.connect()
    onTestFinished(() => other.end())
    await other.query('BEGIN')
    await other.query(
      `INSERT INTO claims (owner, key, intent, fingerprint, created_at) VALUES ('owner', 'key', '${unresolved.id}', 'f', 0)`,
    )
    const beginning = ledger.begin(made).catch((reason: unknown) => reason)
    await vi.waitFor(async () => {
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'insert into "claims"%'`
      expect(await query(database, waiting)).toHaveLength(1)
    }, eventTimeoutMs)
    cut()
    const reason = await beginning
    expect(reason).toBeInstanceOf(Error)
    expect(reason).not.toBeInstanceOf(UncertainChange)
    await other.query('ROLLBACK')
    expect(await ledger.findIdempotencyKey('owner', 'key')).toBeUndefined()
  })

  test('L53: results find a connection while others hold all that are not theirs', async () => {
    const { database } = await serverWithDatabase()
    const { ledger, waits, close } = await openLedger(database)
    onTestFinished(close)
    const made = Array.from({ length: 5 }, () => intent({ owner: unique('owner') }))
    for (const each of made) await ledger.begin(each)
    const other = new pg.Client({ connectionString: database })
    await other.connect()
    onTestFinished(() => other.end())
    await other.query('BEGIN')
    await other.query(
      `INSERT INTO transactions (owner, provider, provider_id, state, sort_key, record) VALUES ('owner', 'alpha', 'x', 'done', 0, '')`,
    )
    const upserts = Array.from({ length: 30 }, () => ledger.upsert('owner', 'alpha', facts('x')).catch(() => undefined))
    await vi.waitFor(() => expect(waits().writeMs).toBeGreaterThan(50), eventTimeoutMs)
    const started = performance.now()
    for (const each of made) expect(await ledger.complete(each.id, facts(each.id))).toBe(true)
    expect(performance.now() - started).toBeLessThan(1_500)
    await other.query('ROLLBACK')
    expect((await Promise.all(upserts)).some((entry) => entry?.transaction.id === 'x')).toBe(true)
    expect(waits()).toEqual({ readMs: 0, writeMs: 0 })
  })
})
