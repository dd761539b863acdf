/** docs/contract.md §10.7: which provider a firm quote and its create go to, at providers that speak Form A and B. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { rateA } from '../support/form-a.ts'
import { rateB } from '../support/form-b.ts'
import { digits } from '../support/json.ts'
import { type Managed, orderIn, ownKeys, startManaged } from '../support/managed.ts'
import { formNames, rateQuery } from '../support/pair.ts'
import type { Received, Reply } from '../support/stand-in.ts'
import { assets } from '../support/swaps.ts'

let managed: Managed
let key: string
beforeEach(async () => {
  managed = await startManaged({ routing: ['alpha', 'beta'] })
  key = await managed.issue()
})
afterEach(() => managed.close())

const terms = { from: assets.btc, to: assets.usdtTrx, amount: '0.10', rateType: 'fixed' } as const
const quote = (headers: Readonly<Record<string, string>> = {}): Promise<ReceivedResponse> =>
  managed.client('A').get(`${rateQuery('A', terms)}&quoteId=true`, { key, headers })
const create = (quoteId: string, headers: Readonly<Record<string, string>> = {}): Promise<ReceivedResponse> =>
  managed.client('A').post('/transactions', orderIn('A', { rateType: 'fixed', quoteId }), { key, headers })
const received = (amountTo: string): string => rateQuery('A', terms).replace('amount=0.10', `amountTo=${amountTo}`)
const idIn = ({ json }: ReceivedResponse): string => (json as { quoteId: string }).quoteId
const validUntil = (): string => new Date(Date.now() + 60_000).toISOString()

/** Keeps what it is asked to keep. */
const keepsQuotes = (provider: 'alpha' | 'beta'): void => {
  const ownWords = { alpha: { quoteId: 'own-1', validUntil: validUntil() }, beta: { quote_id: 'own-1', valid_until: validUntil() } }
  const usual = { alpha: rateA, beta: rateB }[provider]
  managed[provider].reply('rate', ({ query }: Received): Reply | undefined =>
    query.get('quoteId') === 'true' ? { json: { ...usual(query), ...ownWords[provider] } } : undefined,
  )
}

describe('a service of Form A or B', () => {
  test.each(['alpha', 'beta'] as const)(
    '%s is asked for an id with the key of its creates, and gets its own id back',
    async (name) => {
      keepsQuotes(name)
      const response = await quote()
      expect(response.headers['x-swap-provider'], response.text).toBe(name)
      expect(response.text).not.toContain('own-1')
      const [rate] = managed[name].received('rate').slice(-1)
      expect(rate?.headers[name === 'alpha' ? 'authorization' : 'x-api-key']).toContain(ownKeys[name])
      await create(idIn(response))
      const [sent] = managed[name].received('create')
      expect(JSON.parse(sent?.body ?? '{}')).toMatchObject({ quoteId: 'own-1', rateType: 'fixed' })
      expect([managed.alpha, managed.beta].flatMap((provider) => provider.received('create'))).toHaveLength(1)
    },
  )

  test.each(['alpha', 'beta'] as const)(
    '%s has one for an amount to be received: for a create by the same, with both amounts of the quote',
    async (name) => {
      await managed.close()
      managed = await startManaged({ routing: [name], providers: { alpha: { amountTo: true }, beta: { amountTo: true } } })
      key = await managed.issue()
      keepsQuotes(name)
      const response = await managed.client('A').get(`${received('5.0')}&quoteId=true`, { key })
      expect(response.status, response.text).toBe(200)
      const order = (facts: object) =>
        managed.client('A').post('/transactions', orderIn('A', { rateType: 'fixed', quoteId: idIn(response), ...facts }), { key })
      expectRefusal(await order({}), 'A', 400, 'parameter_invalid')
      expectRefusal(await order({ amount: undefined, amountTo: digits('5.1') }), 'A', 400, 'parameter_invalid')
      expect(managed[name].received('create')).toEqual([])
      const made = await order({ amount: undefined, amountTo: digits('5.0') })
      expect(made.status, made.text).toBe(201)
      expect(made.json).toMatchObject({ amount: digits('0.10'), amountTo: digits('5.0') })
      const [sent] = managed[name].received('create')
      expect(sent?.body).toContain('"amountTo":5.0,')
      expect(JSON.parse(sent?.body ?? '{}')).toMatchObject({ quoteId: 'own-1' })
      expectRefusal(await order({ amount: undefined, amountTo: digits('5.0') }), 'A', 409, 'quote_expired')
    },
  )

  test.each([
    ['leaves it out', undefined],
    [
      'does not know the parameter',
      { status: 400, json: { error: 'Bad Request', message: 'unknown parameter quoteId', code: 400 } },
    ],
  ] as const)('that %s has no such quotes, and the next provider is asked', async (_, reply) => {
    if (reply) managed.alpha.reply('rate', reply)
    expectRefusal(await quote(), 'A', 400, 'not_offered')
    keepsQuotes('beta')
    expect((await quote()).headers['x-swap-provider']).toBe('beta')
  })

  test('that says with 409 that the quote is over has created nothing; any other 409 leaves it open', async () => {
    keepsQuotes('alpha')
    const id = idIn(await quote())
    const refusal = { status: 409, json: { error: 'Conflict', message: 'The quote does not hold.', code: 409 } }
    managed.alpha.reply('create', { ...refusal, headers: { 'x-swap-reason': 'quote_expired' } })
    expectRefusal(await create(id), 'A', 409, 'quote_expired')
    expect(await managed.gateway.ledgerAdmin.unresolved()).toEqual([])
    managed.alpha.reply('create', refusal)
    expectRefusal(await create(id), 'A', 504, 'outcome_unknown')
    expectRefusal(await create(id), 'A', 409, 'quote_expired')
    expect(managed.alpha.received('create')).toHaveLength(2)
    expect(managed.beta.received('create')).toEqual([])
  })
})

