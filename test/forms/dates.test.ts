/** docs/contract.md §3.4: dates. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { idsOf } from '../support/lists.ts'
import { formNames, type Pair, startPair } from '../support/pair.ts'
import { swap } from '../support/swaps.ts'

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

  const list = (query: string): Promise<ReceivedResponse> => pair.client.get(`/transactions?${query}`, { key })

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
    const response = await list(query)
    expect(response.status, response.text).toBe(200)
    expect(idsOf(response)).toEqual(expected.map((at) => `alpha~tx-${at}`))
    expect(response.json).toHaveProperty('count', digits(String(expected.length)))
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
