/** What only SideShift has: users that it blocks one by one, swaps at a fixed rate only, deposit addresses that it gives up. */
import { afterEach, describe, expect, it } from 'vitest'
import { memoryBudgets } from '../../src/adapters/memory.ts'
import { createBreaker } from '../../src/core/resilience/breaker.ts'
import { expectRefusal } from '../support/expectations.ts'
import { client, formNames, rateQuery } from '../support/pair.ts'
import { addresses, assets, clientAddress, type Rig, startRig } from './rig.ts'

let rig: Rig
afterEach(() => rig[Symbol.asyncDispose]())

const calls = () => rig.exchange.calls.filter(({ operation }) => operation !== 'currencies')

describe.each(formNames)('for form %s', (form) => {
  it('a floating rate is refused for quotes and creates, in words that name the parameter; nothing is sent or spent', async () => {
    rig = await startRig('sideshift', {
      provider: { rateLimit: { quotes: 3, create: 1, read: 0 } },
      budgets: memoryBudgets(() => 0),
    })
    for (let number = 0; number < 5; number++) {
      const quoted = expectRefusal(await rig.quote(form, { rateType: 'float' }), form, 400, 'not_offered')
      expect(quoted).toBe('Invalid rateType: this swap is offered only with fixed.')
      expectRefusal(await rig.create(form, { rateType: 'float' }), form, 400, 'not_offered')
    }
    expect(calls()).toEqual([])
    expect((await rig.quote(form)).status).toBe(200)
  })

  it('a user that it blocks is refused alone, however often, and the key counts as accepted', async () => {
    rig = await startRig('sideshift', { breaker: createBreaker, steadyClock: () => performance.now() })
    const blocked = '1.1.1.1'
    rig.exchange.blockedUsers.add(blocked)
    const key = await rig.gateway.issueKey('other')
    const options = { key, headers: { 'x-forwarded-for': blocked } }
    const query = rateQuery(form, { from: assets.eth, to: assets.usdtEth, amount: '0.1', rateType: 'fixed' })
    for (let number = 0; number < 12; number++)
      expectRefusal(await client(form, rig.gateway.url).get(query, options), form, 400, 'refused')
    expect(calls().filter(({ refused }) => refused === 'blockedUser')).toHaveLength(12)
    expect((await rig.quote(form)).status).toBe(200)
    expect((await rig.create(form)).status).toBeLessThan(300)
    expect(await rig.gateway.ledgerAdmin.unresolved()).toEqual([])
  })
})

it('a create of a user that it blocks is certainly none', async () => {
  rig = await startRig('sideshift')
  rig.exchange.blockedUsers.add(clientAddress)
  expectRefusal(await rig.create('A', { idempotencyKey: 'order-1' }), 'A', 400, 'refused')
  rig.exchange.blockedUsers.clear()
  expect((await rig.create('A', { idempotencyKey: 'order-1' })).status).toBe(201)
  expect(rig.exchange.swaps).toHaveLength(1)
})

it('a create carries the id of its intent, which no client gets', async () => {
  rig = await startRig('sideshift')
  rig.exchange.losesNextCreate = true
  expectRefusal(await rig.create('A', { idempotencyKey: 'order-1' }), 'A', 504)
  const [lost] = await rig.gateway.ledgerAdmin.unresolved()
  expect(rig.exchange.swaps.map(({ reference }) => reference)).toEqual([lost?.intent])
  const { json, text } = await rig.create('A')
  const { id } = json as { readonly id: string }
  const reference = rig.exchange.swaps[1]?.reference ?? ''
  expect(reference).not.toBe('')
  expect(text + (await rig.get('A', `/transactions/${id}`)).text).not.toContain(reference)
  expect(rig.drift()).toEqual([])
})

it('a deposit address that it has given to others is still that of the swap', async () => {
  rig = await startRig('sideshift')
  const { id } = (await rig.create('A')).json as { readonly id: string }
  const [swap] = rig.exchange.swaps
  if (!swap) throw new Error('nothing was created')
  const { deposit } = swap
  Object.assign(swap, { status: 'expired', deposit: null })
  const { json } = await rig.get('A', `/transactions/${id}`)
  expect(json).toMatchObject({ status: 'overdue', depositAddress: deposit, withdrawalAddress: addresses.ETH })
  expect(rig.drift()).toEqual([])
})

it('a swap with several deposits keeps its amounts, and a person should look', async () => {
  rig = await startRig('sideshift')
  const created = (await rig.create('A')).json as { readonly id: string; readonly amountTo: unknown }
  Object.assign(rig.exchange.swaps[0] ?? {}, { status: 'multiple' })
  const { json, headers } = await rig.get('A', `/transactions/${created.id}`)
  expect(headers['x-swap-attention']).toBe('held')
  expect(json).toMatchObject({ status: 'exchanging', amountTo: created.amountTo })
})
