/** docs/contract.md §10.1, docs/contract-operators.md §10.3: nothing to pay where nothing may be paid. */
import { afterEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { rateA, transactionA } from '../support/form-a.ts'
import { listedB } from '../support/form-b.ts'
import { digits, readJson } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, orderedSwap, outcomesOf } from '../support/outcomes.ts'
import { client, type FormName, formNames, rateQuery } from '../support/pair.ts'
import { type Passthrough, startPassthrough } from '../support/passthrough.ts'
import { assets, depositOf, type Order, type Swap, swap } from '../support/swaps.ts'

const statuses = { broken: 'failed', checked: 'held' }
const ledger = { refreshAfter: 0 }
/** Of the first swap that a provider makes. */
const deposit = depositOf('tx-1')
const names = /deposit_?address/i

const hidesDeposit = ({ status, text, headers }: ReceivedResponse, form: FormName, isList = false): void => {
  expect(status).toBe(200)
  expect(text).not.toContain(deposit)
  if (!isList || form === 'A') expect(headers['x-swap-omitted']).toMatch(names)
}

describe('issued keys', () => {
  let managed: Managed
  let key: string
  afterEach(() => managed.close())
  const start = async (): Promise<string> => {
    managed = await startManaged({
      providers: { alpha: { statuses } },
      sections: { auth: { mode: 'managed' }, routing: { providers: ['alpha'] }, ledger },
    })
    key = await managed.issue()
    return ((await create()).json as { id: string }).id
  }
  const create = (form: FormName = 'A'): Promise<ReceivedResponse> =>
    managed.client(form).post('/transactions', orderIn(form), { key, headers: { 'idempotency-key': 'order-1' } })
  const get = (id: string, form: FormName = 'A') => managed.client(form).get(`/transactions/${id}`, { key })
  const list = (form: FormName = 'A') => managed.client(form).get('/transactions', { key })
  const reports = (facts: object): void => {
    managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((known) => ({ ...known, ...facts }) as Swap)
  }
  const off = (): void =>
    managed.reconfigure({
      providers: { alpha: { statuses, state: 'off' } },
      sections: { auth: { mode: 'managed' }, routing: { providers: ['alpha'] }, ledger },
    })

  test.each(formNames)('a swap that failed before money was seen has no deposit address, form %s', async (form) => {
    const id = await start()
    reports({ status: 'broken' })
    hidesDeposit(await get(id, form), form)
    hidesDeposit(await list(form), form, true)
    off()
    hidesDeposit(await get(id, form), form)
    const refused = await create(form)
    expect(expectRefusal(refused, form, 502)).toContain('failed: do not pay')
    expect(refused.headers).toMatchObject({ 'x-swap-reason': 'mismatch', 'idempotent-replayed': 'true' })
  })

  describe.each(formNames)('a create that has failed at once, form %s', (form) => {
    const failsAtOnce = async (then: object): Promise<void> => {
      await start()
      const made = swap({ id: 'new-1', depositAddress: depositOf('new-1'), withdrawalAddress: 'TWithdraw1', refundAddress: null })
      managed.alpha.reply('create', { status: 201, json: transactionA({ ...made, status: 'broken' } as Swap) })
      managed.alpha.holdings.swaps = [...managed.alpha.holdings.swaps, { ...made, ...then } as Swap]
    }
    const createNew = () =>
      managed.client(form).post('/transactions', orderIn(form), { key, headers: { 'idempotency-key': 'order-2' } })

    test('is a mismatch if a get says so too, and nobody gets its deposit address', async () => {
      await failsAtOnce({ status: 'broken' })
      for (const isReplayed of [undefined, 'true']) {
        const refused = await createNew()
        expect(expectRefusal(refused, form, 502, 'mismatch')).toContain('do not pay')
        expect([refused.headers['idempotent-replayed'], refused.text]).toEqual([isReplayed, expect.not.stringMatching('new-1')])
      }
      expect((await list(form)).text).not.toContain('new-1')
      expect((await managed.gateway.ledgerAdmin.unresolved()).map(({ reported }) => reported)).toMatchObject([
        { id: 'new-1', fields: ['status'] },
      ])
    })

    test('is one if no get can be had', async () => {
      await failsAtOnce({ id: 'elsewhere' })
      expectRefusal(await createNew(), form, 502, 'mismatch')
    })

    test('has what a get says, if that denies it', async () => {
      await failsAtOnce({ status: 'wait' })
      const created = await createNew()
      expect([created.text, created.headers['x-swap-attention']]).toEqual([expect.stringContaining(depositOf('new-1')), undefined])
      expect(created.json).toMatchObject({ status: 'wait' })
    })
  })

  test('one that failed after money was seen has it, and its replay is refused all the same', async () => {
    const id = await start()
    reports({ status: 'confirmation' })
    await get(id)
    reports({ status: 'broken' })
    expect((await get(id)).json).toMatchObject({ depositAddress: deposit, status: 'confirmation' })
    expectRefusal(await create(), 'A', 502)
  })

  test.each(['success', 'refunded', 'overdue'])('one that ends as %s after it failed has it again', async (status) => {
    const id = await start()
    reports({ status: 'broken' })
    await get(id)
    reports({ status })
    expect((await get(id)).json).toMatchObject({ depositAddress: deposit, status })
    const again = await create()
    expect(again.status).toBe(201)
    expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true', 'x-swap-status': status })
  })

  test('one that is held has it', async () => {
    const id = await start()
    reports({ status: 'checked' })
    expect((await get(id)).json).toMatchObject({ depositAddress: deposit })
  })

  test.each(formNames)('a swap that is contradicted has none until the provider agrees again, form %s', async (form) => {
    const id = await start()
    reports({ withdrawalAddress: 'TOther' })
    hidesDeposit(await get(id, form), form)
    hidesDeposit(await list(form), form, true)
    off()
    hidesDeposit(await get(id, form), form)
    hidesDeposit(await list(form), form, true)
    expect(expectRefusal(await create(form), form, 502)).toContain('do not pay')
    managed.reconfigure({
      providers: { alpha: { statuses } },
      sections: { auth: { mode: 'managed' }, routing: { providers: ['alpha'] }, ledger },
    })
    reports({ withdrawalAddress: 'TWithdraw1' })
    expect((await get(id)).json).toMatchObject({ depositAddress: deposit })
    expect((await create()).status).toBe(201)
  })

  test('a replay is the first response, with the newest known status unless that is wait', async () => {
    const id = await start()
    const first = await create()
    expect(first.headers).not.toHaveProperty('x-swap-status')
    reports({ status: 'sending' })
    await get(id)
    const again = await create()
    expect([again.text, again.headers['x-swap-status']]).toEqual([first.text, 'sending'])
    expect((await create('B')).headers['x-swap-status']).toBe('exchanging')
  })
})

