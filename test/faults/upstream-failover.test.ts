// Takes long: it waits for time-outs of providers.
/** Which provider is called if one fails. The checks use the journals. */
import { afterEach, describe, expect, test } from 'vitest'
import { createBreaker, type MakeBreaker } from '../../src/core/resilience/breaker.ts'
import type { Budgets } from '../../src/core/resilience/budget-limit.ts'
import type { Op } from '../../src/domain/service.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { providerAssets } from '../support/provider-assets.ts'
import type { Operation, Reply } from '../support/stand-in.ts'

interface Rig extends Managed {
  readonly key: string
  readonly rate: () => Promise<ReceivedResponse>
  readonly currencies: () => Promise<ReceivedResponse>
  readonly create: () => Promise<ReceivedResponse>
  readonly get: (id: string) => Promise<ReceivedResponse>
  /** On the clock of breakers and rests. */
  readonly pass: (seconds: number) => void
}

const open: Managed[] = []
afterEach(async () => {
  for (const managed of open.splice(0)) await managed.close()
})

type Settings = NonNullable<Parameters<typeof startManaged>[0]>

/** Two providers, the first of them Form A, with breakers that open. */
async function start(settings: Settings = {}): Promise<Rig> {
  let now = 1_000_000
  const steadyClock = (): number => now
  const breaker: MakeBreaker = (upstream) => createBreaker({ ...upstream, random: () => 0 })
  const providers = { ...settings.providers, alpha: { assets: providerAssets, ...settings.providers?.alpha } }
  const managed = await startManaged({ routing: ['alpha', 'beta'], breaker, steadyClock, ...settings, providers })
  open.push(managed)
  const key = await managed.issue()
  const client = managed.client('A')
  return {
    ...managed,
    key,
    rate: () => client.get('/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=1'),
    currencies: () => client.get('/currencies'),
    create: () => client.post('/transactions', orderIn('A'), { key }),
    get: (id) => client.get(`/transactions/${id}`, { key }),
    pass(seconds) {
      now += seconds * 1000
    },
  }
}

const down: Reply = { status: 500, json: { error: 'x', message: 'y', code: 500 } }
const everything: readonly Operation[] = ['currencies', 'rate', 'create', 'list', 'get']
const shortTimeouts = { alpha: { timeout: 0.8 }, beta: { timeout: 0.8 } }
/** Long enough for a busy machine to tell one deadline from two. */
const longTimeouts = { alpha: { timeout: 2.5 }, beta: { timeout: 2.5 } }

function replyToAll(provider: Rig['alpha'] | Rig['beta'], reply: Reply): void {
  for (const operation of everything) provider.reply(operation, reply)
}

const isOpen = ({ gateway }: Rig, provider: string, operation: Op): boolean =>
  gateway.observations
    .filter((observation) => observation.what === 'breaker')
    .findLast((change) => change.provider === provider && change.operation === operation)?.state === 'open'

/** By failures of one caller, after which the gateway's own read of the first provider fails too. */
async function openForQuotes(rig: Rig): Promise<void> {
  const isOpenNow = async (): Promise<boolean> => {
    await rig.rate()
    return isOpen(rig, 'alpha', 'getRate')
  }
  await expect.poll(isOpenNow).toBe(true)
}

/** By one failure of each of two accounts. */
async function openForCreates(rig: Rig): Promise<void> {
  for (let account = 0; account < 2; account++) {
    const key = await rig.issue()
    expectRefusal(await rig.client('A').post('/transactions', orderIn('A'), { key }), 'A', 504)
  }
}

describe.each<[string, Reply]>([
  ['is silent', { delay: 5_000, json: {} }],
  ['resets', { reset: true }],
  ['returns 500', down],
  ['returns nonsense', { text: '}{' }],
])('a first provider that %s', (_, reply) => {
  test('U1, U2: quotes come from the next one, within the one deadline that both share', async () => {
    const rig = await start({ providers: longTimeouts })
    replyToAll(rig.alpha, reply)
    for (const sendRequest of [rig.rate, rig.currencies]) {
      const before = performance.now()
      const response = await sendRequest()
      expect([response.status, response.headers['x-swap-provider']], response.text).toEqual([200, 'beta'])
      expect(performance.now() - before).toBeLessThan(4_500)
    }
  })

  test('U1, U2: if the next one is so too, the response is an error in time', async () => {
    const rig = await start({ providers: longTimeouts })
    replyToAll(rig.alpha, reply)
    replyToAll(rig.beta, reply)
    const before = performance.now()
    expect([502, 504]).toContain((await rig.rate()).status)
    expect(performance.now() - before).toBeLessThan(4_500)
  })

  test('U15: one that fails for all clients gets no more calls, for quotes or for creates', async () => {
    const rig = await start({ providers: shortTimeouts })
    replyToAll(rig.alpha, reply)
    await openForQuotes(rig)
    await openForCreates(rig)
    rig.alpha.journal.length = 0
    const [rate, created] = [await rig.rate(), await rig.create()]
    expect([rate.headers['x-swap-provider'], created.headers['x-swap-provider']]).toEqual(['beta', 'beta'])
    expect(created.status).toBe(201)
    expect([...rig.alpha.received('rate'), ...rig.alpha.received('create')]).toEqual([])
  })
})

