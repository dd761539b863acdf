/** docs/contract-operators.md §12: the uses of a provider that is active, draining or off. */
import { afterEach, describe, expect, test } from 'vitest'
import { createBreaker } from '../../src/core/resilience/breaker.ts'
import { toAmount } from '../../src/domain/amount.ts'
import type { Transaction } from '../../src/domain/swap.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { type FormName, formNames, rateQuery } from '../support/pair.ts'
import { startPassthrough } from '../support/passthrough.ts'
import { assets, swap } from '../support/swaps.ts'

let managed: Managed
let key: string
afterEach(() => managed?.close())

const routing = ['alpha', 'beta']
const bound = {
  id: 'bound-1',
  status: 'wait',
  createdAt: '2026-11-20T10:00:00.000Z',
  depositAddress: 'deposit-1',
  amountOut: toAmount('6500'),
  rate: toAmount('65000'),
}
const start = async (providers: Readonly<Record<string, object>> = {}): Promise<void> => {
  managed = await startManaged({ routing, providers })
  key = await managed.issue()
}
const create = (form: FormName = 'A', headers: Record<string, string> = {}): Promise<ReceivedResponse> =>
  managed.client(form).post('/transactions', orderIn(form), { key, headers })
const createdId = async (): Promise<string> => ((await create()).json as { id: string }).id
const read = (id: string, form: FormName = 'A'): Promise<ReceivedResponse> =>
  managed.client(form).get(`/transactions/${id}`, { key })
const list = (form: FormName = 'A'): Promise<ReceivedResponse> => managed.client(form).get('/transactions', { key })
const rate = (form: FormName = 'A'): Promise<ReceivedResponse> =>
  managed.client(form).get(rateQuery(form, { from: assets.btc, to: assets.usdtTrx, amount: '1' }))
const currencies = (form: FormName = 'A'): Promise<ReceivedResponse> => managed.client(form).get('/currencies')
const idsOf = ({ json }: ReceivedResponse): readonly string[] => (json as { data: { id: string }[] }).data.map(({ id }) => id)
const codesOf = ({ json }: ReceivedResponse): readonly string[] =>
  (json as { data: { code: string }[] }).data.map(({ code }) => code)

function expectBusy(response: ReceivedResponse, form: FormName = 'A'): void {
  expectRefusal(response, form, 503)
  expect(response.headers['x-swap-reason']).toBe('provider_busy')
  expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
}

describe.each(formNames)('W1: a draining provider, form %s', (form) => {
  test('has no quotes and no creates; the next one has them', async () => {
    await start({ alpha: { state: 'draining' } })
    expect((await rate(form)).headers['x-swap-provider']).toBe('beta')
    const created = await create(form)
    expect((created.json as { id: string }).id).toMatch(/^beta~/)
    expect((await currencies(form)).headers['x-swap-provider']).toBe('beta')
    expect(managed.alpha.journal).toEqual([])
  })

  test('is read by id and for lists', async () => {
    await start()
    const id = await createdId()
    managed.reconfigure({ routing, providers: { alpha: { state: 'draining' } } })
    managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((held) => ({ ...held, status: 'exchanging' }))
    const got = await read(id, form)
    expect(got.json).toMatchObject({ id, status: 'exchanging' })
    expect(got.headers['x-swap-provider']).toBe('alpha')
    expect(got.headers).not.toHaveProperty('x-swap-stale')
    expect(idsOf(await list(form))).toEqual([id])
    expect(managed.alpha.received('get')).toHaveLength(1)
  })
})

test('W1: what only a draining provider offers is in no list, and is 400', async () => {
  await start({ alpha: { state: 'draining' } })
  managed.beta.holdings.currencies = managed.beta.holdings.currencies.filter((row) => (row as { code: string }).code !== 'USDT')
  expect(codesOf(await currencies())).not.toContain('USDTTRC20')
  expectRefusal(await rate(), 'A', 400)
  expectRefusal(await create(), 'A', 400)
})