describe('the provider’s own keys', () => {
  let place: Passthrough
  afterEach(() => place[Symbol.asyncDispose]())
  const create = (form: FormName = 'A'): Promise<ReceivedResponse> =>
    place.client(form).post('/transactions', orderIn(form), { headers: { 'idempotency-key': 'order-1' } })

  test.each(formNames)('what a create has withheld is nowhere, form %s', async (form) => {
    place = await startPassthrough('alpha')
    const thief = swap({ id: 'thief-1', depositAddress: deposit, withdrawalAddress: 'TOther', refundAddress: null })
    place.alpha.holdings.swaps = [thief, swap({ id: 'other-1', depositAddress: depositOf('tx-2') })]
    place.alpha.reply('create', { status: 201, json: transactionA(thief) })
    expectRefusal(await create(form), form, 502)
    for (let reads = 0; reads < 2; reads++) {
      hidesDeposit(await place.client(form).get('/transactions/alpha~thief-1'), form)
      const listed = await place.client('A').get('/transactions')
      expect(listed.text).not.toContain(deposit)
      expect(listed.text).toContain(depositOf('tx-2'))
      expect((await place.client(form).get('/transactions', { key: 'another-key' })).text).not.toContain(deposit)
    }
  })

  test('nor under another tag of the same provider', async () => {
    place = await startPassthrough('alpha')
    const thief = swap({ id: 'thief-1', depositAddress: deposit, withdrawalAddress: 'TOther', refundAddress: null })
    place.alpha.holdings.swaps = [thief]
    place.alpha.reply('create', { status: 201, json: transactionA(thief) })
    expectRefusal(await create(), 'A', 502)
    await place.restart('alpha', { tag: 'gamma' })
    const renamed = client('A', place.gateway.url) // the witness knows the tag alpha only
    for (let reads = 0; reads < 2; reads++) {
      hidesDeposit(await renamed.get('/transactions/gamma~thief-1'), 'A')
      expect((await renamed.get('/transactions')).text).not.toContain(deposit)
    }
  })

  test('nor under another tag where its owner had listed it before', async () => {
    place = await startPassthrough('alpha')
    const thief = swap({ id: 'thief-1', depositAddress: deposit, withdrawalAddress: 'TOther', refundAddress: null })
    place.alpha.holdings.swaps = [thief]
    await place.restart('alpha', { tag: 'gamma' })
    const get = () => client('A', place.gateway.url).get('/transactions/gamma~thief-1')
    const list = () => client('A', place.gateway.url).get('/transactions')
    expect((await get()).text).toContain(deposit)
    await place.restart('alpha')
    place.alpha.reply('create', { status: 201, json: transactionA(thief) })
    expectRefusal(await create(), 'A', 502)
    await place.restart('alpha', { tag: 'gamma' })
    for (let reads = 0; reads < 2; reads++) {
      hidesDeposit(await get(), 'A')
      expect((await list()).text).not.toContain(deposit)
    }
  })

  test('nor is what a list has shown before the create was refused', async () => {
    place = await startPassthrough('beta')
    const thief = swap({ id: 'thief-1', depositAddress: deposit, withdrawalAddress: 'TOther', refundAddress: null })
    place.beta.holdings.swaps = [thief]
    expect((await place.client('A').get('/transactions')).text).toContain(deposit)
    place.beta.reply('create', {
      json: {
        ...listedB(thief),
        amount_out: undefined,
        amount_out_expected: 1,
        rate_type: 'float',
        deposit_address: deposit,
        withdrawal_address: 'TOther',
      },
    })
    expectRefusal(await create('B'), 'B', 502)
    for (const form of formNames) hidesDeposit(await place.client(form).get('/transactions/beta~thief-1'), form)
    expect((await place.client('A').get('/transactions')).text).not.toContain(deposit)
  })

  test.each([false, true])('nor what a search has withheld for its price: listed before it: %s', async (isListedBefore) => {
    place = await startPassthrough('alpha')
    const { alpha, gateway } = place
    const words = { quoteId: 'own-1', validUntil: new Date(Date.now() + 60_000).toISOString() }
    alpha.reply('rate', ({ query }) => ({ json: { ...rateA(query), amountTo: digits('100'), ...words } }))
    const terms = { from: assets.btc, to: assets.usdtTrx, amount: '0.10', rateType: 'fixed' } as const
    const { quoteId } = (await place.client('A').get(`${rateQuery('A', terms)}&quoteId=true`)).json as { quoteId: string }
    alpha.reply('create', ({ body }) => {
      alpha.holdings.swaps = [orderedSwap(readJson(body) as Order, { id: 'tx-1', amountOut: digits('50') })]
      return { reset: true }
    })
    const order = orderIn('A', { rateType: 'fixed', quoteId })
    expectRefusal(await place.client('A').post('/transactions', order), 'A', 504)
    const shown = [
      () => place.client('A').get('/transactions'),
      () => place.client('A').get('/transactions/alpha~tx-1'),
      () => place.client('B').get('/transactions/alpha~tx-1'),
    ]
    if (isListedBefore) for (const read of shown) expect((await read()).text).toContain(deposit)
    await lookNow(gateway)
    expect(outcomesOf(gateway).at(-1)).toBe('ambiguous')
    for (const read of shown) expect((await read()).text).not.toContain(deposit)
  })

  test('a swap that failed before money was seen has none, and its replay says so', async () => {
    place = await startPassthrough('alpha')
    place.reconfigure({ ledger }, { statuses })
    const { id } = (await create()).json as { id: string }
    place.alpha.holdings.swaps = place.alpha.holdings.swaps.map((known) => ({ ...known, status: 'broken' }))
    hidesDeposit(await place.client('A').get(`/transactions/${id}`), 'A')
    hidesDeposit(await place.client('A').get('/transactions'), 'A', true)
    await expect.poll(async () => (await create()).status).toBe(502)
    place.alpha.holdings.swaps = place.alpha.holdings.swaps.map((known) => ({ ...known, status: 'confirmation' }))
    expect((await place.client('A').get(`/transactions/${id}`)).json).toMatchObject({ depositAddress: deposit })
    await expect.poll(async () => (await create()).status).toBe(201)
  })
})
