/** docs/contract.md §3.2: rates. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { digits, readJson } from '../support/json.ts'
import { formNames, type Pair, pairs, rateQuery, startPair } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'

const fromUsdt = rateQuery('A', { from: assets.usdtTrx, to: assets.btc, amount: '1' })

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, provider)
  })
  beforeEach(() => pair.provider.reset())
  afterAll(() => pair.close())

  const lastQuery = (): URLSearchParams => pair.provider.received('rate').at(-1)?.query ?? new URLSearchParams('nothing')
  const request = (amount = '1', rateType?: string): string =>
    rateQuery(form, { from: assets.btc, to: assets.usdtTrx, amount, ...(rateType !== undefined && { rateType }) })

  test('the response has exactly the fields of the form, with every digit of the provider', async () => {
    const response = await pair.client.get(request('0.10', 'fixed'))
    const shared = { rate: digits('0.0150'), minAmount: digits('0.001'), maxAmount: digits('1e3') }
    const out = digits('0.123456789012345678')
    const fee = provider === 'A' ? { fee: digits('0.00000001') } : {}
    expect(response.json).toEqual(
      form === 'A'
        ? { coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: digits('0.10'), amountTo: out, rateType: 'fixed', ...shared, ...fee }
        : { fromAmount: digits('0.10'), toAmount: out, message: null, ...shared },
    )
  })

  test('the request is sent once, in the words of the provider form and with the same digits', async () => {
    await pair.client.get(request('0.1000000000000000000001', 'fixed'))
    const words =
      provider === 'A'
        ? { coinFrom: 'BTC', coinTo: 'USDTTRC20' }
        : { coinFrom: 'BTC', coinTo: 'USDT', networkFrom: 'BTC', networkTo: 'TRX' }
    expect(pair.provider.received('rate')).toHaveLength(1)
    expect(Object.fromEntries(lastQuery())).toEqual({ ...words, amount: '0.1000000000000000000001', rateType: 'fixed' })
  })

  test('the rate type is float by default', async () => {
    const response = await pair.client.get(request())
    expect([null, 'float']).toContain(lastQuery().get('rateType'))
    if (form === 'A') expect(response.json).toMatchObject({ rateType: 'float' })
  })

  test('codes, coins and networks match in any case and come back as the table spells them', async () => {
    const path =
      form === 'A'
        ? '/rate?coinFrom=btc&coinTo=UsdtTrc20&amount=1'
        : '/rate?coinFrom=btc&coinTo=uSdT&networkTo=trx&networkFrom=btc&amount=1'
    const response = await pair.client.get(path)
    expect(response.status).toBe(200)
    expect(lastQuery().get('coinFrom')).toBe('BTC')
    expect(lastQuery().get('coinTo')).toBe(provider === 'A' ? 'USDTTRC20' : 'USDT')
    if (form === 'A') expect(response.json).toMatchObject({ coinFrom: 'BTC', coinTo: 'USDTTRC20' })
  })

  test('an unknown code is refused by name and nothing is sent', async () => {
    const path = form === 'A' ? '/rate?coinFrom=NOPE&coinTo=BTC&amount=1' : '/rate?coinFrom=NOPE&coinTo=BTC&amount=1&networkTo=BTC'
    expect(expectRefusal(await pair.client.get(path), form, 400)).toContain('NOPE')
    expect(pair.provider.received('rate')).toEqual([])
  })

  test('a coin that the table lacks and the provider lists is requested in its own words, with no network', async () => {
    const response = await pair.client.get('/rate?coinFrom=DOGE&coinTo=BTC&amount=7')
    expect(response.status, response.text).toBe(200)
    expect(lastQuery().get('coinFrom')).toBe('DOGE')
    expect(lastQuery().has('networkFrom')).toBe(false)
    if (form === 'A') expect(response.json).toMatchObject({ coinFrom: 'DOGE', coinTo: 'BTC' })
  })

  test('an asset that the configuration sets to null is refused and nothing is sent', async () => {
    const without = await startPair(form, provider, { provider: { assets: { USDTTRC20: null } } })
    const response = await without.client.get(request())
    await without.close()
    expectRefusal(response, form, 400)
    expect(without.provider.received('rate')).toEqual([])
  })

  test("a provider's number of text is taken as the number that it is", async () => {
    const before = pair.gateway.observations.length
    const amounts = provider === 'A' ? { amount: '1.10', amountTo: '2.20' } : { fromAmount: '1.10', toAmount: '2.20' }
    const numbers = { ...amounts, rate: '2', minAmount: '1e-8', maxAmount: '100' }
    const words = provider === 'A' ? { coinFrom: 'BTC', coinTo: 'USDTTRC20', rateType: 'float' } : {}
    pair.provider.reply('rate', { json: { ...numbers, ...words } })
    const response = await pair.client.get(request('1.10'))
    expect(response.text).toContain('1.10')
    expect(response.json).toMatchObject({ rate: digits('2'), minAmount: digits('1e-8'), maxAmount: digits('100') })
    expect(pair.gateway.observations.slice(before)).toContainEqual(expect.objectContaining({ drift: 'numberAsText' }))
  })
})

describe.each(formNames)('client B, provider %s', (provider) => {
  test('aliases are accepted for their network, and the network is sent in the words of the table', async () => {
    const pair = await startPair('B', provider)
    for (const alias of ['TRX', 'TRC20', 'tron']) {
      const response = await pair.client.get(`/rate?coinFrom=USDT&networkFrom=${alias}&coinTo=ETH&networkTo=erc20&amount=1`)
      expect(response.status, response.text).toBe(200)
      const query = pair.provider.received('rate').at(-1)?.query
      expect(query?.get('coinFrom')).toBe(provider === 'A' ? 'USDTTRC20' : 'USDT')
      expect(query?.get('networkFrom')).toBe(provider === 'A' ? null : 'TRX')
      expect(query?.get('networkTo')).toBe(provider === 'A' ? null : 'ETH')
    }
    await pair.close()
  })

  test.each(['BEP20', 'ETHEREUM', 'TRX2'])('the network %s that the coin does not have is refused', async (network) => {
    const pair = await startPair('B', provider)
    const response = await pair.client.get(`/rate?coinFrom=USDT&networkFrom=${network}&coinTo=BTC&amount=1`)
    await pair.close()
    expect(expectRefusal(response, 'B', 400)).toContain('networkFrom')
    expect(pair.provider.received('rate')).toEqual([])
  })
})

test('B from A: no network means the default network of the coin', async () => {
  const pair = await startPair('B', 'A')
  await pair.client.get('/rate?coinFrom=USDT&coinTo=BTC&amount=1')
  await pair.close()
  expect(pair.provider.received('rate')[0]?.query.get('coinFrom')).toBe('USDTTRC20')
})

test('B from A: no network for a coin of several without a default is refused, naming them', async () => {
  const pair = await startPair('B', 'A')
  const message = expectRefusal(await pair.client.get('/rate?coinFrom=USDC&coinTo=BTC&amount=1'), 'B', 400)
  await pair.close()
  expect(message).toContain('ETH')
  expect(message).toContain('SOL')
  expect(pair.provider.received('rate')).toEqual([])
})

test("the provider's own words go up and the table's come back", async () => {
  const toA = await startPair('A', 'A', { provider: { assets: { USDTTRC20: 'usdt_trc' } } })
  toA.provider.holdings.currencies = ['usdt_trc', 'BTC'].map((code) => ({ code, name: code, icon: 'i' }))
  const toB = await startPair('A', 'B', { provider: { assets: { USDTTRC20: { coin: 'TETHER', network: 'TRON' } } } })
  for (const pair of [toA, toB]) {
    expect((await pair.client.get(fromUsdt)).json).toMatchObject({ coinFrom: 'USDTTRC20' })
    await pair.close()
  }
  expect(toA.provider.received('rate')[0]?.query.get('coinFrom')).toBe('usdt_trc')
  expect(Object.fromEntries(toB.provider.received('rate')[0]?.query ?? [])).toMatchObject({
    coinFrom: 'TETHER',
    networkFrom: 'TRON',
  })
})

test("the operator's word is sent also if the provider lists the table's code", async () => {
  const pair = await startPair('A', 'A', { provider: { assets: { USDTTRC20: 'usdt_trc' } } })
  await pair.client.get(fromUsdt)
  await pair.close()
  expect(pair.provider.received('rate')[0]?.query.get('coinFrom')).toBe('usdt_trc')
})

describe('A from B', () => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair('A', 'B')
  })
  beforeEach(() => pair.provider.reset())
  afterAll(() => pair.close())

  const request = rateQuery('A', { from: assets.btc, to: assets.eth, amount: '1.10' })
  const estimate = (facts: object): object => ({
    fromAmount: digits('1.10'),
    toAmount: digits('1'),
    rate: digits('1'),
    minAmount: digits('0.5'),
    maxAmount: digits('100'),
    message: null,
    ...facts,
  })
  const responseTo = async (facts: object): Promise<{ json: unknown; derived: unknown; omitted: unknown }> => {
    pair.provider.reply('rate', { json: estimate(facts) })
    const { json, headers } = await pair.client.get(request)
    return { json, derived: headers['x-swap-derived'], omitted: headers['x-swap-omitted'] }
  }

  const fees: readonly (readonly [string, string, string, string])[] = [
    ['1.10', '1', '1', '0.1'],
    ['0.3', '0.1', '0.01', '0.02'],
    ['1.123456789012345678', '2.000000000000000001', '0.000000000000000001', '2.246913578024691356123456789012345678'],
    ['100000000000000000000000', '3', '1', '299999999999999999999999'],
    ['1e-8', '1e-8', '0', '0.0000000000000001'],
  ]
  test.each(fees)('the fee of %s at %s with %s received is %s, exact', async (fromAmount, rate, toAmount, fee) => {
    const { json, derived } = await responseTo({ fromAmount: digits(fromAmount), rate: digits(rate), toAmount: digits(toAmount) })
    expect(json).toMatchObject({ fee: digits(fee) })
    expect(derived).toBe('fee')
  })

  test.each([
    ['nothing is left', '1.10', '1'],
    ['more is received than by the rate', '1.2', '1'],
  ])('the fee is omitted and so named if %s', async (_, toAmount, rate) => {
    const { json, derived, omitted } = await responseTo({ toAmount: digits(toAmount), rate: digits(rate) })
    expect(json).not.toHaveProperty('fee')
    expect([derived, omitted]).toEqual([undefined, 'fee'])
  })

  test('fee and rate are omitted if the provider reports no rate', async () => {
    const { json, omitted } = await responseTo({ rate: null })
    expect(json).not.toHaveProperty('rate')
    expect(omitted).toBe('fee,rate')
  })

  test.each([
    ['0', { toAmount: 0 }],
    ['0.00', { toAmount: digits('0.00') }],
    ['null', { toAmount: null }],
    ['absent', { toAmount: undefined }],
  ])('a message beside an amount received of %s is a refusal with that message', async (_, facts) => {
    pair.provider.reply('rate', { json: estimate({ ...facts, message: 'Amount is below the minimum' }) })
    expect(expectRefusal(await pair.client.get(request), 'A', 400)).toMatch(/^Amount is below the minimum/)
  })

  test.each<[string, object]>([
    ['null', { minAmount: null, maxAmount: null }],
    ['absent', { minAmount: undefined, maxAmount: undefined }],
    ['an empty text', { minAmount: '', maxAmount: '' }],
    ['negative', { maxAmount: digits('-1') }],
    ['the largest number of a program', { maxAmount: digits('1.7976931348623157e308') }],
  ])('a maximum that is %s is none, and the quote is a quote', async (_, facts) => {
    const { json, omitted } = await responseTo(facts)
    expect(json).toEqual(expect.not.objectContaining({ maxAmount: expect.anything() }))
    expect(omitted).toContain('maxAmount')
  })

  test.each<[string, object]>([
    ['a minimum above the maximum', { minAmount: digits('10'), maxAmount: digits('1') }],
    ['a negative minimum', { minAmount: digits('-1'), maxAmount: digits('10') }],
  ])('%s: both limits are omitted, by name, and counted', async (_, facts) => {
    const before = pair.gateway.observations.length
    const { json, omitted } = await responseTo(facts)
    expect(json).not.toHaveProperty('minAmount')
    expect(json).not.toHaveProperty('maxAmount')
    expect(omitted).toBe('maxAmount,minAmount')
    const implausible = { what: 'drift', provider: 'alpha', field: 'minAmount', drift: 'implausible' }
    expect(pair.gateway.observations.slice(before)).toContainEqual(implausible)
  })

  test('a message beside an amount received is dropped', async () => {
    const { json } = await responseTo({ message: 'Network is busy' })
    expect(JSON.stringify(json)).not.toContain('busy')
    expect(json).toMatchObject({ amountTo: digits('1') })
  })

  test.each([
    ['no amount received', { toAmount: null }],
    ['an amount of another type', { toAmount: true }],
  ])('%s and no message is not the form: 502', async (_, facts) => {
    pair.provider.reply('rate', { json: estimate(facts) })
    expectRefusal(await pair.client.get(request), 'A', 502)
  })
})

test('B from B: a message is relayed beside its amount', async () => {
  const pair = await startPair('B', 'B')
  const json = readJson('{"fromAmount":1,"toAmount":0,"rate":1,"minAmount":2,"maxAmount":3,"message":"Below the minimum"}')
  pair.provider.reply('rate', { json })
  const response = await pair.client.get(rateQuery('B', { from: assets.btc, to: assets.eth, amount: '1' }))
  await pair.close()
  expect(response.json).toEqual(json)
})
