/** docs/contract.md §7: a key that has a row in the ledger is verified, also after a restart; others are unverified. */
import { afterEach, expect, test } from 'vitest'
import { orderIn } from '../support/managed.ts'
import { type Passthrough, startPassthrough } from '../support/passthrough.ts'

let place: Passthrough
afterEach(() => place[Symbol.asyncDispose]())

test('A10: each address has few guesses, and they do not affect a key in the ledger', async () => {
  place = await startPassthrough('alpha')
  const known = await place.gateway.freshKey()
  expect((await place.client('A').post('/transactions', orderIn('A'), { key: known })).status).toBe(201)
  await place.restart()
  const refused = { status: 401, json: { error: 'Unauthorized', message: 'Invalid API key', code: 401 } }
  place.alpha.reply('list', ({ headers }) => (headers.authorization === `Bearer ${known}` ? undefined : refused))
  const statuses: number[] = []
  for (let at = 0; at < 30; at++) statuses.push((await place.client('A').get('/transactions', { key: `guess-${at}` })).status)
  expect(statuses.filter((status) => status === 401)).toHaveLength(20)
  expect(statuses.filter((status) => status === 429)).toHaveLength(10)
  expect(place.alpha.received('list')).toHaveLength(20)
  for (let at = 0; at < 3; at++) expect((await place.client('A').get('/transactions', { key: known })).status).toBe(200)
})

/** Bad creates that the gateway refuses itself: the provider has not seen the key. */
const badCreates = async (key: string, count = 20): Promise<number[]> => {
  const statuses: number[] = []
  for (let at = 0; at < count; at++) {
    const order = { ...orderIn('A'), amount: -1 }
    statuses.push((await place.client('A').post('/transactions', order, { key })).status)
  }
  return statuses
}
const refused = { status: 401, json: { error: 'Unauthorized', message: 'Invalid API key', code: 401 } }

test('twenty bad creates with a right key lock nobody out: one read verifies it', async () => {
  place = await startPassthrough('alpha')
  expect(new Set(await badCreates('right-key'))).toEqual(new Set([400]))
  expect(place.alpha.journal).toEqual([])
  expect((await place.client('A').post('/transactions', orderIn('A'), { key: 'right-key' })).status).toBe(201)
  expect(place.alpha.received('list')).toHaveLength(1)
  expect((await place.client('A').get('/transactions/alpha~tx-1', { key: 'right-key' })).status).toBe(200)
  expect(place.alpha.received('list')).toHaveLength(1)
})

test('with a wrong key they end in 429 after one read, and the next keys of that address are not tried', async () => {
  place = await startPassthrough('alpha')
  place.alpha.reply('list', refused)
  await badCreates('wrong-key')
  for (let at = 0; at < 10; at++) expect(await badCreates(`wrong-key-${at}`, 1)).toEqual([429])
  expect(place.alpha.received('list')).toHaveLength(1)
})

test('a provider that does not respond verifies nothing, and is soon not asked any more', async () => {
  place = await startPassthrough('alpha')
  place.alpha.reply('list', { reset: true })
  await badCreates('some-key')
  for (let at = 0; at < 10; at++) expect(await badCreates('some-key', 1)).toEqual([429])
  expect(place.alpha.received('list').length).toBeLessThanOrEqual(10)
})

test('many at once with a right key cause one read', async () => {
  place = await startPassthrough('alpha')
  await badCreates('right-key')
  const orders = Array.from({ length: 5 }, () => place.client('A').post('/transactions', orderIn('A'), { key: 'right-key' }))
  expect((await Promise.all(orders)).map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
  expect(place.alpha.received('list')).toHaveLength(1)
})
