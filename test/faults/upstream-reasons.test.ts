// Takes long: it waits for time-outs of providers.
/** Which word of `X-Swap-Reason` each refusal has (docs/contract.md §6), where it is the provider's, a limit's or the ledger's. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Reason } from '../../src/domain/fault.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { createdB } from '../support/form-b.ts'
import { digits } from '../support/json.ts'
import { orderIn, startManaged } from '../support/managed.ts'
import { formNames, type Pair, pairs, rateQuery, startPair } from '../support/pair.ts'
import { assets, swap } from '../support/swaps.ts'

const { btc, eth, usdtTrx } = assets

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider: side }) => {
  let longTimeout: Pair
  let shortTimeout: Pair
  let pair: Pair
  let key: string
  beforeAll(async () => {
    longTimeout = await startPair(form, side)
    shortTimeout = await startPair(form, side, { provider: { timeout: 0.3 } })
  })
  beforeEach(() => use(longTimeout))
  afterAll(() => Promise.all([longTimeout.close(), shortTimeout.close()]))

  const use = async (used: Pair): Promise<void> => {
    pair = used
    pair.provider.reset()
    await pair.gateway.forget()
    pair.provider.holdings.swaps = [swap()]
    key = await pair.gateway.freshKey()
  }

  const freshPair = async (): Promise<AsyncDisposable & { readonly pair: Pair }> => {
    const pair = await startPair(form, side)
    return { pair, [Symbol.asyncDispose]: () => pair.close() }
  }

  const get = (path: string, headers = {}): Promise<ReceivedResponse> => pair.client.get(path, { key, headers })
  const create = (facts: object = {}, headers = {}): Promise<ReceivedResponse> =>
    pair.client.post('/transactions', orderIn(form, facts), { key, headers })
  const rate = (amount = '1'): Promise<ReceivedResponse> => get(rateQuery(form, { from: btc, to: usdtTrx, amount }))

  const limits = { minAmount: digits('0.5'), maxAmount: digits('1e1') }
  const amounts: readonly (readonly [string, object, Reason])[] = [
    ['0.1', limits, 'below_minimum'],
    ['0.49999999999999999999999999999999', limits, 'below_minimum'],
    ['0.50', limits, 'refused'],
    ['10.0', limits, 'refused'],
    ['10.000000000000000000000000000000000001', limits, 'above_maximum'],
    ['0.1', { minAmount: digits('0.5') }, 'below_minimum'],
    ['11', { maxAmount: '10' }, 'above_maximum'],
    ['11', { minAmount: digits('0.5') }, 'refused'],
    ['0.1', { minAmount: 'half a coin', maxAmount: null }, 'refused'],
    ['0.1', {}, 'refused'],
  ]
  test.each(amounts)('S12: an amount of %s that the provider refuses with %o is %s', async (amount, fields, reason) => {
    await using fresh = await freshPair()
    await use(fresh.pair) // which knows of no quote
    const json = { message: 'Amount is below minimum 100', code: 400, ...fields }
    for (const status of [400, 422]) {
      for (const operation of ['rate', 'create'] as const) pair.provider.reply(operation, { status, json })
      expectRefusal(await rate(amount), form, 400, reason)
      expectRefusal(await create({ amount: digits(amount) }), form, 400, reason)
    }
  })

  const failures: readonly (readonly [string, object, number, Reason])[] = [
    ['fails', { status: 500, json: {} }, 502, 'provider_failed'],
    ['returns something else', { json: [] }, 502, 'provider_failed'],
    ['breaks off', { reset: true }, 502, 'provider_failed'],
    ['is silent', { delay: 600, json: {} }, 504, 'timeout'],
    ['has had enough', { status: 429, json: { message: 'slow down' } }, 429, 'limited'],
  ]
  test.each(failures)('S11: if the provider %s a read has that reason', async (_, reply, status, reason) => {
    if (reason === 'timeout') await use(shortTimeout)
    for (const operation of ['rate', 'list', 'get'] as const) pair.provider.reply(operation, reply)
    expectRefusal(await rate(), form, status, reason)
    expectRefusal(await get('/transactions'), form, status, reason)
    expectRefusal(await get('/transactions/alpha~tx-1'), form, status, reason)
  })

  test('S11: a key that the provider refuses is key_invalid', async () => {
    for (const operation of ['list', 'create'] as const) pair.provider.reply(operation, { status: 401, json: { message: 'no' } })
    expectRefusal(await get('/transactions'), form, 401, 'key_invalid')
    expectRefusal(await create(), form, 401, 'key_invalid')
  })

  test('S11: an unknown outcome is outcome_unknown, then in_progress under its key; another order is key_reused', async () => {
    pair.provider.reply('create', { reset: true })
    const headers = { 'idempotency-key': 'order-1' }
    const unknown = await create({}, headers)
    expectRefusal(unknown, form, 504, 'outcome_unknown')
    const again = await create({}, headers)
    expectRefusal(again, form, 409, 'in_progress')
    // The first look at the provider's list is five seconds after the create.
    expect([unknown.headers['retry-after'], Number(again.headers['retry-after']) <= 6]).toEqual(['6', true])
    expectRefusal(await create({ amount: digits('2') }, headers), form, 422, 'key_reused')
  })

  test('S11: without an Idempotency-Key an unknown outcome tells no client when to repeat', async () => {
    pair.provider.reply('create', { reset: true })
    const unknown = await create()
    expectRefusal(unknown, form, 504, 'outcome_unknown')
    expect(unknown.headers).not.toHaveProperty('retry-after')
  })

  test('a get says when the next one is worth while, until the swap has ended', async () => {
    const pollAfter = async (facts: object): Promise<unknown> => {
      pair.provider.holdings.swaps = [swap(facts)]
      await pair.gateway.forget()
      const response = await pair.client.get('/transactions/alpha~tx-1', { key: await pair.gateway.freshKey() })
      expect(response.status, response.text).toBe(200)
      return response.headers['x-swap-poll-after']
    }
    const ago = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString()
    expect(await pollAfter({ status: 'wait', createdAt: ago(10) })).toBe('5')
    expect(await pollAfter({ status: 'exchanging', createdAt: ago(700) })).toBe('30')
    expect(await pollAfter({ status: 'confirmation', createdAt: ago(90_000) })).toBe('600')
    const inOtherSpellings = [
      String(Date.now()),
      String(Math.floor(Date.now() / 1_000)),
      new Date().toUTCString(),
      ago(10).replace('Z', '+0000'),
      ago(10).replace('T', ' ').slice(0, 19),
      ago(10).replaceAll(/[-:]|\.\d+/g, ''),
    ]
    for (const createdAt of inOtherSpellings) expect(await pollAfter({ status: 'wait', createdAt }), createdAt).toBe('5')
    expect(await pollAfter({ status: 'success', createdAt: ago(10) })).toBeUndefined()
    expect(await pollAfter({ status: 'refunded', createdAt: ago(10) })).toBeUndefined()
  })

  test('S11: another swap than requested is a mismatch, also when the request is repeated', async () => {
    const wrong = swap({ id: 'tx-9', to: eth })
    pair.provider.reply('create', { status: 201, json: side === 'A' ? transactionA(wrong) : createdB(wrong) })
    const headers = { 'idempotency-key': 'order-2' }
    expectRefusal(await create({}, headers), form, 502, 'mismatch')
    const again = await create({}, headers)
    expectRefusal(again, form, 502, 'mismatch')
    expect(again.headers['idempotent-replayed']).toBe('true')
  })
})

describe('a quote of form B that has a message in place of an amount', () => {
  const quote = (more: object): object => ({ fromAmount: digits('1'), toAmount: digits('0'), rate: null, message: 'no', ...more })
  test.each<[string, object, Reason]>([
    ['its minimum', { minAmount: digits('1.1'), maxAmount: digits('5') }, 'below_minimum'],
    ['its maximum', { minAmount: digits('0.1'), maxAmount: digits('0.5') }, 'above_maximum'],
    ['limits that the amount keeps', { minAmount: digits('1'), maxAmount: digits('1.0') }, 'refused'],
  ])('S12: with %s is %o %s in form A', async (_, limits, reason) => {
    const pair = await startPair('A', 'B')
    pair.provider.reply('rate', { json: quote(limits) })
    expectRefusal(await pair.client.get('/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=1'), 'A', 400, reason)
    await pair.close()
  })
})

describe.each(formNames)('with issued keys, client %s', (form) => {
  test('S11: a key is missing, or not valid', async () => {
    await using managed = await startManaged()
    const { get } = managed.client(form)
    expectRefusal(await get('/transactions', { key: null }), form, 401, 'key_missing')
    expectRefusal(await get('/transactions', { key: 'unknown-key' }), form, 401, 'key_invalid')
    const expired = await managed.gateway.issueKey('late', Date.now() - 1)
    expectRefusal(await get('/transactions', { key: expired }), form, 401, 'key_invalid')
    expect((await get('/transactions', { key: await managed.issue() })).status).toBe(200)
  })

  test('S11: a limit of the client is not that of keys that were never accepted', async () => {
    await using managed = await startManaged({ sections: { limits: { quotes: 1, create: 1, read: 100, unverified: 100 } } })
    const { get, post } = managed.client(form)
    const key = await managed.issue()
    await get('/currencies', { key })
    expectRefusal(await get('/currencies', { key }), form, 429, 'limited')
    await post('/transactions', orderIn(form), { key })
    expectRefusal(await post('/transactions', orderIn(form), { key }), form, 429, 'limited')
    for (let count = 0; count < 20; count++) expectRefusal(await get('/transactions', { key: 'junk' }), form, 401, 'key_invalid')
    expectRefusal(await get('/transactions', { key: 'junk' }), form, 429, 'unverified_limited')
    expect((await get('/transactions', { key })).status).toBe(200)
  })

  test('S11: a provider that refuses our key has failed, and one that has had enough is busy', async () => {
    await using managed = await startManaged()
    const { get, post } = managed.client(form)
    const key = await managed.issue()
    managed.alpha.reply('create', { status: 403, json: { message: 'no' } })
    expectRefusal(await post('/transactions', orderIn(form), { key }), form, 502, 'provider_failed')
    managed.alpha.reply('rate', { status: 429, json: { message: 'slow down' } })
    const quote = await get(rateQuery(form, { from: btc, to: usdtTrx, amount: '1' }))
    expectRefusal(quote, form, 503, 'provider_busy')
  })

  test('S11: a ledger that fails is ledger_unavailable, and nothing is sent', async () => {
    await using managed = await startManaged({
      ledgerLayer: (ledger) => ({ ...ledger, begin: () => Promise.reject(new Error('locked')) }),
    })
    const response = await managed.client(form).post('/transactions', orderIn(form), { key: await managed.issue() })
    expectRefusal(response, form, 503, 'ledger_unavailable')
    expect(managed.alpha.received('create')).toHaveLength(0)
  })
})
