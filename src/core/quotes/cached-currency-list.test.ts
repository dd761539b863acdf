import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { noCurrencyLists } from '../../../test/support/no-currency-lists.ts'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { type Asset, AssetTable } from '../../domain/asset.ts'
import { Fault } from '../../domain/fault.ts'
import type { Observer } from '../../domain/observation.ts'
import type { Context } from '../../domain/service.ts'
import type { Currency } from '../../domain/swap.ts'
import { formA } from '../../forms/a.ts'
import { createAssetNaming } from '../assets/asset-naming.ts'
import type { CachedCurrencyList } from '../assets/currency-list.ts'
import { createService } from '../layer.ts'
import { cachedCurrencyList } from './cached-currency-list.ts'

const asset = (code: string, network: string): Asset => ({
  code,
  network,
  coin: 'USDT',
  name: 'Tether',
  aliases: [],
  isDefault: false,
})
const onEth = asset('USDT', 'ETH')
const onBsc = asset('USDTBSC', 'BSC')
const table = new AssetTable([{ coin: 'USDT', name: 'Tether', assets: [onEth, onBsc] }])
const context: Context = {
  requestId: 'request',
  caller: { address: '192.0.2.1' },
  clientCapabilities: formA.capabilities,
  deadline: performance.now() + 60_000,
}

/** A provider that returns each of `lists` in turn; undefined is a list that cannot be read. */
function cachedList(
  lists: readonly (readonly Currency[] | undefined)[],
  lifetimeMs = 0,
  observe: Observer = () => {},
): { cached: CachedCurrencyList; fetchCount: () => number } {
  let fetchCount = 0
  const notCalled = async (): Promise<never> => {
    throw new Fault('internal', 'not called in this test')
  }
  const service = createService({
    getRate: notCalled,
    createTransaction: notCalled,
    listTransactions: notCalled,
    getTransaction: notCalled,
    async listCurrencies() {
      const items = lists[Math.min(fetchCount++, lists.length - 1)]
      if (!items) throw new Fault('failed', 'the provider is down')
      return { body: { items, total: items.length } }
    },
  })
  const cached = cachedCurrencyList(providerScope({ timeoutMs: 1_000, observe }), service, {
    naming: createAssetNaming(table, { byCode: true }, new Map()),
    lists: noCurrencyLists,
    source: { provider: 'alpha', url: 'http://127.0.0.1/a/api/v2', form: 'A' },
    cache: { currencies: lifetimeMs / 1000, staleFor: 60 },
  })
  return { cached, fetchCount: () => fetchCount }
}

const row = (code: string, network: string): Currency => ({ code, network, name: 'Tether', icon: 'i' })

test('a code that the provider has only on another network is ambiguous for the asset of the table', async () => {
  const { listedAssets, ambiguousAssets } = await cachedList([[row('USDT', 'BSC')]]).cached.read(context)
  expect(listedAssets.map((listed) => listed.asset)).toEqual([onBsc])
  expect([...ambiguousAssets]).toEqual([onEth])
})

test('a code that is also listed on its own network is not ambiguous', async () => {
  const { ambiguousAssets } = await cachedList([[row('USDT', 'ETH'), row('USDTBSC', 'BSC')]]).cached.read(context)
  expect(ambiguousAssets.size).toBe(0)
})

test('after a failure the list is not requested again at once only to confirm the table', async () => {
  const { cached, fetchCount } = cachedList([undefined])
  expect([await cached.readAvailable(context), await cached.readAvailable(context)]).toEqual([undefined, undefined])
  expect(fetchCount()).toBe(1)
})

test('an old list is used while the provider fails, and is not requested again at once', async () => {
  const { cached, fetchCount } = cachedList([[row('USDT', 'ETH')], undefined])
  const first = await cached.read(context)
  expect(await cached.read(context)).toBe(first)
  expect(await cached.read(context)).toBe(first)
  expect(fetchCount()).toBe(2)
})

test('many concurrent callers cause one read', async () => {
  const { cached, fetchCount } = cachedList([[row('USDT', 'ETH')]], 60_000)
  await Promise.all([cached.read(context), cached.read(context), cached.read(context)])
  expect(fetchCount()).toBe(1)
})

test('each read reports whether it came to the end of the list', async () => {
  const reports: unknown[] = []
  const { cached } = cachedList([[row('USDT', 'ETH')], undefined, [row('USDT', 'ETH')]], 0, (observation) => {
    if (observation.what === 'currencyList') reports.push(observation)
  })
  for (let reads = 0; reads < 3; reads++) {
    await cached.read(context)
    await setImmediate()
  }
  expect(reports.map((report) => (report as { isWhole: boolean }).isWhole)).toEqual([true, false])
})
