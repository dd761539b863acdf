/** docs/contract.md §3.4: single transactions, and lists in the provider's order. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { detailedB } from '../support/form-b.ts'
import { digits, readJson } from '../support/json.ts'
import { type Pair, pairs, startPair } from '../support/pair.ts'
import { assets, depositOf, type Swap, swap } from '../support/swaps.ts'

const created = '2026-03-01T10:00:00.000Z'
const updated = '2026-03-01T10:05:00.000Z'

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, provider)
  })
  beforeEach(async () => {
    await pair.gateway.forget()
    pair.provider.reset()
    pair.provider.holdings.swaps = [swap()]
  })
  afterAll(() => pair.close())

  const detail = (facts: Partial<Swap>, changes: object = {}): object =>
    provider === 'A' ? { ...transactionA(swap(facts)), ...changes } : { ...detailedB(swap(facts)), ...changes }
  const transactionOfA = {
    id: 'alpha~tx-1',
    status: 'wait',
    coinFrom: 'BTC',
    coinTo: 'USDTTRC20',
    amount: digits('0.10'),
    amountTo: digits('6543.210000000000000001'),
    depositAddress: depositOf('tx-1'),
    withdrawalAddress: 'TWithdraw1',
    refundAddress: 'bc1q-refund-1',
    createdAt: created,
    updatedAt: provider === 'A' ? updated : created,
    rate: digits('65432.10'),
    rateType: 'float',
  }
  const itemOfB = {
    id: 'alpha~tx-1',
    status: 'wait',
    coin_from: 'BTC',
    coin_to: 'USDT',
    amount_in: digits('0.10'),
    amount_out: digits('6543.210000000000000001'),
    created_at: created,
  }
  const transactionOfB = {
    ...itemOfB,
    network_from: 'BTC',
    network_to: 'TRX',
    rate: digits('65432.10'),
    rate_type: 'float',
    deposit_address: depositOf('tx-1'),
    withdrawal_address: 'TWithdraw1',
    refund_address: 'bc1q-refund-1',
    tx_hash_in: provider === 'A' ? null : 'hash-in-tx-1',
    tx_hash_out: null,
  }

  test('a transaction has exactly the fields of the form, with every digit of the provider', async () => {
    const response = await pair.client.get('/transactions/alpha~tx-1')
    expect(response.status, response.text).toBe(200)
    expect(response.json).toEqual(form === 'A' ? transactionOfA : transactionOfB)
    expect(response.headers['x-swap-derived']).toBe(form === 'A' && provider === 'B' ? 'updatedAt' : undefined)
  })

  test('a list has exactly the fields of the form', async () => {
    const response = await pair.client.get('/transactions')
    expect(response.status, response.text).toBe(200)
    expect(response.json).toEqual(
      form === 'A'
        ? { data: [transactionOfA], pagination: { page: digits('1'), size: digits('20'), total: digits('1') } }
        : { data: [itemOfB], count: digits('1') },
    )
  })

  test('an empty list is empty and 200', async () => {
    pair.provider.holdings.swaps = []
    const response = await pair.client.get('/transactions?page=3&size=5', { key: await pair.gateway.freshKey() })
    expect(response.json).toEqual(
      form === 'A'
        ? { data: [], pagination: { page: digits('3'), size: digits('5'), total: digits('0') } }
        : { data: [], count: digits('0') },
    )
  })

  test('a list that is 404 is empty, and so is one whose rows are null', async () => {
    for (const reply of [
      { status: 404, json: { error: 'Not Found', message: 'No transactions', code: 404 } },
      { json: provider === 'A' ? { data: null, pagination: { page: 1, size: 100, total: 0 } } : { data: null, count: 0 } },
    ]) {
      pair.provider.reply('list', reply)
      const { status, json } = await pair.client.get('/transactions', { key: await pair.gateway.freshKey() })
      expect([status, (json as { data: unknown }).data]).toEqual([200, []])
    }
  })

  test('pages of a list hold every transaction once', async () => {
    const minute = (at: number): string => new Date(Date.UTC(2026, 0, 1, 0, 200 - at)).toISOString()
    const ids = Array.from({ length: 45 }, (_, at) => `tx-${at}`)
    pair.provider.holdings.swaps = ids.map((id, at) => swap({ id, createdAt: minute(at) }))
    const key = await pair.gateway.freshKey()
    const walked: unknown[] = []
    for (const page of [1, 2, 3, 4]) {
      const { json } = await pair.client.get(`/transactions?page=${page}&size=20`, { key })
      walked.push(...(json as { data: { id: string }[] }).data.map(({ id }) => id))
    }
    expect(walked).toEqual(ids.map((id) => `alpha~${id}`))
  })

  test('an unknown refund address is omitted in form A and null in form B', async () => {
    pair.provider.reply('get', { json: readJson(JSON.stringify(detail({ refundAddress: null }))) })
    const key = await pair.gateway.freshKey()
    const response = await pair.client.get('/transactions/alpha~tx-1', { key })
    if (form === 'B') expect(response.json).toHaveProperty('refund_address', null)
    else expect(response.json).not.toHaveProperty('refundAddress')
    expect(response.headers['x-swap-omitted']).toBe(form === 'A' ? 'refundAddress' : undefined)
  })

  test('timestamps are relayed as they are written', async () => {
    for (const createdAt of ['2026-03-01T10:00:00Z', '2026-03-01T12:00:00.123456789+02:00', '2026-03-01 10:00:00']) {
      pair.provider.reply('get', { json: detail({ createdAt }) })
      const { json } = await pair.client.get('/transactions/alpha~tx-1')
      expect(json).toHaveProperty(form === 'A' ? 'createdAt' : 'created_at', createdAt)
    }
  })

  test('extra ids come down, and those that are null or empty do not', async () => {
    const own =
      provider === 'A'
        ? { depositExtraId: '42', withdrawalExtraId: null, refundExtraId: '' }
        : { deposit_extra_id: '42', withdrawal_extra_id: null, refund_extra_id: '' }
    pair.provider.reply('get', { json: detail({}, own) })
    const { json, text } = await pair.client.get('/transactions/alpha~tx-1')
    expect(json).toHaveProperty(form === 'A' ? 'depositExtraId' : 'deposit_extra_id', '42')
    expect(text.match(/extra/gi)).toHaveLength(1)
  })

  test('assets come in the words of the table', async () => {
    const words =
      provider === 'A'
        ? { coinFrom: 'btc', coinTo: 'usdttrc20' }
        : { coin_from: 'btc', coin_to: 'usdt', network_from: 'btc', network_to: 'TRON' }
    pair.provider.reply('get', { json: detail({}, words) })
    const { json } = await pair.client.get('/transactions/alpha~tx-1')
    expect(json).toMatchObject(
      form === 'A'
        ? { coinFrom: 'BTC', coinTo: 'USDTTRC20' }
        : { coin_from: 'BTC', coin_to: 'USDT', network_from: 'BTC', network_to: 'TRX' },
    )
  })

  test('an amount out is needed of a transaction that succeeded', async () => {
    const gone = provider === 'A' ? { amountTo: null } : { amount_out: null }
    pair.provider.reply('get', { json: detail({ status: 'success' }, gone) })
    expectRefusal(await pair.client.get('/transactions/alpha~tx-1'), form, 502)
  })

  test('the list reads only the page if the provider form has the order', async () => {
    await pair.client.get('/transactions?page=2&size=7', { key: await pair.gateway.freshKey() })
    const queries = pair.provider.received('list').map(({ query }) => Object.fromEntries(query))
    const isWhole = form === 'B' && provider === 'A'
    expect(pair.provider.received('get')).toHaveLength(0)
    expect(queries).toHaveLength(1)
    expect(queries[0]).toEqual(isWhole ? { page: '1', size: '100' } : { page: '2', size: '7' })
  })
})

describe('A from B', () => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair('A', 'B')
  })
  beforeEach(async () => {
    pair.provider.reset()
    await pair.gateway.forget()
  })
  afterAll(() => pair.close())

  const get = async (facts: object): Promise<Record<string, unknown>> => {
    pair.provider.reply('get', { json: { ...detailedB(swap()), ...facts } })
    return (await pair.client.get('/transactions/alpha~tx-1')).json as Record<string, unknown>
  }

  test.each([{ amount_out: null }, { amount_out: undefined }])(
    'an amount out that is not there yet is omitted: %j',
    async (facts) => {
      expect(await get(facts)).not.toHaveProperty('amountTo')
    },
  )

  test('a code that neither the networks nor the table have is omitted', async () => {
    const json = await get({ network_from: null, network_to: null })
    expect(json.coinFrom).toBe('BTC')
    expect(json).not.toHaveProperty('coinTo')
  })

  test('a network that the table lacks never gets the code of another', async () => {
    const json = await get({ network_from: 'LIGHTNING', network_to: 'BEP20' })
    expect(json).not.toHaveProperty('coinFrom')
    expect(json).not.toHaveProperty('coinTo')
  })

  test('a coin that the table lacks keeps the words of the provider', async () => {
    expect(await get({ coin_from: 'DOGE', network_from: 'DOGE' })).toMatchObject({ coinFrom: 'DOGE' })
  })
})

test('B from A: networks that are not in the table are omitted', async () => {
  const pair = await startPair('B', 'A')
  pair.provider.holdings.swaps = [swap({ from: { code: 'PEPE', coin: 'PEPE', network: 'PEPE' }, to: assets.usdcSol })]
  const response = await pair.client.get('/transactions/alpha~tx-1')
  await pair.close()
  expect(response.json).toMatchObject({ coin_from: 'PEPE', coin_to: 'USDC', network_to: 'SOL' })
  expect(response.json).not.toHaveProperty('network_from')
  expect(response.headers['x-swap-omitted']).toBe('network_from')
})
