/** A backup of the ledger, and that it can be restored (docs/backup.md). */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openLedger } from '../../src/ledger/index.ts'
import { query } from '../ledger/raw.ts'
import { depositOf, facts, intent } from '../ledger/samples.ts'
import { postgresPrograms, startOwnPostgres } from '../support/postgres-server.ts'
import { Place } from './place.ts'

function placeOver(ledgerUrl?: string): Place {
  const place = new Place(ledgerUrl === undefined ? {} : { ledgerUrl })
  onTestFinished(() => place[Symbol.dispose]())
  return place
}

async function open(url: string): ReturnType<typeof openLedger> {
  const opened = await openLedger(url)
  onTestFinished(opened.close)
  return opened
}

test('a copy that is made while a gateway writes has what was committed, and restores it', async () => {
  const place = placeOver()
  const { ledger } = await open(place.ledgerUrl)
  const create = intent({ idempotencyKey: { key: 'order-1', fingerprint: 'f' } })
  await ledger.begin(create)
  await ledger.complete(create.id, facts('one'))
  let isCopied = false
  const writing = (async () => {
    for (let n = 0; !isCopied || n < 50; n++) await ledger.upsert('owner', 'alpha', facts(`later-${n}`))
  })()
  const file = join(place.directory, 'backup.db')
  const { exitCode, out } = await place.swapgate('ledger', 'backup', file)
  isCopied = true
  await writing
  expect([exitCode, out]).toEqual([0, [`The ledger is copied to ${file} (${statSync(file).size} bytes), and the copy is whole.`]])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(place.directory).filter((name) => name.includes('partial'))).toEqual([])
  const restored = placeOver()
  copyFileSync(file, restored.ledgerUrl.slice('sqlite:'.length))
  const after = await open(restored.ledgerUrl)
  expect((await after.ledger.find('owner', 'alpha', 'one'))?.transaction.depositAddress).toBe(depositOf('one'))
  expect(await after.ledger.findIdempotencyKey('owner', 'order-1')).toMatchObject({ state: 'done', fingerprint: 'f' })
})

test('prints one JSON document with --json', async () => {
  const place = placeOver()
  await (await openLedger(place.ledgerUrl)).close()
  const file = join(place.directory, 'copy.db')
  expect(await place.facts('ledger', 'backup', file)).toEqual({ file, bytes: statSync(file).size })
})

test('never overwrites a file', async () => {
  const place = placeOver()
  await (await openLedger(place.ledgerUrl)).close()
  const file = join(place.directory, 'mine')
  writeFileSync(file, 'mine')
  const { exitCode, err } = await place.swapgate('ledger', 'backup', file)
  expect([exitCode, err]).toEqual([1, [`swapgate: ${file} exists, and is not overwritten: name another file.`]])
  expect(statSync(file).size).toBe(4)
})

test('the ledger itself is no target', async () => {
  const place = placeOver()
  await (await openLedger(place.ledgerUrl)).close()
  expect((await place.swapgate('ledger', 'backup', place.ledgerUrl.slice('sqlite:'.length))).exitCode).toBe(1)
  await open(place.ledgerUrl)
})

test('a ledger that is not there is refused, and not made', async () => {
  const place = placeOver()
  const file = join(place.directory, 'copy.db')
  const { exitCode, err } = await place.swapgate('ledger', 'backup', file)
  expect([exitCode, err.join()]).toEqual([1, expect.stringContaining('There is no ledger in')])
  expect([existsSync(file), existsSync(place.ledgerUrl.slice('sqlite:'.length))]).toEqual([false, false])
})

test('a copy that cannot be written leaves nothing behind, and says why', async () => {
  const place = placeOver()
  await (await openLedger(place.ledgerUrl)).close()
  const file = join(place.directory, 'no-such-directory', 'copy.db')
  const { exitCode, err } = await place.swapgate('ledger', 'backup', file)
  expect([exitCode, err.join()]).toEqual([1, expect.stringContaining(`cannot be copied to ${file}: its directory does not exist.`)])
})

test('a damaged ledger makes no backup', async () => {
  const place = placeOver()
  await (await openLedger(place.ledgerUrl)).close()
  const ledger = place.ledgerUrl.slice('sqlite:'.length)
  writeFileSync(ledger, Buffer.alloc(8_192, 7))
  const file = join(place.directory, 'copy.db')
  expect((await place.swapgate('ledger', 'backup', file)).exitCode).toBe(1)
  expect(readdirSync(place.directory).filter((name) => name.includes('copy.db'))).toEqual([])
})

test('a ledger of another version is copied, and not migrated', async () => {
  const place = placeOver()
  await (await openLedger(place.ledgerUrl)).close()
  await query(place.ledgerUrl, "INSERT INTO schema_steps VALUES ('of a later version', 9, 'expand', 0)")
  const file = join(place.directory, 'copy.db')
  expect((await place.swapgate('ledger', 'backup', file)).exitCode).toBe(0)
  const names = await query(`sqlite:${file}`, 'SELECT name FROM schema_steps WHERE schema = 9')
  expect(names).toHaveLength(1)
})

test('a ledger whose file cannot be written is copied all the same', async () => {
  const place = placeOver()
  await (await openLedger(place.ledgerUrl)).close()
  chmodSync(place.ledgerUrl.slice('sqlite:'.length), 0o400)
  expect((await place.swapgate('ledger', 'backup', join(place.directory, 'copy.db'))).exitCode).toBe(0)
})

test('for PostgreSQL it names pg_dump, and ends with 2', async () => {
  const place = placeOver('postgres://nobody@127.0.0.1:1/nothing')
  const { exitCode, out, err } = await place.swapgate('ledger', 'backup', join(place.directory, 'copy.db'))
  expect([exitCode, out]).toEqual([2, []])
  expect(err).toEqual([expect.stringContaining('pg_dump')])
})

test.skipIf(!postgresPrograms)('what pg_dump wrote is restored by pg_restore', async () => {
  const server = await startOwnPostgres()
  onTestFinished(server.close)
  const before = await openLedger(server.url)
  const create = intent({ idempotencyKey: { key: 'order-1', fingerprint: 'f' } })
  await before.ledger.begin(create)
  await before.ledger.complete(create.id, facts('one'))
  const file = join(placeOver().directory, 'swapgate.dump')
  const run = (program: string, ...options: readonly string[]): void =>
    void execFileSync(join(postgresPrograms ?? '', program), options, { stdio: 'pipe' })
  run('pg_dump', '--format=custom', `--file=${file}`, server.url)
  await before.ledger.upsert('owner', 'alpha', facts('after the backup'))
  await before.close()
  const restored = Object.assign(new URL(server.url), { pathname: '/restored' }).href
  run('createdb', `--maintenance-db=${server.url}`, 'restored')
  run('pg_restore', '--exit-on-error', '--no-owner', `--dbname=${restored}`, file)
  const after = await open(restored)
  expect((await after.ledger.find('owner', 'alpha', 'one'))?.transaction.depositAddress).toBe(depositOf('one'))
  expect(await after.ledger.findIdempotencyKey('owner', 'order-1')).toMatchObject({ state: 'done', fingerprint: 'f' })
  expect(await after.ledger.find('owner', 'alpha', 'after the backup')).toBeUndefined()
  expect(after.migrations).toEqual([])
})