describe.each(formNames)('W2: a provider that is off, form %s', (form) => {
  test('is not called: gets and lists of what it holds come from the ledger, with X-Swap-Stale', async () => {
    await start()
    const [first, second] = [await createdId(), await createdId()]
    await read(first)
    managed.reconfigure({ routing, providers: { alpha: { state: 'off' } } })
    managed.alpha.reset()
    managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((held) => ({ ...held, status: 'success' }))
    for (const id of [first, second]) {
      const got = await read(id, form)
      expect(got.status, got.text).toBe(200)
      expect(got.json).toMatchObject({ id, status: 'wait' })
      expect(got.headers['x-swap-stale']).toMatch(/^\d+$/)
      expect(got.headers['x-swap-provider']).toBe('alpha')
    }
    const listed = await list(form)
    expect(idsOf(listed).toSorted()).toEqual([first, second].toSorted())
    expect(listed.headers['x-swap-stale']).toMatch(/^\d+$/)
    expect((await rate(form)).headers['x-swap-provider']).toBe('beta')
    expect((await currencies(form)).headers['x-swap-provider']).toBe('beta')
    await create(form)
    await managed.gateway.reconcile()
    expect(managed.alpha.journal).toEqual([])
  })

  test('responds to another account as if nothing was there', async () => {
    await start()
    const id = await createdId()
    managed.reconfigure({ routing, providers: { alpha: { state: 'off' } } })
    key = await managed.issue()
    expectRefusal(await read(id, form), form, 404)
    expect(idsOf(await list(form))).toEqual([])
    expect((await list(form)).headers).not.toHaveProperty('x-swap-stale')
  })

  test('if only it is off, other rows of a list are read as before', async () => {
    await start()
    const own = await createdId()
    managed.reconfigure({ routing, providers: { alpha: { state: 'off' } } })
    const other = await createdId()
    managed.beta.holdings.swaps = managed.beta.holdings.swaps.map((held) => ({ ...held, status: 'exchanging' }))
    const { data } = (await list(form)).json as { data: { id: string; status: string }[] }
    expect(Object.fromEntries(data.map(({ id, status }) => [id, status]))).toEqual({ [own]: 'wait', [other]: 'exchanging' })
  })
})

describe.each(formNames)('W2: a provider that the file lacks, form %s', (form) => {
  /** The tag `alpha` is gone. */
  const remove = (): void => managed.reconfigure({ routing, providers: { alpha: { tag: 'renamed' } } })

  test('its transactions are as last known, with X-Swap-Stale, and it is not called', async () => {
    await start()
    const id = await createdId()
    remove()
    managed.alpha.reset()
    const [got, listed] = [await read(id, form), await list(form)]
    expect(got.json).toMatchObject({ id, status: 'wait' })
    expect(idsOf(listed)).toEqual([id])
    for (const { headers } of [got, listed]) {
      expect(headers['x-swap-stale']).toMatch(/^\d+$/)
      expect(headers['x-swap-provider']).toBe('alpha')
    }
    expect(managed.alpha.journal).toEqual([])
    key = await managed.issue()
    expectRefusal(await read(id, form), form, 404)
  })

  test.each(['alpha~none', 'nobody~1', 'Alpha~1', `${'a'.repeat(17)}~1`, '~1', 'al\u0000pha~1'])('%j is 404', async (id) => {
    await start()
    remove()
    expectRefusal(await read(encodeURIComponent(id), form), form, 404)
  })

  test('a create that was bound by hand is the response to its key', async () => {
    await start()
    managed.witness.excuse('I11', 'The provider never had the transaction that is bound.')
    managed.alpha.reply('create', { reset: true })
    expectRefusal(await create(form, { 'idempotency-key': 'k' }), form, 504)
    const [open] = await managed.gateway.ledgerAdmin.unresolved()
    const { intent = '', requested } = open ?? {}
    const transaction = { ...requested, ...bound } as Transaction
    const record = { transaction, derived: [], reportedAt: Date.now() }
    expect(await managed.gateway.ledgerAdmin.bind(intent, 'bound-1', Date.now(), record, 'tester')).toBe('bound')
    remove()
    const again = await create(form, { 'idempotency-key': 'k' })
    expect(again.status, again.text).toBe(form === 'A' ? 201 : 200)
    expect(again.json).toMatchObject({ id: 'alpha~bound-1' })
    expect(again.text).toContain(bound.depositAddress)
    expect(again.headers).toHaveProperty('x-swap-stale')
  })
})

