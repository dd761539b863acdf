// Takes long: it waits for time-outs of providers.
/** docs/contract.md §10, docs/contract-operators.md §8, §12: which create moves on to the next provider, and which never does. The checks use both journals. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { maxOpenCreates } from '../../src/core/ports/ledger.ts'
import { createBreaker, type MakeBreaker } from '../../src/core/resilience/breaker.ts'
import type { NewTransaction } from '../../src/domain/swap.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { type Managed, orderIn, ownKeys, startManaged } from '../support/managed.ts'
import { type FormName, formNames } from '../support/pair.ts'
import { providerAssets } from '../support/provider-assets.ts'
import type { Reply } from '../support/stand-in.ts'
import { swap } from '../support/swaps.ts'

let managed: Managed
let key: string
const strange: Server[] = []

const start = async (alpha: object = {}): Promise<void> => {
  managed = await startManaged({ routing: ['alpha', 'beta'], providers: { alpha: { assets: providerAssets, ...alpha } } })
  key = await managed.issue()
}
afterEach(async () => {
  await managed.close()
  for (const server of strange.splice(0)) server.close()
})

const create = (form: FormName, facts: object = {}): Promise<ReceivedResponse> =>
  managed.client(form).post('/transactions', orderIn(form, facts), { key, headers: { 'idempotency-key': 'order-4' } })
const words = (form: FormName): string =>
  form === 'A' ? 'coinFrom=BTC&coinTo=USDTTRC20' : 'coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX'
const rate = (form: FormName): Promise<ReceivedResponse> => managed.client(form).get(`/rate?${words(form)}&amount=1`)

/** A port without a listener. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** A port on which every connection is treated so. */
async function strangePort(treat: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => treat(socket.on('error', () => socket.destroy()))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  strange.push(server)
  return (server.address() as AddressInfo).port
}

const unconnected: readonly [string, () => Promise<object>][] = [
  ['refuses the connection', async () => ({ url: `http://127.0.0.1:${await closedPort()}` })],
  ['has a name that is not known', async () => ({ url: 'https://no-such-host.invalid/v2' })],
  ['cannot be routed to', async () => ({ url: 'https://192.0.2.1/v2', timeout: 0.3 })],
  ['does not end its handshake', async () => ({ url: `https://127.0.0.1:${await strangePort(() => {})}`, timeout: 0.3 })],
  ['fails in the TLS handshake', async () => ({ url: `https://127.0.0.1:${await strangePort((socket) => socket.end('no'))}` })],
  ['resets while it connects', async () => ({ url: `https://127.0.0.1:${await strangePort((s) => s.resetAndDestroy())}` })],
]

describe.each(unconnected)('L4: a first provider that %s', (_, facts) => {
  test.each(formNames)('leaves the create to the next one, once, under the same key (form %s)', async (form) => {
    await start(await facts())
    const response = await create(form)
    expect(response.status, response.text).toBe(form === 'A' ? 201 : 200)
    expect(response.headers['x-swap-provider']).toBe('beta')
    expect((response.json as { id: string }).id).toMatch(/^beta~/)
    expect(managed.alpha.journal).toEqual([])
    expect(managed.beta.received('create')).toHaveLength(1)
    const again = await create(form)
    expect(again.text).toBe(response.text)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(managed.beta.received('create')).toHaveLength(1)
    expect(await managed.gateway.ledgerAdmin.unresolved()).toEqual([])
    const { entries, pending, unknown, mismatches } = await managed.gateway.ledgerAdmin.stats(Date.now())
    expect({ entries, pending, unknown, mismatches }).toEqual({
      entries: [{ provider: 'beta', status: 'wait', count: 1 }],
      pending: 0,
      unknown: 0,
      mismatches: 0,
    })
  })
})

test('L6: of 50 at the same time one is made, though all come by way of a provider that refuses', async () => {
  await start({ url: `http://127.0.0.1:${await closedPort()}` })
  const responses = await Promise.all(Array.from({ length: 50 }, (_, at) => create(at % 2 ? 'A' : 'B')))
  const made = responses.filter(({ status }) => status < 300)
  for (const { status } of responses.filter((response) => !made.includes(response))) expect(status).toBe(409)
  expect(new Set(made.map(({ json }) => (json as { id: string }).id))).toEqual(new Set(['beta~tx-1']))
  expect(managed.beta.received('create')).toHaveLength(1)
  expect((await create('A')).json).toMatchObject({ id: 'beta~tx-1' })
})

