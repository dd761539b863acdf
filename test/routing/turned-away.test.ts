/** docs/contract-operators.md §12: a create that a provider turns away (its 429, or its word for a pair that it does not take) goes to another one. */
import { afterEach, describe, expect, test } from 'vitest'
import { changenow } from '../providers/stand-ins/changenow.ts'
import { startExchange } from '../providers/stand-ins/exchange.ts'
import { affiliateId, letsexchange } from '../providers/stand-ins/letsexchange.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { rateA, startFormA } from '../support/form-a.ts'
import { createdB, rateB } from '../support/form-b.ts'
import { startGateway } from '../support/gateway.ts'
import { digits } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow } from '../support/outcomes.ts'
import { client, type FormName, formNames, rateQuery } from '../support/pair.ts'
import { assets, depositOf, swap } from '../support/swaps.ts'

const closing: (() => PromiseLike<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

interface Rig {
  readonly managed: Managed
  readonly rate: (rateType?: 'fixed') => Promise<ReceivedResponse>
  readonly create: (headers?: Readonly<Record<string, string>>, facts?: object) => Promise<ReceivedResponse>
}

/** The quotes of both providers; alpha has had enough of creates. */
async function start(form: FormName, amounts: readonly [alpha: string, beta: string], routing: object = {}): Promise<Rig> {
  const managed = await startManaged({
    sections: { routing: { providers: ['alpha', 'beta'], ...routing }, cache: { currencies: 600, rate: 0, staleFor: 0 } },
  })
  closing.push(() => managed.close())
  const key = await managed.issue()
  managed.alpha.reply('rate', ({ query }) => ({ json: { ...rateA(query), amountTo: digits(amounts[0]) } }))
  managed.beta.reply('rate', ({ query }) => ({ json: { ...rateB(query), toAmount: digits(amounts[1]) } }))
  managed.alpha.reply('create', { status: 429, headers: { 'retry-after': '7' }, json: { error: 'x', message: 'y', code: 429 } })
  return {
    managed,
    rate: (rateType) =>
      managed
        .client(form)
        .get(rateQuery(form, { from: assets.btc, to: assets.usdtTrx, amount: '0.10', ...(rateType && { rateType }) }), { key }),
    create: (headers = {}, facts) =>
      managed
        .client(form)
        .post('/transactions', orderIn(form, facts), { key, headers: { 'idempotency-key': 'order-1', ...headers } }),
  }
}

const providerOf = ({ headers }: ReceivedResponse): unknown => headers['x-swap-provider']

describe.each(formNames)('form %s', (form) => {
  test.each<[string, readonly [string, string], object]>([
    ['quotes as much', ['100', '100'], {}],
    ['quotes a little less', ['100', '90.1'], {}],
    ['quotes much less, and any will do', ['100', '50'], { maxDeviation: 0 }],
    ['quotes less than half, which the file allows', ['100', '55'], { maxDeviation: 0.5 }],
  ])('a create that has had a 429 goes to the next provider, which %s', async (_, amounts, routing) => {
    const { managed, rate, create } = await start(form, amounts, routing)
    expect(providerOf(await rate())).toBe('alpha')
    const created = await create()
    expect([created.status, providerOf(created)], created.text).toEqual([form === 'A' ? 201 : 200, 'beta'])
    expect([managed.alpha.received('create').length, managed.beta.received('create').length]).toEqual([1, 1])
    expect((await create()).headers['idempotent-replayed']).toBe('true')
    await lookNow(managed.gateway)
    expect(await managed.gateway.ledgerAdmin.unresolved()).toEqual([])
  })

  test.each<[string, readonly [string, string]]>([
    ['quotes much less than the last quote of the client', ['100', '89.9']],
    ['has no quote', ['100', '0']],
  ])('but not to one that %s: the refusal stands', async (_, amounts) => {
    const { managed, rate, create } = await start(form, amounts)
    await rate()
    const refused = await create()
    expectRefusal(refused, form, 503)
    expect(refused.headers['retry-after']).toBe('7')
    expect(managed.beta.received('create')).toEqual([])
  })

  test('but not to one whose own quote is for another amount: the refusal stands', async () => {
    const { managed, rate, create } = await start(form, ['100', '100'])
    await rate()
    managed.beta.reply('rate', ({ query }) => ({ json: { ...rateB(query), fromAmount: digits('50'), toAmount: digits('100') } }))
    expectRefusal(await create(), form, 503)
    expect(managed.beta.received('create')).toEqual([])
  })

  test.each([
    ['priority', 'less than it quoted for this create', '60', 502],
    ['priority', 'what it quoted', '100', form === 'A' ? 201 : 200],
    ['best', 'less than it quoted for this create', '60', 502],
    ['best', 'what it quoted', '100', form === 'A' ? 201 : 200],
  ])('at a fixed rate the next provider under %s is held to its quote: it promises %s', async (strategy, _, amount, status) => {
    const { managed, rate, create } = await start(form, ['100', '100'], { strategy })
    await rate('fixed')
    const made = { id: 'fixed-1', rateType: 'fixed', amountOut: digits(amount), depositAddress: depositOf('fixed-1') } as const
    managed.beta.reply('create', { json: createdB(swap(made)) })
    const created = await create({}, { rateType: 'fixed' })
    expect([created.status, managed.beta.received('create').length], created.text).toEqual([status, 1])
  })

  test('a client that was quoted nothing has nothing to compare', async () => {
    const { create } = await start(form, ['100', '10'])
    expect(providerOf(await create())).toBe('beta')
  })

  test('a client that has chosen the provider gets its refusal', async () => {
    const { managed, create } = await start(form, ['100', '100'], { pick: ['alpha'] })
    expectRefusal(await create({ 'x-swap-provider': 'alpha' }), form, 503)
    expect(managed.beta.received('create')).toEqual([])
  })

  test.each([
    ['90.1', 'beta'],
    ['89.9', undefined],
  ])('under best the next best quote counts: %s', async (amount, taker) => {
    const { rate, create } = await start(form, ['100', amount], { strategy: 'best' })
    expect(providerOf(await rate())).toBe('alpha')
    const created = await create()
    if (taker === undefined) expectRefusal(created, form, 503)
    else expect(providerOf(created)).toBe(taker)
  })
})

test('a create goes on by the word of the provider for a pair that it does not take, and not by another refusal', async () => {
  const exchange = await startExchange(changenow)
  const next = await startFormA()
  closing.push(exchange.end, () => next.close())
  exchange.key = 'key-at-the-provider'
  const gateway = await startGateway({
    provider: { name: 'alpha', form: 'changenow', url: exchange.url, key: exchange.key },
    others: { beta: { form: 'A', url: next.url, key: 'k', assets: { ETH: 'ETH', USDTERC20: 'USDTERC20' } } },
    sections: { assets: 'config/assets.yaml', auth: { mode: 'managed' }, routing: { providers: ['alpha', 'beta'] } },
  })
  closing.push(() => gateway.close())
  const key = await gateway.issueKey('acme')
  const create = (amount: number): Promise<ReceivedResponse> =>
    client('A', gateway.url).post(
      '/transactions',
      {
        ...{ coinFrom: 'ETH', coinTo: 'USDTERC20', amount, rateType: 'float' },
        withdrawalAddress: '0x00D283fFCb70F7b9A1d844e54A1AdE61E5443B6C',
      },
      { key },
    )
  expectRefusal(await create(0.001), 'A', 400, 'below_minimum')
  expect(next.received('create')).toEqual([])
  exchange.close('eth')
  await create(1)
  expect(exchange.calls.findLast(({ operation }) => operation === 'create')?.refused).toBe('pair')
  expect(next.received('create')).toHaveLength(1)
})

test('an amount below the minimum of a quote is the response, as one that the provider refuses: no other provider is asked', async () => {
  const exchange = await startExchange(letsexchange)
  const next = await startFormA()
  closing.push(exchange.end, () => next.close())
  exchange.key = 'key-at-the-provider'
  const gateway = await startGateway({
    provider: { name: 'alpha', form: 'letsexchange', url: exchange.url, key: exchange.key, settings: { affiliateId } },
    others: { beta: { form: 'A', url: next.url, key: 'k', assets: { ETH: 'ETH', USDTERC20: 'USDTERC20' } } },
    sections: { assets: 'config/assets.yaml', auth: { mode: 'managed' }, routing: { providers: ['alpha', 'beta'] } },
  })
  closing.push(() => gateway.close())
  const key = await gateway.issueKey('acme')
  const rate = await client('A', gateway.url).get('/rate?coinFrom=ETH&coinTo=USDTERC20&amount=0.001', { key })
  expectRefusal(rate, 'A', 400, 'below_minimum')
  expect(next.received('rate')).toEqual([])
})
