/** Contract §3, Get and list: completion, order, dates and what is kept between pages. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Answered } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { detailedB, listedB } from '../support/form-b.ts'
import { digits } from '../support/json.ts'
import { formNames, type Pair, startPair } from '../support/pair.ts'
import { swap } from '../support/swaps.ts'

const idsOf = ({ json }: Answered): readonly string[] => (json as { data: { id: string }[] }).data.map(({ id }) => id)
const tagged = (ids: readonly string[]): readonly string[] => ids.map((id) => `alpha~${id}`)
const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `tx-${at}`)

describe('A from B: items are made whole from the details', () => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair('A', 'B')
  })
  beforeEach(() => pair.provider.reset())
  afterAll(() => pair.close())

  const list = (query = '?size=100'): Promise<Answered> => pair.client.get(`/transactions${query}`)

  test('each transaction is looked up once', async () => {
    pair.provider.holdings.swaps = numbered(30).map((id) => swap({ id }))
    const { json } = await list()
    const data = (json as { data: object[] }).data
    expect(data).toHaveLength(30)
    for (const item of data)
      expect(item).toMatchObject({ depositAddress: 'bc1q-deposit-1', coinTo: 'USDTTRC20', rate: digits('65432.10') })
    const looked = pair.provider.received('get').map(({ path }) => path)
    expect(looked).toHaveLength(30)
    expect(new Set(looked).size).toBe(30)
  })

  test('at most eight are looked up at a time', async () => {
    pair.provider.holdings.swaps = numbered(24).map((id) => swap({ id }))
    const atOnce = { now: 0, most: 0 }
    pair.provider.reply('get', () => {
      atOnce.most = Math.max(atOnce.most, ++atOnce.now)
      setTimeout(() => atOnce.now--, 19)
      return { delay: 20, json: detailedB(swap()) }
    })
    await list()
    expect(atOnce.most).toBeGreaterThan(1)
    expect(atOnce.most).toBeLessThanOrEqual(8)
  })

  test('an item whose details cannot be had stays as the list has it, and the list is 200', async () => {
    pair.provider.holdings.swaps = [swap({ id: 'tx-0' }), swap({ id: 'tx-1', createdAt: '2026-02-01T00:00:00Z' })]
    pair.provider.reply('get', ({ path }) => (path.endsWith('tx-0') ? { status: 500, text: 'oops' } : undefined))
    const answer = await list()
    expect(answer.status).toBe(200)
    const [poor, whole] = (answer.json as { data: object[] }).data
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
    expect(answer.headers['x-swap-omitted']).toBe('coinTo,depositAddress,rate,rateType,refundAddress,withdrawalAddress')
    expect(answer.headers['x-swap-derived']).toBe('updatedAt')
  })

  test('details of another transaction complete nothing', async () => {
    pair.provider.holdings.swaps = [swap()]
    pair.provider.reply('get', { json: detailedB(swap({ id: 'tx-9', depositAddress: 'bc1q-of-another' })) })
    const answer = await list()
    expect(answer.status).toBe(200)
    expect(answer.text).not.toContain('bc1q-of-another')
  })

  test('completion takes at most half of the time that is left, and the rest is answered as it is', async () => {
    const hasty = await startPair('A', 'B', { provider: { timeout: 0.6 } })
    hasty.provider.holdings.swaps = numbered(40).map((id) => swap({ id }))
    hasty.provider.reply('get', { delay: 2_000, json: {} })
    const before = performance.now()
    const answer = await hasty.client.get('/transactions?size=100')
    const took = performance.now() - before
    await hasty.close()
    expect(answer.status).toBe(200)
    expect(idsOf(answer)).toHaveLength(40)
    expect(took).toBeLessThan(550)
  })

  test('a status that nobody has explained is left out, and the rest of the item stays', async () => {
    pair.provider.reply('list', { json: { data: [{ ...listedB(swap()), status: 'hold' }], count: 1 } })
    pair.provider.reply('get', { json: { ...detailedB(swap()), status: 'hold' } })
    const answer = await list()
    expect(answer.status).toBe(200)
    const [item] = (answer.json as { data: object[] }).data
    expect(item).not.toHaveProperty('status')
    expect(item).toMatchObject({ id: 'alpha~tx-1', depositAddress: 'bc1q-deposit-1', withdrawalAddress: 'TWithdraw1' })
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
  const answer = await pair.client.get('/transactions')
  await pair.close()
  expect(idsOf(answer)).toEqual(tagged(['tx-2', 'tx-1', 'tx-3']))
  expect(pair.provider.received('get')).toEqual([])
})

test.each(formNames)('A from %s: dates cannot be asked for in form A', async (provider) => {
  const pair = await startPair('A', provider)
  const answer = await pair.client.get('/transactions?dateFrom=2026-01-01')
  await pair.close()
  expect(expectRefusal(answer, 'A', 400)).toContain('dateFrom')
  expect(pair.provider.journal).toEqual([])
})

describe('B from A: newest creation first', () => {
  let pair: Pair
  let key: string
  beforeAll(async () => {
    pair = await startPair('B', 'A')
  })
  beforeEach(async () => {
    pair.provider.reset()
    key = await pair.gateway.freshKey()
  })
  afterAll(() => pair.close())

  const list = (query = ''): Promise<Answered> => pair.client.get(`/transactions${query}`, { key })

  test('transactions are sorted as instants, whatever their zone and precision', async () => {
    const times = ['2026-03-01T10:00:00.000000001Z', '2026-03-01T09:00:00Z', '2026-03-01T12:00:00.5+02:00', '2026-03-01T10:00:00Z']
    pair.provider.holdings.swaps = times.map((createdAt, at) => swap({ id: `tx-${at}`, createdAt }))
    expect(idsOf(await list())).toEqual(tagged(['tx-2', 'tx-0', 'tx-3', 'tx-1']))
  })

  test('ties are broken by id, so that pages are stable', async () => {
    pair.provider.holdings.swaps = ['c', 'a', 'b', 'B'].map((id) => swap({ id }))
    const whole = idsOf(await list())
    expect(whole).toEqual(tagged(['B', 'a', 'b', 'c']))
    expect([...idsOf(await list('?page=1&size=3')), ...idsOf(await list('?page=2&size=3'))]).toEqual(whole)
  })

  test('all pages of the provider are read, and later pages are served without another reading', async () => {
    pair.provider.holdings.swaps = numbered(250).map((id, at) =>
      swap({ id, createdAt: new Date(Date.UTC(2026, 0, 1, 0, at)).toISOString() }),
    )
    const walked: string[] = []
    for (let page = 1; page <= 13; page++) walked.push(...idsOf(await list(`?page=${page}&size=20`)))
    expect(walked).toEqual(tagged(numbered(250).toReversed()))
    expect(pair.provider.received('list').map(({ query }) => query.get('page'))).toEqual(['1', '2', '3'])
    expect(((await list()).json as { count: unknown }).count).toEqual(digits('250'))
  })

  test("what was read for one key is not another's", async () => {
    pair.provider.reply('list', ({ headers }) => ({
      json: {
        data: [transactionA(swap({ id: headers.authorization?.endsWith(key) ? 'mine' : 'theirs' }))],
        pagination: { page: 1, size: 100, total: 1 },
      },
    }))
    expect(idsOf(await list())).toEqual(tagged(['mine']))
    expect(idsOf(await pair.client.get('/transactions', { key: await pair.gateway.freshKey() }))).toEqual(tagged(['theirs']))
  })

  test('what the key creates is in its next list', async () => {
    pair.provider.holdings.swaps = [swap({ id: 'old', createdAt: '2026-01-01T00:00:00Z' })]
    expect(idsOf(await list())).toHaveLength(1)
    const order = { coinFrom: 'BTC', networkFrom: 'BTC', coinTo: 'ETH', networkTo: 'ETH', amount: 1, withdrawalAddress: 'w' }
    const created = await pair.client.post('/transactions', order, { key })
    expect(idsOf(await list())[0]).toBe((created.json as { id: string }).id)
  })

  test('many at once are served by one reading', async () => {
    pair.provider.holdings.swaps = numbered(150).map((id) => swap({ id }))
    await Promise.all(Array.from({ length: 10 }, (_, at) => list(`?page=${at + 1}&size=10`)))
    expect(pair.provider.received('list')).toHaveLength(2)
  })

  test('a row that comes twice because pages shift is shown once', async () => {
    const rows = numbered(150).map((id) => transactionA(swap({ id })))
    pair.provider.reply('list', ({ query }) => {
      const start = query.get('page') === '1' ? 0 : 95
      return { json: { data: rows.slice(start, start + 100), pagination: { page: 1, size: 100, total: 150 } } }
    })
    expect(new Set(idsOf(await list('?size=100'))).size).toBe(100)
    expect(((await list('?page=2&size=100')).json as { count: unknown }).count).toEqual(digits('150'))
  })

  test('5,000 rows are sorted', async () => {
    const row = transactionA(swap())
    pair.provider.reply('list', ({ query }) => {
      const page = Number(query.get('page'))
      const data = Array.from({ length: 100 }, (_, at) => ({ ...row, id: `tx-${page * 100 + at}` }))
      return { json: { data, pagination: { page, size: 100, total: 5000 } } }
    })
    const answer = await list('?page=50&size=100')
    expect(answer.status, answer.text).toBe(200)
    expect(idsOf(answer)).toHaveLength(100)
  })

  test('over 5,000 rows are refused, with managed keys as the remedy', async () => {
    pair.provider.reply('list', { json: { data: [transactionA(swap())], pagination: { page: 1, size: 100, total: 5001 } } })
    expect(expectRefusal(await list(), 'B', 400)).toMatch(/managed key/)
    expect(pair.provider.received('list')).toHaveLength(1)
  })

  const broken: readonly (readonly [string, object])[] = [
    ['fails', { status: 500, text: 'oops' }],
    ['is reset', { reset: true }],
    ['is not of the form', { json: { data: [] } }],
    ['is empty before the total is reached', { json: { data: [], pagination: { page: 2, size: 100, total: 150 } } }],
  ]
  test.each(broken)('a list whose second page %s is 503 and never half a list', async (_, reply) => {
    pair.provider.holdings.swaps = numbered(150).map((id) => swap({ id }))
    pair.provider.reply('list', ({ query }) => (query.get('page') === '2' ? reply : undefined))
    const answer = await list()
    expectRefusal(answer, 'B', 503)
    expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/)
    pair.provider.reset()
    expect(((await list()).json as { count: unknown }).count).toEqual(digits('150'))
  })

  test('a list that is not whole in time is 503', async () => {
    const hasty = await startPair('B', 'A', { provider: { timeout: 0.3 } })
    hasty.provider.holdings.swaps = numbered(150).map((id) => swap({ id }))
    hasty.provider.reply('list', ({ query }) => (query.get('page') === '2' ? { delay: 2_000, json: {} } : undefined))
    const before = performance.now()
    const answer = await hasty.client.get('/transactions')
    await hasty.close()
    expectRefusal(answer, 'B', 503)
    expect(performance.now() - before).toBeLessThan(1_000)
  })

  test('a list whose first page fails is the failure of that page', async () => {
    pair.provider.reply('list', { status: 500, text: 'oops' })
    expectRefusal(await list(), 'B', 502)
  })

  test('a key that the provider refuses is 401', async () => {
    pair.provider.reply('list', { status: 401, json: { error: 'Unauthorized', message: 'no', code: 401 } })
    expectRefusal(await list(), 'B', 401)
  })
})

describe.each(formNames)('client B, provider %s: dates', (provider) => {
  let pair: Pair
  let key: string
  beforeAll(async () => {
    pair = await startPair('B', provider)
  })
  beforeEach(async () => {
    pair.provider.reset()
    key = await pair.gateway.freshKey()
    const times = [
      '2026-02-28T23:59:59.999Z',
      '2026-03-01T00:00:00Z',
      '2026-03-01T12:00:00Z',
      '2026-03-01T23:59:59.999Z',
      '2026-03-02T00:00:00Z',
    ]
    pair.provider.holdings.swaps = times.map((createdAt, at) => swap({ id: `tx-${at}`, createdAt }))
  })
  afterAll(() => pair.close())

  const list = (query: string): Promise<Answered> => pair.client.get(`/transactions?${query}`, { key })

  const windows: readonly (readonly [string, readonly number[]])[] = [
    ['dateFrom=2026-03-01&dateTo=2026-03-01', [3, 2, 1]],
    ['dateFrom=2026-03-01', [4, 3, 2, 1]],
    ['dateTo=2026-03-01', [3, 2, 1, 0]],
    ['dateFrom=2026-03-01T12:00:00Z&dateTo=2026-03-01T12:00:00Z', [2]],
    ['dateFrom=2026-03-01T13:00:00%2B01:00&dateTo=2026-03-01T07:00:00-05:00', [2]],
    ['dateFrom=2026-03-01T12:00:00.001Z&dateTo=2026-03-02T00:00:00Z', [4, 3]],
    ['dateFrom=2027-01-01', []],
  ]
  test.each(windows)('%s', async (query, expected) => {
    const answer = await list(query)
    expect(answer.status, answer.text).toBe(200)
    expect(idsOf(answer)).toEqual(expected.map((at) => `alpha~tx-${at}`))
    expect(answer.json).toHaveProperty('count', digits(String(expected.length)))
  })

  const refused = [
    'dateFrom=2026-03-02&dateTo=2026-03-01',
    'dateFrom=2026-03-01T00:00:00.000000001Z&dateTo=2026-03-01T00:00:00Z',
    'dateFrom=2026-03-01T00:00:00',
    'dateFrom=2026-02-30',
    'dateTo=yesterday',
    'dateTo=1767225600',
    'dateFrom=',
    'dateFrom=2026-03-01&dateFrom=2026-03-01',
  ]
  test.each(refused)('%s is refused', async (query) => {
    const message = expectRefusal(await list(query), 'B', 400)
    expect(message).toMatch(/dateFrom|dateTo/)
    expect(pair.provider.journal).toEqual([])
  })

  test('pages are cut after the filter', async () => {
    expect(idsOf(await list('dateFrom=2026-03-01&page=2&size=2'))).toEqual(['alpha~tx-2', 'alpha~tx-1'])
  })
})
