/** docs/contract.md §7: limits on clients, and their headers. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { client, formNames, pairWords, rateQuery, startPair } from '../support/pair.ts'
import { assets, swap } from '../support/swaps.ts'

const limits = { quotes: 5, create: 3, read: 4, unverified: 1_000 }
const quote = rateQuery('A', { from: assets.btc, to: assets.eth, amount: '1' })

/** The parameters of `"policy";a=1;b=2`. */
function readField(field: unknown): { policy: string; values: Record<string, number> } {
  const [, policy = '', rest = ''] = /^"([a-z]+)"((?:;[a-z]=\d+)+)$/.exec(String(field)) ?? []
  const values = rest
    .slice(1)
    .split(';')
    .map((pair) => pair.split('='))
  return { policy, values: Object.fromEntries(values.map(([name, value]) => [name, Number(value)])) }
}

async function expectLimited(call: (at: number) => Promise<ReceivedResponse>, policy: string, limit: number): Promise<void> {
  for (let at = 1; at <= limit + 2; at++) {
    const response = await call(at)
    expect(response.headers['ratelimit-policy']).toBe(`"${policy}";q=${limit};w=60`)
    const { policy: named, values } = readField(response.headers.ratelimit)
    expect([named, values.r]).toEqual([policy, Math.max(0, limit - at)])
    expect(values.t).toBeGreaterThan(50)
    expect(values.t).toBeLessThanOrEqual(60)
    if (at <= limit) expect(response.status, response.text).toBeLessThan(300)
    else {
      expectRefusal(response, 'A', 429)
      const wait = Number(response.headers['retry-after'])
      expect(wait).toBeGreaterThanOrEqual(values.t as number)
      expect(wait).toBeLessThanOrEqual(60)
    }
  }
}

const order = { ...pairWords('A', assets.btc, assets.eth), amount: 1, withdrawalAddress: 'w' }
const defaults = [
  ['61st rate', 'rate', 'quotes', 60],
  ['31st create', 'create', 'create', 30],
  ['121st read', 'list', 'read', 120],
] as const
test.each(defaults)('R1: the %s in a window is 429 with Retry-After, and does not go up', async (_, operation, policy, limit) => {
  const pair = await startPair('A', 'A', { sections: { limits: {} } })
  const { get, post } = pair.client
  const calls = { rate: () => get(quote), create: () => post('/transactions', order), list: () => get('/transactions') }
  await expectLimited(calls[operation], policy, limit)
  await pair.close()
  expect(pair.provider.received(operation)).toHaveLength(limit)
})

test('R4: quotes: currencies and rates share one bucket for an address, whatever the key', async () => {
  const pair = await startPair('A', 'A', { sections: { limits } })
  await expectLimited((at) => pair.client.get(at % 2 ? '/currencies' : quote, { key: `k-${at}` }), 'quotes', 5)
  await pair.close()
  expect(pair.provider.received('rate')).toHaveLength(2)
})

test('R4: create: for each key, over both forms', async () => {
  const pair = await startPair('A', 'B', { sections: { limits } })
  const inB = client('B', pair.gateway.url, pair.witness)
  const ordered = (form: 'A' | 'B'): object => ({ ...pairWords(form, assets.btc, assets.eth), amount: 1, withdrawalAddress: 'w' })
  expect((await inB.post('/transactions', ordered('B'))).headers.ratelimit).toMatch(/^"create";r=2;/)
  expect((await pair.client.post('/transactions', ordered('A'))).headers.ratelimit).toMatch(/^"create";r=1;/)
  expect((await inB.post('/transactions', ordered('B'))).headers.ratelimit).toMatch(/^"create";r=0;/)
  expectRefusal(await pair.client.post('/transactions', ordered('A')), 'A', 429)
  expectRefusal(await inB.post('/transactions', ordered('B')), 'B', 429)
  const another = await pair.gateway.freshKey()
  expect((await pair.client.post('/transactions', ordered('A'), { key: another })).status).toBe(201)
  await pair.close()
  expect(pair.provider.received('create')).toHaveLength(4)
})

