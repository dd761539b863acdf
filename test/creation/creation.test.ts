/** docs/contract.md §10: a create happens once, whatever breaks. The checks use the providers' journals. */
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { digits } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { formNames, pairWords } from '../support/pair.ts'
import type { Reply } from '../support/stand-in.ts'
import { assets, depositOf, swap } from '../support/swaps.ts'

let managed: Managed
let key: string

beforeAll(async () => {
  managed = await startManaged({ routing: ['alpha', 'beta'] })
})
beforeEach(async () => {
  managed.alpha.reset()
  managed.beta.reset()
  managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.slice()
  key = await managed.issue()
})
afterAll(() => managed.close())

const creates = (): number => managed.alpha.received('create').length + managed.beta.received('create').length
const outcomes = (): readonly string[] =>
  managed.gateway.observations.filter((observation) => observation.what === 'create').map(({ outcome }) => outcome)

describe.each(formNames)('form %s', (form) => {
  const create = (name?: string, facts: object = {}, who = key): Promise<ReceivedResponse> =>
    managed.client(form).post('/transactions', orderIn(form, facts), {
      key: who,
      headers: name === undefined ? {} : { 'idempotency-key': name },
    })

  test('L5: a repeat gets the first response, also when the transaction has gone on', async () => {
    const first = await create('order-1')
    const { id } = first.json as { id: string }
    managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((known) => ({ ...known, status: 'success' }))
    await managed.client(form).get(`/transactions/${id}`, { key })
    expect((await create('order-1')).text).toBe(first.text)
  })

  test.each(['success', 'refunded', 'overdue'])(
    'a create that is %s at once waits, until a second read says so too',
    async (status) => {
      const made = swap({ id: `ended-${form}-${status}`, status, withdrawalAddress: 'TWithdraw1', refundAddress: null })
      managed.alpha.reply('create', { status: 201, json: transactionA({ ...made, depositAddress: depositOf(made.id) }) })
      const first = await create()
      expect(first.json).toMatchObject({ status: 'wait' })
      expect(first.text).toContain(depositOf(made.id))
      expect(outcomes().at(-1)).toBe('finalAtOnce')
      managed.alpha.holdings.swaps = [...managed.alpha.holdings.swaps, made]
      const { id } = first.json as { id: string }
      expect((await managed.client(form).get(`/transactions/${id}`, { key })).json).toMatchObject({ status })
    },
  )

  test('L6: of 50 at the same time one is sent; the others are 409, or get its response', async () => {
    managed.alpha.reply('create', () => {
      const id = `once-${form}`
      return { status: 201, json: transactionA(swap({ id, refundAddress: null })), after: setImmediate() }
    })
    const responses = await Promise.all(Array.from({ length: 50 }, () => create('order-6')))
    expect(creates()).toBe(1)
    const made = responses.filter(({ status }) => status < 300)
    expect(new Set(made.map(({ text }) => text)).size).toBe(1)
    for (const response of responses.filter(({ status }) => status >= 300)) expectRefusal(response, form, 409)
    expect((await create('order-6')).text).toBe(made[0]?.text)
  })

  test.each<[string, object]>([
    ['another amount', { amount: digits('0.11') }],
    ['another address', { withdrawalAddress: 'TWithdraw2' }],
    ['a refund address', { refundAddress: 'bc1q-refund-1' }],
    ['another rate type', { rateType: 'fixed' }],
    ['another coin', pairWords(form, assets.eth, assets.usdtTrx)],
    ['another network', pairWords(form, assets.btc, assets.usdtEth)],
  ])('L7: %s under the same key is 422', async (_, facts) => {
    await create('order-7')
    expectRefusal(await create('order-7', facts), form, 422)
    expect(creates()).toBe(1)
  })

  test('L7: amounts are the same by value', async () => {
    const first = await create('order-7')
    expect((await create('order-7', { amount: digits('1e-1') })).text).toBe(first.text)
    expect((await create('order-7', { amount: digits('0.1000') })).text).toBe(first.text)
  })

  test('L9: without a key each create is a new one', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, async () => ((await create()).json as { id: string }).id))
    expect(new Set(ids).size).toBe(20)
    expect(creates()).toBe(20)
  })

  describe('L11: what was refused does not use the key up', () => {
    test.each<[string, object, Reply]>([
      ['by us', { amount: digits('0') }, {}],
      ['for its network', form === 'A' ? { coinTo: 'NOCOIN' } : { networkTo: 'NONET' }, {}],
      ['by the provider', {}, { status: 422, json: { error: 'Unprocessable', message: 'Too little', code: 422 } }],
      ['by its limit', {}, { status: 429, json: { message: 'Slow down', code: 429 } }],
      ['by a framework, with a list', {}, { status: 422, json: { detail: [{ loc: ['body', 'amount'], msg: 'Too little' }] } }],
      ['by a list', {}, { status: 400, json: [{ message: 'Invalid coinTo' }] }],
      ['with the id of the request', {}, { status: 400, json: { detail: 'No', meta: { request: { id: 'req-1' } } } }],
      ['by errors with ids of their own', {}, { status: 400, json: { errors: [{ id: 'e-1', title: 'Invalid coinTo' }] } }],
      ['by a page of a firewall', {}, { status: 405, text: '<html>not allowed</html>', headers: { 'content-type': 'text/html' } }],
      ['by a status alone', {}, { status: 413, text: '' }],
      ['by half a body', {}, { status: 400, text: '{"message":"Too li' }],
      ['by its own error with 200', {}, { status: 200, json: { error: 'Bad Request', message: 'Too little', code: 400 } }],
    ])('%s', async (_, facts, reply) => {
      // Both: a limit alone lets the create go on to the next.
      const providers = [managed.alpha, managed.beta]
      if (reply.status !== undefined) for (const provider of providers) provider.reply('create', reply)
      expect((await create('order-11', facts)).status).toBeGreaterThanOrEqual(400)
      for (const provider of providers) provider.reset()
      const { status, headers } = await create('order-11')
      expect(status).toBeLessThan(300)
      expect(headers).not.toHaveProperty('idempotent-replayed')
      expect(await managed.gateway.ledgerAdmin.unresolved()).toEqual([])
    })
  })

  describe.each<[string, object]>([
    ['resets after the effect', { reset: true }],
    ['returns 500', { status: 500, json: {} }],
    ['returns 503', { status: 503, json: { error: 'Unavailable', message: 'Later', code: 503 } }],
    ['returns half', { text: '{"id":"tx' }],
    ['returns {}', { json: {} }],
    ...[408, 409, 423, 424, 425, 499].map((status): [string, object] => [
      `returns ${status}`,
      { status, json: { error: 'x', message: 'Not now', code: status } },
    ]),
    ['returns 400 with an id', { status: 400, json: { error: 'Bad Request', message: 'Too late', code: 400, id: 'tx-7' } }],
    [
      'returns 422 with a transaction',
      { status: 422, json: { detail: 'Late', data: { id: 'tx-7', depositAddress: 'bc1q-deposit' } } },
    ],
    [
      'returns 422 with a transaction further inside',
      { status: 422, json: { error: 'Late', message: 'Late', result: { data: { order: { id: 'tx-7', coinFrom: 'BTC' } } } } },
    ],
    ['returns 400 with a list of transactions', { status: 400, json: { detail: 'Late', orders: [{ id: 'tx-7' }] } }],
    ['returns 200 with its own error of 500', { status: 200, json: { error: 'Oops', message: 'Later', code: 500 } }],
    ['returns 200 with an error without a status', { status: 200, json: { error: 'Oops', message: 'Later' } }],
  ])('L1, L12: a provider that %s', (_, reply) => {
    test('leaves the outcome unknown: 504, no other provider, and 409 until it is known', async () => {
      const name = `order-12-${Math.random()}`
      managed.alpha.reply('create', reply)
      expectRefusal(await create(name), form, 504)
      managed.alpha.reset()
      expectRefusal(await create(name), form, 409)
      expectRefusal(await create(name, { amount: digits('0.2') }), form, 422)
      expect(creates()).toBe(0)
      const [open] = await managed.gateway.ledgerAdmin.unresolved()
      expect(await managed.gateway.ledgerAdmin.markNotCreated(open?.intent ?? '', 'tester')).toBe(true)
      const { status, headers } = await create(name)
      expect(status).toBeLessThan(300)
      expect(headers).not.toHaveProperty('idempotent-replayed')
    })
  })

  test('L2: a transaction that is bound by hand is returned under the key', async () => {
    managed.alpha.reply('create', { reset: true })
    await create('order-2')
    managed.alpha.reset()
    const id = `found-${form}`
    managed.alpha.holdings.swaps = [...managed.alpha.holdings.swaps, swap({ id, status: 'exchanging', refundAddress: null })]
    const [open] = await managed.gateway.ledgerAdmin.unresolved()
    expect(await managed.gateway.ledgerAdmin.bind(open?.intent ?? '', id, Date.now(), undefined, 'tester')).toBe('bound')
    const response = await create('order-2')
    expect(response.json).toMatchObject({ id: `alpha~${id}`, status: 'exchanging' })
    expect(response.headers['idempotent-replayed']).toBe('true')
    expect((await managed.client(form).get('/transactions', { key })).json).toMatchObject({ data: [{ id: `alpha~${id}` }] })
    expect(creates()).toBe(0)
  })

  const fieldsAtFault: readonly [string, object][] = [
    ['coin', { coinFrom: 'ETH' }],
    ['network', { coinTo: 'USDTERC20' }],
    ['withdrawal address', { withdrawalAddress: 'TOther' }],
    ['refund address', { refundAddress: 'bc1q-other' }],
    ['rate type', { rateType: 'fixed' }],
    ['memo', { withdrawalExtraId: '77' }],
  ]
  test.each(fieldsAtFault)('M6: another %s than requested: 502, no deposit address, stored as a mismatch', async (what, facts) => {
    const id = `mismatch-${form}-${what.replace(' ', '-')}`
    const json = { ...transactionA(swap({ id, refundAddress: null })), ...facts }
    managed.alpha.reply('create', { status: 201, json })
    const response = await create('order-m6')
    expectRefusal(response, form, 502)
    expect(response.text).not.toContain('deposit-1')
    expect(response.text).not.toContain(id)
    const again = await create('order-m6')
    expect(again.text).toBe(response.text)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(creates()).toBe(1)
    expect(outcomes().at(-1)).toBe('contradicted')
    expect((await managed.client(form).get(`/transactions/alpha~${id}`, { key })).status).toBe(404)
    expect((await managed.client(form).get('/transactions', { key })).json).toMatchObject({ data: [] })
    const unresolved = await managed.gateway.ledgerAdmin.unresolved()
    expect(unresolved.find((row) => JSON.stringify(row).includes(id))).toMatchObject({ state: 'mismatch' })
    for (const { intent } of unresolved) await managed.gateway.ledgerAdmin.markNotCreated(intent, 'tester')
  })

  test('an amount that is rounded is counted, and another one is a mismatch', async () => {
    managed.witness.excuse('I5', 'The client gets the amount that the provider reports, not the requested one.')
    const reply = (id: string, amount: string) =>
      transactionA(swap({ id: `${id}-${form}`, amountIn: digits(amount), refundAddress: null }))
    managed.alpha.reply('create', { status: 201, json: reply('rounded', '0.10000001') })
    expect((await create()).status).toBeLessThan(300)
    expect(outcomes().at(-1)).toBe('otherAmount')
    managed.alpha.reply('create', { status: 201, json: reply('amount', '0.09') })
    expectRefusal(await create(), form, 502)
    expect(outcomes().at(-1)).toBe('contradicted')
  })

  test('L36: an id that the same client holds for another create: 502, and the first is as it was', async () => {
    const json = { ...transactionA(swap({ id: `again-${form}`, refundAddress: null })), status: 'success' }
    managed.alpha.reply('create', { status: 201, json })
    managed.alpha.reply('get', { json })
    const first = await create('order-36')
    managed.alpha.reply('create', { status: 201, json: { ...json, depositAddress: `bc1q-other-${form}`, status: 'wait' } })
    for (const name of [undefined, 'order-37']) {
      const second = await create(name)
      expectRefusal(second, form, 502)
      expect(second.text).not.toContain('bc1q-other')
      expect(outcomes().at(-1)).toBe('duplicateId')
    }
    const again = await create('order-37')
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([502, 'true'])
    expect((await create('order-36')).text).toBe(first.text)
    expect(creates()).toBe(3)
    const path = `/transactions/alpha~again-${form}`
    expect((await managed.client('A').get(path, { key })).json).toMatchObject({
      depositAddress: depositOf(`again-${form}`),
      status: 'success',
    })
    const list = await managed.client(form).get('/transactions', { key })
    expect((list.json as { data: readonly object[] }).data).toMatchObject([{ id: `alpha~again-${form}`, status: 'success' }])
    for (const { intent } of await managed.gateway.ledgerAdmin.unresolved())
      await managed.gateway.ledgerAdmin.markNotCreated(intent, 'tester')
  })

  test("L16: an id that another client holds: 502, counted, and the other's is as it was", async () => {
    const json = transactionA(swap({ id: `repeated-${form}`, refundAddress: null }))
    managed.alpha.reply('create', { status: 201, json })
    await create()
    managed.alpha.reply('create', { status: 201, json: { ...json, depositAddress: `bc1q-taken-${form}` } })
    const other = await managed.issue()
    expectRefusal(await create('order-16', {}, other), form, 502)
    expect(outcomes().at(-1)).toBe('duplicateId')
    expect((await create('order-16', {}, other)).status).toBe(502)
    managed.alpha.reply('get', { reset: true })
    const path = `/transactions/alpha~repeated-${form}`
    expect((await managed.client(form).get(path, { key: other })).status).toBe(404)
    expect((await managed.client('A').get(path, { key })).json).toMatchObject({ depositAddress: depositOf(`repeated-${form}`) })
    for (const { intent } of await managed.gateway.ledgerAdmin.unresolved())
      await managed.gateway.ledgerAdmin.markNotCreated(intent, 'tester')
  })
})
