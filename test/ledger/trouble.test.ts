/** A store that fails: the call is told, the process lives, and nothing is half done (`spec/contract.md` §10). */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openLedger } from '../../src/adapters/ledger.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { wrongTallies } from './raw.ts'
import { facts, intent } from './samples.ts'

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
    await ledger.see('owner', 'alpha', facts('x'))
    const other = locked(file)
    const writing = ledger.see('owner', 'alpha', facts('x', { status: 'success' }))
    expect((await ledger.find('owner', 'alpha', 'x'))?.transaction.status).toBe('wait')
    other.exec('COMMIT')
    expect((await writing)?.transaction.status).toBe('success')
  })

  test('L15: a lock that is not given up in five seconds is told to all who wait', async () => {
    const { ledger, file } = await ledgerFile()
    const other = locked(file)
    vi.useFakeTimers({ toFake: ['performance'] })
    const made = intent()
    const waiting = Promise.allSettled([ledger.begin(made), ledger.see('owner', 'alpha', facts('x'))])
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
    for (const name of names) await alone.ledger.see('owner', 'alpha', facts(name))
    await Promise.all(names.map((name) => together.ledger.see('owner', 'alpha', facts(name))))
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
    const { kept, reasons } = JSON.parse(stdout) as { kept: number; reasons: string[] }
    expect(kept).toBeGreaterThan(10)
    expect(reasons).toEqual(reasons.map(() => expect.stringMatching(/^(?:disk I\/O error|database or disk is full)$/)))
    expect(reasons).toHaveLength(3)
    const { bookkeeping, close: closeAgain } = await openLedger(url)
    onTestFinished(closeAgain)
    expect((await bookkeeping.stats(0)).entries).toEqual([{ provider: 'alpha', status: 'wait', count: kept }])
    expect(await wrongTallies(url)).toEqual([])
  })
})

describe('PostgreSQL', () => {
  /** Between the ledger and its server: it can stop passing anything on. */
  async function proxy(server: Postgres, database: string) {
    const { hostname, port } = new URL(server.url)
    const sockets = new Set<Socket>()
    const listener = createServer((near) => {
      const far = connect(Number(port), hostname)
      const end = () => void [near.destroy(), far.destroy()]
      for (const socket of [near, far]) sockets.add(socket.on('error', () => {}).on('close', end))
      near.pipe(far).pipe(near)
    })
    const listen = async (on: number) => void (await once(listener.listen(on, '127.0.0.1'), 'listening'))
    await listen(0)
    const own = (listener.address() as AddressInfo).port
    const url = Object.assign(new URL(database), { hostname: '127.0.0.1', port: own }).href
    const cut = () => sockets.forEach((socket) => void socket.destroy())
    onTestFinished(() => void [listener.close(), cut()])
    return {
      url,
      cut,
      silence: () => sockets.forEach((socket) => void socket.unpipe().pause()),
      refuse: () => void listener.close(),
      admit: () => listen(own),
    }
  }

  async function serverWithDatabase() {
    const server = await startPostgres()
    onTestFinished(server.close)
    const database = await server.createDatabase()
    await (await openLedger(database)).close()
    return { server, database }
  }

  /** With a shorter patience than the gateway's. */
  async function impatient(url: string) {
    const { ledger, close } = await openLedger(url, { timeout: 300 })
    onTestFinished(close)
    return ledger
  }

  test('L15: connections that break are told, and the next call has another', async () => {
    const { server, database } = await serverWithDatabase()
    const { url, cut } = await proxy(server, database)
    const ledger = await impatient(url)
    const calls = Array.from({ length: 20 }, (_, n) => ledger.see('owner', 'alpha', facts(`${n}`)))
    cut()
    const ends = await Promise.allSettled(calls)
    expect(ends.some(({ status }) => status === 'rejected')).toBe(true)
    expect(await ledger.see('owner', 'alpha', facts('x'))).toBeDefined()
    cut()
    await vi.waitFor(async () => expect(await ledger.find('owner', 'alpha', 'x')).toBeDefined())
    expect(await wrongTallies(database)).toEqual([])
  })

  test('L15: a server that falls silent is given up, and the next call has another connection', async () => {
    const { server, database } = await serverWithDatabase()
    const { url, silence } = await proxy(server, database)
    const ledger = await impatient(url)
    await ledger.see('owner', 'alpha', facts('x'))
    silence()
    const start = performance.now()
    await expect(ledger.begin(intent())).rejects.toThrow('timeout')
    expect(performance.now() - start).toBeLessThan(2_000)
    expect(await ledger.find('owner', 'alpha', 'x')).toBeDefined()
  })

  test('L15: a server that is gone is told at once, and found when it is back', async () => {
    const { server, database } = await serverWithDatabase()
    const { url, cut, refuse, admit } = await proxy(server, database)
    const ledger = await impatient(url)
    await ledger.see('owner', 'alpha', facts('x'))
    refuse()
    cut()
    await vi.waitFor(() => expect(ledger.find('owner', 'alpha', 'x')).rejects.toThrow('ECONNREFUSED'))
    await expect(ledger.begin(intent())).rejects.toThrow('ECONNREFUSED')
    await admit()
    expect(await ledger.find('owner', 'alpha', 'x')).toBeDefined()
  })

  test('L15: a table that somebody else holds is waited for no longer than the time of a statement', async () => {
    const { database } = await serverWithDatabase()
    const ledger = await impatient(database)
    const other = new pg.Client({ connectionString: database })
    await other.connect()
    onTestFinished(() => other.end())
    await other.query('BEGIN')
    await other.query('LOCK TABLE transactions')
    const made = intent()
    await expect(ledger.begin(made)).rejects.toThrow('timeout')
    await expect(ledger.find('owner', 'alpha', 'x')).rejects.toThrow('timeout')
    await other.query('ROLLBACK')
    expect(await ledger.begin(made)).toBe(true)
  })
})
