/** docs/contract-operators.md §12: the quotes of all providers that a caller may choose, best first. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { type Managed, startManaged } from '../support/managed.ts'
import { type FormName, formNames, rateQuery, startPair } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'

let managed: Managed
afterEach(() => managed?.close())

const start = async (routing: object = { providers: ['alpha'], pick: ['alpha', 'beta'] }): Promise<string> => {
  managed = await startManaged({ sections: { auth: { mode: 'managed' }, routing } })
  return managed.issue()
}
const query = (form: FormName): string =>
  rateQuery(form, { from: assets.btc, to: assets.usdtTrx, amount: '0.10' }).replace('/rate?', '/rates?')
const quoted = (amount: string) => (received: { query: URLSearchParams }) => {
  const { query: asked } = received
  return {
    json: {
      fromAmount: digits(asked.get('amount') ?? ''),
      toAmount: digits(amount),
      rate: 2,
      minAmount: 0.01,
      maxAmount: 1,
      message: null,
    },
  }
}

describe.each(formNames)('form %s', (form) => {
  const amountOf = (rate: object): unknown =>
    (form === 'A' ? 'amountTo' : 'toAmount') in rate && Object(rate)[form === 'A' ? 'amountTo' : 'toAmount']

  test('the quotes, best first, each with its provider', async () => {
    const key = await start()
    managed.beta.reply('rate', quoted('9.5'))
    const { status, json, headers, text } = await managed.client(form).get(query(form), { key })
    expect(status, text).toBe(200)
    const { rates, failed } = json as { rates: { provider: string }[]; failed: unknown[] }
    expect(rates.map((rate) => [rate.provider, amountOf(rate)])).toEqual([
      ['beta', digits('9.5')],
      ['alpha', digits('0.123456789012345678')],
    ])
    expect(failed).toEqual([])
    expect(headers['cache-control']).toBe('no-store')
    expect(headers).not.toHaveProperty('x-swap-provider')
  })

  test('it is one quote of the caller’s limit, and one call at each provider', async () => {
    const key = await start()
    const first = await managed.client(form).get(query(form), { key })
    const second = await managed.client(form).get(query(form), { key })
    const left = [first, second].map(({ headers }) => Number(/r=(\d+)/.exec(String(headers.ratelimit))?.[1]))
    expect((left[0] ?? 0) - (left[1] ?? 0)).toBe(1)
    expect([managed.alpha.received('rate').length, managed.beta.received('rate').length]).toEqual([2, 2])
  })

  test('a key that the ledger has not looked up yet is waited for, as for a read', async () => {
    const key = await start()
    const { accounts } = managed.gateway
    const findKeys = accounts.findKeys
    const lookup = vi.spyOn(accounts, 'findKeys').mockImplementation(async (digests) => {
      await new Promise((done) => setTimeout(done, 400))
      return findKeys(digests)
    })
    try {
      const { status, text } = await managed.client(form).get(query(form), { key })
      expect(status, text).toBe(200)
      expect(lookup).toHaveBeenCalled()
    } finally {
      lookup.mockRestore()
    }
  })

  test('a quote that is none for this amount comes last', async () => {
    const key = await start()
    managed.beta.reply('rate', { json: { fromAmount: 0.1, toAmount: 99, rate: 2, minAmount: 5, maxAmount: 9, message: null } })
    const { json } = await managed.client(form).get(query(form), { key })
    expect((json as { rates: { provider: string }[] }).rates.map(({ provider }) => provider)).toEqual(['alpha', 'beta'])
  })

  test('a quote for another amount than was asked for comes last', async () => {
    const key = await start()
    managed.beta.reply('rate', { json: { fromAmount: 5, toAmount: 99, rate: 2, minAmount: 5, maxAmount: 9, message: null } })
    const { json } = await managed.client(form).get(query(form), { key })
    expect((json as { rates: { provider: string }[] }).rates.map(({ provider }) => provider)).toEqual(['alpha', 'beta'])
  })

  test('a provider without a quote is named with the reason', async () => {
    const key = await start()
    managed.beta.reply('rate', { status: 500, text: '{}' })
    const { status, json } = await managed.client(form).get(query(form), { key })
    expect(status).toBe(200)
    expect(json).toMatchObject({
      rates: [{ provider: 'alpha' }],
      failed: [{ provider: 'beta', reason: 'provider_failed', message: expect.any(String) }],
    })
  })

  test('where no provider has one, the response is a refusal before a failure', async () => {
    const key = await start()
    managed.alpha.reply('rate', { status: 500, text: '{}' })
    managed.beta.reply('rate', { status: 400, json: { message: 'No.', code: 400 } })
    expectRefusal(await managed.client(form).get(query(form), { key }), form, 400, 'refused')
    managed.beta.reply('rate', { status: 500, text: '{}' })
    expectRefusal(await managed.client(form).get(query(form), { key }), form, 502, 'provider_failed')
  })

  test('it needs a key', async () => {
    await start()
    expectRefusal(await managed.client(form).get(query(form), { key: null }), form, 401, 'key_missing')
    expectRefusal(await managed.client(form).get(query(form), { key: 'unknown' }), form, 401, 'key_invalid')
    expect(managed.alpha.received('rate')).toEqual([])
  })

  test('X-Swap-Provider changes nothing', async () => {
    const key = await start()
    const { json } = await managed.client(form).get(query(form), { key, headers: { 'x-swap-provider': 'beta' } })
    expect((json as { rates: unknown[] }).rates).toHaveLength(2)
  })

  test('without a provider to choose there is no such path', async () => {
    const key = await start({ providers: ['alpha'] })
    expectRefusal(await managed.client(form).get(query(form), { key }), form, 404, 'path')
    const pair = await startPair(form, 'A')
    try {
      expectRefusal(await pair.client.get(query(form)), form, 404, 'path')
    } finally {
      await pair.close()
    }
  })
})