test('U29: after its cooldown one create of a client finds out, once a quote and a read have been answered', async () => {
  const rig = await start({ sections: { cache: { currencies: 600, rate: 0, staleFor: 0 } } })
  await rig.currencies()
  rig.alpha.reply('create', down)
  await openForCreates(rig)
  expect(isOpen(rig, 'alpha', 'createTransaction')).toBe(true)
  expect((await rig.create()).headers['x-swap-provider']).toBe('beta')
  rig.alpha.reset()
  rig.pass(30)
  for (const sendRequest of [rig.rate, rig.currencies]) await sendRequest()
  expect(isOpen(rig, 'alpha', 'createTransaction')).toBe(true)
  rig.alpha.journal.length = 0
  expect((await rig.create()).headers['x-swap-provider']).toBe('alpha')
  expect(rig.alpha.journal.map(({ operation }) => operation)).toEqual(['rate', 'list', 'create'])
  expect(isOpen(rig, 'alpha', 'createTransaction')).toBe(false)
})

test('U16: if all have a cooldown, reads and creates are 503 with the smaller Retry-After, and nothing is sent', async () => {
  const rig = await start()
  replyToAll(rig.alpha, down)
  replyToAll(rig.beta, down)
  await openForQuotes(rig)
  await expect.poll(() => isOpen(rig, 'beta', 'getRate')).toBe(true)
  for (let provider = 0; provider < 2; provider++) await openForCreates(rig)
  const { unknown: before } = await rig.gateway.ledgerAdmin.stats(Date.now())
  rig.pass(0.5)
  rig.alpha.journal.length = 0
  rig.beta.journal.length = 0
  for (const [sendRequest, retryAfter] of [
    [rig.rate, '1'],
    [rig.create, '30'],
  ] as const) {
    const response = await sendRequest()
    expectRefusal(response, 'A', 503)
    expect(response.headers['retry-after']).toBe(retryAfter)
    expect(response.headers).not.toHaveProperty('x-swap-provider')
  }
  for (const { received } of [rig.alpha, rig.beta]) expect([...received('rate'), ...received('create')]).toEqual([])
  const { pending, unknown } = await rig.gateway.ledgerAdmin.stats(Date.now())
  expect({ pending, unknown }).toEqual({ pending: 0, unknown: before })
})

