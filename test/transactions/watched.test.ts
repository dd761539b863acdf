/** docs/contract-operators.md §18.4: the gateway's own reads of what a stream or a webhook watches. Times pass in the ledger: all of them are moved back. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { memoryBudgets } from '../../src/adapters/memory.ts'
import { createBreaker } from '../../src/core/resilience/breaker.ts'
import { query } from '../ledger/raw.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'

const routing = ['alpha', 'beta']
const [secondMs, minuteMs, dayMs] = [1_000, 60_000, 86_400_000]
let directory: string
let ledger: string
let managed: Managed
let key: string
let owner: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'swapgate-watched-'))
  ledger = `sqlite:${join(directory, 'ledger.db')}`
})
afterEach(async () => {
  await managed.close()
  rmSync(directory, { recursive: true })
})

async function start(settings: Parameters<typeof startManaged>[0] = {}): Promise<void> {
  managed = await startManaged({ routing, ledger, ...settings })
  key = await managed.issue('acme')
}
const create = async (count = 1): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let at = 0; at < count; at++) {
    const { json } = await managed.client('A').post('/transactions', orderIn('A'), { key })
    ids.push((json as { id: string }).id.slice('alpha~'.length))
  }
  owner = String((await query(ledger, 'SELECT owner FROM transactions LIMIT 1'))[0]?.owner)
  managed.alpha.reset()
  return ids
}
const watchOwner = async (): Promise<void> => {
  await managed.gateway.watches.watchOwners([owner], dayMs * 30)
  await managed.gateway.watches.findWatched()
}
const become = (status: string, ids?: readonly string[]): void => {
  const { holdings } = managed.alpha
  holdings.swaps = holdings.swaps.map((held) => (ids?.includes(String(held.id)) === false ? held : { ...held, status }))
}
const gets = (): readonly string[] => managed.alpha.received('get').map(({ path }) => path.slice('/transactions/'.length))
const lists = (): number => managed.alpha.received('list').length
const pass = (ms: number): Promise<unknown> =>
  query(
    ledger,
    `UPDATE watched_transactions SET created_at = created_at - ${ms}, next_read_at = next_read_at - ${ms}, taken_at = taken_at - ${ms}, hinted_at = hinted_at - ${ms}, watched_until = watched_until - ${ms}`,
    `UPDATE watched_owners SET watched_until = watched_until - ${ms}`,
    `UPDATE transactions SET attempted_at = attempted_at - ${ms}, fetched_at = fetched_at - ${ms}, changed_at = changed_at - ${ms}`,
  )
const readOnce = async (): Promise<readonly string[]> => {
  managed.alpha.reset()
  await managed.gateway.readWatched()
  return gets()
}
const statusInLedger = async (id: string): Promise<unknown> =>
  (await query(ledger, `SELECT status FROM transactions WHERE provider_id = '${id}'`))[0]?.status

test('nothing is read that nobody watches', async () => {
  await start()
  await create()
  await managed.gateway.watches.findWatched()
  expect(await readOnce()).toEqual([])
})

test.each([
  ['at first', 0, 5 * secondMs],
  ['after ten minutes', 10 * minuteMs, 30 * secondMs],
  ['after a day', dayMs, 10 * minuteMs],
])('what an account has open is read %s, then after its pause, each time once', async (_, ageMs, pauseMs) => {
  await start()
  const ids = await create()
  await watchOwner()
  await pass(ageMs)
  expect(await readOnce()).toEqual(ids)
  expect(await readOnce()).toEqual([])
  await pass(pauseMs - secondMs)
  expect(await readOnce()).toEqual([])
  await pass(secondMs)
  expect(await readOnce()).toEqual(ids)
})

test('one transaction is read while it is watched, and no other', async () => {
  await start()
  const [first = '', second = ''] = await create(2)
  await managed.gateway.watches.watch([{ owner, provider: 'alpha', id: first }], 10 * secondMs)
  expect(await readOnce()).toEqual([first])
  await pass(5 * secondMs)
  expect(await readOnce()).toEqual([first])
  await pass(5 * secondMs)
  await managed.gateway.watches.findWatched()
  expect(await readOnce()).toEqual([])
  expect(second).not.toBe(first)
})

test('a transaction of another owner is not watched by its id', async () => {
  await start()
  const [id = ''] = await create()
  await managed.gateway.watches.watch([{ owner: 'another', provider: 'alpha', id }], minuteMs)
  expect(await readOnce()).toEqual([])
})

test('what is created later is found too; what has ended is not read again', async () => {
  await start()
  await create()
  await watchOwner()
  become('success')
  await readOnce()
  const [later = ''] = (await create()).slice(-1)
  await managed.gateway.watches.findWatched()
  await pass(5 * secondMs)
  expect(await readOnce()).toEqual([later])
  expect(await query(ledger, 'SELECT provider_id FROM watched_transactions')).toHaveLength(1)
})

test('an overdue one is read every ten minutes, for seven days', async () => {
  await start()
  const ids = await create()
  await watchOwner()
  become('overdue')
  expect(await readOnce()).toEqual(ids)
  await pass(5 * secondMs)
  expect(await readOnce()).toEqual([])
  await pass(9 * minuteMs)
  expect(await readOnce()).toEqual([])
  await pass(minuteMs)
  expect(await readOnce()).toEqual(ids)
  await pass(7 * dayMs)
  expect(await readOnce()).toEqual([])
  await managed.gateway.watches.findWatched()
  expect(await query(ledger, 'SELECT provider_id FROM watched_transactions')).toEqual([])
})

test("a client's get is one of the reads", async () => {
  await start()
  const [id = ''] = await create()
  await watchOwner()
  await managed.client('A').get(`/transactions/alpha~${id}`, { key })
  expect(await readOnce()).toEqual([])
})

test('many are read by one page of the list, and of them those that have changed by a get', async () => {
  await start()
  const ids = await create(20)
  await watchOwner()
  become('exchanging', ids.slice(0, 2))
  expect((await readOnce()).toSorted()).toEqual(ids.slice(0, 2).toSorted())
  expect(lists()).toBe(1)
  expect(await statusInLedger(ids[0] ?? '')).toBe('exchanging')
  expect(await statusInLedger(ids[2] ?? '')).toBe('wait')
})

test('what the list does not show is read by gets, and the list is not tried again for a minute', async () => {
  await start({ steadyClock: () => 0 })
  const ids = await create(4)
  await watchOwner()
  managed.alpha.reply('list', { status: 200, json: { data: [], pagination: { page: 1, size: 100, total: 0 } } })
  await managed.gateway.readWatched()
  expect(lists()).toBe(1)
  expect(gets().toSorted()).toEqual(ids.toSorted())
  await pass(5 * secondMs)
  expect((await readOnce()).toSorted()).toEqual(ids.toSorted())
})

test('several processes read each once', async () => {
  await start()
  const ids = await create(2)
  await watchOwner()
  const other = await startManaged({ routing, ledger, follows: managed, providers: { alpha: { url: managed.alpha.url } } })
  managed.alpha.reset()
  await Promise.all([managed.gateway.readWatched(), other.gateway.readWatched()])
  expect(gets().toSorted()).toEqual(ids.toSorted())
  await other.close()
})

test('beyond its reserve it takes only half of what the budget has for clients', async () => {
  const now = 1_800_000_000_000
  await start({ budgets: memoryBudgets(() => now), providers: { alpha: { rateLimit: { quotes: 0, create: 0, read: 20 } } } })
  await create(20)
  await watchOwner()
  managed.alpha.reply('list', { status: 404, json: { error: { code: 404, message: 'Not found.' } } })
  await managed.gateway.readWatched()
  // A reserve of 2, and half of the other 18: a call of the list among them.
  expect(gets().length + lists()).toBe(11)
})

test('what a provider that fails was not asked for is due again', async () => {
  await start({ breaker: createBreaker })
  const [id = ''] = await create()
  await watchOwner()
  managed.alpha.reply('get', { status: 500, json: {} })
  await managed.gateway.readWatched()
  managed.alpha.reset()
  await pass(5 * secondMs)
  become('success')
  await managed.gateway.readWatched()
  expect(await statusInLedger(id)).toBe('success')
})

test('a clock that was set back makes nothing due at each look', async () => {
  await start()
  const ids = await create()
  await watchOwner()
  await query(ledger, `UPDATE watched_transactions SET next_read_at = ${Date.now() + 3_600_000}`)
  expect(await readOnce()).toEqual(ids)
  expect(await readOnce()).toEqual([])
})

test.each([
  [8, 0],
  [6, 1],
])('of those that are overdue for %i days %i is watched', async (days, count) => {
  await start()
  const [id = ''] = await create()
  become('overdue')
  await managed.client('A').get(`/transactions/alpha~${id}`, { key })
  await pass(days * dayMs)
  await watchOwner()
  expect(await query(ledger, 'SELECT provider_id FROM watched_transactions')).toHaveLength(count)
})

test("what a hint names is read after a client's get, also where the gateway's clock is ahead of the ledger's", async () => {
  await start()
  const [id = ''] = await create()
  await managed.client('A').get(`/transactions/alpha~${id}`, { key })
  managed.alpha.reset()
  await managed.gateway.watches.hint('alpha', [id])
  await query(ledger, 'UPDATE watched_transactions SET hinted_at = hinted_at - 60000')
  expect(await readOnce()).toEqual([id])
})

test('a clock that was set back stops nothing', async () => {
  await start()
  const ids = await create()
  await watchOwner()
  await readOnce()
  await pass(-60 * minuteMs)
  await query(ledger, `UPDATE watched_owners SET watched_until = ${Date.now() + dayMs}`)
  expect(await readOnce()).toEqual(ids)
})
