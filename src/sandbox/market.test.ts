// Takes long: days of a market.
import { expect, test } from 'vitest'
import { loadConfig } from '../config/index.ts'
import { type Amount, compareAmounts, isPositive } from '../domain/amount.ts'
import { knownForms, serviceForms } from '../forms/index.ts'
import { decimal, difference, product, sum } from './decimal.ts'
import { btc, usdtTrx, xrp } from './fixture.ts'
import { market, needed, priceOf, received, type Terms } from './market.ts'
import { networkOf } from './networks.ts'

const now = Date.parse('2030-01-01T00:00:00Z')
const day = 86_400_000

test('the same seed and moment give the same terms, another seed or moment others', () => {
  const terms = market(1).terms(btc, usdtTrx, 'float', now)
  expect(market(1).terms(btc, usdtTrx, 'float', now)).toEqual(terms)
  expect(market(2).terms(btc, usdtTrx, 'float', now).rate).not.toBe(terms.rate)
  expect(market(1).terms(btc, usdtTrx, 'float', now + 60_000).rate).not.toBe(terms.rate)
})

test('prices stand still for ten seconds', () => {
  const { terms } = market(1)
  expect(terms(btc, usdtTrx, 'float', now + 9_999)).toEqual(terms(btc, usdtTrx, 'float', now))
  expect(terms(btc, usdtTrx, 'float', now + 10_000)).not.toEqual(terms(btc, usdtTrx, 'float', now))
})

test('prices stay plausible however long the walk is, and move little in a minute', () => {
  const { terms } = market(7)
  for (let at = now; at < now + 20_000 * day; at += 97 * day) {
    const rate = Number(terms(btc, usdtTrx, 'float', at).rate)
    const soon = Number(terms(btc, usdtTrx, 'float', at + 60_000).rate)
    expect(rate).toBeGreaterThan(80_000)
    expect(rate).toBeLessThan(115_000)
    expect(Math.abs(soon / rate - 1)).toBeLessThan(0.005)
  }
})

test('a fixed rate is slightly worse than a floating one', () => {
  const { terms } = market(1)
  const fixed = Number(terms(xrp, btc, 'fixed', now).rate)
  const float = Number(terms(xrp, btc, 'float', now).rate)
  expect(fixed / float).toBeCloseTo(0.985 / 0.995, 6)
})

test('what is received is exact: amount × rate, cut to the coin, less the fee', () => {
  const terms = { rate: decimal('97123.45678'), fee: decimal('1.000001') }
  expect(received(decimal('0.1'), terms, 'USDT')).toBe('9711.345677')
  expect(received(decimal('1e-1'), terms, 'USDT')).toBe('9711.345677')
  expect(received(decimal('0.00001'), terms, 'USDT')).toBe('0')
})

test("the limits are worth the same in every coin, within the table's own", () => {
  const { terms } = market(1)
  const { rate, minAmount, maxAmount } = terms(btc, usdtTrx, 'float', now)
  expect(Number(minAmount) * Number(rate)).toBeCloseTo(10, 0)
  expect(Number(maxAmount) * Number(rate)).toBeGreaterThan(48_000)
  expect(terms(usdtTrx, btc, 'float', now).minAmount).toBe('20')
  expect(terms({ ...btc, depositMax: decimal('0.01') }, usdtTrx, 'float', now).maxAmount).toBe('0.01')
})

const { assets: table, providers, sandbox } = loadConfig('config/gateway.yaml', knownForms, {})
const assets = table.coins.flatMap((coin) => coin.assets)

test('the default configuration reaches the sandbox in every form', () => {
  const sandboxUrl = `http://127.0.0.1:${sandbox.port}`
  expect(providers.map(({ form, url }) => [form, url])).toEqual(
    serviceForms.map(({ name }) => [name, `${sandboxUrl}/${name.toLowerCase()}/api/v2`]),
  )
  expect(sandbox.enabled).toBe(true)
})

test('some coins have several networks and some need a memo', () => {
  expect(table.coins.length).toBeGreaterThanOrEqual(30)
  expect(
    table
      .coin('USDT')
      ?.assets.slice(0, 3)
      .map(({ code }) => code),
  ).toEqual(['USDTTRC20', 'USDTERC20', 'USDTBEP20'])
  expect(assets.filter(({ network }) => networkOf(network).hasMemo).map(({ code }) => code)).toEqual(
    expect.arrayContaining(['XRP', 'XLM']),
  )
})

test('every coin of the default table has a price, and every network its looks', () => {
  expect(
    table.coins
      .filter(({ coin }) => priceOf(coin).base === '1')
      .map(({ coin }) => coin)
      .toSorted(),
  ).toEqual(['DAI', 'FDUSD', 'GUSD', 'PYUSD', 'RLUSD', 'TUSD', 'USD1', 'USDC', 'USDC.E', 'USDD', 'USDE', 'USDP', 'USDS', 'USDT'])
  const unheard = networkOf('UNHEARD')
  expect(assets.filter(({ network }) => networkOf(network) === unheard)).toEqual([])
})

test('every pair pays something out at its minimum, and more at its maximum', () => {
  const { terms } = market(sandbox.seed)
  const pairs = assets.flatMap((from) => assets.filter((to) => to !== from).map((to) => [from, to] as const))
  const bad = pairs.filter(([from, to]) => {
    const quoted = terms(from, to, 'fixed', Date.parse('2030-01-01T00:00:00Z'))
    const least = received(quoted.minAmount, quoted, to.coin)
    const most = received(quoted.maxAmount, quoted, to.coin)
    return !isPositive(least) || compareAmounts(most, least) <= 0 || !isPositive(quoted.fee)
  })
  expect(bad.map(([from, to]) => `${from.code} to ${to.code}`)).toEqual([])
})

test.each([
  ['5', { rate: '97400.5', fee: '1' }, 8],
  ['0.00000001', { rate: '0.0000102', fee: '0.00001' }, 6],
  ['123.456789', { rate: '3', fee: '0' }, 6],
])('what must be given for %s is enough, and one unit less is not', (amountOut, terms, decimals) => {
  const amountIn = needed(decimal(amountOut), terms as unknown as Terms, decimals)
  const gross = sum(decimal(amountOut), decimal(terms.fee))
  const gives = (amount: Amount): Amount => product(amount, decimal(terms.rate))
  expect(compareAmounts(gives(amountIn), gross)).toBeGreaterThanOrEqual(0)
  expect(compareAmounts(gives(difference(amountIn, decimal(`1e-${decimals}`))), gross)).toBeLessThan(0)
})
