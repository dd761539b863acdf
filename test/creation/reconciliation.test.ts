/** docs/contract-operators.md §10.2, managed: the result of a create of unknown outcome, and what its key then returns. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { createdB } from '../support/form-b.ts'
import { digits, readJson } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, loseResponses, orderedSwap, outcomesOf } from '../support/outcomes.ts'
import { type FormName, pairs } from '../support/pair.ts'
import { depositOf, type Order, type Swap } from '../support/swaps.ts'

let managed: Managed
let key: string
afterEach(() => managed.close())

const nameOf = { A: 'alpha', B: 'beta' } as const
const otherOf = { A: 'B', B: 'A' } as const
const success = { A: 201, B: 200 } as const
const refundAddress = 'bc1q-refund-9'

describe.each(pairs)('a client of form $client, a provider of form $provider', ({ client: form, provider: side }) => {
  const name = nameOf[side]
  beforeEach(async () => {
    managed = await startManaged({ routing: [name, name === 'alpha' ? 'beta' : 'alpha'] })
    key = await managed.issue()
  })
  const provider = () => managed[name]
  const create = (as: FormName = form, facts: object = {}, who = key): Promise<ReceivedResponse> =>
    managed.client(as).post('/transactions', orderIn(as, { refundAddress, ...facts }), {
      key: who,
      headers: { 'idempotency-key': 'order-2' },
    })
  const list = (): Promise<ReceivedResponse> => managed.client(form).get('/transactions', { key })
  const lose = async (): Promise<void> => {
    loseResponses(provider())
    expectRefusal(await create(), form, 504)
    expect(outcomesOf(managed.gateway).at(-1)).toBe('unknown')
    provider().reply('create', { status: 500, json: {} })
  }

  test('L2: the one transaction that matches is bound, and returned under the key in both forms', async () => {
    await lose()
    expectRefusal(await create(), form, 409)
    await lookNow(managed.gateway)
    expect(outcomesOf(managed.gateway).at(-1)).toBe('found')
    const again = await create()
    expect(again.status, again.text).toBe(success[form])
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(again.headers['x-swap-provider']).toBe(name)
    const reported = { id: `${name}~lost-1`, status: 'wait' }
    const inA = { ...reported, depositAddress: depositOf('lost-1'), coinTo: 'USDTTRC20', amount: digits('0.10'), refundAddress }
    const inB = { ...reported, deposit_address: depositOf('lost-1'), coin_to: 'USDT', amount_in: digits('0.10') }
    expect(again.json).toMatchObject(form === 'A' ? inA : inB)
    expect((await create()).text).toBe(again.text)
    const other = await create(otherOf[form])
    expect(other.status).toBe(success[otherOf[form]])
    expect(other.headers['idempotent-replayed']).toBe('true')
    expect(other.json).toMatchObject(form === 'A' ? inB : inA)
    expectRefusal(await create(form, { amount: digits('0.2') }), form, 422)
    expect((await list()).json).toMatchObject({ data: [{ id: `${name}~lost-1` }] })
    expect(provider().received('create')).toHaveLength(1)
    expect(await managed.gateway.ledgerAdmin.unresolved()).toEqual([])
  })

  test('L2: what is bound is its account’s alone', async () => {
    await lose()
    await lookNow(managed.gateway)
    const theirs = await managed.issue()
    expect((await managed.client(form).get(`/transactions/${name}~lost-1`, { key: theirs })).status).toBe(404)
    expect((await managed.client(form).get(`/transactions/${name}~lost-1`, { key })).status).toBe(200)
  })

  test('L3: of none that fits, or of several, none is bound', async () => {
    await lose()
    const [made] = provider().holdings.swaps
    provider().holdings.swaps = []
    await lookNow(managed.gateway)
    expect(outcomesOf(managed.gateway).at(-1)).toBe('notFound')
    provider().holdings.swaps = [made, { ...made, id: 'twin' }].filter((known) => known !== undefined) as never
    await lookNow(managed.gateway)
    expect(outcomesOf(managed.gateway).at(-1)).toBe('ambiguous')
    expectRefusal(await create(), form, 409)
    expect((await list()).json).toMatchObject({ data: [] })
    expect(await managed.gateway.ledgerAdmin.unresolved()).toMatchObject([{ state: 'unknown' }])
  })

  test.each<[string, object]>([
    ['amount', { amountIn: digits('0.11') }],
    ['withdrawal address', { withdrawalAddress: 'TWithdraw2' }],
    ['refund address', { refundAddress: 'bc1q-other' }],
    ['rate type', { rateType: 'fixed' }],
    ['coin', { from: { code: 'ETH', coin: 'ETH', network: 'ETH' } }],
    ['network', { to: { code: 'USDTERC20', coin: 'USDT', network: 'ETH' } }],
    ['time, too early', { createdAt: new Date(Date.now() - 150_000).toISOString() }],
    ['time, too late', { createdAt: new Date(Date.now() + 900_000).toISOString() }],
  ])('L3: another %s is another transaction', async (_, facts) => {
    await lose()
    provider().holdings.swaps = provider().holdings.swaps.map((known) => ({ ...known, ...facts }))
    await lookNow(managed.gateway)
    expect(outcomesOf(managed.gateway).at(-1)).toBe('notFound')
    expectRefusal(await create(), form, 409)
  })

  test('L70: a possible result of a mismatch is not bound to another create', async () => {
    const first = await managed.client(form).post('/transactions', orderIn(form, { refundAddress }), { key })
    expect(first.status).toBe(success[form])
    const { id } = first.json as { id: string }
    provider().reply('create', ({ body }) => {
      const made = orderedSwap(readJson(body) as Order, { id: 'hidden' })
      provider().holdings.swaps = [...provider().holdings.swaps, made]
      const reported = { ...made, id: id.slice(`${name}~`.length) }
      return { json: side === 'A' ? transactionA(reported) : createdB(reported) }
    })
    const contradicted = await managed.client(form).post('/transactions', orderIn(form, { refundAddress }), { key })
    expectRefusal(contradicted, form, 502)
    expect(outcomesOf(managed.gateway).at(-1)).toBe('duplicateId')
    provider().reply('create', { reset: true })
    expectRefusal(await create(), form, 504)
    await lookNow(managed.gateway)
    expect(outcomesOf(managed.gateway).at(-1)).toBe('ambiguous')
    expectRefusal(await create(), form, 409)
    const mismatch = (await managed.gateway.ledgerAdmin.unresolved()).find(({ state }) => state === 'mismatch')
    expect(await managed.gateway.ledgerAdmin.bind(mismatch?.intent ?? '', 'hidden', Date.now(), undefined, 'tester')).toBe('bound')
    await lookNow(managed.gateway)
    expect(outcomesOf(managed.gateway).at(-1)).toBe('notFound')
  })

  describe('one that a person has bound unread', () => {
    const bindUnread = async (id = 'lost-1'): Promise<void> => {
      managed.reconfigure({ sections: { routing: { providers: [name] }, ledger: { refreshAfter: 0 } } })
      await lose()
      const { ledgerAdmin } = managed.gateway
      const [unknown] = await ledgerAdmin.unresolved()
      expect(await ledgerAdmin.bind(unknown?.intent ?? '', id, Date.now(), undefined, 'tester')).toBe('bound')
    }
    const get = (id: string): Promise<ReceivedResponse> => managed.client(form).get(`/transactions/${name}~${id}`, { key })
    const change = (facts: Partial<Swap>): void => {
      provider().holdings.swaps = provider().holdings.swaps.map((made) => ({ ...made, ...facts }))
    }

    test('shows the deposit address that the first get has, and its key returns it', async () => {
      await bindUnread()
      change({ depositAddress: '' })
      expect((await get('lost-1')).text).not.toContain(depositOf('lost-1'))
      expectRefusal(await create(), form, 409)
      change({ depositAddress: depositOf('lost-1') })
      expect((await create()).text).toContain(depositOf('lost-1'))
      expect((await get('lost-1')).text).toContain(depositOf('lost-1'))
    })

    test.each<[string, Partial<Swap>]>([
      ['another amount', { amountIn: digits('0.2') }],
      ['another refund address', { refundAddress: 'bc1q-refund-other' }],
    ])('shows none of a swap with %s: its key is 502', async (_, facts) => {
      await bindUnread()
      change(facts)
      const read = await get('lost-1')
      expect([read.status, read.json]).toMatchObject([200, { id: `${name}~lost-1`, status: 'wait' }])
      for (const shown of [read, await list(), await create()])
        for (const address of [depositOf('lost-1'), 'depositAddress":"', 'deposit_address":"'])
          expect(shown.text).not.toContain(address)
      expectRefusal(await create(), form, 502)
    })

    test('shows none that another open swap has, and that one keeps it', async () => {
      const other = await managed.client(form).post('/transactions', orderIn(form, { refundAddress }), { key })
      const [address] = provider().holdings.swaps.map(({ depositAddress }) => depositAddress)
      expect(other.text).toContain(address)
      await bindUnread('lost-2')
      change({ depositAddress: address ?? '' })
      expect((await get('lost-2')).text).not.toContain(address)
      expectRefusal(await create(), form, 502)
    })
  })

  test('L3: while the list cannot be read nothing changes, and the next look finds it', async () => {
    await lose()
    for (const reply of [
      { reset: true },
      { status: 500, json: {} },
      { text: 'nonsense' },
      { status: 401, json: { message: 'no' } },
    ]) {
      provider().reply('list', reply)
      await lookNow(managed.gateway)
      expectRefusal(await create(), form, 409)
    }
    provider().reply('list', () => undefined)
    await lookNow(managed.gateway)
    expect((await create()).status).toBe(success[form])
  })

  test('L3: what two unknown creates could have made belongs to neither', async () => {
    await lose()
    const other = await managed.issue()
    provider().reply('create', { reset: true })
    expectRefusal(await create(form, {}, other), form, 504)
    await lookNow(managed.gateway)
    expect(outcomesOf(managed.gateway).slice(-2)).toEqual(['ambiguous', 'ambiguous'])
    for (const who of [key, other]) expectRefusal(await create(form, {}, who), form, 409)
  })

  test('L3: what a create that still runs may have made is not taken from it', async () => {
    await lose()
    provider().holdings.swaps = []
    const arrived = Promise.withResolvers<void>()
    const looked = Promise.withResolvers<void>()
    provider().reply('create', ({ body }) => {
      const made = orderedSwap(readJson(body) as Order, { id: 'running' })
      provider().holdings.swaps = [made]
      arrived.resolve()
      return { status: success[side], json: side === 'A' ? transactionA(made) : createdB(made), after: looked.promise }
    })
    const running = create(form, {}, await managed.issue())
    await arrived.promise
    const [first] = await managed.gateway.ledgerAdmin.unresolved()
    await managed.gateway.ledger.markUnknown(first?.intent ?? '', Date.now())
    await managed.gateway.reconcile()
    looked.resolve()
    expect(outcomesOf(managed.gateway).at(-1)).toBe('ambiguous')
    expect((await running).json).toMatchObject({ id: `${name}~running` })
    expectRefusal(await create(), form, 409)
  })

  test('L3: what another account already has is not bound a second time', async () => {
    await lose()
    const [made] = provider().holdings.swaps
    const requested = { amountIn: '0.10', withdrawalAddress: 'TWithdraw1', rateType: 'float' } as never
    const intent = {
      id: 'theirs',
      owner: 'someone',
      provider: name,
      requested,
      attemptedAt: Date.now(),
      nextCheckAt: Date.now(),
    }
    await managed.gateway.ledger.begin(intent)
    await managed.gateway.ledger.complete('theirs', {
      transaction: { id: made?.id, amountIn: '0.10', createdAt: made?.createdAt } as never,
      derived: [],
      reportedAt: Date.now(),
    })
    await lookNow(managed.gateway)
    expect(outcomesOf(managed.gateway).at(-1)).toBe('notFound')
    expectRefusal(await create(), form, 409)
  })
})

test.each(['A', 'B'] as const)(
  'M35: what is found in form %s without the memo that its deposit needs is a mismatch',
  async (side) => {
    const name = nameOf[side]
    managed = await startManaged({ routing: [name], providers: { [name]: { extraIds: true, depositMemo: ['BTC'] } } })
    key = await managed.issue()
    const create = (): Promise<ReceivedResponse> =>
      managed.client('A').post('/transactions', orderIn('A'), { key, headers: { 'idempotency-key': 'order-2' } })
    loseResponses(managed[name])
    expectRefusal(await create(), 'A', 504)
    await lookNow(managed.gateway)
    expect(outcomesOf(managed.gateway).at(-1)).toBe('contradicted')
    expectRefusal(await create(), 'A', 502, 'mismatch')
    expect(await managed.gateway.ledgerAdmin.unresolved()).toMatchObject([{ state: 'mismatch' }])
    expect((await managed.client('A').get('/transactions', { key })).json).toMatchObject({ data: [] })
  },
)
