/** docs/contract.md §10.7: a fixed quote with `quoteId=true` is kept for one create of its caller, at the price of the quote. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { client, type FormName, formNames, rateQuery } from '../support/pair.ts'
import { addresses, assets, createdStatus, type Rig, startRig } from './rig.ts'

const names = { A: { id: 'quoteId', until: 'validUntil' }, B: { id: 'quote_id', until: 'valid_until' } } as const
const swap = { from: assets.eth, to: assets.usdtEth, amount: '0.1', rateType: 'fixed' } as const
const query = (form: FormName, more: object = {}): string => `${rateQuery(form, { ...swap, ...more })}&quoteId=true`
const key = 'key'

const quotedBy = (form: FormName, { json }: ReceivedResponse) => {
  const body = json as Readonly<Record<string, string>>
  return { id: body[names[form].id] as string, until: body[names[form].until] as string }
}
const amountReceived = ({ text }: ReceivedResponse): number => {
  const { amountTo, toAmount, amount_out_expected: expected } = JSON.parse(text)
  return amountTo ?? toAmount ?? expected
}

const amountSent = ({ text }: ReceivedResponse): number => {
  const { amount, fromAmount, amount_in: expected } = JSON.parse(text)
  return amount ?? fromAmount ?? expected
}

let rig: Rig
afterEach(() => rig[Symbol.asyncDispose]())

const quote = (form: FormName, more: object = {}): Promise<ReceivedResponse> => rig.quote(form, { ...swap, firm: true, ...more })
const create = (form: FormName, quoteId: string, more: object = {}, body: object = {}): Promise<ReceivedResponse> =>
  rig.create(form, { ...swap, ...more, body: { quoteId, ...body } })

describe.each(['changelly', 'changenow', 'letsexchange', 'sideshift', 'simpleswap', 'stealthex'] as const)('%s', (name) => {
  beforeEach(async () => {
    rig = await startRig(name)
  })

  it.each(formNames)('form %s: a create has the price and the id of its quote, whatever the market does', async (form) => {
    const response = await quote(form)
    expect(response.status, response.text).toBe(200)
    const { id, until } = quotedBy(form, response)
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(Date.parse(until)).toBeGreaterThan(Date.now())
    expect(response.headers['cache-control']).toBe('no-store')
    rig.exchange.market.fixed /= 2
    const quotes = rig.exchange.received('quote').length
    const created = await create(form, id)
    expect(created.status, created.text).toBe(createdStatus[form])
    expect(amountReceived(created)).toBeCloseTo(amountReceived(response), 8)
    expect(rig.exchange.received('quote')).toHaveLength(quotes)
    expect(rig.exchange.received('create')).toHaveLength(1)
    expect(rig.drift()).toEqual([])
  })

  it.each(formNames)(
    'form %s: by the amount to be received, too: the create needs the same, and pays what was quoted',
    async (form) => {
      const received = { amount: undefined, amountTo: '1.60' } as const
      const response = await quote(form, received)
      expect(response.status, response.text).toBe(200)
      const { id } = quotedBy(form, response)
      rig.exchange.market.fixed /= 2
      expectRefusal(await create(form, id), form, 400, 'parameter_invalid')
      expectRefusal(await create(form, id, { ...received, amountTo: '1.61' }), form, 400, 'parameter_invalid')
      expect(rig.exchange.received('create')).toEqual([])
      const quotes = rig.exchange.received('quote').length
      const created = await create(form, id, received)
      expect(created.status, created.text).toBe(createdStatus[form])
      expect(amountSent(created)).toBe(amountSent(response))
      expect(created.text).toMatch(/"(?:amountTo|amount_out_expected)":1\.60,/)
      expect(rig.exchange.received('quote')).toHaveLength(quotes)
      expectRefusal(await create(form, id, received), form, 409, 'quote_expired')
      expect(rig.exchange.swaps).toHaveLength(1)
      expect(rig.drift()).toEqual([])
    },
  )

  it('a provider that refuses the id is 409, and no other price is asked for', async () => {
    rig.exchange.forgetsRateIds = true
    const { id } = quotedBy('A', await quote('A'))
    rig.exchange.forgetsRateIds = false
    const quotes = rig.exchange.received('quote').length
    expectRefusal(await create('A', id), 'A', 409, 'quote_expired')
    expect(rig.exchange.received('quote')).toHaveLength(quotes)
    expect(rig.exchange.received('create')).toHaveLength(1)
    expect(rig.exchange.swaps).toEqual([])
    expect(await rig.gateway.ledgerAdmin.unresolved()).toEqual([])
  })
})

describe.each(formNames)('form %s', (form) => {
  beforeEach(async () => {
    rig = await startRig('changenow')
  })

  it('a quote without quoteId=true shows no id, and comes from the cache', async () => {
    for (const text of [(await rig.quote(form, swap)).text, (await rig.quote(form, { ...swap, rateType: 'float' })).text])
      expect(text).not.toMatch(/quote_?id|valid_?until|rate-\d/i)
  })

  it('each quote that is kept is one of its own, also at the same moment', async () => {
    const responses = await Promise.all([quote(form), quote(form), quote(form)])
    const ids = responses.map((response) => quotedBy(form, response).id)
    expect(new Set(ids).size).toBe(3)
    expect(rig.exchange.received('quote')).toHaveLength(3)
    for (const id of ids) expect((await create(form, id)).status).toBe(createdStatus[form])
  })

  it('a quote is used once, also by creates at the same moment', async () => {
    const { id } = quotedBy(form, await quote(form))
    rig.exchange.delays.create = 50
    const responses = await Promise.all(Array.from({ length: 8 }, () => create(form, id)))
    expect(responses.map(({ status }) => status).toSorted()).toEqual([createdStatus[form], ...Array(7).fill(409)].toSorted())
    expect(rig.exchange.swaps).toHaveLength(1)
    expectRefusal(await create(form, id), form, 409, 'quote_expired')
    expect(rig.exchange.received('create')).toHaveLength(1)
  })

  it('a repeat under its Idempotency-Key gets the swap, also while the first is under way', async () => {
    const { id } = quotedBy(form, await quote(form))
    rig.exchange.delays.create = 50
    const both = await Promise.all([create(form, id, { idempotencyKey: 'k' }), create(form, id, { idempotencyKey: 'k' })])
    for (const { status, headers } of both)
      expect([createdStatus[form], headers['x-swap-reason'] === 'in_progress' ? 409 : 0]).toContain(status)
    const again = await create(form, id, { idempotencyKey: 'k' })
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(rig.exchange.swaps).toHaveLength(1)
    expectRefusal(await create(form, id, { idempotencyKey: 'other' }), form, 409, 'quote_expired')
    expectRefusal(await rig.create(form, { ...swap, idempotencyKey: 'k' }), form, 422, 'key_reused')
  })

  it('a quote of another account, an invented one and one that is none are the same 409, and nothing is sent', async () => {
    const other = await rig.gateway.issueKey('other')
    const foreign = quotedBy(form, await client(form, rig.gateway.url).get(query(form), { key: other })).id
    const invented = crypto.randomUUID()
    const bodies = await Promise.all(
      [foreign, invented, 'none', '\u0000', 'x'.repeat(5_000), `${foreign} `].map((id) => create(form, id)),
    )
    for (const response of bodies) expectRefusal(response, form, 409, 'quote_expired')
    expect(new Set(bodies.map(({ text }) => text)).size).toBe(1)
    expect(rig.exchange.received('create')).toEqual([])
  })

  it('a create that differs from its quote is 400 with the parameter, and the quote stays', async () => {
    const { id } = quotedBy(form, await quote(form))
    const network = form === 'A' ? 'coinTo' : 'networkTo'
    const cases: readonly (readonly [object, readonly string[]])[] = [
      [{ amount: '0.2' }, ['amount']],
      [{ rateType: 'float' }, ['rateType']],
      [{ to: assets.usdtTrx }, [network]],
      [{ from: assets.btc }, ['coinFrom']],
      [{ from: assets.usdtEth, to: assets.eth }, ['coinFrom', 'coinTo']],
      [{ from: assets.btc, amount: '0.2', rateType: 'float' }, ['coinFrom', 'amount', 'rateType']],
    ]
    for (const [facts, fields] of cases) {
      const response = await create(form, id, facts)
      expectRefusal(response, form, 400, 'parameter_invalid')
      expect((response.json as { errors: { field: string }[] }).errors.map(({ field }) => field)).toEqual(fields)
    }
    expect(rig.exchange.received('create')).toEqual([])
    expect((await create(form, id, { amount: '0.10' })).status).toBe(createdStatus[form])
  })

  it('a quote of one form is for a create in the other', async () => {
    const { id } = quotedBy(form, await quote(form))
    const other = form === 'A' ? 'B' : 'A'
    expect((await create(other, id)).status).toBe(createdStatus[other])
  })

  it('without a key it is 401, and with a floating rate 400; neither asks the provider', async () => {
    const path = query(form)
    expectRefusal(await client(form, rig.gateway.url).get(path, { key: null }), form, 401, 'key_missing')
    expectRefusal(await client(form, rig.gateway.url).get(path, { key: 'nobody' }), form, 401, 'key_invalid')
    expectRefusal(await client(form, rig.gateway.url).get(path.replace('quoteId=true', 'quoteId=%74rue'), { key: null }), form, 401)
    expectRefusal(await quote(form, { rateType: 'float' }), form, 400, 'parameter_invalid')
    expectRefusal(await client(form, rig.gateway.url).get(`${path}x`, { key }), form, 400, 'parameter_invalid')
    expect(rig.exchange.received('quote')).toEqual([])
    expect((await client(form, rig.gateway.url).get(path.replace('true', 'false'), { key: null })).status).toBe(200)
  })
})

it('an unknown outcome keeps the quote used, and the result is the result of its key', async () => {
  rig = await startRig('changenow', { provider: { timeout: 1 } })
  const { id } = quotedBy('A', await quote('A'))
  rig.exchange.losesNextCreate = true
  const first = await create('A', id, { idempotencyKey: 'k' })
  expectRefusal(first, 'A', 504, 'outcome_unknown')
  expectRefusal(await create('A', id), 'A', 409, 'quote_expired')
  expectRefusal(await create('A', id, { idempotencyKey: 'k' }), 'A', 409, 'in_progress')
  expect(rig.exchange.received('create')).toHaveLength(1)
})

it('a refused create leaves the quote for another', async () => {
  rig = await startRig('changenow')
  const { id } = quotedBy('A', await quote('A'))
  rig.exchange.market.min = 1
  expectRefusal(await create('A', id), 'A', 400, 'below_minimum')
  rig.exchange.market.min = 0.002
  expect((await create('A', id)).status).toBe(createdStatus.A)
  expect(rig.exchange.received('quote')).toHaveLength(1)
})

it('a create that promises less than its quote is a mismatch', async () => {
  rig = await startRig('changenow')
  const { id } = quotedBy('A', await quote('A'))
  rig.exchange.tamper = (operation, { json }) =>
    operation === 'create' ? { json: { ...(json as object), toAmount: 1.5 } } : undefined
  expectRefusal(await create('A', id), 'A', 502, 'mismatch')
  expectRefusal(await create('A', id), 'A', 409, 'quote_expired')
})

it('a provider that rounds the amount of its quote changes no terms', async () => {
  rig = await startRig('changenow')
  const amount = '0.123456789012345678'
  rig.exchange.tamper = (operation, { json, ...reply }) =>
    operation === 'quote' ? { ...reply, json: { ...(json as object), fromAmount: 0.12345679 } } : undefined
  const { id } = quotedBy('A', await quote('A', { amount }))
  expectRefusal(await create('A', id, { amount: '0.12345679' }), 'A', 400, 'parameter_invalid')
  expect((await create('A', id, { amount }, { amount })).status).toBe(createdStatus.A)
})

it('a provider whose quotes have no id does not have it', async () => {
  rig = await startRig('exolix')
  expectRefusal(await quote('A'), 'A', 400, 'not_offered')
  expect(rig.exchange.received('quote')).toEqual([])
})

it('a fixed quote without its id is none that is kept', async () => {
  rig = await startRig('changenow')
  rig.exchange.tamper = (operation, { json }) =>
    operation === 'quote' ? { json: { ...(json as object), rateId: null } } : undefined
  expectRefusal(await quote('B'), 'B', 400, 'not_offered')
})

it.each([
  ['nothing', null],
  ['no time', 'soon'],
  ['a time that is over', '2020-01-01T00:00:00Z'],
])('a provider that says %s of the time of its quote: it is kept for a minute, as derived', async (_, validUntil) => {
  rig = await startRig('changenow')
  rig.exchange.tamper = (operation, { json }) => (operation === 'quote' ? { json: { ...(json as object), validUntil } } : undefined)
  const response = await quote('B')
  const seconds = (Date.parse(quotedBy('B', response).until) - Date.now()) / 1_000
  expect(seconds).toBeGreaterThan(50)
  expect(seconds).toBeLessThan(61)
  expect(response.headers['x-swap-derived']).toContain('valid_until')
})

it('a time that is far away is an hour', async () => {
  rig = await startRig('changenow')
  const far = new Date(Date.now() + 86_400_000).toISOString()
  rig.exchange.tamper = (operation, { json }) =>
    operation === 'quote' ? { json: { ...(json as object), validUntil: far } } : undefined
  const seconds = (Date.parse(quotedBy('A', await quote('A')).until) - Date.now()) / 1_000
  expect(seconds).toBeGreaterThan(3_550)
  expect(seconds).toBeLessThan(3_601)
})

it.each([
  ['an hour ahead', 3_600_000, 3_600_000],
  ['an hour behind', -3_600_000, -3_600_000],
  ['right, and that of the machine before it an hour behind', 0, -3_600_000],
  ['right, and that of the machine before it an hour ahead', 0, 3_600_000],
])('a quote of 30 s holds no longer where the clock of the provider is %s', async (_, aheadMs, dateAheadMs) => {
  rig = await startRig('changenow')
  rig.exchange.tamper = (operation, { json }) => {
    const headers = { date: new Date(Date.now() + dateAheadMs).toUTCString() }
    const validUntil = new Date(Date.now() + aheadMs + 30_000).toISOString()
    return operation === 'quote' ? { json: { ...(json as object), validUntil }, headers } : { json, headers }
  }
  const seconds = (Date.parse(quotedBy('A', await quote('A')).until) - Date.now()) / 1_000
  expect(seconds).toBeGreaterThan(20)
  expect(seconds).toBeLessThan(32)
})

it('a quote that is over is 409, and nothing is sent', async () => {
  rig = await startRig('changenow')
  const soon = () => new Date(Date.now() + 3_000).toISOString()
  rig.exchange.tamper = (operation, { json, ...reply }) =>
    operation === 'quote' ? { ...reply, json: { ...(json as object), validUntil: soon() } } : undefined
  const { id, until } = quotedBy('A', await quote('A'))
  await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(until))
  expectRefusal(await create('A', id), 'A', 409, 'quote_expired')
  expect(rig.exchange.received('create')).toEqual([])
})

it("with the provider's own keys the quote is that of the key", async () => {
  rig = await startRig('changenow', { mode: 'passthrough' })
  const { id } = quotedBy('A', await quote('A'))
  expect((await create('A', id)).status).toBe(createdStatus.A)
  const next = quotedBy('A', await quote('A')).id
  const order = { coinFrom: 'ETH', coinTo: 'USDTERC20', amount: 0.1, rateType: 'fixed', withdrawalAddress: addresses.ETH }
  const foreign = await client('A', rig.gateway.url).post(
    '/transactions',
    { ...order, quoteId: next },
    { key: 'another-key-of-a-client' },
  )
  expectRefusal(foreign, 'A', 409, 'quote_expired')
})
