import { expect, test } from 'vitest'
import { sandboxInMemory } from './fixture.ts'

const key = 'sandbox-key-1'

test('a form that names assets in one word gets one row for each asset', async () => {
  const { send } = await sandboxInMemory()
  const { json } = await send('GET', '/a/api/v2/currencies')
  expect(json).toEqual({
    data: [
      { code: 'BTC', name: 'The BTC', icon: 'https://icons.example/btc.svg', network: 'BTC' },
      { code: 'USDTTRC20', name: 'The USDT', icon: 'https://icons.example/usdt.svg', network: 'TRX', depositMin: 20 },
      { code: 'USDTERC20', name: 'The USDT', icon: 'https://icons.example/usdt.svg', network: 'ETH' },
      { code: 'XRP', name: 'The XRP', icon: 'https://icons.example/xrp.svg', network: 'XRP' },
    ],
    pagination: { page: 1, size: 50, total: 4 },
  })
})

test('a form that names the network beside the coin gets one row for each coin, its networks in the notes', async () => {
  const { send } = await sandboxInMemory()
  const { json } = await send('GET', '/b/api/v2/currencies?search=usd')
  expect(json).toEqual({
    data: [{ code: 'USDT', name: 'The USDT', icon: 'https://icons.example/usdt.svg', notes: 'Networks: TRX, ETH' }],
    count: 1,
  })
})

test('search goes by what the form shows', async () => {
  const { send } = await sandboxInMemory()
  expect((await send('GET', '/a/api/v2/currencies?search=trc20')).json).toMatchObject({ pagination: { total: 1 } })
  expect((await send('GET', '/b/api/v2/currencies?search=trc20')).json).toMatchObject({ count: 0 })
})

test('both forms get the same rate', async () => {
  const { send } = await sandboxInMemory()
  const a = await send('GET', '/a/api/v2/rate?coinFrom=USDTERC20&coinTo=BTC&amount=100.50')
  const b = await send('GET', '/b/api/v2/rate?coinFrom=USDT&networkFrom=ETH&coinTo=BTC&amount=100.50')
  expect(a.json).toMatchObject({ coinFrom: 'USDTERC20', coinTo: 'BTC', amount: 100.5, rateType: 'float' })
  expect(b.json).toMatchObject({ fromAmount: 100.5, toAmount: a.json.amountTo, rate: a.json.rate, message: null })
  expect(a.body).toContain('"amount":100.50')
})

test('a coin without a network means its standard one, and an alias its network', async () => {
  const { send } = await sandboxInMemory()
  const rate = async (network: string) => (await send('GET', `/b/api/v2/rate?coinFrom=USDT&coinTo=BTC&amount=100${network}`)).json
  expect(await rate('')).toMatchObject({ minAmount: 20 })
  expect(await rate('&networkFrom=tron')).toMatchObject({ minAmount: 20 })
  expect(await rate('&networkFrom=ETH')).toMatchObject({ minAmount: expect.closeTo(10, 0) })
})

test('a pair that cannot be swapped is refused by the name of its parameter', async () => {
  const { send } = await sandboxInMemory()
  const refusal = async (target: string) => {
    const { status, json } = await send('GET', target)
    return [status, json.message]
  }
  const unknown = 'it is not a coin that can be swapped here'
  expect(await refusal('/a/api/v2/rate?coinFrom=USDT&coinTo=BTC&amount=1')).toEqual([400, `Invalid coinFrom: ${unknown}.`])
  expect(await refusal('/b/api/v2/rate?coinFrom=BTC&coinTo=XYZ&amount=1')).toEqual([400, `Invalid coinTo: ${unknown}.`])
  const network = '/b/api/v2/rate?coinFrom=BTC&coinTo=USDT&networkTo=SOL&amount=1'
  expect(await refusal(network)).toEqual([400, 'Invalid networkTo: USDT has TRX, ETH.'])
  const same = '/a/api/v2/rate?coinFrom=BTC&coinTo=btc&amount=1'
  expect(await refusal(same)).toEqual([400, 'Invalid coinTo: it must be another coin or network than the first.'])
})