test('W2: a final transaction has X-Swap-Stale too', async () => {
  await start()
  const id = await createdId()
  managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((held) => ({ ...held, status: 'success' }))
  expect((await read(id)).json).toMatchObject({ status: 'success' })
  managed.reconfigure({ routing, providers: { alpha: { state: 'off' } } })
  const got = await read(id)
  expect(got.json).toMatchObject({ status: 'success' })
  expect(got.headers).toHaveProperty('x-swap-stale')
})

test('W2: a create of unknown outcome is not looked for while its provider is off, and is found when it is not', async () => {
  await start()
  managed.alpha.reply('create', { reset: true })
  expectRefusal(await create('A', { 'idempotency-key': 'k' }), 'A', 504)
  managed.reconfigure({ routing, providers: { alpha: { state: 'off' } } })
  managed.alpha.reset()
  await managed.gateway.reconcile()
  expectRefusal(await create('A', { 'idempotency-key': 'k' }), 'A', 409)
  expect(managed.alpha.journal).toEqual([])
  expect(await managed.gateway.ledgerAdmin.unresolved()).toHaveLength(1)
})

test.each(['off', 'draining'])(
  'W2: the list of one that is %s is not read again in the background, and is when it is active again',
  async (state) => {
    const cache = { currencies: 0.2, rate: 0, staleFor: 60 }
    managed = await startManaged({ routing, sections: { routing: { providers: routing }, cache } })
    await currencies()
    const reconfigure = (next: string): void =>
      managed.reconfigure({ providers: { alpha: { state: next } }, sections: { routing: { providers: routing }, cache } })
    reconfigure(state)
    managed.alpha.reset()
    managed.beta.reset()
    await expect.poll(() => managed.beta.received('currencies').length).toBeGreaterThan(2)
    expect(managed.alpha.journal).toEqual([])
    reconfigure('active')
    await expect.poll(() => managed.alpha.received('currencies').length).toBeGreaterThan(0)
  },
)

describe.each(['draining', 'off'])('W3: where every provider is %s', (state) => {
  test.each(formNames)('quotes, creates and lists of coins are 503, and nothing is lost (form %s)', async (form) => {
    await start({ alpha: { state }, beta: { state } })
    expectBusy(await rate(form), form)
    expectBusy(await create(form, { 'idempotency-key': 'order-1' }), form)
    expectBusy(await currencies(form), form)
    expect([...managed.alpha.journal, ...managed.beta.journal]).toEqual([])
    managed.reconfigure({ routing })
    expect((await create(form, { 'idempotency-key': 'order-1' })).status).toBe(form === 'A' ? 201 : 200)
  })

  test('an earlier create is returned again under its key', async () => {
    await start()
    const first = await create('A', { 'idempotency-key': 'order-1' })
    managed.reconfigure({ routing, providers: { alpha: { state }, beta: { state } } })
    const again = await create('A', { 'idempotency-key': 'order-1' })
    expect(again.text).toBe(first.text)
    expect(again.headers['idempotent-replayed']).toBe('true')
  })
})

test('W4: a provider that is not routed is read by its ids, in every state', async () => {
  await start()
  const id = await createdId()
  managed.reconfigure({ routing: ['beta'] })
  expect((await read(id)).headers).not.toHaveProperty('x-swap-stale')
  managed.reconfigure({ routing: ['beta'], providers: { alpha: { state: 'draining' } } })
  expect((await read(id)).json).toMatchObject({ id })
  managed.reconfigure({ routing: ['beta'], providers: { alpha: { state: 'off' } } })
  managed.alpha.reset()
  const got = await read(id)
  expect(got.json).toMatchObject({ id })
  expect(got.headers).toHaveProperty('x-swap-stale')
  expect([...managed.alpha.journal, ...managed.beta.received('get')]).toEqual([])
})

