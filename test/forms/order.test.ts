/** docs/contract.md §3.4: newest creation first, over a provider that does not promise it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { digits } from '../support/json.ts'
import { idsOf, numbered, tagged } from '../support/lists.ts'
import { type Pair, startPair } from '../support/pair.ts'
import { swap } from '../support/swaps.ts'

describe('B from A: newest creation first', () => {
  let pair: Pair
  let key: string
  beforeAll(async () => {
    pair = await startPair('B', 'A')
  })
  beforeEach(async () => {
    pair.provider.reset()
    await pair.gateway.forget()
    key = await pair.gateway.freshKey()
  })
  afterAll(() => pair.close())

  const list = (query = ''): Promise<ReceivedResponse> => pair.client.get(`/transactions${query}`, { key })

  test('transactions are sorted as instants, whatever their zone and precision', async () => {
    const times = ['2026-03-01T10:00:00.000000001Z', '2026-03-01T09:00:00Z', '2026-03-01T12:00:00.5+02:00', '2026-03-01T10:00:00Z']
    pair.provider.holdings.swaps = times.map((createdAt, at) => swap({ id: `tx-${at}`, createdAt }))
    expect(idsOf(await list())).toEqual(tagged(['tx-2', 'tx-0', 'tx-3', 'tx-1']))
  })

  test('times are sorted in the spellings of databases and languages', async () => {
    const times = ['2026-03-01 10:00:00', '2026-03-01T10:00:00+0100', '20260301T103000Z', '2026-03-01T09:45Z']
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
    const response = await list('?page=50&size=100')
    expect(response.status, response.text).toBe(200)
    expect(idsOf(response)).toHaveLength(100)
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
    const response = await list()
    expectRefusal(response, 'B', 503)
    expect(response.headers['retry-after']).toMatch(/^[1-9]\d*$/)
    pair.provider.reset()
    expect(((await list()).json as { count: unknown }).count).toEqual(digits('150'))
  })

  test('a list that is not whole in time is 503', async () => {
    const shortTimeout = await startPair('B', 'A', { provider: { timeout: 0.3 } })
    shortTimeout.provider.holdings.swaps = numbered(150).map((id) => swap({ id }))
    shortTimeout.provider.reply('list', ({ query }) => (query.get('page') === '2' ? { after: new Promise(() => {}) } : undefined))
    const before = performance.now()
    const response = await shortTimeout.client.get('/transactions')
    await shortTimeout.close()
    expectRefusal(response, 'B', 503)
    expect(performance.now() - before).toBeLessThan(5_000)
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
