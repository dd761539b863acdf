import { expect, it, vi } from 'vitest'
import { memoryWinners } from '../../adapters/memory.ts'
import type { Amount } from '../../domain/amount.ts'
import { AssetTable } from '../../domain/asset.ts'
import { StoreOutage } from '../access/store-outage.ts'
import { QuoteDeviations, quoteKeyOf, quoteKeysOf, sharedWinners, winnerLifetimeMs } from './winners.ts'

const asset = (coin: string, network: string, code: string, isDefault = false) => ({
  code,
  coin,
  network,
  name: coin,
  aliases: network === 'TRX' ? ['TRON'] : [],
  isDefault,
})
const table = new AssetTable([
  { coin: 'BTC', name: 'Bitcoin', assets: [asset('BTC', 'BTC', 'BTC')] },
  { coin: 'USDT', name: 'Tether', assets: [asset('USDT', 'TRX', 'USDTTRC20', true), asset('USDT', 'ETH', 'USDTERC20')] },
])
const one = { address: '192.0.2.1', identity: 'one' }
const key = (pair: object, amount = '1', rateType: 'fixed' | 'float' = 'float') =>
  quoteKeyOf(one, { ...pair, amountIn: amount as Amount, rateType }, table)
const inForm = {
  a: { codeFrom: 'btc', codeTo: 'USDTTRC20' },
  b: { coinFrom: 'BTC', networkFrom: 'BTC', coinTo: 'usdt', networkTo: 'TRON' },
}

it('a quote is the same in both forms, by value of the amount, and with the default network left out', () => {
  expect(key(inForm.a)).toBe(key(inForm.b))
  expect(key(inForm.a)).toBe(key({ ...inForm.b, networkTo: undefined, networkFrom: 'BTC' }))
  expect(key(inForm.a)).toBe(key(inForm.a, '1.00'))
})

it('another network, amount, rate type or caller is another quote', () => {
  const others = [
    key({ ...inForm.b, networkTo: 'ETH' }),
    key(inForm.a, '1.000000000000000000001'),
    key(inForm.a, '1', 'fixed'),
    quoteKeyOf({ ...one, identity: 'two' }, { ...inForm.a, amountIn: '1' as Amount, rateType: 'float' }, table),
    quoteKeyOf({ address: 'one' }, { ...inForm.a, amountIn: '1' as Amount, rateType: 'float' }, table),
  ]
  expect(new Set([...others, key(inForm.a)]).size).toBe(6)
})

it('the quote of a create is found by its account, then by its address', () => {
  const terms = { ...inForm.a, amountIn: '1' as Amount, rateType: 'float' as const }
  expect(quoteKeysOf(one, terms, table)).toEqual([key(inForm.a), quoteKeyOf({ address: '192.0.2.1' }, terms, table)])
})

it('while the shared store is lost, the winners of this process are used', async () => {
  const outage = new StoreOutage(
    () => Promise.reject(new Error('lost')),
    () => {},
  )
  const lost = { save: vi.fn(() => Promise.reject(new Error('lost'))), find: vi.fn(() => Promise.reject(new Error('lost'))) }
  const winners = sharedWinners({ shared: lost, local: memoryWinners(() => 0, winnerLifetimeMs), outage })
  const winner = { tag: 'alpha', quotedAmount: '1.5' as Amount }
  await winners.save('key', winner)
  expect(await winners.find('key')).toEqual(winner)
  expect(lost.save).toHaveBeenCalledTimes(1)
  expect(lost.find).toHaveBeenCalledTimes(0)
  outage.stop()
})

const hundred = '100' as Amount
const sent = { amountIn: '1' as Amount }
const received = { amountOut: '1' as Amount }

it('a create that promised too little discounts the quotes of its provider for ten minutes', () => {
  let now = 0
  const deviations = new QuoteDeviations(0.1, () => now)
  deviations.observe({ what: 'quoteDeviation', provider: 'beta', deviation: -0.4 })
  expect(deviations.discounted('beta', hundred, sent)).toBe('60')
  expect(deviations.discounted('beta', hundred, received)).toBe('140')
  expect(deviations.discounted('alpha', hundred, sent)).toBe('100')
  now = 600_000
  expect(deviations.discounted('beta', hundred, sent)).toBe('100')
})

it('a later create within the bound ends it, and a small deviation is none', () => {
  const deviations = new QuoteDeviations(0.1, () => 0)
  deviations.observe({ what: 'quoteDeviation', provider: 'beta', deviation: -0.4 })
  deviations.observe({ what: 'quoteDeviation', provider: 'beta', deviation: -0.1 })
  expect(deviations.discounted('beta', hundred, sent)).toBe('100')
})

it('a bound of 0 counts nothing', () => {
  const deviations = new QuoteDeviations(0, () => 0)
  deviations.observe({ what: 'quoteDeviation', provider: 'beta', deviation: -1 })
  expect(deviations.discounted('beta', hundred, sent)).toBe('100')
})
