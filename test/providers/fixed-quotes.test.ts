/** docs/contract.md §16: the quote that a fixed create requests matches the create, or nothing is created. */
import { describe, expect, it } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { assets, createdStatus, startRig } from './rig.ts'

describe.each([
  ['coin', { toCurrency: 'xrp', toNetwork: 'xrp' }],
  ['network', { toNetwork: 'trx' }],
  ['type of rate', { flow: 'standard' }],
  ['amount', { fromAmount: 1 }],
])('the quote of a fixed create is for another %s', (_, facts) => {
  it.each(['A', 'B'] as const)('P18: form %s gets 502, and nothing is created', async (form) => {
    await using rig = await startRig('changenow')
    rig.exchange.tamper = (operation, { json }) => (operation === 'quote' ? { json: { ...(json as object), ...facts } } : undefined)
    const order = { rateType: 'fixed', idempotencyKey: 'order-1' } as const
    expectRefusal(await rig.create(form, order), form, 502, 'mismatch')
    expect(rig.exchange.received('create')).toEqual([])
    expect(await rig.gateway.ledgerAdmin.unresolved()).toEqual([])
    rig.exchange.tamper = () => undefined
    expect((await rig.create(form, order)).status).toBe(createdStatus[form])
  })
})

it('while a fixed create gets its quote, its key is in use and nothing is unknown', async () => {
  await using rig = await startRig('changenow')
  rig.exchange.delays.quote = 300
  const order = { rateType: 'fixed', idempotencyKey: 'order-1' } as const
  const creating = rig.create('A', order)
  await expect.poll(() => rig.exchange.received('quote').length).toBe(1)
  expectRefusal(await rig.create('A', order), 'A', 409, 'in_progress')
  expect(await rig.gateway.ledgerAdmin.unresolved()).toEqual([])
  expect((await creating).status).toBe(createdStatus.A)
  expect((await rig.create('A', order)).headers['idempotent-replayed']).toBe('true')
})

it('a quote that is over when its create arrives is requested anew, once', async () => {
  await using rig = await startRig('changenow')
  let isFirst = true
  rig.exchange.tamper = (operation, reply) => {
    if (operation !== 'quote' || !isFirst) return undefined
    isFirst = false
    return { json: { ...(reply.json as object), rateId: 'a-rate-that-is-over' } }
  }
  expect((await rig.create('A', { rateType: 'fixed' })).status).toBe(createdStatus.A)
  expect([rig.exchange.received('create').length, rig.exchange.swaps.length]).toEqual([2, 1])
})

it('P18: a quote in other letters or with an alias of the network is for this create', async () => {
  await using rig = await startRig('changenow')
  const echo = { fromCurrency: 'ETH', fromNetwork: 'ERC20', toCurrency: 'Usdt', toNetwork: 'TRON' }
  rig.exchange.tamper = (operation, { json }) => (operation === 'quote' ? { json: { ...(json as object), ...echo } } : undefined)
  expect((await rig.create('A', { to: assets.usdtTrx, rateType: 'fixed' })).status).toBe(createdStatus.A)
})