describe.each(formNames)('W5: with the provider’s own keys, form %s', (form) => {
  test('a provider that is off is not called; the key gets its transactions of the ledger, and the rest is 503', async () => {
    await using passthrough = await startPassthrough('alpha')
    const client = passthrough.client(form)
    const created = await client.post('/transactions', orderIn(form))
    const { id } = created.json as { id: string }
    passthrough.alpha.holdings.swaps = [...passthrough.alpha.holdings.swaps, swap({ id: 'unseen' })]
    passthrough.reconfigure({}, { state: 'off' })
    passthrough.alpha.reset()
    const got = await client.get(`/transactions/${id}`)
    expect(got.json).toMatchObject({ id, status: 'wait' })
    expect(got.headers['x-swap-stale']).toMatch(/^\d+$/)
    const listed = await client.get('/transactions')
    expect(idsOf(listed)).toEqual([id])
    expect(listed.headers['x-swap-stale']).toMatch(/^\d+$/)
    expectBusy(await client.get('/transactions/alpha~unseen'), form)
    const otherKey = await passthrough.gateway.freshKey()
    expectBusy(await client.get(`/transactions/${id}`, { key: otherKey }), form)
    expect(idsOf(await client.get('/transactions', { key: otherKey }))).toEqual([])
    for (const response of [await client.get('/currencies'), await client.post('/transactions', orderIn(form))])
      expectBusy(response, form)
    expect(passthrough.alpha.journal).toEqual([])
  })

  test('a draining provider is read and listed, and takes nothing new', async () => {
    await using passthrough = await startPassthrough('beta')
    const client = passthrough.client(form)
    const { id } = (await client.post('/transactions', orderIn(form))).json as { id: string }
    passthrough.reconfigure({}, { state: 'draining' })
    expect((await client.get(`/transactions/${id}`)).headers).not.toHaveProperty('x-swap-stale')
    expect(idsOf(await client.get('/transactions'))).toEqual([id])
    expectBusy(await client.post('/transactions', orderIn(form)), form)
    expectBusy(await client.get('/currencies'), form)
  })

  test('an id without a tag is served from the ledger too', async () => {
    const reason = 'The checker handles only ids with a tag.'
    const sections = { routing: { providers: ['alpha'], untagged: 'alpha' } }
    await using passthrough = await startPassthrough('alpha', { sections })
    passthrough.witness.excuse('I11', reason)
    const client = passthrough.client(form)
    const { id } = (await client.post('/transactions', orderIn(form))).json as { id: string }
    passthrough.reconfigure(sections, { state: 'off' })
    const own = id.slice('alpha~'.length)
    expect((await client.get(`/transactions/${own}`)).json).toMatchObject({ id: own })
    expect(passthrough.alpha.received('get')).toEqual([])
  })
})

describe('W9: what is known of a provider’s health', () => {
  const closedUrl = 'http://127.0.0.1:1/v2'
  const rejections = (): number => managed.gateway.observations.filter(({ what }) => what === 'localRejection').length

  test.each<[string, Parameters<Managed['reconfigure']>[0]]>([
    ['another provider changes its state', { routing, providers: { alpha: { url: closedUrl }, beta: { state: 'draining' } } }],
    ['its own state changes and is back', { routing, providers: { alpha: { url: closedUrl, state: 'off' } } }],
    ['another provider is configured anew', { routing, providers: { alpha: { url: closedUrl }, beta: { tag: 'b2', timeout: 5 } } }],
    [
      'weights are',
      {
        sections: { routing: { strategy: 'weighted', providers: routing, weights: { alpha: 1, beta: 1 } } },
        providers: { alpha: { url: closedUrl } },
      },
    ],
  ])('stays where %s', async (_, change) => {
    managed = await startManaged({
      routing,
      providers: { alpha: { url: closedUrl } },
      breaker: createBreaker,
      steadyClock: () => 1_000,
    })
    key = await managed.issue()
    for (let call = 0; call < 6; call++) await rate()
    const before = rejections()
    expect(before).toBeGreaterThan(0)
    managed.reconfigure(change)
    managed.reconfigure({ routing, providers: { alpha: { url: closedUrl } } })
    await rate()
    expect(rejections()).toBe(before + 1)
  })
})