test('by an amount to receive: the create has that amount, and no amount that is sent', async () => {
  managed.reconfigure({ routing: ['alpha', 'beta'], providers: { alpha: { amountTo: true } } })
  keepsQuotes('alpha')
  const path = rateQuery('A', terms).replace('amount=0.10', 'amountTo=20')
  const response = await managed.client('A').get(`${path}&quoteId=true`, { key })
  expect(response.status, response.text).toBe(200)
  const order = (amounts: object) => ({
    ...orderIn('A', { rateType: 'fixed', quoteId: idIn(response) }),
    amount: undefined,
    ...amounts,
  })
  const createBy = (amounts: object) => managed.client('A').post('/transactions', order(amounts), { key })
  const fieldsOf = ({ json }: ReceivedResponse) => (json as { errors: { field: string }[] }).errors.map(({ field }) => field)
  for (const [amounts, field] of [
    [{ amount: 20 }, 'amount'],
    [{ amountTo: 21 }, 'amountTo'],
  ] as const) {
    const refused = await createBy(amounts)
    expectRefusal(refused, 'A', 400, 'parameter_invalid')
    expect(fieldsOf(refused)).toEqual([field])
  }
  expect(managed.alpha.received('create')).toEqual([])
  await createBy({ amountTo: 20 })
  const [sent] = managed.alpha.received('create')
  expect(JSON.parse(sent?.body ?? '{}')).toMatchObject({ quoteId: 'own-1', amountTo: 20 })
})

describe('the provider of the quote', () => {
  test.each([
    ['drains', { providers: { alpha: { state: 'draining' } } }],
    ['is off', { providers: { alpha: { state: 'off' } } }],
    ['is not routed any more', { routing: ['beta'] }],
  ])('%s: 409, nothing is sent, and the quote holds when it is back', async (_, change) => {
    keepsQuotes('alpha')
    const id = idIn(await quote())
    managed.reconfigure({ routing: ['alpha', 'beta'], ...change })
    expectRefusal(await create(id), 'A', 409, 'quote_expired')
    expect([...managed.alpha.received('create'), ...managed.beta.received('create')]).toEqual([])
    managed.reconfigure({ routing: ['alpha', 'beta'] })
    expect((await create(id)).status).toBe(201)
    expect(managed.alpha.received('create')).toHaveLength(1)
  })

  test('is the one of the create also where another is first by now', async () => {
    keepsQuotes('alpha')
    const id = idIn(await quote())
    managed.reconfigure({ routing: ['beta', 'alpha'] })
    expect((await create(id)).headers['x-swap-provider']).toBe('alpha')
  })

  test('turns the create away: no other gets it, and the quote holds', async () => {
    keepsQuotes('alpha')
    const id = idIn(await quote())
    managed.alpha.reply('create', {
      status: 429,
      headers: { 'retry-after': '1' },
      json: { error: 'x', message: 'Slow down', code: 429 },
    })
    expectRefusal(await create(id), 'A', 503, 'provider_busy')
    expect(managed.beta.received('create')).toEqual([])
  })

  test('cannot be another one of X-Swap-Provider', async () => {
    managed.reconfigure({ sections: { routing: { providers: ['alpha', 'beta'], pick: ['alpha', 'beta'] } } })
    keepsQuotes('alpha')
    const id = idIn(await quote())
    expectRefusal(await create(id, { 'x-swap-provider': 'beta' }), 'A', 400, 'parameter_invalid')
    expect((await create(id, { 'x-swap-provider': 'alpha' })).status).toBe(201)
  })

  test('is that of the highest amount under best', async () => {
    managed.reconfigure({ sections: { routing: { providers: ['alpha', 'beta'], strategy: 'best' } } })
    keepsQuotes('alpha')
    keepsQuotes('beta')
    const response = await quote()
    const winner = response.headers['x-swap-provider']
    expect((await create(idIn(response))).headers['x-swap-provider']).toBe(winner)
  })
})

test('a mirror repeats no quote that is kept', async () => {
  managed.reconfigure({
    routing: ['alpha'],
    sections: { routing: { providers: ['alpha'], mirror: { provider: 'beta', sample: 1 } } },
  })
  keepsQuotes('alpha')
  expect((await quote()).status).toBe(200)
  await managed.client('A').get(rateQuery('A', terms), { key })
  await expect.poll(() => managed.beta.received('rate').length).toBe(1)
  expect(managed.beta.received('rate')[0]?.query.has('quoteId')).toBe(false)
})

test.each(formNames)('form %s: no quote of GET /rates can be kept', async (form) => {
  managed.reconfigure({ sections: { routing: { providers: ['alpha'], pick: ['alpha'] } } })
  const path = `${rateQuery(form, terms).replace('/rate?', '/rates?')}&quoteId=true`
  expectRefusal(await managed.client(form).get(path, { key }), form, 400, 'parameter_unknown')
})
