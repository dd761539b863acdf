/** Opening a ledger: it is created, migrated, or refused with an error that helps (docs/contract.md §10, docs/contract-operators.md §13). */

import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { type AddressInfo, createServer, type LookupFunction } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { openLedger } from '../../src/ledger/index.ts'
import { startPostgres } from '../support/postgres.ts'
import { query } from './raw.ts'
import { facts } from './samples.ts'
import { describeStores, durableStores } from './stores.ts'

const directory = mkdtempSync(join(tmpdir(), 'swapgate-open-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** What an operator reads. */
async function refusal(url: string): Promise<string> {
  const reason = await openLedger(url).then(
    ({ close }) => close(),
    (error: Error) => error.message,
  )
  return reason ?? 'It was opened.'
}

describeStores(durableStores, (shared) => {
  /** The URL of a store that has been used and is closed. */
  async function usedStore(): Promise<string> {
    const { url, ledger, close } = await shared().openNew()
    await ledger.upsert('owner', 'alpha', facts('x'))
    await close()
    return url
  }

  test('what was kept is there when it is opened again', async () => {
    const url = await usedStore()
    const { ledger, close } = await openLedger(url)
    onTestFinished(close)
    expect(await ledger.find('owner', 'alpha', 'x')).toBeDefined()
  })

  test('a new store is a warning with its place, once', async () => {
    const url = await shared().createStore()
    const { close, warnings } = await openLedger(url)
    await close()
    const again = await openLedger(url, { mustExist: true })
    onTestFinished(again.close)
    const made = (lines: readonly string[]): readonly string[] => lines.filter((line) => line.includes('a new ledger was made'))
    expect(made(warnings)).toEqual([expect.stringContaining(url.replace(/^sqlite:|^.*@/, ''))])
    expect(made(again.warnings)).toEqual([])
  })

  test('an empty store that must exist is refused, and left as it is', async () => {
    const url = await shared().createStore()
    const opening = openLedger(url, { mustExist: true })
    await expect(opening).rejects.toThrow(
      'it does not exist, and ledger.mustExist is true; correct ledger.url, or mount its volume.',
    )
    if (url.startsWith('sqlite:')) expect(existsSync(url.slice('sqlite:'.length))).toBe(false)
  })

  test('an empty store may be opened by many at the same moment', async () => {
    const url = await shared().createStore()
    const opened = await Promise.all(Array.from({ length: 6 }, () => openLedger(url)))
    await Promise.all(opened.map(({ ledger }, n) => ledger.upsert('owner', 'alpha', facts(`${n}`))))
    expect(await opened[0]?.ledger.findAll('owner', 'alpha', ['0', '1', '2', '3', '4', '5'])).toHaveLength(6)
    await Promise.all(opened.map((each) => each.close()))
  })

  test('a store that does not exist is made, also where none may be migrated', async () => {
    const { ledger, close } = await openLedger(await shared().createStore(), { mayMigrate: false })
    onTestFinished(close)
    await ledger.upsert('owner', 'alpha', facts('x'))
    expect(await ledger.find('owner', 'alpha', 'x')).toBeDefined()
  })

  test('L21: a schema that cannot be made whole leaves nothing behind', async () => {
    const url = await shared().createStore()
    if (url.startsWith('sqlite:')) mkdirSync(dirname(url.slice('sqlite:'.length)), { recursive: true })
    await query(url, 'CREATE TABLE audit (id integer)')
    expect(await refusal(url)).toContain('cannot be opened')
    const tables = ['transactions', 'claims', 'page_index'].map((table) => query(url, `SELECT * FROM ${table}`))
    const found = await Promise.allSettled(tables)
    expect(found.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  })

  test('after it was closed it does nothing more, and to close it again is no fault', async () => {
    const { ledger, accounts, close } = await shared().openNew()
    await close()
    await close()
    await expect(ledger.find('owner', 'alpha', 'x')).rejects.toThrow()
    await expect(ledger.upsert('owner', 'alpha', facts('x'))).rejects.toThrow()
    await expect(accounts.listKeys()).rejects.toThrow()
  })

  test('what was begun before it was closed is done', async () => {
    const { url, ledger, close } = await shared().openNew()
    const writing = Array.from({ length: 20 }, (_, n) => ledger.upsert('owner', 'alpha', facts(`${n}`)))
    await Promise.all([...writing, close()])
    const again = await openLedger(url)
    onTestFinished(again.close)
    expect((await again.ledgerAdmin.stats(0)).entries).toEqual([{ provider: 'alpha', status: 'wait', count: 20 }])
  })
})

test('a relative path is relative to the working directory, and its directories are made', async () => {
  const path = relative(process.cwd(), join(directory, 'not', 'yet', 'there.db'))
  const { close } = await openLedger(`sqlite:${path}`)
  await close()
  expect(existsSync(join(directory, 'not', 'yet', 'there.db'))).toBe(true)
})

test.each(['', 'sqlite:', 'mysql://host/database', 'data/ledger.db', 'postgres:', 'postgres://user:secret@host:port/database'])(
  'the URL %j is refused',
  async (url) => {
    const message = await refusal(url)
    expect(message).toMatch(/begin with "sqlite:"|cannot be opened/)
    expect(message).not.toContain('secret')
  },
)

test('L21: a text file is no ledger, and stays what it is', async () => {
  const file = join(directory, 'notes.txt')
  writeFileSync(file, 'Do not forget the milk. '.repeat(500))
  expect(await refusal(`sqlite:${file}`)).toBe(
    `The ledger in ${file} cannot be opened: it is not a SQLite database; name another file, or restore a backup.`,
  )
  expect(statSync(file).size).toBe(12_000)
})

test('L15: a damaged file is refused', async () => {
  const file = join(directory, 'damaged.db')
  const { ledger, close } = await openLedger(`sqlite:${file}`)
  for (let n = 0; n < 200; n++) await ledger.upsert('owner', 'alpha', facts(`${n}`))
  await close()
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(statSync(file).size - 4_096, 0xa5), 0, undefined, 4_096)
  expect(await refusal(`sqlite:${file}`)).toMatch(/it is damaged; restore a backup\.$/)
})

test('if no file can be made, the reason is reported', async () => {
  writeFileSync(join(directory, 'file'), '')
  expect(await refusal(`sqlite:${join(directory, 'file', 'ledger.db')}`)).toMatch(
    /since a file has this name; correct ledger\.url\.$/,
  )
  expect(await refusal(`sqlite:${directory}`)).toMatch(/cannot be opened or created; correct ledger\.url/)
})

test('L15: what this user may not write is refused', async () => {
  const url = `sqlite:${join(directory, 'other', 'ledger.db')}`
  await (await openLedger(url)).close()
  chmodSync(join(directory, 'other'), 0o755)
  chmodSync(join(directory, 'other', 'ledger.db'), 0o644)
  await asOrdinaryUser(join(directory, 'other'), async () => {
    expect(await refusal(url)).toMatch(
      /give this user write access to the file and its directory, or name another one in ledger\.url\.$/,
    )
    expect(await refusal(`sqlite:${join(directory, 'other', 'new', 'ledger.db')}`)).toMatch(/give this user the permission\.$/)
  })
})

/** Root may write everything, so the process changes its user for a moment; other users remove the permission. */
async function asOrdinaryUser(path: string, action: () => Promise<void>): Promise<void> {
  const isRoot = process.getuid?.() === 0
  const files = readdirSync(path).map((name) => join(path, name))
  chmodSync(directory, 0o755)
  if (isRoot) process.seteuid?.('nobody')
  else for (const each of [...files, path]) chmodSync(each, 0o555)
  try {
    await action()
  } finally {
    if (isRoot) process.seteuid?.('root')
    else for (const each of [path, ...files]) chmodSync(each, 0o755)
  }
}

async function at(change: (url: URL) => void): Promise<string> {
  const { url } = await startPostgres()
  const changed = new URL(url)
  change(changed)
  return changed.href
}

test('the name of a server is looked up as the caller wishes', async () => {
  const names: string[] = []
  const lookup: LookupFunction = (name, { all }, done) => {
    names.push(name)
    if (all) process.nextTick(done, null, [{ address: '127.0.0.1', family: 4 }])
    else process.nextTick(done, null, '127.0.0.1', 4)
  }
  const opened = await openLedger(await at((url) => Object.assign(url, { hostname: 'ledger.example' })), { lookup })
  onTestFinished(opened.close)
  expect(new Set(names)).toEqual(new Set(['ledger.example']))
})

test('a wrong password and a missing database are reported, but no password', async () => {
  const wrong = await refusal(await at((url) => Object.assign(url, { password: 'a-secret' })))
  expect(wrong).toMatch(
    /^The ledger in \S+\/postgres cannot be opened: the server rejects the user or the password; correct them in ledger\.url\.$/,
  )
  expect(wrong).not.toContain('a-secret')
  const missing = await refusal(await at((url) => Object.assign(url, { pathname: '/no_such_database' })))
  expect(missing).toMatch(/the server has no such database; create it\.$/)
})

test('D4: a server that does not listen, and a host that does not exist, are reported', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  expect(await refusal(`postgres://user:a-secret@127.0.0.1:${port}/ledger`)).toBe(
    `The ledger in 127.0.0.1:${port}/ledger cannot be opened: no server listens at this address; start it, or correct the address.`,
  )
  expect(await refusal('postgres://user:a-secret@no-such-host.invalid/ledger')).toMatch(/host/)
})

test('D4: a server that never responds is given up after two seconds', async () => {
  const silent = createServer((socket) => void onTestFinished(() => void socket.destroy())).listen(0, '127.0.0.1')
  onTestFinished(() => void silent.close())
  await once(silent, 'listening')
  const start = performance.now()
  expect(await refusal(`postgres://user:a-secret@127.0.0.1:${(silent.address() as AddressInfo).port}/ledger`)).toMatch(
    /does not respond in time; check the address/,
  )
  expect(performance.now() - start).toBeLessThan(4_000)
})