test('an amount outside the limits is refused with the limits, on a rate as on a create', async () => {
  const { send, create } = await sandboxInMemory()
  const { status, json } = await send('GET', '/a/api/v2/rate?coinFrom=USDTTRC20&coinTo=BTC&amount=19.9')
  expect(status).toBe(400)
  expect(json.message).toMatch(/^The amount is outside the limits of this pair\. Minimum 20, maximum \d+\.$/)
  expect(await create({ coinFrom: 'USDTTRC20', coinTo: 'BTC', amount: 19.9 })).toMatchObject({ code: 400, message: json.message })
})

test('what is created in one form is read in the other', async () => {
  const { send, create } = await sandboxInMemory()
  const created = await create({ refundAddress: 'bc1refund', rateType: 'fixed' })
  expect(created).toMatchObject({ status: 'wait', coinFrom: 'BTC', coinTo: 'USDTTRC20', createdAt: '2030-01-01T00:00:00.000Z' })
  const { json } = await send('GET', `/b/api/v2/transactions/${created.id}`, { key })
  expect(json).toEqual({
    id: created.id,
    status: 'wait',
    coin_from: 'BTC',
    coin_to: 'USDT',
    network_from: 'BTC',
    network_to: 'TRX',
    amount_in: 0.1,
    amount_out: created.amountTo,
    rate: created.rate,
    rate_type: 'fixed',
    deposit_address: created.depositAddress,
    withdrawal_address: 'Twithdrawal',
    refund_address: 'bc1refund',
    tx_hash_in: null,
    tx_hash_out: null,
    created_at: '2030-01-01T00:00:00.000Z',
    valid_until: '2030-01-01T00:01:00.000Z',
  })
})

test('a coin with memos gets one for its deposit, and those of the request come back', async () => {
  const { create } = await sandboxInMemory()
  const swap = await create({ coinFrom: 'XRP', amount: 100, withdrawalExtraId: 'w 1', refundExtraId: 'r 2' })
  expect(swap).toMatchObject({ depositExtraId: expect.stringMatching(/^\d{9}$/), withdrawalExtraId: 'w 1', refundExtraId: 'r 2' })
  expect(await create()).not.toHaveProperty('depositExtraId')
})

test('every transaction has a deposit address of its own', async () => {
  const { create } = await sandboxInMemory()
  const first = await create()
  expect(first.depositAddress).toMatch(/^bc1q[a-z0-9]{38}$/)
  expect((await create()).depositAddress).not.toBe(first.depositAddress)
})

test('a transaction belongs to its key: another key neither finds nor lists it', async () => {
  const { send, create } = await sandboxInMemory()
  const { id } = await create()
  expect((await send('GET', `/a/api/v2/transactions/${id}`, { key: 'sandbox-key-2' })).status).toBe(404)
  expect((await send('GET', '/b/api/v2/transactions', { key: 'sandbox-key-2' })).json).toEqual({ data: [], count: 0 })
  expect((await send('GET', '/b/api/v2/transactions', { key })).json).toMatchObject({ count: 1 })
})

test('an unknown key gets 401 before the request is read', async () => {
  const { send } = await sandboxInMemory()
  expect((await send('POST', '/a/api/v2/transactions', { key: 'stranger', body: { nonsense: 1 } })).status).toBe(401)
  expect((await send('GET', '/b/api/v2/transactions')).status).toBe(401)
})

