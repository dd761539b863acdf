import { expect, test, vi } from 'vitest'
import { AssetTable } from '../../domain/swap/asset.ts'
import type { Context, SwapService } from '../../domain/swap/service.ts'
import type { NewTransaction } from '../../domain/swap/swap.ts'
import { createAssetNaming } from '../assets/asset-naming.ts'
import { confirmNetworks } from './confirm-networks.ts'

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
const catalogue = { naming: createAssetNaming(table, { byCode: false }, new Map()), lastListing: () => undefined }
const pair = { codeFrom: 'BTC', coinFrom: 'BTC', networkFrom: 'BTC', codeTo: 'USDTTRC20', coinTo: 'USDT', networkTo: 'TRX' }
const request = { ...pair, codeFrom: undefined, codeTo: undefined, amountIn: '1', withdrawalAddress: 'T1', rateType: 'float' }
const created = { id: 'one', coinFrom: 'BTC', coinTo: 'USDT', withdrawalAddress: 'T1' }
const reported = { ...created, networkTo: 'ETH', depositExtraId: '7' }

/** `gets`: the replies in their order; undefined: it fails. */
function create(gets: readonly (object | undefined)[], { facts = {}, mustConfirm = true, timeLeftMs = 10_000 } = {}) {
  const replies = gets.values()
  const get = vi.fn(async () => {
    const { value } = replies.next()
    if (value === undefined) throw new Error('lost')
    return { body: value }
  })
  const service = { call: async (op: string) => (op === 'getTransaction' ? get() : { body: { ...created, ...facts } }) }
  const context = { pair, deadline: performance.now() + timeLeftMs } as unknown as Context
  const layer = confirmNetworks({ catalogue, mustConfirm })(service as unknown as SwapService)
  const creating = layer.call('createTransaction', request as unknown as NewTransaction, context)
  return { creating, get }
}

test.each([
  ['the network is named', { facts: { networkTo: 'TRX' } }],
  ['the provider names no networks', { mustConfirm: false }],
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
  await expect(creating).rejects.toMatchObject({ kind: 'unreadable', noEffect: false })
  expect(get).toHaveBeenCalledTimes(2)
})