describe('one client does not stop a provider for others', () => {
  const quote = (rig: Rig, key: string, amount: string): Promise<ReceivedResponse> =>
    rig.client('A').get(`/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=${amount}`, { key })
  const odd = '666'

  test('U26: by quotes with a 500: only it is rejected, for as long as a breaker would be open', async () => {
    const rig = await start({ routing: ['alpha'] })
    rig.alpha.reply('rate', ({ query }) => (query.get('amount') === odd ? down : undefined))
    const other = await rig.issue()
    for (let call = 0; call < 5; call++) {
      expectRefusal(await quote(rig, rig.key, odd), 'A', 502)
      expect((await quote(rig, other, '1')).status).toBe(200)
    }
    await expect.poll(async () => (await quote(rig, rig.key, '1')).status).toBe(503)
    expect((await quote(rig, rig.key, '1')).headers['retry-after']).toBe('30')
    expect((await rig.create()).status, 'another operation').toBe(201)
    expect((await quote(rig, other, '1')).status).toBe(200)
    expect((await rig.rate()).status, 'without a key').toBe(200)
    rig.pass(30)
    expect((await quote(rig, rig.key, '1')).status).toBe(200)
  })

  test('U26: by creates to which a provider responds 500', async () => {
    const rig = await start({ routing: ['alpha'] })
    rig.alpha.reply('create', ({ body }) => (body.includes('TOdd') ? down : undefined))
    const create = (key: string, withdrawalAddress: string): Promise<ReceivedResponse> =>
      rig.client('A').post('/transactions', orderIn('A', { withdrawalAddress }), { key })
    const other = await rig.issue()
    for (let call = 0; call < 8; call++) {
      expect([503, 504]).toContain((await create(rig.key, 'TOdd')).status)
      expect((await create(other, 'TGood')).status).toBe(201)
    }
    expect(rig.alpha.received('create').filter(({ body }) => body.includes('TOdd'))).toHaveLength(5)
  })

  test("U30: by creates to which a firewall responds 403: 502 for them, their keys stay free, and the gateway's key is in use", async () => {
    const rig = await start({ routing: ['alpha'] })
    const firewall: Reply = { status: 403, headers: { 'content-type': 'text/html' }, text: '<html>Forbidden</html>' }
    rig.alpha.reply('create', ({ body }) => (body.includes('TOdd') ? firewall : undefined))
    const create = (key: string, withdrawalAddress: string, name: string): Promise<ReceivedResponse> => {
      const order = orderIn('A', { withdrawalAddress })
      return rig.client('A').post('/transactions', order, { key, headers: { 'idempotency-key': name } })
    }
    const other = await rig.issue()
    for (let call = 0; call < 8; call++) {
      expectRefusal(await create(rig.key, 'TOdd', 'same'), 'A', 502)
      expect((await create(other, 'TGood', `${call}`)).status).toBe(201)
    }
    expect(rig.alpha.received('list')).toHaveLength(1)
    expect(rig.gateway.observations.filter(({ what }) => what === 'cooldown')).toEqual([])
    rig.alpha.reset()
    expect((await create(rig.key, 'TOdd', 'same')).status).toBe(201)
  })
})

test('U17: of a storm at a failing provider little comes through, and clients get an error soon', async () => {
  const rig = await start({ routing: ['alpha'] })
  replyToAll(rig.alpha, down)
  const storm = 300
  const before = performance.now()
  const requests = Array.from({ length: storm }, (_, at) => `/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=${at + 1}`)
  for (const request of requests) expect([502, 503]).toContain((await rig.client('A').get(request)).status)
  expect(rig.alpha.received('rate').length).toBeLessThanOrEqual(7)
  expect(performance.now() - before).toBeLessThan(storm * 30)
})

test('U18: a provider that refuses what clients wrote stays in use', async () => {
  const rig = await start()
  rig.alpha.reply('rate', { status: 400, json: { error: 'x', message: 'Too little', code: 400 } })
  for (let callCount = 0; callCount < 50; callCount++) expect((await rig.rate()).status).toBe(400)
  // Beside them once a quote for more and one for less, which may show the limits.
  expect(rig.alpha.received('rate')).toHaveLength(52)
  expect(
    rig.gateway.observations.filter((observation) => observation.what === 'breaker' && observation.state !== 'closed'),
  ).toEqual([])
})

test('U20: a provider that flaps gets quotes a second after it is back each time, and its transactions are read nowhere else', async () => {
  const rig = await start()
  const { id } = (await rig.create()).json as { id: string }
  const cooldowns: string[] = []
  for (let outage = 0; outage < 3; outage++) {
    replyToAll(rig.alpha, down)
    await openForQuotes(rig)
    const response = await rig.get(id)
    expect([response.status, response.headers['x-swap-provider']]).toEqual([200, 'alpha'])
    expect(response.headers).toHaveProperty('x-swap-stale')
    rig.alpha.reset()
    rig.pass(0.5)
    cooldowns.push(String((await rig.rate()).headers['x-swap-provider']))
    rig.pass(0.5)
    cooldowns.push(String((await rig.rate()).headers['x-swap-provider']))
    rig.pass(2)
  }
  expect(cooldowns).toEqual(['beta', 'alpha', 'beta', 'alpha', 'beta', 'alpha'])
  expect(rig.beta.received('get')).toEqual([])
})

