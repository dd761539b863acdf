/** docs/contract.md §3.11: what can be done about a swap, at the providers that have it. */
import { afterEach, describe, expect, test } from 'vitest'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { formNames } from '../support/pair.ts'
import { type ActionRig, addresses, otherAddress, refundAddress, startActions } from './rig.ts'

let rig: ActionRig
afterEach(() => rig[Symbol.asyncDispose]())

/** A swap that the provider holds, and that it lets its owner decide about. */
async function held(facts: Parameters<ActionRig['begin']>[0] = {}): Promise<string> {
  const id = await rig.begin(facts)
  Object.assign(rig.swap(), { status: 'verifying', hasActions: true })
  return id
}

/** With the provider's page, where its user can ask. */
function expectNotOffered({ status, headers, text }: ReceivedResponse): void {
  expect([status, headers['x-swap-reason']], text).toEqual([400, 'not_offered'])
}

describe.each(formNames)('for form %s', (form) => {
  const credential = (): Readonly<Record<string, string>> =>
    form === 'A' ? { authorization: `Bearer ${rig.key}` } : { 'x-api-key': rig.key }
  test('a deposit is asked back once, with the address, and a repeat sends nothing', async () => {
    rig = await startActions('changenow')
    const id = await held()
    expect((await rig.read(form, id)).capabilities).toEqual(['refund', 'continue'])
    const done = await rig.act(form, id, 'refund', { address: refundAddress })
    expect([done.status, done.headers['idempotent-replayed']], done.text).toEqual([200, undefined])
    expect(done.json).toMatchObject({ id, status: 'refunded' })
    expect((await rig.read(form, id)).capabilities).toBeUndefined()
    const again = await rig.act(form, id, 'refund', { refundAddress: refundAddress.toLowerCase() })
    expect([again.status, again.headers['idempotent-replayed']], again.text).toEqual([200, 'true'])
    expectRefusal(await rig.act(form, id, 'refund', { address: otherAddress }), form, 409, 'conflict')
    expectRefusal(await rig.act(form, id, 'continue'), form, 409, 'conflict')
    expect(rig.sent('refund', 'continue')).toEqual([{ id: rig.swap().id, address: refundAddress }])
  })

  test.each<[string, Readonly<Record<string, string>>]>([
    ['a form of no length, as axios sends it', { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' }],
    ['bytes of no length', { 'content-type': 'application/octet-stream', 'content-length': '0' }],
    ['JSON of no length', { 'content-type': 'application/json', 'content-length': '0' }],
    ['no chunk', { 'transfer-encoding': 'chunked' }],
    ['no chunk of text', { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' }],
  ])('an action without a body is taken with %s', async (_, headers) => {
    rig = await startActions('changenow')
    const id = await held()
    const done = await sendRequest(rig.gateway.url, {
      method: 'POST',
      path: `/${form.toLowerCase()}/api/v2/transactions/${id}/continue`,
      headers: { ...credential(), ...headers },
    })
    expect(done.status, done.text).toBe(200)
    expect(rig.sent('continue')).toEqual([{ id: rig.swap().id }])
  })

  test.each<[string, Readonly<Record<string, string>>]>([
    ['a length', { 'content-type': 'text/plain' }],
    ['chunks', { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' }],
  ])('a body with %s that is no JSON is refused', async (_, headers) => {
    rig = await startActions('changenow')
    const id = await held()
    const refused = await sendRequest(rig.gateway.url, {
      method: 'POST',
      path: `/${form.toLowerCase()}/api/v2/transactions/${id}/continue`,
      headers: { ...credential(), ...headers },
      body: '{}',
    })
    expect([refused.status, rig.sent('continue')]).toEqual([415, []])
  })

  test('of a swap that was made before a restore nothing is done until a person knows what was done about it since', async () => {
    rig = await startActions('changenow')
    const { restores } = rig.gateway
    const id = await held()
    await restores.mark(['changenow'], undefined, 'tester')
    await restores.end(undefined, undefined, 'tester')
    for (const [action, body] of [
      ['refund', { address: refundAddress }],
      ['continue', {}],
    ] as const)
      expectRefusal(await rig.act(form, id, action, body), form, 409, 'needs_person')
    expect(rig.sent('refund', 'continue')).toEqual([])
    expect(await restores.confirmActions('looked up', 'tester')).toBe(true)
    expect(await restores.confirmActions(undefined, 'tester')).toBe(false)
    expect((await rig.act(form, id, 'refund', { address: refundAddress })).status).toBe(200)
  })

  test('a swap that was made after the restore waits for nobody', async () => {
    rig = await startActions('changenow')
    await rig.gateway.restores.mark(['changenow'], undefined, 'tester')
    await rig.gateway.restores.end(undefined, undefined, 'tester')
    const id = await held()
    expect((await rig.act(form, id, 'refund', { address: refundAddress })).status).toBe(200)
  })

  test('a held swap goes on, and is not sent back after that', async () => {
    rig = await startActions('changenow')
    const id = await held()
    const done = await rig.act(form, id, 'continue')
    expect([done.status, done.json], done.text).toMatchObject([200, { status: 'exchanging' }])
    expect((await rig.act(form, id, 'continue')).headers['idempotent-replayed']).toBe('true')
    expectRefusal(await rig.act(form, id, 'refund', { address: refundAddress }), form, 409, 'conflict')
    expect(rig.sent('refund', 'continue')).toEqual([{ id: rig.swap().id }])
  })

  test('the refund address of the create is used, and never changed', async () => {
    rig = await startActions('changenow')
    const id = await held({ body: { refundAddress } })
    expectRefusal(await rig.act(form, id, 'refund', { address: otherAddress }), form, 409, 'conflict')
    expect(rig.sent('refund')).toEqual([])
    expect((await rig.act(form, id, 'refund')).status).toBe(200)
    expect(rig.sent('refund')).toEqual([{ id: rig.swap().id, address: refundAddress }])
  })

  test('the refund address of the create is used, and never changed, also while the provider reports none', async () => {
    rig = await startActions('changenow')
    const id = await held({ body: { refundAddress } })
    rig.swap().refund = undefined
    await rig.read(form, id)
    expectRefusal(await rig.act(form, id, 'refund', { address: otherAddress }), form, 409, 'conflict')
    expect(rig.sent('refund')).toEqual([])
    expect((await rig.act(form, id, 'refund')).status).toBe(200)
    expect(rig.sent('refund')).toEqual([{ id: rig.swap().id, address: refundAddress }])
  })

  test('the refund address of the create is used, also while the provider reports another one', async () => {
    rig = await startActions('changenow')
    const id = await held({ body: { refundAddress } })
    rig.swap().refund = otherAddress
    await rig.read(form, id)
    expectRefusal(await rig.act(form, id, 'refund', { address: otherAddress }), form, 409, 'conflict')
    expect((await rig.act(form, id, 'refund')).status).toBe(200)
    expect(rig.sent('refund')).toEqual([{ id: rig.swap().id, address: refundAddress }])
  })

  test('the refund address of a create that stayed here goes up with the refund, once', async () => {
    rig = await startActions('fixedfloat')
    const id = await rig.begin({ body: { refundAddress } })
    expect((await rig.read(form, id)).capabilities).toBeUndefined()
    rig.swap().status = 'EMERGENCY'
    const { capabilities, refundAddress: a, refund_address: b } = await rig.read(form, id)
    expect([capabilities, a ?? b]).toEqual([['refund', 'continue'], refundAddress])
    expectRefusal(await rig.act(form, id, 'refund', { address: otherAddress }), form, 409, 'conflict')
    const done = await rig.act(form, id, 'refund')
    expect([done.status, done.json], done.text).toMatchObject([200, { status: 'exchanging' }])
    expect((await rig.act(form, id, 'refund')).headers['idempotent-replayed']).toBe('true')
    expectRefusal(await rig.act(form, id, 'continue'), form, 409, 'conflict')
    const [orderId, token] = rig.swap().id.split('.')
    expect(rig.sent('refund', 'continue')).toEqual([{ id: orderId, token, choice: 'REFUND', address: refundAddress }])
  })

  test('a refund address is set where there is none, once', async () => {
    rig = await startActions('sideshift')
    const id = await rig.begin()
    expect((await rig.read(form, id)).capabilities).toEqual(['refund', 'refund-address'])
    rig.swap().status = 'refund'
    expect((await rig.read(form, id)).capabilities).toEqual(['refund', 'refund-address'])
    const done = await rig.act(form, id, 'refund-address', { address: refundAddress })
    expect(done.status, done.text).toBe(200)
    const { refundAddress: a, refund_address: b } = await rig.read(form, id)
    expect(a ?? b).toBe(refundAddress)
    expect((await rig.act(form, id, 'refund-address', { address: refundAddress })).headers['idempotent-replayed']).toBe('true')
    expectRefusal(await rig.act(form, id, 'refund-address', { address: otherAddress }), form, 409, 'conflict')
    expect(rig.sent('refundAddress')).toEqual([{ address: refundAddress }])
    const other = await rig.begin({ body: { refundAddress } })
    expect((await rig.read(form, other)).capabilities).toEqual(['refund'])
    rig.swap().refund = undefined
    await rig.read(form, other)
    expect((await rig.read(form, other)).capabilities).toEqual(['refund'])
    expectRefusal(await rig.act(form, other, 'refund-address', { address: otherAddress }), form, 409, 'conflict')
    expect(rig.sent('refundAddress')).toHaveLength(1)
  })

  test('an order without a deposit is cancelled, with its refund address set before', async () => {
    rig = await startActions('sideshift')
    const id = await rig.begin()
    const done = await rig.act(form, id, 'refund', { address: refundAddress })
    expect([done.status, done.json], done.text).toMatchObject([200, { status: 'overdue' }])
    expect((await rig.act(form, id, 'refund', { address: refundAddress })).headers['idempotent-replayed']).toBe('true')
    expect(rig.sent('refundAddress', 'refund')).toEqual([{ address: refundAddress }, { orderId: rig.swap().id }])
  })

  test('a swap whose provider waits for an address is sent back by a refund with one, by that name', async () => {
    rig = await startActions('sideshift')
    const id = await rig.begin()
    rig.swap().status = 'refund'
    expectRefusal(await rig.act(form, id, 'refund'), form, 400, 'parameter_invalid')
    expect((await rig.act(form, id, 'refund', { address: refundAddress })).status).toBe(200)
    const again = await rig.act(form, id, 'refund', { address: refundAddress })
    expect([again.status, again.headers['idempotent-replayed']], again.text).toEqual([200, 'true'])
    expectRefusal(await rig.act(form, id, 'refund', { address: otherAddress }), form, 409, 'conflict')
    for (const address of [refundAddress, otherAddress])
      expectRefusal(await rig.act(form, id, 'refund-address', { address }), form, 409, 'conflict')
    expect((await rig.read(form, id)).capabilities).toBeUndefined()
    expect(rig.sent('refundAddress', 'refund')).toEqual([{ address: refundAddress }])
    const records = (await rig.gateway.audit.read({})).filter(({ subject }) => subject === id)
    expect(records).toMatchObject([{ action: 'transaction.refund', after: { refundAddress: '0x5290…9EE7' } }])
  })

  test.each(['processing', 'settling', 'review', 'multiple', 'pending', 'refunding'])(
    'a swap that is %s waits for no refund: one with an address is refused, and nothing is sent',
    async (status) => {
      rig = await startActions('sideshift')
      const id = await rig.begin()
      await rig.read(form, id)
      rig.swap().status = status
      for (const _ of [1, 2]) expectNotOffered(await rig.act(form, id, 'refund', { address: refundAddress }))
      expect((await rig.read(form, id)).capabilities ?? []).not.toContain('refund')
      expect(rig.sent('refundAddress', 'refund')).toEqual([])
    },
  )

  test('a deposit that comes between the address and the cancellation leaves no refund behind', async () => {
    rig = await startActions('sideshift')
    const id = await rig.begin()
    rig.exchange.tamper = (operation) => {
      if (operation === 'refundAddress') rig.swap().status = 'pending'
      return undefined
    }
    expectNotOffered(await rig.act(form, id, 'refund', { address: refundAddress }))
    expect(rig.sent('refundAddress', 'refund')).toEqual([{ address: refundAddress }])
  })

  test('what the provider does not have is refused with its support page', async () => {
    rig = await startActions('changenow')
    const id = await rig.begin()
    for (const action of ['refund', 'continue', 'refund-address']) {
      const { status, headers, json, text } = await rig.act(
        form,
        id,
        action,
        action === 'continue' ? {} : { address: refundAddress },
      )
      expect([status, headers['x-swap-reason']], text).toEqual([400, 'not_offered'])
      expect(json).not.toHaveProperty(form === 'A' ? 'support_url' : 'supportUrl')
    }
    expect((await rig.read(form, id)).capabilities).toBeUndefined()
    expect(rig.sent('refund', 'continue')).toEqual([])
  })

  test('an address is judged as that of a create, and is no deposit address', async () => {
    rig = await startActions('changenow')
    const id = await held()
    const held1 = rig.swap()
    const body = (facts: object): object => facts
    expectRefusal(await rig.act(form, id, 'refund', body({ address: addresses.TRX })), form, 400, 'address_invalid')
    expectRefusal(await rig.act(form, id, 'refund', body({ address: 'no address at all' })), form, 400, 'address_invalid')
    expectRefusal(await rig.act(form, id, 'refund', body({})), form, 400, 'parameter_invalid')
    expectRefusal(await rig.act(form, id, 'refund', body({ extraId: '7' })), form, 400, 'memo_invalid')
    expectRefusal(await rig.act(form, id, 'refund', body({ address: refundAddress, to: 'x' })), form, 400, 'parameter_unknown')
    expectRefusal(
      await rig.act(form, id, 'refund', body({ address: refundAddress, refundAddress: otherAddress })),
      form,
      400,
      'parameter_invalid',
    )
    await rig.begin()
    for (const { deposit } of [held1, rig.swap()])
      expectRefusal(await rig.act(form, id, 'refund', { address: deposit }), form, 400, 'address_invalid')
    expect(rig.sent('refund')).toEqual([])
    expect((await rig.act(form, id, 'refund', { address: refundAddress })).status).toBe(200)
  })

  test('the swap of another account is 404 by any action, and so is none', async () => {
    rig = await startActions('changenow')
    const id = await held()
    const other = await rig.gateway.issueKey('umbra')
    for (const action of ['refund', 'continue', 'refund-address']) {
      const body = action === 'continue' ? {} : { address: refundAddress }
      for (const of of [id, 'alpha~nothing', 'beta~nothing', rig.swap().id])
        expectRefusal(await rig.act(form, of, action, body, other), form, 404, 'not_found')
      expectRefusal(await rig.act(form, id, action, body, 'sg_live_none'), form, 401)
    }
    expect(rig.exchange.received('refund').length + rig.exchange.received('continue').length).toBe(0)
  })
})

test('a memo goes up with its address, and a provider that may lose it gets none', async () => {
  rig = await startActions('changenow')
  const from = { code: 'XRP', coin: 'XRP', network: 'XRP' }
  const id = await held({ from, amount: '1' })
  expect((await rig.act('A', id, 'refund', { address: addresses.XRP, extraId: '77' })).status).toBe(200)
  expect(rig.sent('refund')).toEqual([{ id: rig.swap().id, address: addresses.XRP, extraId: '77' }])
  const second = await held({ from, amount: '1' })
  rig.edit({ provider: { extraIds: false } })
  expectRefusal(await rig.act('A', second, 'refund', { address: addresses.XRP, extraId: '77' }), 'A', 400, 'memo_invalid')
})

test('a provider that drains is asked, one that is off or gone is not', async () => {
  rig = await startActions('changenow')
  const [first, second] = [await held(), await held()]
  rig.edit({ provider: { state: 'draining' } })
  expect((await rig.act('A', first, 'continue')).status).toBe(200)
  rig.edit({ provider: { state: 'off' } })
  expectRefusal(await rig.act('A', second, 'continue'), 'A', 503, 'provider_busy')
  rig.edit({ provider: { name: 'other', state: 'active' } })
  expect((await rig.act('A', second, 'continue')).headers['x-swap-reason']).toBe('not_offered')
  expect(rig.sent('continue')).toHaveLength(1)
})

test('a swap that has ended, or that an operator has settled, is left as it is', async () => {
  rig = await startActions('changenow')
  const id = await held()
  rig.swap().status = 'refunded'
  expectRefusal(await rig.act('A', id, 'refund', { address: refundAddress }), 'A', 409, 'conflict')
  const second = await held()
  await rig.read('A', second)
  const settled = { status: 'overdue', note: 'by hand', at: Date.now() } as const
  expect(await rig.gateway.ledgerAdmin.settle('alpha', rig.swap().id, settled, 'alice')).toBe('settled')
  expectRefusal(await rig.act('A', second, 'continue'), 'A', 409, 'conflict')
  expect(rig.sent('refund', 'continue')).toEqual([])
})

test('an action counts as a create, with or without a key of one', async () => {
  rig = await startActions('changenow', { sections: { limits: { quotes: 99, create: 3, read: 99 } } })
  const id = await held()
  const limit = await rig.act('A', id, 'refund', { address: 'x' })
  expect(limit.headers.ratelimit).toMatch(/^"create";r=1/)
  await rig.act('A', id, 'refund', { address: 'x' })
  expectRefusal(await rig.act('A', id, 'refund', { address: refundAddress }), 'A', 429, 'limited')
})

test('with the provider’s own keys there is no such path', async () => {
  rig = await startActions('changenow', { mode: 'passthrough' })
  expectRefusal(await rig.act('A', 'alpha~x', 'refund', { address: refundAddress }), 'A', 404, 'path')
})
