/** docs/contract-operators.md §8: what callers without a verified key do at a provider harms nobody else. */
import { afterEach, describe, expect, test } from 'vitest'
import { createBreaker } from '../../src/core/resilience/breaker.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { type FormName, formNames, type Pair, pairs, rateQuery, startPair } from '../support/pair.ts'
import type { Received, Reply } from '../support/stand-in.ts'
import { assets } from '../support/swaps.ts'

const down: Reply = { status: 500, json: { error: 'x', message: 'y', code: 500 } }
const sections = { server: { trustProxy: 1 }, cache: { currencies: 600, rate: 0, staleFor: 0 } }
const isOdd = ({ query, body, path }: Received): boolean =>
  query.get('amount') === '666' || body.includes('odd') || path.includes('odd')
const failOdd = (received: Received): Reply | undefined => (isOdd(received) ? down : undefined)
const operations = ['rate', 'create', 'get'] as const
const rate = (form: FormName, amount: string): string => rateQuery(form, { from: assets.btc, to: assets.usdtTrx, amount })

describe.each(pairs)('passthrough, client $client, provider $provider', ({ client: form, provider }) => {
  let pair: Pair
  afterEach(() => pair.close())

  test('U36: thirty made-up keys and addresses, whose quotes, creates and gets all fail, stop none of a client', async () => {
    pair = await startPair(form, provider, { breaker: createBreaker, steadyClock: () => performance.now(), sections })
    const { get, post } = pair.client
    for (const operation of operations) pair.provider.reply(operation, failOdd)
    const created = await post('/transactions', orderIn(form))
    const { id } = created.json as { readonly id: string }
    for (let at = 0; at < 30; at++) {
      const options = { key: `made-up-${at}`, headers: { 'x-forwarded-for': `198.51.100.${at}` } }
      const failed = [
        await get(rate(form, '666'), options),
        await post('/transactions', orderIn(form, { withdrawalAddress: 'Todd' }), options),
        await get('/transactions/alpha~odd', options),
      ]
      expect(failed.map(({ status }) => status)).toEqual([502, 504, 502])
    }
    const honest = [await get(rate(form, '1')), await post('/transactions', orderIn(form)), await get(`/transactions/${id}`)]
    for (const { status, text } of honest) expect(status, text).toBeLessThan(300)
  })
})

describe.each(formNames)('with issued keys, client %s', (form) => {
  let managed: Managed
  afterEach(() => managed.close())

  test('U36: an account that asks with its key and without it, from any address, stops no quote of another', async () => {
    managed = await startManaged({ breaker: createBreaker, steadyClock: () => performance.now(), sections })
    const [odd, honest] = [await managed.issue(), await managed.issue()]
    managed.alpha.reply('rate', failOdd)
    const ask = (amount: string, key: string | null, host: number): Promise<ReceivedResponse> =>
      managed.client(form).get(rate(form, amount), { key, headers: { 'x-forwarded-for': `198.51.100.${host}` } })
    for (let at = 0; at < 10; at++) {
      await ask('666', odd, 1)
      await ask('666', null, at)
      expect((await ask('1', honest, 77)).status).toBe(200)
    }
  })
})