test("U12: a 429 starts a cooldown of its Retry-After, for quotes alone; clients never see the provider's figures", async () => {
  const rig = await start({ routing: ['alpha'] })
  const limited: Reply = { status: 429, headers: { 'retry-after': '17' }, json: { error: 'x', message: 'quota 12345', code: 429 } }
  rig.alpha.reply('rate', limited)
  for (let callCount = 0; callCount < 3; callCount++) {
    const response = await rig.rate()
    expect(expectRefusal(response, 'A', 503)).not.toContain('12345')
    expect(response.headers['retry-after']).toBe('17')
  }
  expect(rig.alpha.received('rate')).toHaveLength(1)
  expect((await rig.create()).status).toBe(201)
  rig.alpha.reset()
  rig.pass(17)
  expect((await rig.rate()).status).toBe(200)
})

test('U12: while the first provider rests, quotes and creates go to the next one', async () => {
  const rig = await start()
  const limited: Reply = { status: 429, headers: { 'retry-after': '17' }, json: { error: 'x', message: 'y', code: 429 } }
  rig.alpha.reply('rate', limited)
  rig.alpha.reply('create', limited)
  const [first, rate, created] = [await rig.create(), await rig.rate(), await rig.create()]
  expect([first, rate, created].map(({ headers }) => headers['x-swap-provider'])).toEqual(['beta', 'beta', 'beta'])
  expect([rig.alpha.received('create').length, rig.beta.received('create').length]).toEqual([1, 2])
})

test('U13: a provider that refuses our own key gets a cooldown; clients never get 401', async () => {
  const rig = await start()
  const refused: Reply = { status: 401, json: { error: 'x', message: 'Invalid API key', code: 401 } }
  for (const operation of ['create', 'list', 'get'] as const) rig.alpha.reply(operation, refused)
  expectRefusal(await rig.create(), 'A', 502)
  await expect.poll(() => rig.gateway.observations.some(({ what }) => what === 'cooldown')).toBe(true)
  const [rate, created] = [await rig.rate(), await rig.create()]
  expect([rate.headers['x-swap-provider'], created.headers['x-swap-provider'], created.status]).toEqual(['beta', 'beta', 201])
  expect(rig.gateway.observations).toContainEqual({ what: 'cooldown', provider: 'alpha', reason: 'keyRefused' })
  expect(rig.alpha.received('create')).toHaveLength(1)
  rig.alpha.reset()
  rig.pass(30)
  expect((await rig.create()).headers['x-swap-provider']).toBe('alpha')
})

/** So many calls of each bucket, and no more. */
function counted(limits: Readonly<Record<string, number>>): Budgets {
  const left = new Map(Object.entries(limits))
  return {
    async reserve(bucket) {
      const remaining = (left.get(bucket) ?? Number.POSITIVE_INFINITY) - 1
      left.set(bucket, remaining)
      return { isGranted: remaining >= 0, remaining: Math.max(0, remaining), retryAfter: 9 }
    },
  }
}

describe('a budget that is used up', () => {
  test('moves quotes and creates on to the next provider; if all are, 503 with the time to wait', async () => {
    const limits = { 'alpha:quotes': 1, 'alpha:create': 1, 'beta:create': 1 }
    const rig = await start({ budgets: counted(limits), sections: { cache: { currencies: 600, rate: 0, staleFor: 0 } } })
    const rates = [await rig.rate(), await rig.rate()].map(({ headers }) => headers['x-swap-provider'])
    const creates = [await rig.create(), await rig.create()].map(({ headers }) => headers['x-swap-provider'])
    expect([rates, creates]).toEqual([
      ['alpha', 'beta'],
      ['alpha', 'beta'],
    ])
    const refused = await rig.create()
    expectRefusal(refused, 'A', 503)
    expect(refused.headers['retry-after']).toBe('9')
    expect([rig.alpha.received('create').length, rig.beta.received('create').length]).toEqual([1, 1])
  })

  test('serves a transaction as last recorded', async () => {
    const rig = await start({ budgets: counted({ 'alpha:read': 0 }) })
    const { id } = (await rig.create()).json as { id: string }
    const response = await rig.get(id)
    expect(response.status).toBe(200)
    expect(response.headers).toHaveProperty('x-swap-stale')
    expect(rig.alpha.received('get')).toEqual([])
  })

  test('leaves the Idempotency-Key free', async () => {
    const rig = await start({ routing: ['alpha'], budgets: counted({ 'alpha:create': 0 }) })
    const client = rig.client('A')
    const options = { key: rig.key, headers: { 'idempotency-key': 'order-1' } }
    for (let callCount = 0; callCount < 2; callCount++)
      expectRefusal(await client.post('/transactions', orderIn('A'), options), 'A', 503)
    expect((await rig.gateway.ledgerAdmin.stats(Date.now())).pending).toBe(0)
  })
})
