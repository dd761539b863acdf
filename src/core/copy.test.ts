import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { noLists } from '../../test/support/no-lists.ts'
import { contextOf, type Scripted, scripted } from '../../test/support/service.ts'
import { AssetTable } from '../domain/asset.ts'
import { Fault } from '../domain/fault.ts'
import { formA } from '../forms/a.ts'
import { type Catalogue, catalogue } from './catalogue.ts'
import { naming } from './naming.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const lifetime = 600_000
const staleFor = 3_600_000

interface Rig {
  readonly kept: Catalogue
  readonly provider: Scripted
  readonly name: () => Promise<string | undefined>
  isDown: boolean
}

/** A provider whose one coin is called by the number of the reading. */
function rig(): Rig {
  const provider = scripted((call) => {
    if (made.isDown) throw new Fault('failed', 'the provider is down')
    return { body: { items: [{ code: `C${call + 1}`, name: 'Coin', icon: 'i' }], total: 1 } }
  })
  const options = {
    naming: naming(new AssetTable([]), true, new Map()),
    said: formA.vocabulary,
    lists: noLists,
    source: { provider: 'alpha', url: 'http://127.0.0.1/a/api/v2', form: 'A' },
    timeout: 1_000,
    drift: () => {},
    looked: () => {},
  }
  const kept = catalogue({ ...options, service: provider, lifetime, staleFor })
  const made: Rig = {
    kept,
    provider,
    name: async () => (await kept.listing(contextOf())).offers[0]?.row.code,
    isDown: false,
  }
  return made
}

const pass = (milliseconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds)

it('a list is read again in the background before it runs out, so that nobody waits, and for no client', async () => {
  const { name, provider } = rig()
  expect(await name()).toBe('C1')
  await pass(lifetime * 0.79)
  expect([await name(), provider.asked.length]).toEqual(['C1', 1])
  await pass(lifetime * 0.02)
  expect([await name(), provider.asked.length]).toEqual(['C2', 2])
  expect(provider.asked.map(({ context }) => context.caller)).toEqual([{ address: '' }, { address: '' }])
  await pass(lifetime * 4)
  expect(provider.asked).toHaveLength(7)
})

it('nothing is read before somebody asks, nor after the end', async () => {
  const { kept, name, provider } = rig()
  await pass(lifetime * 3)
  expect(provider.asked).toEqual([])
  await name()
  kept.close()
  await pass(lifetime * 3)
  expect(provider.asked).toHaveLength(1)
})

it('through an outage the old list serves, is tried for every five seconds, and is new again by itself', async () => {
  const made = rig()
  await made.name()
  made.isDown = true
  await pass(lifetime * 2)
  expect(await made.name()).toBe('C1')
  const tries = made.provider.asked.length - 1
  expect(tries).toBeGreaterThan((lifetime * 1.2) / 5_000 - 2)
  expect(tries).toBeLessThan((lifetime * 1.2) / 5_000 + 2)
  made.isDown = false
  await pass(5_001)
  expect(await made.name()).toBe(`C${made.provider.asked.length}`)
})

it('after staleFor an old list serves no more', async () => {
  const made = rig()
  await made.name()
  made.isDown = true
  await pass(lifetime + staleFor - 1)
  expect(await made.name()).toBe('C1')
  await pass(2)
  await expect(made.name()).rejects.toMatchObject({ kind: 'failed' })
})
