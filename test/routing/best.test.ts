/** docs/contract-operators.md §12, strategy `best`: the highest amount received wins, and the create follows the quote. */
import { afterEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { rateA, transactionA } from '../support/form-a.ts'
import { rateB } from '../support/form-b.ts'
import { digits } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { type FormName, formNames, rateQuery } from '../support/pair.ts'
import type { Reply } from '../support/stand-in.ts'
import { assets, swap } from '../support/swaps.ts'

let managed: Managed
afterEach(() => managed.close())

const { btc, usdtTrx } = assets
const start = async (routing: object = {}, settings: Parameters<typeof startManaged>[0] = {}): Promise<void> => {
  const providers = ['alpha', 'beta']
  managed = await startManaged({
    routing: providers,
    ...settings,
    sections: { routing: { strategy: 'best', providers, ...routing }, auth: { mode: 'managed' } },
  })
}

/** What each provider quotes for any request. */
function quote(alpha: object, beta: object, delay: { alpha?: number; beta?: number } = {}): void {
  managed.alpha.reply('rate', ({ query }) => ({ json: { ...rateA(query), ...alpha }, delay: delay.alpha ?? 0 }))
  managed.beta.reply('rate', ({ query }) => ({ json: { ...rateB(query), ...beta }, delay: delay.beta ?? 0 }))
}
const rate = (form: FormName, key: string | null = null): Promise<ReceivedResponse> =>
  managed.client(form).get(rateQuery(form, { from: btc, to: usdtTrx, amount: '0.10' }), { key })
const create = (form: FormName, key: string, facts: object = {}): Promise<ReceivedResponse> =>
  managed.client(form).post('/transactions', orderIn(form, facts), { key })
const providerOf = ({ headers }: ReceivedResponse): unknown => headers['x-swap-provider']

describe.each(formNames)('form %s', (form) => {
  test.each([
    ['the second', '6500.1', '6500.10000000000000001', 'beta'],
    ['the first', '6500.100000000000000011', '6500.10000000000000001', 'alpha'],
    ['the first in list order, where both are equal by value', '6500.10', '6500.1', 'alpha'],
  ])('the higher amount wins, compared as decimals: %s', async (_, amountTo, toAmount, winner) => {
    await start()
    quote({ amountTo: digits(amountTo) }, { toAmount: digits(toAmount) })
    const response = await rate(form)
    expect(response.status, response.text).toBe(200)
    expect(providerOf(response)).toBe(winner)
    expect(response.text).toContain(winner === 'alpha' ? amountTo : toAmount)
  })

  test('an error and an amount outside its own limits do not compete', async () => {
    await start()
    quote({ amountTo: 1 }, { toAmount: 9_999, minAmount: 5 })
    expect(providerOf(await rate(form))).toBe('alpha')
    managed.beta.reply('rate', { status: 500, json: {} })
    expect(providerOf(await rate(form))).toBe('alpha')
  })

  test('a quote for another amount does not compete: one of a provider that raises it to its minimum', async () => {
    await start()
    quote({ amountTo: 1 }, { fromAmount: 5, toAmount: 9_999, minAmount: 5 })
    expect(providerOf(await rate(form))).toBe('alpha')
    const key = await managed.issue()
    expect(providerOf(await create(form, key))).toBe('alpha')
  })

  test('a slow provider is left out once another has responded, and waited for while none has', async () => {
    await start({ patience: 0.1 })
    quote({ amountTo: 1 }, {})
    const late = Promise.withResolvers<void>()
    managed.beta.reply('rate', ({ query }) => ({ after: late.promise, json: { ...rateB(query), toAmount: 9_999 } }))
    const startedAt = performance.now()
    expect(providerOf(await rate(form))).toBe('alpha')
    expect(performance.now() - startedAt).toBeLessThan(8_000)
    late.resolve()
    quote({ amountTo: 1 }, { toAmount: 2 }, { alpha: 300, beta: 350 })
    managed.alpha.reply('rate', { status: 500, json: {} })
    expect(providerOf(await rate(form))).toBe('beta')
  })

  test('W16: a maximum of 0 is none, and does not keep a provider from competing', async () => {
    await start()
    quote({ amountTo: 1 }, { toAmount: 9_999, maxAmount: 0 })
    expect(providerOf(await rate(form))).toBe('beta')
  })

  test('W16: a quote outside its own limits leaves out no slower provider, and wins no create', async () => {
    await start({ patience: 0.05 })
    quote({ amountTo: 9_999, minAmount: 5 }, { toAmount: 2 }, { beta: 400 })
    expect(providerOf(await rate(form))).toBe('beta')
    managed.beta.reply('rate', { status: 500, json: {} })
    const key = await managed.issue()
    expect(providerOf(await rate(form, key))).toBe('alpha')
    quote({ amountTo: 9_999, minAmount: 5 }, { toAmount: 2 })
    expect(providerOf(await create(form, key))).toBe('beta')
  })

  test('the create goes to the provider that won the quote, and no quote is requested again', async () => {
    await start()
    const key = await managed.issue()
    quote({ amountTo: 1 }, { toAmount: 2 })
    expect(providerOf(await rate(form, key))).toBe('beta')
    quote({ amountTo: 3 }, { toAmount: 2 })
    const quotes = (): number => managed.alpha.received('rate').length + managed.beta.received('rate').length
    const before = quotes()
    const created = await create(form, key)
    expect(providerOf(created), created.text).toBe('beta')
    expect(quotes()).toBe(before)
    expect(managed.alpha.received('create')).toEqual([])
  })

  test('so it is if the quote had no key, and came from the same address', async () => {
    await start()
    quote({ amountTo: 1 }, { toAmount: 2 })
    await rate(form)
    quote({ amountTo: 3 }, { toAmount: 2 })
    expect(providerOf(await create(form, await managed.issue()))).toBe('beta')
  })

  test.each<[string, object]>([
    ['another amount', { amount: digits('0.11') }],
    ['another rate type', { rateType: 'fixed' }],
  ])('a create for %s than was quoted requests quotes first', async (_, facts) => {
    await start()
    const key = await managed.issue()
    quote({ amountTo: 1 }, { toAmount: 2 })
    await rate(form, key)
    quote({ amountTo: 3 }, { toAmount: 2 })
    expect(providerOf(await create(form, key, facts))).toBe('alpha')
  })

  test('a create without a quote requests quotes first, and goes to the winner alone', async () => {
    await start()
    quote({ amountTo: 1 }, { toAmount: 2 })
    const created = await create(form, await managed.issue())
    expect(providerOf(created), created.text).toBe('beta')
    expect(managed.alpha.received('create')).toEqual([])
    expect(managed.beta.received('create')).toHaveLength(1)
  })

  test.each([
    ['101', true],
    ['60', false],
  ])('at a fixed rate the winner is held to its quote of 101: it promises %s', async (amount, isTaken) => {
    await start()
    quote({ amountTo: 101 }, { toAmount: 2 })
    const made = { id: 'fixed-1', rateType: 'fixed', amountOut: digits(amount), refundAddress: null } as const
    managed.alpha.reply('create', { status: 201, json: transactionA(swap(made)) })
    const created = await create(form, await managed.issue(), { rateType: 'fixed' })
    if (isTaken) expect(providerOf(created), created.text).toBe('alpha')
    else expectRefusal(created, form, 502)
  })

  test('if the winner certainly cannot take the create, the next best takes it: once', async () => {
    await start({}, { providers: { beta: { rateLimit: { create: 1 } } } })
    const key = await managed.issue()
    quote({ amountTo: 1 }, { toAmount: 2 })
    await rate(form, key)
    await managed.beta.close()
    const created = await create(form, key)
    expect(providerOf(created), created.text).toBe('alpha')
    expect(managed.alpha.received('create')).toHaveLength(1)
  })

  test('if none can take the create now, the response has the soonest Retry-After', async () => {
    await start()
    const key = await managed.issue()
    quote({ amountTo: 1 }, { toAmount: 1.05 })
    await rate(form, key)
    const limited = (seconds: string): Reply => ({
      status: 429,
      headers: { 'retry-after': seconds },
      json: { error: 'x', message: 'y' },
    })
    managed.beta.reply('create', limited('40'))
    managed.alpha.reply('create', limited('7'))
    const created = await create(form, key)
    expectRefusal(created, form, 503)
    expect(created.headers['retry-after']).toBe('7')
    expect(managed.alpha.received('create')).toHaveLength(1)
  })

  test.each<[string, Reply]>([
    ['refuses', { status: 400, json: { message: 'no', code: 400 } }],
    ['fails', { status: 500, json: {} }],
    ['hangs up', { reset: true }],
  ])('if the winner %s the create, no other gets it', async (_, reply) => {
    await start()
    const key = await managed.issue()
    quote({ amountTo: 1 }, { toAmount: 2 })
    await rate(form, key)
    managed.beta.reply('create', reply)
    expect((await create(form, key)).status).toBeGreaterThanOrEqual(400)
    expect(managed.alpha.received('create')).toEqual([])
    expect(managed.beta.received('create')).toHaveLength(1)
  })

  test('if none quotes, a create is refused with nothing sent', async () => {
    await start()
    managed.alpha.reply('rate', { reset: true })
    managed.beta.reply('rate', { status: 500, json: {} })
    const refused = await create(form, await managed.issue())
    expectRefusal(refused, form, 503)
    expect(refused.headers['retry-after']).toMatch(/^\d+$/)
    expect([...managed.alpha.received('create'), ...managed.beta.received('create')]).toEqual([])
  })

  test('if all refuse a quote, the first refusal in list order is the response', async () => {
    await start()
    managed.alpha.reply('rate', { status: 500, json: {} })
    managed.beta.reply('rate', { status: 400, json: { message: 'Too little.', code: 400 } })
    expectRefusal(await rate(form), form, 400)
    managed.beta.reply('rate', { status: 500, json: {} })
    expectRefusal(await rate(form), form, 502)
  })

  test.each<[string, Reply, number, string]>([
    ['fails', { status: 500, json: {} }, 502, 'provider_failed'],
    ['refuses', { status: 400, json: { message: 'Too little.', code: 400 } }, 400, 'refused'],
  ])(
    'W80: if the only provider that offers the pair %s, its response counts, not that another lacks the pair',
    async (_, reply, status, reason) => {
      await start({}, { providers: { alpha: { assets: { USDTTRC20: null } } } })
      managed.beta.reply('rate', reply)
      const refused = await rate(form)
      expectRefusal(refused, form, status)
      expect(refused.headers['x-swap-reason']).toBe(reason)
    },
  )

  test('W80: if the only provider that offers the pair cannot take the create, the response is 503, not that it is not offered', async () => {
    await start({}, { providers: { alpha: { assets: { USDTTRC20: null } } } })
    const key = await managed.issue()
    await rate(form, key)
    await managed.beta.close()
    const refused = await create(form, key)
    expect(refused.status, refused.text).toBeGreaterThanOrEqual(502)
    expect(refused.headers['x-swap-reason']).not.toBe('not_offered')
  })
})

test('a quote of one account decides nothing for another', async () => {
  await start()
  const [one, other] = [await managed.issue(), await managed.issue()]
  quote({ amountTo: 1 }, { toAmount: 2 })
  await rate('A', one)
  quote({ amountTo: 3 }, { toAmount: 2 })
  expect(providerOf(await create('A', other))).toBe('alpha')
  expect(providerOf(await create('B', one))).toBe('beta')
})
