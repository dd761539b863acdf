import { expect, test, vi } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { AssetTable } from '../../domain/asset.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import type { NewTransaction } from '../../domain/swap.ts'
import { createAssetNaming } from '../assets/asset-naming.ts'
import type { ConfiguredProvider } from '../provider-scope.ts'
import { confirmCreate } from './confirm-create.ts'

const asset = { name: 'Coin', isDefault: false, aliases: [] }
const table = new AssetTable([
  { coin: 'BTC', name: 'Bitcoin', assets: [{ ...asset, code: 'BTC', coin: 'BTC', network: 'BTC' }] },
  {
    coin: 'USDT',
    name: 'Tether',
    assets: [
      { ...asset, code: 'USDTTRC20', coin: 'USDT', network: 'TRX' },
      { ...asset, code: 'USDTERC20', coin: 'USDT', network: 'ETH' },
    ],
  },
])
const currencyList = { naming: createAssetNaming(table, { byCode: false }, new Map()) }
const pair = { codeFrom: 'BTC', coinFrom: 'BTC', networkFrom: 'BTC', codeTo: 'USDTTRC20', coinTo: 'USDT', networkTo: 'TRX' }
const request = { ...pair, codeFrom: undefined, codeTo: undefined, amountIn: '1', withdrawalAddress: 'T1', rateType: 'float' }
const created = { id: 'one', coinFrom: 'BTC', coinTo: 'USDT', withdrawalAddress: 'T1' }
const reported = { ...created, networkTo: 'ETH', depositExtraId: '7' }

interface Case {
  readonly facts?: object
  readonly order?: object
  readonly configured?: Partial<ConfiguredProvider>
  readonly timeLeftMs?: number
}

/** `gets`: the replies in their order; undefined: it fails. */
function create(
  gets: readonly (object | undefined)[],
  { facts = {}, order = {}, configured = {}, timeLeftMs = 10_000 }: Case = {},
) {
  const replies = gets.values()
  const get = vi.fn(async () => {
    const { value } = replies.next()
    if (value === undefined) throw new Error('lost')
    return { body: value }
  })
  const service = { call: async (op: string) => (op === 'getTransaction' ? get() : { body: { ...created, ...facts } }) }
  const context = { pair, deadline: performance.now() + timeLeftMs } as unknown as Context
  const layer = confirmCreate(providerScope({ currencyList, configured }))(service as unknown as SwapService)
  const creating = layer.call('createTransaction', { ...request, ...order } as unknown as NewTransaction, context)
  return { creating, get }
}

test.each<[string, Case]>([
  ['the network is named', { facts: { networkTo: 'TRX' } }],
  ['the provider names no networks', { configured: { networks: 'unconfirmed' } }],
  [
    'the provider repeats no memos',
    { facts: { networkTo: 'TRX' }, order: { withdrawalExtraId: '7' }, configured: { extraIds: 'unconfirmed' } },
  ],
  ['the response contradicts the request anyway', { facts: { withdrawalAddress: 'T2' } }],
])('nothing is read if %s', async (_, options) => {
  const { creating, get } = create([], options)
  await creating
  expect(get).not.toHaveBeenCalled()
})

test('one get adds the network, and the memo that the response left out', async () => {
  const { creating, get } = create([reported])
  expect((await creating).body).toMatchObject({ networkTo: 'ETH', depositExtraId: '7' })
  expect(get).toHaveBeenCalledTimes(1)
})

test.each([
  ['fails', undefined],
  ['is about another transaction', { ...reported, id: 'two' }],
  ['names no network', created],
])('a get that %s is made again after a pause', async (_, first) => {
  const { creating, get } = create([first, reported])
  expect((await creating).body).toMatchObject({ networkTo: 'ETH' })
  expect(get).toHaveBeenCalledTimes(2)
})

test('the outcome is not known if it cannot be had in the time left', async () => {
  const { creating, get } = create([], { timeLeftMs: 1_500 })
  await expect(creating).rejects.toMatchObject({ kind: 'unreadable', effect: 'maybe' })
  expect(get).toHaveBeenCalledTimes(2)
})

const withMemo = { facts: { networkTo: 'TRX' }, order: { withdrawalExtraId: '7' } }

test('one get adds the memo of the request, and a second one is made only if the first fails', async () => {
  const { creating, get } = create([undefined, { ...created, networkTo: 'TRX', withdrawalExtraId: '7' }], withMemo)
  expect((await creating).body).toMatchObject({ withdrawalExtraId: '7' })
  expect(get).toHaveBeenCalledTimes(2)
  const silent = create([created], withMemo)
  expect((await silent.creating).body.withdrawalExtraId).toBeUndefined()
  expect(silent.get).toHaveBeenCalledTimes(1)
})

test('the outcome is not known if no get tells whether the memo was taken', async () => {
  const { creating } = create([], { ...withMemo, timeLeftMs: 1_500 })
  await expect(creating).rejects.toMatchObject({ kind: 'unreadable', effect: 'maybe' })
})

test('what the get contradicts counts', async () => {
  const { creating } = create([{ ...reported, withdrawalAddress: 'T2' }])
  expect((await creating).report?.contradicted).toEqual(['coinTo', 'withdrawalAddress'])
})

test('a get that hangs leaves time for another one', async () => {
  const deadlines: number[] = []
  const service = {
    async call(op: string, _: unknown, { deadline }: Context) {
      if (op === 'createTransaction') return { body: created }
      deadlines.push(deadline)
      if (deadlines.length === 1) throw new Error('timed out')
      return { body: reported }
    },
  }
  const layer = confirmCreate(providerScope({ currencyList }))(service as unknown as SwapService)
  const deadline = performance.now() + 10_000
  await layer.call('createTransaction', request as unknown as NewTransaction, { pair, deadline } as unknown as Context)
  expect(deadlines[0]).toBeLessThan(deadline - 4_000)
  expect(deadlines[1]).toBe(deadline)
})
