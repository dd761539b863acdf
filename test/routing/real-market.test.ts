// Takes long: a market at eight real forms.
/** docs/contract-operators.md §10.3: a price that moves is no lie, and one that is promised is held to, at real forms. */
import { describe, expect, test } from 'vitest'
import { documented, type ProviderName, providerNames } from '../providers/documented.ts'
import { accusations, type MarketOrder, type RealMarket, setPrices, startRealMarket, tradeHonestly } from './real-market.ts'

const withOwnQuotes = providerNames.filter((name) => documented[name].hasRateIds)
const withoutOwnQuotes = providerNames.filter((name) => !documented[name].hasRateIds)
const fixed: MarketOrder = { rateType: 'fixed' }
const float: MarketOrder = { rateType: 'float' }

function judged({ gateway }: RealMarket, kind: string): readonly string[] {
  return gateway.observations.flatMap((one) => (one.what === 'judgement' && one.kind === kind ? [one.outcome] : []))
}

function deviations({ gateway }: RealMarket): readonly number[] {
  return gateway.observations.flatMap((one) => (one.what === 'quoteDeviation' ? [one.deviation] : []))
}

describe('an honest market', () => {
  test.each(['best', 'priority'] as const)(
    'under `%s` no price that moves is a mismatch, and nothing is suspended',
    async (strategy) => {
      const { found } = await tradeHonestly(strategy, 48)
      expect(found).toEqual([])
    },
  )
})

describe.each(withOwnQuotes)('%s, which has quotes of its own', (name) => {
  test.each<[string, MarketOrder]>([
    ['by the amount to be sent', fixed],
    ['by the amount to be received', { ...fixed, amountTo: '12' }],
  ])('gives a hundredth less than its own quote, %s: each create is refused', async (_, order) => {
    await using market = await startRealMarket([name], { strategy: 'priority' })
    market.exchange(name).shorts = 0.01
    for (let at = 0; at < 3; at++) expect(await market.create(order)).toMatchObject({ status: 502, reason: 'mismatch' })
    expect(judged(market, 'amount').filter((outcome) => outcome === 'refused')).toHaveLength(3)
  })

  test('has an own quote that is much worse than the one with which it won: nothing is sent', async () => {
    await using market = await startRealMarket([name], { strategy: 'best', maxDeviation: 0.005 })
    const exchange = market.exchange(name)
    for (let at = 0; at < 4; at++) {
      exchange.market.fixed = 16
      await market.quote(fixed)
      exchange.market.fixed = 15.84
      expect(await market.create(fixed)).toMatchObject({ status: 503, reason: 'provider_busy' })
    }
    expect(exchange.received('create')).toEqual([])
    expect(judged(market, 'quote')).toEqual(['refused', 'refused', 'refused', 'refused'])
    expect(market.gateway.observations.filter(({ what }) => what === 'suspended')).toEqual([])
    expect(await market.gateway.ledgerAdmin.unresolved()).toEqual([])
    // The price holds again.
    exchange.market.fixed = 16
    expect((await market.create(fixed)).status).toBe(201)
  })

  test('has one that is a little worse: it takes the create, and that is counted', async () => {
    await using market = await startRealMarket([name], { strategy: 'best' })
    for (let at = 0; at < 4; at++) {
      market.exchange(name).market.fixed = 16
      await market.quote(fixed)
      market.exchange(name).market.fixed = 15.84
      expect((await market.create(fixed)).status).toBe(201)
    }
    expect(deviations(market).filter((deviation) => deviation < -0.009)).toHaveLength(4)
    expect(accusations(market)).toEqual([])
  })
})

describe.each(withoutOwnQuotes)('%s, which has no quote of its own', (name) => {
  test.each<[string, MarketOrder]>([
    ['by the amount to be sent', fixed],
    ['by the amount to be received', { ...fixed, amountTo: '12' }],
  ])(
    'gives a hundredth less than the quote with which it won, %s, where half of that is allowed: each is refused, and nothing is suspended',
    async (_, order) => {
      await using market = await startRealMarket([name], { strategy: 'best', maxDeviation: 0.005 })
      market.exchange(name).shorts = 0.01
      for (let at = 0; at < 5; at++) {
        await market.quote(order)
        expect(await market.create(order)).toMatchObject({ status: 502, reason: 'mismatch' })
      }
      expect(judged(market, 'quote')).toEqual(Array.from({ length: 5 }, () => 'refused'))
      expect(market.gateway.observations.filter(({ what }) => what === 'suspended')).toEqual([])
    },
  )

  test('gives a hundredth less where more is allowed: each is counted', async () => {
    await using market = await startRealMarket([name], { strategy: 'best' })
    market.exchange(name).shorts = 0.01
    for (let at = 0; at < 4; at++) {
      await market.quote(fixed)
      expect((await market.create(fixed)).status).toBe(201)
    }
    expect(deviations(market).filter((deviation) => deviation < -0.009)).toHaveLength(4)
    expect(accusations(market)).toEqual([])
  })

  test('gives a hundredth less at a floating rate: counted, and refused only with `refuseDeviation`', async () => {
    const routing = { strategy: 'best', maxDeviation: 0.005 }
    await using market = await startRealMarket([name], routing)
    market.exchange(name).shorts = 0.01
    await market.quote(float)
    expect((await market.create(float)).status).toBe(201)
    market.route({ ...routing, refuseDeviation: true })
    expect(await market.create(float)).toMatchObject({ status: 502, reason: 'mismatch' })
    expect(judged(market, 'quote')).toEqual(['passed', 'passed'])
  })
})

describe('of several providers', () => {
  const names: readonly ProviderName[] = ['changenow', 'stealthex', 'exolix']

  test('one that won with a price that it does not hold gets nothing, and the next best takes the create', async () => {
    await using market = await startRealMarket(names, { strategy: 'best' })
    market.exchange('changenow').market.fixed = 17
    expect((await market.quote(fixed)).provider).toBe('changenow')
    market.exchange('changenow').market.fixed = 8
    market.exchange('stealthex').market.fixed = 16.5
    expect(await market.create(fixed)).toMatchObject({ status: 201, provider: 'stealthex' })
    expect(market.exchange('changenow').received('create')).toEqual([])
  })

  test('where the next best is far from the quote that the caller saw, nobody gets the create', async () => {
    await using market = await startRealMarket(names, { strategy: 'best' })
    market.exchange('changenow').market.fixed = 32
    await market.quote(fixed)
    market.exchange('changenow').market.fixed = 16
    expect(await market.create(fixed)).toMatchObject({ status: 503, reason: 'provider_busy' })
    expect(market.orders()).toBe(0)
    // A new quote is one that the caller sees.
    await market.quote(fixed)
    expect((await market.create(fixed)).status).toBe(201)
  })

  test('one without a key of its own quote whose price has moved by 0.1 % within the minute is no mismatch', async () => {
    await using market = await startRealMarket(['exolix', 'fixedfloat'], { strategy: 'best' })
    for (const move of [0.9999, 0.9995, 0.999, 0.995]) {
      setPrices(market, () => 16)
      await market.quote(fixed)
      setPrices(market, (price) => price * move)
      expect((await market.create(fixed)).status).toBe(201)
    }
    expect(accusations(market)).toEqual([])
  })
})