test('lists are newest first, in pages, and between dates where the form has them', async () => {
  const { send, create, time } = await sandboxInMemory()
  const ids: unknown[] = []
  for (const day of [0, 1, 2]) {
    time.seconds = day * 86_400
    ids.unshift((await create()).id)
  }
  const list = async (target: string) => {
    const { data } = (await send('GET', target, { key })).json as { readonly data: readonly { readonly id: string }[] }
    return data.map(({ id }) => id)
  }
  expect(await list('/a/api/v2/transactions')).toEqual(ids)
  expect(await list('/a/api/v2/transactions?page=2&size=2')).toEqual(ids.slice(2))
  expect(await list('/b/api/v2/transactions?dateFrom=2030-01-02&dateTo=2030-01-02')).toEqual([ids[1]])
  expect(await list('/b/api/v2/transactions?dateFrom=2030-01-02T00:00:00Z')).toEqual(ids.slice(0, 2))
  expect(await list('/b/api/v2/transactions?dateFrom=2030-01-02T00:00:00.0000001Z')).toEqual(ids.slice(0, 1))
  expect((await send('GET', '/b/api/v2/transactions?dateFrom=2030-01-03&dateTo=2030-01-02', { key })).status).toBe(400)
})

test('a list has only the swaps with a status, or whose status changed since a time', async () => {
  const { send, create, time } = await sandboxInMemory({ expiry: 60 })
  const first = await create()
  time.seconds = 30
  const second = await create()
  time.seconds = 70
  const list = async (query: string) => (await send('GET', `/b/api/v2/transactions?${query}`, { key })).json
  expect(await list('status=overdue')).toMatchObject({ data: [{ id: first.id }], count: 1 })
  expect(await list('status=wait')).toMatchObject({ data: [{ id: second.id }], count: 1 })
  expect(await list('updatedSince=2030-01-01T00:01:00Z')).toMatchObject({ data: [{ id: first.id }], count: 1 })
})

test('the limits are those of the service', async () => {
  const { send } = await sandboxInMemory()
  const statuses: number[] = []
  for (let count = 0; count < 61; count++) statuses.push((await send('GET', '/a/api/v2/currencies')).status)
  expect(statuses).toEqual([...Array.from({ length: 60 }, () => 200), 429])
})

test('the limits are those of the configuration', async () => {
  const { send } = await sandboxInMemory({ limits: { quotes: 2, create: 30, read: 120 } })
  const statuses: number[] = []
  for (let count = 0; count < 3; count++) statuses.push((await send('GET', '/a/api/v2/currencies')).status)
  expect(statuses).toEqual([200, 200, 429])
})

test('a fixed quote is kept for one create of its key, for a minute', async () => {
  const { send, create, time } = await sandboxInMemory()
  const quote = async (path = '/a/api/v2/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=0.1&rateType=fixed&quoteId=true') =>
    (await send('GET', path, { key })).json as { quoteId: string; validUntil: string; amountTo: number }
  const kept = await quote()
  expect(kept.validUntil).toBe('2030-01-01T00:01:00.000Z')
  time.seconds = 59
  expect(await create({ rateType: 'fixed', quoteId: kept.quoteId })).toMatchObject({ amountTo: kept.amountTo, rateType: 'fixed' })
  expect(await create({ rateType: 'fixed', quoteId: kept.quoteId })).toMatchObject({ code: 409 })
  const [late, other] = [await quote(), await quote()]
  expect(await create({ rateType: 'fixed', quoteId: other.quoteId, amount: 0.2 })).toMatchObject({ code: 400 })
  time.seconds = 120
  expect(await create({ rateType: 'fixed', quoteId: late.quoteId })).toMatchObject({ code: 409 })
  const path = '/b/api/v2/rate?coinFrom=BTC&coinTo=USDT&networkTo=TRX&amount=0.1&rateType=fixed&quoteId=true'
  expect((await send('GET', path)).status).toBe(401)
  expect((await send('GET', path.replace('fixed', 'float'), { key })).status).toBe(400)
  expect((await send('GET', path, { key })).json).toMatchObject({ quote_id: expect.any(String), valid_until: expect.any(String) })
})
