/** Creates that wait for PostgreSQL together (docs/ledger.md). */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type FirmQuote, maxOpenCreates } from '../../src/core/ports/ledger.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { startPostgresProxy } from '../support/postgres-proxy.ts'
import { query, wrongPageIndex } from './raw.ts'
import { facts, intent } from './samples.ts'

let server: Postgres
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.close())

/** `messages`: how many went to the server since the last call. Each waits for the one before it. */
async function open() {
  const database = await server.createLedger()
  const proxy = await startPostgresProxy(database)
  onTestFinished(proxy.close)
  const { ledger, close } = await openLedger(proxy.url)
  onTestFinished(close)
  let sent = 0
  proxy.onSent(() => void sent++)
  const messages = (): number => {
    const count = sent
    sent = 0
    return count
  }
  const create = async (key: string, owner = 'owner'): Promise<boolean> => {
    const made = intent({ owner, idempotencyKey: { key, fingerprint: 'f' } })
    const record = facts(`${owner}-${key}`, { depositAddress: `r-${owner}-${key}` })
    return (await ledger.begin(made)) && (await ledger.complete(made.id, record))
  }
  return { database, proxy, ledger, create, messages }
}

test('a create waits for the server twice, from the second one of its owner on', async () => {
  const { create, messages } = await open()
  await create('first')
  messages()
  expect(await create('second')).toBe(true)
  expect(messages()).toBe(2)
})

test('a create under a key that is in use goes to the server once, and stores nothing', async () => {
  const { database, ledger, create, messages } = await open()
  await create('first')
  const running = intent({ owner: 'owner', idempotencyKey: { key: 'open', fingerprint: 'f' } })
  await ledger.begin(running)
  messages()
  for (const key of ['first', 'open']) {
    const repeated = intent({ owner: 'owner', idempotencyKey: { key, fingerprint: 'f' } })
    expect(await ledger.begin(repeated)).toBe(false)
  }
  expect(messages()).toBe(2)
  expect(await query(database, 'SELECT intent FROM transactions')).toHaveLength(2)
})

test('a create with a firm quote waits for the server twice; of several at a time with one quote one has it', async () => {
  const { database, ledger, create, messages } = await open()
  await create('first')
  const terms = { quotedAmount: '16' } as FirmQuote['terms']
  for (const id of ['one', 'two']) await ledger.keepFirmQuote({ id, owner: 'owner', provider: 'alpha', quoteId: id, terms }, 60_000)
  messages()
  const made = intent({ owner: 'owner', firmQuote: 'one', idempotencyKey: { key: 'one', fingerprint: 'f' } })
  expect([await ledger.begin(made), await ledger.complete(made.id, facts('one'))]).toEqual([true, true])
  expect(messages()).toBe(2)
  const others = Array.from({ length: 40 }, (_, n) =>
    intent({ owner: 'owner', firmQuote: n % 2 === 0 ? 'one' : 'two', idempotencyKey: { key: `key-${n % 8}`, fingerprint: 'f' } }),
  )
  const results = await Promise.allSettled(others.map((each) => ledger.begin(each)))
  const begun = others.filter((_, at) => results[at]?.status === 'fulfilled' && results[at].value)
  expect(begun).toHaveLength(1)
  expect(await query(database, 'SELECT id, intent FROM firm_quotes ORDER BY id')).toEqual([
    { id: 'one', intent: made.id },
    { id: 'two', intent: begun[0]?.id },
  ])
  expect(await query(database, 'SELECT 1 FROM claims WHERE intent NOT IN (SELECT intent FROM transactions)')).toEqual([])
})

test('a page index that many creates have filled is divided after them', async () => {
  const { database, create } = await open()
  await create('first')
  for (let from = 0; from < 1_100; from += 100) {
    const creates = Array.from({ length: 100 }, (_, n) => create(`${from + n}`))
    expect(await Promise.all(creates)).toEqual(creates.map(() => true))
  }
  await expect.poll(() => query(database, 'SELECT 1 FROM page_index')).toHaveLength(2)
  expect(await wrongPageIndex(database)).toEqual([])
})

test('of creates at a time each is there with its key, and the server commits far fewer times', async () => {
  const { database, ledger, create, messages } = await open()
  const owners = ['one', 'two', 'three', 'four']
  for (const owner of owners) await create('first', owner)
  messages()
  const creates = Array.from({ length: 64 }, (_, n) => create(`${n}`, owners[n % 4]))
  expect(await Promise.all(creates)).toEqual(creates.map(() => true))
  expect(messages()).toBeLessThan(64)
  const { entries, total } = await ledger.list('two', { page: 1, size: 100, created: { first: 0n, last: 2n ** 62n } })
  expect([entries.length, total]).toEqual([17, 17])
  expect(await ledger.findIdempotencyKey('two', '61')).toMatchObject({ state: 'done', first: { transaction: { id: 'two-61' } } })
  expect(await wrongPageIndex(database)).toEqual([])
})

test.each(['English', 'German'])(
  'of one id among results at a time one create has it, and the others are mismatches: the server speaks %s',
  async (language) => {
    const { database, proxy, ledger, create } = await open()
    await create('first')
    if (language === 'German') proxy.speakGerman()
    const made = Array.from({ length: 8 }, () => intent())
    await Promise.all(made.map((each) => ledger.begin(each)))
    // The first two go up alone.
    const ids = made.map((_, at) => (at < 2 ? `other-${at}` : 'same'))
    const results = await Promise.all(made.map((each, at) => ledger.complete(each.id, facts(ids[at] ?? ''))))
    expect(results.toSorted()).toEqual([...Array(5).fill(false), true, true, true])
    expect(await query(database, "SELECT 1 FROM transactions WHERE state = 'mismatch'")).toHaveLength(5)
    expect(await wrongPageIndex(database)).toEqual([])
  },
)

test('an account has no more open creates than it may, however many begin at a time', async () => {
  const { database, ledger } = await open()
  const begin = (count: number) => Promise.allSettled(Array.from({ length: count }, () => ledger.begin(intent())))
  for (let begun = 0; begun < maxOpenCreates - 70; begun += 62) await begin(62)
  await begin(200)
  // Of those that are counted by themselves, five run at a time.
  const [{ count } = {}] = await query(database, 'SELECT cast(count(*) AS integer) AS count FROM transactions')
  expect(count).toBeGreaterThanOrEqual(maxOpenCreates)
  expect(count).toBeLessThan(maxOpenCreates + 5)
})

test('the page index is divided in the transaction that makes it too large', async () => {
  const { database, create } = await open()
  await create('first')
  for (let done = 0; done < 1_152; done += 64) await Promise.all(Array.from({ length: 64 }, (_, n) => create(`${done + n}`)))
  expect(await query(database, 'SELECT 1 FROM page_index')).toHaveLength(2)
  expect(await wrongPageIndex(database)).toEqual([])
})
