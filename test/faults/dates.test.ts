/** Dates in queries of lists. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { type Pair, startPair } from '../support/pair.ts'

describe('V11: dates', () => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair('B', 'B')
  })
  afterAll(() => pair.close())

  const refused = [
    '2026-01-01T00:00:00',
    '2026-12-31T23:59:60Z',
    '10000-01-01',
    '+12026-01-01',
    '2026-01-01T24:00:00Z',
    '2026-13-01',
  ]
  const odd = [
    '2026-02-29',
    '2026-1-1',
    '2026-01-01T00:00Z',
    '2026-01-01 00:00:00Z',
    '20260101',
    '2026-W01',
    '2026-01-01T00:00:00+25:00',
  ]
  test.each([...refused, ...odd, '0', '1767225600', 'now', '', '2026-01-01T00:00:00Zjunk', '２０２６-01-01'])(
    '"%s" is 400',
    async (date) => {
      pair.provider.reset()
      for (const name of ['dateFrom', 'dateTo']) {
        const response = await pair.client.get(`/transactions?${name}=${encodeURIComponent(date)}`)
        expect(expectRefusal(response, 'B', 400)).toContain(name)
      }
      expect(pair.provider.journal).toEqual([])
    },
  )

  test.each(['2026-01-01', '2024-02-29', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123456789Z', '2026-01-01T23:59:59-12:00'])(
    '"%s" is taken',
    async (date) => {
      expect((await pair.client.get(`/transactions?dateFrom=${encodeURIComponent(date)}`)).status).toBe(200)
    },
  )
})
