import { expect, test } from 'vitest'
import { loadConfig } from '../config/index.ts'
import { compareAmounts, isPositive } from '../domain/amount.ts'
import { knownForms, serviceForms } from '../forms/index.ts'
import { market, priceOf, received } from './market.ts'
import { networkOf } from './networks.ts'

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
