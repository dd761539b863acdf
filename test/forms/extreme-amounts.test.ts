/** docs/contract-operators.md §8: an amount far above what a provider takes is the client's own fault, and goes nowhere. */
import { afterEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { rateA } from '../support/form-a.ts'
import { digits } from '../support/json.ts'
import { type Managed, startManaged } from '../support/managed.ts'
import { type Pair, pairs, pairWords, rateQuery, startPair } from '../support/pair.ts'
import { type AssetWords, assets } from '../support/swaps.ts'

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  let pair: Pair
  let now: number
  afterEach(() => pair.close())
  const start = async (): Promise<void> => {
    now = 0
    pair = await startPair(form, provider, { steadyClock: () => now })
  }
  const quote = (amount: string, to: AssetWords = assets.usdtTrx): Promise<ReceivedResponse> =>
    pair.client.get(rateQuery(form, { from: assets.btc, to, amount }))
  const create = (amount: string): Promise<ReceivedResponse> => {
    const order = { ...pairWords(form, assets.btc, assets.usdtTrx), amount: digits(amount), withdrawalAddress: 'w-1' }
    return pair.client.post('/transactions', order, { headers: { 'idempotency-key': 'one' } })
  }
  const sent = () => [...pair.provider.received('rate'), ...pair.provider.received('create')].length
  const expectRefused = async (response: Promise<ReceivedResponse>, ceiling: string): Promise<void> => {
    const before = sent()
    expect(expectRefusal(await response, form, 400, 'parameter_invalid')).toBe(`Invalid amount: it must be at most ${ceiling}.`)
    expect(sent()).toBe(before)
  }

  test('U35: where no maximum is known, 1e15 goes up and more is 400 with the name of the parameter', async () => {
    await start()
    await expectRefused(quote('1000000000000000.1'), '1e15')
    await expectRefused(create('1e40'), '1e15')
    expect((await quote('1e15')).status).toBe(200)
  })

  test('U35: after a quote a thousand times its maximum goes up, for every pair of its coin, and a quote and a create of more do not', async () => {
    await start()
    await quote('1', assets.eth)
    expect((await quote('1000000')).status).toBe(200)
    await expectRefused(quote('1000000.00000001'), '1000000')
    await expectRefused(create('1e14'), '1000000')
    expect([200, 201], 'its key is free').toContain((await create('1')).status)
  })

  test('U35: a maximum that nothing has confirmed for an hour counts no more', async () => {
    await start()
    await quote('1')
    now = 3_599_999
    await expectRefused(quote('1000001'), '1000000')
    now = 3_600_000
    expect((await quote('1000001')).status).toBe(200)
  })

  test('U35: the largest of the maximums counts, and those of 0 and below say nothing', async () => {
    await start()
    for (const maxAmount of ['5', '2e3', '7', '0', '-1']) {
      pair.provider.reply('rate', ({ query }) => ({ json: { ...quoteOf(query), maxAmount: digits(maxAmount) } }))
      await quote(maxAmount === '5' ? '1' : `1.${maxAmount.length}`)
    }
    await expectRefused(quote('2000000.1'), '2000000')
  })

  const quoteOf = (query: URLSearchParams): object =>
    provider === 'A'
      ? rateA(query)
      : { fromAmount: digits(query.get('amount') ?? '0'), toAmount: 1, rate: 1, minAmount: 0, message: null }
})

describe('U35: of several providers', () => {
  let managed: Managed
  afterEach(() => managed.close())

  test('one that takes so much gets it', async () => {
    managed = await startManaged({ routing: ['alpha', 'beta'], steadyClock: () => 0 })
    const quote = (amount: string) => managed.client('A').get(rateQuery('A', { from: assets.btc, to: assets.usdtTrx, amount }))
    expect((await quote('1')).headers['x-swap-provider']).toBe('alpha')
    const response = await quote('1e9')
    expect([response.status, response.headers['x-swap-provider']]).toEqual([200, 'beta'])
    expectRefusal(await quote('1e16'), 'A', 400, 'parameter_invalid')
  })
})