test('R4: read: lists and single transactions share one bucket for a key', async () => {
  const pair = await startPair('A', 'A', { sections: { limits } })
  pair.provider.holdings.swaps = [swap()]
  await expectLimited((at) => pair.client.get(at % 2 ? '/transactions' : '/transactions/alpha~tx-1'), 'read', 4)
  await pair.close()
  expect(pair.provider.journal).toHaveLength(4)
})

test('of many requests at once exactly the limit is admitted', async () => {
  const pair = await startPair('A', 'A', { sections: { limits: { ...limits, quotes: 20 } } })
  const responses = await Promise.all(Array.from({ length: 100 }, (_, at) => pair.client.get(`${quote}${at}`)))
  await pair.close()
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(20)
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(80)
  expect(pair.provider.received('rate')).toHaveLength(20)
})

test('a window ends, and the next request after Retry-After is admitted', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const pair = await startPair('A', 'A', { sections: { limits: { ...limits, quotes: 1, window: 1 } } })
  const first = await pair.client.get(quote)
  const second = await pair.client.get(quote)
  expect([first.status, second.status, second.headers['retry-after']]).toEqual([200, 429, '1'])
  vi.advanceTimersByTime(1_010)
  const third = await pair.client.get(quote)
  await pair.close()
  expect(third.status).toBe(200)
})

const counted: readonly (readonly [string, string, object, number, string])[] = [
  ['a response', '/currencies', {}, 200, 'quotes'],
  ['HEAD', '/currencies', { method: 'HEAD' }, 200, 'quotes'],
  ['a 304', '/currencies', { headers: { 'if-none-match': '*' } }, 304, 'quotes'],
  ['a 400', '/rate?bad=1', {}, 400, 'quotes'],
  ['a 400 without a call', '/transactions?page=0', {}, 400, 'read'],
  ["a provider's 404", '/transactions/alpha~none', {}, 404, 'read'],
  ['our own 404', '/transactions/unknown~none', {}, 404, 'read'],
  ['a 401', '/transactions', { key: null }, 401, 'unverified'],
  ['an unreadable create', '/transactions', { method: 'POST' }, 415, 'create'],
]
test.each(counted)('R12: %s is counted once, and its headers show it', async (_, path, options, status, policy) => {
  const pair = await startPair('A', 'A', { sections: { limits } })
  const first = await pair.client.get(path, options)
  const second = await pair.client.get(path, options)
  await pair.close()
  expect([first.status, second.status]).toEqual([status, status])
  const [before, after] = [readField(first.headers.ratelimit), readField(second.headers.ratelimit)]
  expect([before.policy, after.policy]).toEqual([policy, policy])
  expect(after.values.r).toBe((before.values.r ?? 0) - 1)
})

const free: readonly (readonly [string, string, object, number])[] = [
  ['OPTIONS', '/transactions', { method: 'OPTIONS' }, 204],
  ['a path that is none', '/nothing', {}, 404],
  ['a method that is none', '/rate', { method: 'DELETE' }, 405],
  ['another form', '/rate', { headers: { 'x-swap-form': 'B' } }, 400],
]
test.each(free)('R12: %s is not counted', async (_, path, options, status) => {
  const pair = await startPair('A', 'A', { sections: { limits } })
  const response = await pair.client.get(path, options)
  const [quotes, read] = [await pair.client.get('/currencies'), await pair.client.get('/transactions')]
  await pair.close()
  expect([response.status, response.headers.ratelimit, response.headers['ratelimit-policy']]).toEqual([
    status,
    undefined,
    undefined,
  ])
  expect(quotes.headers.ratelimit).toMatch(/^"quotes";r=4;/)
  expect(read.headers.ratelimit).toMatch(/^"read";r=3;/)
})