test.each(formNames)(
  'L164: beyond 1,000 open creates at a provider an account gets the next one, else 503 (form %s)',
  async (form) => {
    await start()
    managed.alpha.reply('create', { status: 500, text: '{}' })
    expect((await create(form)).status).toBe(504)
    const [lost] = await managed.gateway.ledgerAdmin.unresolved()
    const { owner = '', requested } = lost ?? {}
    const begin = (provider: string) => {
      const [id, attemptedAt] = [crypto.randomUUID(), Date.now()]
      const times = { attemptedAt, nextCheckAt: attemptedAt + 60_000 }
      return managed.gateway.ledger.begin({ id, owner, provider, requested: requested as NewTransaction, ...times })
    }
    // Few at a time: an account's creates wait for their turns.
    const fill = async (provider: string, count: number) => {
      for (let left = count; left > 0; left -= 50)
        await Promise.all(Array.from({ length: Math.min(left, 50) }, () => begin(provider)))
    }
    await fill('alpha', maxOpenCreates - 1)
    managed.alpha.reset()
    const order = () =>
      managed.client(form).post('/transactions', orderIn(form), { key, headers: { 'idempotency-key': crypto.randomUUID() } })
    expect((await order()).headers['x-swap-provider']).toBe('beta')
    await fill('beta', maxOpenCreates)
    const refused = await order()
    expectRefusal(refused, form, 503)
    expect(refused.headers['retry-after']).toBe('60')
    expect([managed.alpha.received('create').length, managed.beta.received('create').length]).toEqual([0, 1])
  },
)

test('L4: if no provider can be reached the create is 502, and its key is not used up', async () => {
  await start({ url: `http://127.0.0.1:${await closedPort()}` })
  await managed.beta.close()
  expectRefusal(await create('A'), 'A', 502)
  expectRefusal(await create('A'), 'A', 502)
  expect(await managed.gateway.ledgerAdmin.unresolved()).toEqual([])
})

test.each([
  ['alpha', 'beta'],
  ['beta', 'alpha'],
])(
  'if one cannot be reached and the other does not offer the pair, it is not the pair that is wrong (%s first)',
  async (...routing) => {
    const url = `http://127.0.0.1:${await closedPort()}`
    managed = await startManaged({
      routing,
      providers: { alpha: { url, assets: providerAssets }, beta: { assets: { USDTTRC20: null } } },
    })
    key = await managed.issue()
    expectRefusal(await create('A'), 'A', 502)
    expectRefusal(await rate('B'), 'B', 502)
  },
)

test('of several that do not offer the pair the first refusal is returned', async () => {
  const [alpha, beta] = [{ assets: { USDTTRC20: null } }, { assets: { BTC: null } }]
  managed = await startManaged({ routing: ['alpha', 'beta'], providers: { alpha, beta } })
  key = await managed.issue()
  expect(expectRefusal(await create('A'), 'A', 400)).toContain('coinTo')
  expect(expectRefusal(await rate('B'), 'B', 400)).toContain('coinTo')
})

test("A14: a provider's key goes to that provider alone, on failover too", async () => {
  await start({ url: `http://127.0.0.1:${await closedPort()}` })
  await create('A')
  await rate('A')
  expect(JSON.stringify(managed.beta.journal)).not.toContain(ownKeys.alpha)
  const [received] = managed.beta.received('create')
  expect(received?.headers['x-api-key']).toBe(ownKeys.beta)
  expect(received?.headers).not.toHaveProperty('authorization')
  for (const { headers } of [...managed.beta.received('rate'), ...managed.beta.received('currencies')])
    expect(JSON.stringify(headers)).not.toContain('provider-key')
})

const message = 'Something is wrong'
const reached: readonly [string, Reply, number][] = [
  ['resets after the bytes', { reset: true }, 504],
  ['returns 500', { status: 500, json: { message, code: 500 } }, 504],
  ['returns 502', { status: 502, text: '<html>' }, 504],
  ['returns 503', { status: 503, headers: { 'retry-after': '9' }, json: { message, code: 503 } }, 504],
  ['returns 408', { status: 408, json: { message, code: 408 } }, 504],
  ['returns 400 without a word', { status: 400, text: '' }, 400],
  ['returns 400 with HTML', { status: 400, text: '<html>' }, 400],
  ['returns 302', { status: 302, headers: { location: '/elsewhere' }, json: {} }, 504],
  [
    'reports no deposit address',
    { status: 201, json: { ...transactionA(swap({ refundAddress: null })), depositAddress: '' } },
    504,
  ],
  ['does not respond in time', { delay: 800, json: {} }, 504],
  ['returns 400', { status: 400, json: { message, code: 400 } }, 400],
  ['returns 404', { status: 404, json: { message, code: 404 } }, 400],
  ['returns 422', { status: 422, json: { message, code: 422 } }, 400],
  ['returns 409', { status: 409, json: { message, code: 409 } }, 504],
  ['returns 401', { status: 401, json: { message, code: 401 } }, 502],
]

describe.each(reached)('L4: a first provider that %s', (_, reply, status) => {
  test.each(formNames)('keeps the create to itself (form %s)', async (form) => {
    await start(reply.delay === undefined ? {} : { timeout: 0.4 })
    managed.alpha.reply('create', reply)
    expectRefusal(await create(form), form, status)
    expect(managed.alpha.received('create')).toHaveLength(1)
    expect(managed.beta.received('create')).toEqual([])
    const states = (await managed.gateway.ledgerAdmin.unresolved()).map(({ state, provider }) => [state, provider])
    expect(states).toEqual(status === 504 ? [['unknown', 'alpha']] : [])
    managed.alpha.reset()
    expect((await create(form)).status).toBe(status === 504 ? 409 : form === 'A' ? 201 : 200)
    expect(managed.beta.received('create')).toEqual([])
  })
})

