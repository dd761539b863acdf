import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { noCurrencyLists } from '../../../test/support/no-currency-lists.ts'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { contextOf, type Scripted, scripted } from '../../../test/support/service.ts'
import { AssetTable } from '../../domain/asset.ts'
import { limitCaches } from '../../domain/bounded-map.ts'
import { Fault } from '../../domain/fault.ts'
import { createAssetNaming } from '../assets/asset-naming.ts'
import type { CachedCurrencyList } from '../assets/currency-list.ts'
import { cachedCurrencyList } from './cached-currency-list.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => {
  limitCaches(Number.POSITIVE_INFINITY)
  vi.useRealTimers()
})

const lifetimeMs = 600_000
const staleForMs = 3_600_000

interface Rig {
  readonly cached: CachedCurrencyList
  readonly provider: Scripted
  readonly name: () => Promise<string | undefined>
  isDown: boolean
}

/** A provider with one coin, named by the number of the read. */
function rig(): Rig {
  const provider = scripted((call) => {
    if (testRig.isDown) throw new Fault('failed', 'the provider is down')
    return { body: { items: [{ code: `C${call + 1}`, name: 'Coin', icon: 'i' }], total: 1 } }
  })
  const cached = cachedCurrencyList(providerScope({ timeoutMs: 1_000 }), provider, {
    naming: createAssetNaming(new AssetTable([]), { byCode: true }, new Map()),
    lists: noCurrencyLists,
    source: { provider: 'alpha', url: 'http://127.0.0.1/a/api/v2', form: 'A' },
    cache: { currencies: lifetimeMs / 1000, staleFor: staleForMs / 1000 },
  })
  const testRig: Rig = {
    cached,
    provider,
    name: async () => (await cached.read(contextOf())).listedAssets[0]?.row.code,
    isDown: false,
  }
  return testRig
}

const advance = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

it('a list is refreshed in the background before it expires, for no client, and no request waits', async () => {
  const { name, provider } = rig()
  expect(await name()).toBe('C1')
  await advance(lifetimeMs * 0.79)
  expect([await name(), provider.calls.length]).toEqual(['C1', 1])
  await advance(lifetimeMs * 0.02)
  expect([await name(), provider.calls.length]).toEqual(['C2', 2])
  expect(provider.calls.map(({ context }) => context.caller)).toEqual([{ address: '' }, { address: '' }])
  await advance(lifetimeMs * 4)
  expect(provider.calls).toHaveLength(7)
})

it('nothing is read before the first request, nor after close', async () => {
  const { cached, name, provider } = rig()
  await advance(lifetimeMs * 3)
  expect(provider.calls).toEqual([])
  await name()
  cached.close()
  await advance(lifetimeMs * 3)
  expect(provider.calls).toHaveLength(1)
})

it('during an outage the old list is used, a read is tried every five seconds, and the list recovers by itself', async () => {
  const testRig = rig()
  await testRig.name()
  testRig.isDown = true
  await advance(lifetimeMs * 2)
  expect(await testRig.name()).toBe('C1')
  const calls = testRig.provider.calls.length - 1
  expect(calls).toBeGreaterThan((lifetimeMs * 1.2) / 5_000 - 2)
  expect(calls).toBeLessThan((lifetimeMs * 1.2) / 5_000 + 2)
  testRig.isDown = false
  await advance(5_001)
  expect(await testRig.name()).toBe(`C${testRig.provider.calls.length}`)
})

it('after staleFor an old list is no longer used', async () => {
  const testRig = rig()
  await testRig.name()
  testRig.isDown = true
  await advance(lifetimeMs + staleForMs - 1)
  expect(await testRig.name()).toBe('C1')
  await advance(2)
  await expect(testRig.name()).rejects.toMatchObject({ kind: 'failed' })
})

it('a list without room is refused as too long, and not read again for a minute', async () => {
  limitCaches(1_000)
  const { name, provider } = rig()
  await expect(name()).rejects.toMatchObject({ kind: 'unreadable', message: expect.stringContaining('too long') })
  await advance(59_000)
  await expect(name()).rejects.toMatchObject({ kind: 'unreadable' })
  expect(provider.calls).toHaveLength(1)
  limitCaches(1_000_000)
  await advance(2_000)
  expect([await name(), provider.calls.length]).toEqual(['C2', 2])
})

it('the list before one that has no room stays', async () => {
  const { name, provider } = rig()
  expect(await name()).toBe('C1')
  limitCaches(1_000)
  await advance(lifetimeMs * 1.5)
  expect(provider.calls.length).toBeGreaterThan(1)
  expect(await name()).toBe('C1')
})
