/** docs/contract.md §3.4, docs/contract-operators.md §8: what a provider adds after its first `success`, and a refund address that it denies. */
import { afterEach, expect, test } from 'vitest'
import { detailedB } from '../support/form-b.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { startPassthrough } from '../support/passthrough.ts'
import { swap } from '../support/swaps.ts'

let managed: Managed
let key: string
afterEach(() => managed?.close())

const start = async (routing: readonly string[] = ['beta']): Promise<void> => {
  managed = await startManaged({
    routing,
    sections: { auth: { mode: 'managed' }, routing: { providers: routing }, ledger: { refreshAfter: 0 } },
  })
  key = await managed.issue()
}
const create = async (facts: object = {}): Promise<string> =>
  ((await managed.client('B').post('/transactions', orderIn('B', facts), { key })).json as { id: string }).id
const get = (id: string) => managed.client('B').get(`/transactions/${id}`, { key })
/** What the provider reports of its only transaction. */
const reports = (facts: object): void => {
  const [created] = managed.beta.holdings.swaps
  managed.beta.reply('get', { json: { ...detailedB(created ?? swap()), ...facts } })
}
/** Without the one by which the create was confirmed. */
const reads = (): number => managed.beta.received('get').length - 1

test('P60: a hash that was not there at the first success is read again, and a whole success never', async () => {
  await start()
  const id = await create()
  reports({ status: 'success', tx_hash_out: null })
  expect((await get(id)).json).toMatchObject({ status: 'success', tx_hash_out: null })
  reports({ status: 'success', tx_hash_out: '0xout', amount_out: 6_400 })
  const { json, text } = await get(id)
  expect(json).toMatchObject({ status: 'success', tx_hash_out: '0xout' })
  expect(text).toContain('"amount_out":6400,')
  reports({ status: 'success', tx_hash_out: '0xother' })
  expect((await get(id)).json).toMatchObject({ tx_hash_out: '0xout' })
  expect(reads()).toBe(2)
})

test('P60: a list reads it again too', async () => {
  await start()
  const id = await create()
  reports({ status: 'success', tx_hash_out: null, amount_out: 6_500 })
  await get(id)
  reports({ status: 'success', tx_hash_out: '0xout', amount_out: 6_400 })
  expect((await managed.client('B').get('/transactions', { key })).text).toContain('"amount_out":6400,')
})

test('P60: a final transaction is served while that read fails, and not as stale', async () => {
  await start()
  const id = await create()
  reports({ status: 'success', tx_hash_out: null })
  await get(id)
  for (const status of [404, 401, 500]) {
    managed.beta.reply('get', { status, json: { message: 'No.', code: status } })
    const response = await get(id)
    expect([response.status, response.headers['x-swap-stale']]).toEqual([200, undefined])
  }
  expect(reads()).toBe(2)
})

test('a form without hashes is not read again', async () => {
  await start(['alpha'])
  const id = await create()
  managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((known) => ({ ...known, status: 'success' }))
  await get(id)
  await get(id)
  expect(managed.alpha.received('get')).toHaveLength(1)
})

test('a refund address that the provider denies is not shown; one that it does not name is', async () => {
  await start()
  const id = await create({ refundAddress: 'bc1q-refund-1' })
  const { refund_address: _, ...silent } = detailedB(managed.beta.holdings.swaps[0] ?? swap())
  managed.beta.reply('get', { json: silent })
  expect((await get(id)).json).toMatchObject({ refund_address: 'bc1q-refund-1' })
  reports({ refund_address: null })
  for (let n = 0; n < 2; n++) expect((await get(id)).json).toMatchObject({ refund_address: null })
  expect((await managed.client('A').get(`/transactions/${id}`, { key })).json).not.toHaveProperty('refundAddress')
})

test('a refund address that the provider denies is not shown with its own keys either', async () => {
  await using passthrough = await startPassthrough('beta')
  const { get: read, post } = passthrough.client('B')
  const { id } = (await post('/transactions', orderIn('B', { refundAddress: 'bc1q-refund-1' }))).json as { id: string }
  const [created] = passthrough.beta.holdings.swaps
  passthrough.beta.reply('get', { json: { ...detailedB(created ?? swap()), refund_address: null } })
  expect((await read(`/transactions/${id}`)).json).toMatchObject({ refund_address: null })
})