describe('unverified keys', () => {
  test('number 20 a minute from an address, then 429 without a call', async () => {
    const pair = await startPair('A', 'A', { preverifiedKeys: [] })
    pair.provider.reply('list', { status: 401, json: { error: 'Unauthorized', message: 'no', code: 401 } })
    const statuses: number[] = []
    for (let at = 0; at < 22; at++) statuses.push((await pair.client.get('/transactions', { key: `guess-${at}` })).status)
    await pair.close()
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429])
    expect(pair.provider.received('list')).toHaveLength(20)
  })

  test.each(formNames)('form %s: requests without the key that they need are counted alike', async (form) => {
    const pair = await startPair(form, 'A', { preverifiedKeys: [] })
    const responses: ReceivedResponse[] = []
    for (let at = 0; at < 21; at++) responses.push(await pair.client.get('/transactions', { key: null }))
    await pair.close()
    expect(responses.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 401), 429])
    expect(responses.at(-1)?.headers['retry-after']).toMatch(/^[1-9]\d?$/)
    expect(pair.provider.journal).toEqual([])
  })

  test('without a key count against their address alone', async () => {
    const sections = { limits: { ...limits, unverified: 4 }, server: { trustProxy: 1 } }
    const pair = await startPair('A', 'A', { preverifiedKeys: [], sections })
    const statuses: number[] = []
    for (let at = 0; at < 6; at++) {
      const headers = { 'x-forwarded-for': `192.0.2.${at}` }
      statuses.push((await pair.client.get('/transactions', { key: null, headers })).status)
    }
    await pair.close()
    expect(statuses).toEqual([401, 401, 401, 401, 401, 401])
  })

  test('of all addresses together number limits.unverified; past it those of refused keys wait, and others five times as long', async () => {
    const sections = { limits: { ...limits, unverified: 4 }, server: { trustProxy: 1 } }
    const pair = await startPair('A', 'A', { preverifiedKeys: [], sections })
    pair.provider.reply('list', { status: 401, json: { error: 'Unauthorized', message: 'No', code: 401 } })
    const sendRequest = async (at: number): Promise<number> => {
      const headers = { 'x-forwarded-for': `192.0.2.${at}` }
      return (await pair.client.get('/transactions', { key: `junk-${at}`, headers })).status
    }
    const statuses: number[] = []
    for (const at of [0, 1, 2, 3, 0, 1, ...Array.from({ length: 17 }, (_, other) => 10 + other)])
      statuses.push(await sendRequest(at))
    await pair.close()
    expect(statuses).toEqual([401, 401, 401, 401, 429, 429, ...Array.from({ length: 16 }, () => 401), 429])
  })

  test('hold up no key that was accepted once', async () => {
    const pair = await startPair('A', 'A', { preverifiedKeys: [] })
    expect((await pair.client.get('/transactions', { key: 'honest' })).status).toBe(200)
    for (let at = 0; at < 25; at++) await pair.client.get('/transactions', { key: null })
    expect((await pair.client.get('/transactions', { key: null })).status).toBe(429)
    expect((await pair.client.get('/transactions', { key: 'honest' })).status).toBe(200)
    await pair.close()
  })

  test.each([404, 400])('are verified by a response of %i, which only an accepted key gets', async (status) => {
    const pair = await startPair('A', 'A', { preverifiedKeys: [] })
    pair.provider.reply('get', { status, json: { error: 'x', message: 'No', code: status } })
    for (let at = 0; at < 25; at++) {
      expect((await pair.client.get('/transactions/alpha~x', { key: 'honest' })).status).toBe(status)
    }
    await pair.close()
  })

  test('do not hold up quotes', async () => {
    const pair = await startPair('A', 'A', { preverifiedKeys: [] })
    for (let at = 0; at < 25; at++) await pair.client.get('/transactions', { key: null })
    expect((await pair.client.get(quote)).status).toBe(200)
    await pair.close()
  })
})
