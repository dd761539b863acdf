/** docs/contract-operators.md §12: quotes repeated at a candidate. Clients notice nothing, and nothing is created there. */
import { afterEach, expect, test, vi } from 'vitest'
import { memoryBudgets } from '../../src/adapters/memory.ts'
import { createBreaker } from '../../src/core/resilience/breaker.ts'
import type { Budgets } from '../../src/core/resilience/budget-limit.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { rateB } from '../support/form-b.ts'
import { digits } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { type FormName, rateQuery } from '../support/pair.ts'
import { type AssetWords, assets } from '../support/swaps.ts'

let managed: Managed
afterEach(() => managed.close())

const { btc, usdtTrx, usdcEth } = assets
const start = async (sample = 1, settings: Parameters<typeof startManaged>[0] = {}, mode = 'managed'): Promise<void> => {
  const routing = { providers: ['alpha'], mirror: { provider: 'beta', sample } }
  managed = await startManaged({ ...settings, sections: { auth: { mode }, routing } })
}
const rate = (form: FormName = 'A', to: AssetWords = usdtTrx, key: string | null = null): Promise<ReceivedResponse> =>
  managed.client(form).get(rateQuery(form, { from: btc, to, amount: '0.10' }), { key })
const compared = () => managed.gateway.observations.filter((observation) => observation.what === 'mirror')
const until = (count: number): Promise<void> => vi.waitFor(() => expect(compared()).toHaveLength(count), eventTimeoutMs)

test.each(['managed', 'passthrough'])('a successful quote is repeated without the client’s key (%s)', async (mode) => {
  await start(1, {}, mode)
  managed.beta.reply('rate', ({ query }) => ({ json: { ...rateB(query), toAmount: digits('0.111111111111111110') } }))
  const key = mode === 'managed' ? await managed.issue() : null
  const response = await rate('A', usdtTrx, key)
  expect(response.headers['x-swap-provider']).toBe('alpha')
  await until(1)
  expect(compared()[0]).toMatchObject({ provider: 'beta', result: 'compared', deviation: expect.closeTo(-0.1, 6) })
  const [sent] = managed.beta.received('rate')
  expect(sent?.query.get('networkTo')).toBe('TRX')
  expect(sent?.headers['x-api-key']).toBeUndefined()
})

test('the client does not wait for the candidate', async () => {
  await start()
  const responded = Promise.withResolvers<void>()
  managed.beta.reply('rate', { after: responded.promise, json: {} })
  await rate()
  expect(compared()).toEqual([])
  responded.resolve()
  await until(1)
})

test('nothing is created at the candidate, and it is in no list of currencies', async () => {
  await start()
  managed.beta.holdings.currencies = [{ code: 'ONLYBETA', name: 'Only', icon: '', notes: '' }]
  const created = await managed.client('B').post('/transactions', orderIn('B'), { key: await managed.issue() })
  expect(created.headers['x-swap-provider']).toBe('alpha')
  expect((await managed.client('B').get('/currencies?size=100')).text).not.toContain('ONLYBETA')
  expect(managed.beta.received('create')).toEqual([])
})

test('a pair that the candidate lacks, a failure and a spent budget are counted apart', async () => {
  await start(1, { providers: { beta: { assets: { USDCERC20: null } } } })
  const usdc = { code: 'USDCERC20', name: 'USD Coin', icon: 'https://icons.test/usdc.svg', network: 'ETH' }
  managed.alpha.holdings.currencies = [...managed.alpha.holdings.currencies, usdc]
  await rate('B', usdcEth)
  await until(1)
  managed.beta.reply('rate', { status: 500, json: {} })
  await rate()
  await until(2)
  expect(compared().map((one) => one.what === 'mirror' && one.result)).toEqual(['missing', 'failed'])
})

test('none is repeated with a sample of 0, about half with 0.5', async () => {
  await start(0.5)
  for (let at = 0; at < 40; at++) await rate(at % 2 ? 'A' : 'B')
  await vi.waitFor(() => expect(compared().length).toBeGreaterThan(4), eventTimeoutMs)
  expect(compared().length).toBeLessThan(36)
  await managed.close()
  await start(0)
  for (let at = 0; at < 10; at++) await rate()
  expect(managed.beta.received('rate')).toEqual([])
})

test('the lists are compared, too', async () => {
  await start()
  managed.beta.holdings.currencies = [{ code: 'BTC', name: 'Bitcoin', icon: 'https://icons.test/btc.svg', notes: '' }]
  await rate()
  await vi.waitFor(
    () =>
      expect(managed.gateway.observations).toContainEqual({ what: 'mirrorAssets', provider: 'beta', missing: expect.any(Number) }),
    eventTimeoutMs,
  )
  const found = managed.gateway.observations.find(({ what }) => what === 'mirrorAssets')
  expect(found?.what === 'mirrorAssets' && found.missing).toBeGreaterThan(0)
})

test('W17: a mirror spends nothing of what is kept for the gateway’s own reads of the candidate', async () => {
  const reserved: string[] = []
  const budgets = memoryBudgets(() => performance.now())
  const counting: Budgets = {
    ...budgets,
    reserve(bucket, ...rest) {
      reserved.push(bucket)
      return budgets.reserve(bucket, ...rest)
    },
  }
  const rateLimit = { quotes: 20, create: 0, read: 0 }
  const steadyClock = (): number => performance.now()
  managed = await startManaged({
    budgets: counting,
    steadyClock,
    providers: { alpha: { rateLimit: { ...rateLimit, quotes: 0 } }, beta: { rateLimit } },
    sections: {
      cache: { currencies: 600, rate: 0, staleFor: 600 },
      routing: { providers: ['alpha'], mirror: { provider: 'beta', sample: 1 } },
    },
  })
  const { from, to } = { from: btc, to: usdtTrx }
  for (let at = 1; at <= 30; at++) {
    const { status } = await managed.client('A').get(rateQuery('A', { from, to, amount: String(at) }), { key: null })
    expect(status).toBe(200)
    await until(at)
  }
  const own = reserved.filter((bucket) => bucket === 'beta:quotes:own')
  expect(own).toHaveLength(managed.beta.received('currencies').length)
  expect(compared().filter((one) => one.what === 'mirror' && one.result === 'compared').length).toBeLessThanOrEqual(18)
})

test('W17: one client whose quotes fail only at the candidate opens no breaker there for others', async () => {
  managed = await startManaged({
    breaker: createBreaker,
    steadyClock: () => performance.now(),
    sections: {
      cache: { currencies: 600, rate: 0, staleFor: 600 },
      routing: { providers: ['alpha', 'beta'], pick: ['beta'], mirror: { provider: 'beta', sample: 1 } },
    },
  })
  managed.beta.reply('rate', ({ query }) => (query.get('coinTo') === 'ETH' ? { status: 500, json: {} } : { json: rateB(query) }))
  const [key, other] = [await managed.issue(), await managed.issue()]
  for (let at = 1; at <= 8; at++) {
    expect((await rate('A', assets.eth, key)).headers['x-swap-provider']).toBe('alpha')
    await until(at)
  }
  const headers = { 'x-swap-provider': 'beta' }
  const picked = await managed.client('A').get(rateQuery('A', { from: btc, to: usdtTrx, amount: '0.10' }), { key: other, headers })
  expect([picked.status, picked.headers['x-swap-provider']]).toEqual([200, 'beta'])
})
