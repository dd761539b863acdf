/** docs/contract-operators.md §12: what the lists of real providers have as off is not offered, and not asked for. */
import { describe, expect, it } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import type { Reply } from '../support/stand-in.ts'
import { type ProviderName, providerNames } from './documented.ts'
import { assets, createdStatus, startRig } from './rig.ts'

interface Off {
  /** The word of ether in the list, and its member. */
  readonly row: Readonly<Record<string, string>>
  readonly flags: object
}

const cases: readonly (readonly [name: ProviderName, what: 'sent' | 'received' | 'fixed' | 'float', off: Off])[] = [
  ['changenow', 'sent', { row: { ticker: 'eth', network: 'eth' }, flags: { sell: false } }],
  ['changenow', 'received', { row: { ticker: 'eth', network: 'eth' }, flags: { buy: false } }],
  ['changenow', 'fixed', { row: { ticker: 'eth', network: 'eth' }, flags: { supportsFixedRate: false } }],
  ['changelly', 'sent', { row: { ticker: 'eth' }, flags: { enabledFrom: false } }],
  ['changelly', 'received', { row: { ticker: 'eth' }, flags: { enabledTo: false } }],
  ['changelly', 'fixed', { row: { ticker: 'eth' }, flags: { fixRateEnabled: false } }],
  ['letsexchange', 'sent', { row: { code: 'ETH' }, flags: { is_active: 0 } }],
  ['letsexchange', 'received', { row: { code: 'ETH' }, flags: { is_active: 0 } }],
  ['sideshift', 'sent', { row: { coin: 'ETH' }, flags: { depositOffline: ['ethereum'] } }],
  ['sideshift', 'received', { row: { coin: 'ETH' }, flags: { settleOffline: true } }],
  ['simpleswap', 'fixed', { row: { ticker: 'eth', network: 'eth' }, flags: { isAvailableFixed: false } }],
  ['simpleswap', 'float', { row: { ticker: 'eth', network: 'eth' }, flags: { isAvailableFloat: false } }],
  ['stealthex', 'fixed', { row: { symbol: 'eth', network: 'mainnet' }, flags: { rates: ['floating'] } }],
  ['stealthex', 'float', { row: { symbol: 'eth', network: 'mainnet' }, flags: { rates: ['fixed'] } }],
]

/** The rows of a list, bare or in an object, with the flags at one of them. */
function withFlags({ json }: Reply, { row, flags }: Off): Reply {
  const edit = (rows: readonly object[]) =>
    rows.map((own) => (Object.entries(row).every(([name, word]) => Reflect.get(own, name) === word) ? { ...own, ...flags } : own))
  const body = json as readonly object[] | { readonly result: readonly object[] }
  return { json: 'result' in body ? { ...body, result: edit(body.result) } : edit(body) }
}

describe.each(cases)('%s: ether that is not offered as %s', (name, what, off) => {
  const [from, to] = what === 'received' ? [assets.usdtEth, assets.eth] : [assets.eth, assets.usdtEth]
  const swap = { from, to, ...((what === 'fixed' || what === 'float') && { rateType: what }) }

  it('is 400 not_offered, and neither a quote nor a create goes up', async () => {
    await using rig = await startRig(name)
    rig.exchange.tamper = (operation, reply) => (operation === 'currencies' ? withFlags(reply, off) : undefined)
    expectRefusal(await rig.quote('A', swap), 'A', 400, 'not_offered')
    expectRefusal(await rig.create('B', swap), 'B', 400, 'not_offered')
    expect(rig.exchange.calls.filter(({ operation }) => operation !== 'currencies')).toEqual([])
    expect(rig.drift()).toEqual([])
  })

  it('is offered without the flag', async () => {
    await using rig = await startRig(name)
    expect((await rig.quote('A', swap)).status).toBe(200)
    expect((await rig.create('B', swap)).status).toBe(createdStatus.B)
  })
})

// Its stand-in has no LTC; a list is known once it was read.
it.each(providerNames)(
  '%s: a quote and a create of a coin that the whole list lacks are 400 not_offered, and none goes up',
  async (name) => {
    await using rig = await startRig(name)
    const ltc = { code: 'LTC', coin: 'LTC', network: 'LTC' }
    expectRefusal(await rig.quote('A', { from: assets.eth, to: ltc }), 'A', 400, 'not_offered')
    expectRefusal(await rig.quote('B', { from: ltc, to: assets.eth }), 'B', 400, 'not_offered')
    expectRefusal(await rig.create('B', { from: ltc, to: assets.eth }), 'B', 400, 'not_offered')
    expect(rig.exchange.calls.filter(({ operation }) => operation !== 'currencies')).toEqual([])
  },
)

it('a firm quote whose direction goes off creates nothing; it holds again once that is on', async () => {
  const cache = { currencies: 0.1, rate: 0, staleFor: 60 }
  await using rig = await startRig('changenow', { sections: { cache } })
  const swap = { from: assets.eth, to: assets.usdtEth, rateType: 'fixed' } as const
  const { quoteId } = (await rig.quote('A', { ...swap, firm: true })).json as { quoteId: string }
  const off = { row: { ticker: 'eth', network: 'eth' }, flags: { sell: false } }
  let isOff = true
  rig.exchange.tamper = (operation, reply) => (operation === 'currencies' && isOff ? withFlags(reply, off) : undefined)
  const statusOf = () => rig.quote('A', swap).then(({ status }) => status)
  await expect.poll(statusOf).toBe(400)
  expectRefusal(await rig.create('A', { ...swap, body: { quoteId } }), 'A', 400, 'not_offered')
  expect([rig.exchange.swaps, rig.exchange.received('create')]).toEqual([[], []])
  isOff = false
  await expect.poll(statusOf).toBe(200)
  expect((await rig.create('A', { ...swap, body: { quoteId } })).status).toBe(createdStatus.A)
  expect(rig.exchange.swaps).toHaveLength(1)
})