describe.each<[string, Reply]>([
  ['resets', { reset: true }],
  ['returns 500', { status: 500, json: {} }],
  ['returns 503', { status: 503, json: {} }],
  ['returns 429', { status: 429, json: { message } }],
  ['returns nonsense', { text: 'nonsense' }],
  ['returns about another pair', { json: { coinFrom: 'ETH', coinTo: 'XRP', amount: 1, amountTo: 1, rate: 1 } }],
  ['does not respond in time', { delay: 800, json: {} }],
])('U1: a first provider that %s', (_, reply) => {
  test.each(formNames)('leaves a quote to the next one (form %s)', async (form) => {
    await start(reply.delay === undefined ? {} : { timeout: 0.4 })
    managed.alpha.reply('rate', reply)
    const response = await rate(form)
    expect(response.status, response.text).toBe(200)
    expect(response.headers['x-swap-provider']).toBe('beta')
  })
})

test('a quote that the first provider refuses with a message does not fail over', async () => {
  await start()
  managed.alpha.reply('rate', { status: 400, json: { message: 'Too little', code: 400 } })
  expect(expectRefusal(await rate('A'), 'A', 400)).toContain('Too little')
  expect(managed.beta.received('rate')).toEqual([])
})

test('a message instead of an amount is a refusal too', async () => {
  managed = await startManaged({ routing: ['beta', 'alpha'] })
  managed.beta.reply('rate', {
    json: { fromAmount: 1, toAmount: 0, rate: 0, minAmount: 2, maxAmount: 3, message: 'Too little' },
  })
  expect(expectRefusal(await rate('A'), 'A', 400)).toContain('Too little')
  expect(managed.alpha.received('rate')).toEqual([])
})

test('a transaction is read from the provider that made it, with any provider first', async () => {
  await start()
  managed.alpha.holdings.swaps = [swap()]
  const { id } = (await create('A')).json as { id: string }
  expect(id).toMatch(/^alpha~/)
  managed.alpha.reply('get', { reset: true })
  expect((await managed.client('A').get(`/transactions/${id}`, { key })).headers).toHaveProperty('x-swap-stale')
  expect(managed.beta.received('get')).toEqual([])
})

describe('U16: a breaker that is open for one operation at the first provider', () => {
  const now = { ms: 1_000_000 }
  const breaker: MakeBreaker = (upstream) => createBreaker({ ...upstream, steadyClock: () => now.ms, random: () => 0 })
  const startGuarded = async (): Promise<void> => {
    managed = await startManaged({
      routing: ['alpha', 'beta'],
      providers: { alpha: { assets: providerAssets } },
      sections: { cache: { currencies: 600, rate: 0, staleFor: 600 } },
      breaker,
      steadyClock: () => now.ms,
    })
    key = await managed.issue()
  }
  const providerOf = ({ headers }: ReceivedResponse) => headers['x-swap-provider']

  test.each(formNames)('of quotes leaves quotes and creates to the next one, and its reads stay (form %s)', async (form) => {
    await startGuarded()
    const { id } = (await create(form)).json as { id: string }
    managed.alpha.reply('rate', { status: 500, json: {} })
    const keys = [key, await managed.issue()]
    const quoteOf = (sender: string) => managed.client(form).get(`/rate?${words(form)}&amount=1`, { key: sender })
    for (let calls = 0; calls < 6; calls++) for (const sender of keys) expect(providerOf(await quoteOf(sender))).toBe('beta')
    const calls = managed.alpha.received('rate').length
    expect(providerOf(await quoteOf(key))).toBe('beta')
    expect(managed.alpha.received('rate')).toHaveLength(calls)
    expect((await managed.client(form).get(`/transactions/${id}`, { key })).headers).not.toHaveProperty('x-swap-stale')
    expect(providerOf(await managed.client(form).post('/transactions', orderIn(form), { key }))).toBe('beta')
    expect(managed.alpha.received('create')).toHaveLength(1)
  })

  test.each(formNames)('of reads leaves the last known state, and no other provider is read (form %s)', async (form) => {
    await startGuarded()
    const { id } = (await create(form)).json as { id: string }
    managed.alpha.reply('get', { status: 500, json: {} })
    const other = await managed.issue()
    const { json } = await managed.client(form).post('/transactions', orderIn(form), { key: other })
    const reads = [
      [id, key],
      [(json as { id: string }).id, other],
    ] as const
    for (let calls = 0; calls < 6; calls++) {
      for (const [read, sender] of reads) {
        now.ms += 10
        expect((await managed.client(form).get(`/transactions/${read}`, { key: sender })).headers).toHaveProperty('x-swap-stale')
      }
    }
    const calls = managed.alpha.received('get').length
    await managed.client(form).get(`/transactions/${id}`, { key })
    expect(managed.alpha.received('get')).toHaveLength(calls)
    expect(managed.beta.received('get')).toEqual([])
    expect(providerOf(await rate(form))).toBe('alpha')
  })
})
