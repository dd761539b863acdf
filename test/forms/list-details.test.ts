/** docs/contract.md §3.4: items with their details, in the order of the provider. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectAlive, expectRefusal } from '../support/expectations.ts'
import { detailedB, listedB } from '../support/form-b.ts'
import { digits } from '../support/json.ts'
import { idsOf, numbered, tagged } from '../support/lists.ts'
import { formNames, type Pair, startPair } from '../support/pair.ts'
import { depositOf, swap } from '../support/swaps.ts'

describe('A from B: items are made whole from the details', () => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair('A', 'B')
  })
  beforeEach(async () => {
    pair.provider.reset()
    await pair.gateway.forget()
  })
  afterAll(() => pair.close())

  const list = (query = '?size=100'): Promise<ReceivedResponse> => pair.client.get(`/transactions${query}`)

  test('each transaction is looked up once', async () => {
    pair.provider.holdings.swaps = numbered(30).map((id) => swap({ id }))
    const { json } = await list()
    const data = (json as { data: object[] }).data
    expect(data).toHaveLength(30)
    for (const item of data)
      expect(item).toMatchObject({ depositAddress: expect.any(String), coinTo: 'USDTTRC20', rate: digits('65432.10') })
    const looked = pair.provider.received('get').map(({ path }) => path)
    expect(looked).toHaveLength(30)
    expect(new Set(looked).size).toBe(30)
  })

  test('at most eight are looked up at a time', async () => {
    pair.provider.holdings.swaps = numbered(24).map((id) => swap({ id: `${id}-unread` }))
    const others = Promise.withResolvers<void>()
    pair.provider.reply('get', ({ path }) => ({
      after: others.promise,
      json: detailedB(swap({ id: path.slice('/transactions/'.length) })),
    }))
    const listing = list()
    await expect.poll(() => pair.provider.received('get').length).toBe(8)
    await expectAlive(pair.client) // a ninth would have come before
    expect(pair.provider.received('get')).toHaveLength(8)
    others.resolve()
    await listing
    expect(pair.provider.received('get')).toHaveLength(24)
  })

  test('an item whose details cannot be read stays as the list has it, and the list is 200', async () => {
    pair.provider.holdings.swaps = [swap({ id: 'tx-0' }), swap({ id: 'tx-1', createdAt: '2026-02-01T00:00:00Z' })]
    pair.provider.reply('get', ({ path }) => (path.endsWith('tx-0') ? { status: 500, text: 'oops' } : undefined))
    const response = await list()
    expect(response.status).toBe(200)
    const [poor, whole] = (response.json as { data: object[] }).data
    expect(poor).toEqual({
      id: 'alpha~tx-0',
      status: 'wait',
      coinFrom: 'BTC',
      amount: digits('0.10'),
      amountTo: digits('6543.210000000000000001'),
      createdAt: '2026-03-01T10:00:00.000Z',
      updatedAt: '2026-03-01T10:00:00.000Z',
    })
    expect(whole).toHaveProperty('depositAddress')
    expect(response.headers['x-swap-omitted']).toBe('coinTo,depositAddress,rate,rateType,refundAddress,withdrawalAddress')
    expect(response.headers['x-swap-derived']).toBe('updatedAt')
  })

  test('details of another transaction complete nothing', async () => {
    pair.provider.holdings.swaps = [swap()]
    pair.provider.reply('get', { json: detailedB(swap({ id: 'tx-9', depositAddress: 'bc1q-of-another' })) })
    const response = await list()
    expect(response.status).toBe(200)
    expect(response.text).not.toContain('bc1q-of-another')
  })

  test('details take at most half of the remaining time, and the other items are returned unchanged', async () => {
    const shortTimeout = await startPair('A', 'B', { provider: { timeout: 10 } })
    shortTimeout.provider.holdings.swaps = numbered(40).map((id) => swap({ id }))
    shortTimeout.provider.reply('get', { after: new Promise(() => {}) })
    const before = performance.now()
    const response = await shortTimeout.client.get('/transactions?size=100')
    const took = performance.now() - before
    await shortTimeout.close()
    expect(response.status).toBe(200)
    expect(idsOf(response)).toHaveLength(40)
    expect(took).toBeLessThan(8_000)
  })

  test('a status that is not mapped is left out, and the rest of the item stays', async () => {
    pair.provider.reply('list', { json: { data: [{ ...listedB(swap()), status: 'hold' }], count: 1 } })
    pair.provider.reply('get', { json: { ...detailedB(swap()), status: 'hold' } })
    const response = await list()
    expect(response.status).toBe(200)
    const [item] = (response.json as { data: object[] }).data
    expect(item).not.toHaveProperty('status')
    expect(item).toMatchObject({ id: 'alpha~tx-1', depositAddress: depositOf('tx-1'), withdrawalAddress: 'TWithdraw1' })
  })

  test('the order of the provider is kept', async () => {
    const rows = ['tx-2', 'tx-1', 'tx-3'].map((id) => listedB(swap({ id })))
    pair.provider.reply('list', { json: { data: rows, count: 3 } })
    expect(idsOf(await list())).toEqual(tagged(['tx-2', 'tx-1', 'tx-3']))
  })
})

test('A from A: the order of the provider is kept', async () => {
  const pair = await startPair('A', 'A')
  pair.provider.holdings.swaps = ['tx-2', 'tx-1', 'tx-3'].map((id, at) => swap({ id, createdAt: `2026-03-0${at + 1}T00:00:00Z` }))
  const response = await pair.client.get('/transactions')
  await pair.close()
  expect(idsOf(response)).toEqual(tagged(['tx-2', 'tx-1', 'tx-3']))
  expect(pair.provider.received('get')).toEqual([])
})

test.each(formNames)('A from %s: form A has no date parameters', async (provider) => {
  const pair = await startPair('A', provider)
  const response = await pair.client.get('/transactions?dateFrom=2026-01-01')
  await pair.close()
  expect(expectRefusal(response, 'A', 400)).toContain('dateFrom')
  expect(pair.provider.journal).toEqual([])
})
