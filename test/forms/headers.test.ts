/** docs/contract.md §2.3, §6, docs/contract-operators.md §8: the headers of responses, and the headers to providers. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { type Pair, pairs, pairWords, rateQuery, startPair } from '../support/pair.ts'
import { assets, swap } from '../support/swaps.ts'

const allowed = [
  'accept',
  'accept-encoding',
  'content-type',
  'content-length',
  'authorization',
  'x-api-key',
  'x-request-id',
  'user-agent',
]
const ofTheConnection = ['host', 'connection']
const allowedDown = new Set(
  [
    'content-type content-length cache-control age etag x-swap-form x-swap-provider x-swap-derived x-swap-omitted x-request-id',
    'x-swap-reason x-content-type-options ratelimit ratelimit-policy retry-after allow www-authenticate link connection keep-alive date',
  ].flatMap((names) => names.split(' ')),
)

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, provider)
  })
  beforeEach(() => {
    pair.provider.reset()
    pair.provider.holdings.swaps = [swap()]
  })
  afterAll(() => pair.close())

  const order = { ...pairWords(form, assets.btc, assets.usdtTrx), amount: 1, withdrawalAddress: 'w-1' }
  const everyOperation = (headers: Record<string, string> = {}): Promise<readonly ReceivedResponse[]> =>
    Promise.all([
      pair.client.get('/currencies', { headers }),
      pair.client.get(rateQuery(form, { from: assets.btc, to: assets.usdtTrx, amount: '1' }), { headers }),
      pair.client.post('/transactions', order, { headers }),
      pair.client.get('/transactions', { headers }),
      pair.client.get('/transactions/alpha~tx-1', { headers }),
    ])

  test('every response has its form, its provider and its request id', async () => {
    for (const { status, headers } of await everyOperation()) {
      expect([200, 201]).toContain(status)
      expect(headers['x-swap-form']).toBe(form)
      expect(headers['x-swap-provider']).toBe('alpha')
      expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,128}$/)
      expect(headers['content-type']).toBe('application/json; charset=utf-8')
    }
  })

  test("a response of the gateway alone names no provider, a provider's refusal does", async () => {
    expect((await pair.client.get('/rate')).headers['x-swap-provider']).toBeUndefined()
    expect((await pair.client.get('/transactions', { key: null })).headers['x-swap-provider']).toBeUndefined()
    expect((await pair.client.get('/transactions/alpha~missing')).headers['x-swap-provider']).toBe('alpha')
  })

  test("the caller's request id is kept, shown and sent up", async () => {
    for (const id of ['a', 'A-z_0.9', 'x'.repeat(128)]) {
      const { headers } = await pair.client.get('/transactions/alpha~tx-1', { headers: { 'x-request-id': id } })
      expect(headers['x-request-id']).toBe(id)
      expect(pair.provider.received('get').at(-1)?.headers['x-request-id']).toBe(id)
    }
  })

  test.each(['', 'with space', 'x'.repeat(129), 'a/b', 'ä', 'a,b', '<b>'])('the request id "%s" is replaced', async (id) => {
    const { headers } = await pair.client.get('/transactions/alpha~tx-1', {
      headers: { 'x-request-id': Buffer.from(id).toString('latin1') },
    })
    expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,128}$/)
    expect(headers['x-request-id']).not.toBe(id)
    expect(pair.provider.received('get')[0]?.headers['x-request-id']).toBe(headers['x-request-id'])
  })

  test('two requests get two ids', async () => {
    const [first, second] = await Promise.all([pair.client.get('/currencies'), pair.client.get('/currencies')])
    expect(first?.headers['x-request-id']).not.toBe(second?.headers['x-request-id'])
  })

  test('only the client may cache quotes, for their whole lifetime; nothing else may be cached', async () => {
    const [currencies, rate, create, list, get] = await everyOperation()
    for (const { headers } of [currencies, rate] as ReceivedResponse[]) {
      expect(headers['cache-control']).toBe('private, max-age=0')
      expect(headers.age).toBe('0')
    }
    for (const { headers } of [create, list, get] as ReceivedResponse[]) {
      expect(headers['cache-control']).toBe('no-store')
      expect(headers.age).toBeUndefined()
    }
  })

  test("a client's other headers never reach the provider", async () => {
    await everyOperation({
      cookie: 'session=canary',
      'x-forwarded-for': '192.0.2.7',
      forwarded: 'for=192.0.2.7',
      'accept-language': 'de',
      'accept-encoding': 'gzip',
      referer: 'http://canary.test/',
      'x-custom': 'canary',
      'proxy-authorization': 'Basic canary',
      te: 'trailers',
      'x-swap-form': form,
      'user-agent': 'canary-agent',
      'if-none-match': '"canary"',
    })
    for (const { headers, headerNames, operation, method } of pair.provider.journal) {
      expect(headerNames.filter((name) => !allowed.includes(name) && !ofTheConnection.includes(name))).toEqual([])
      expect(JSON.stringify(headers)).not.toContain('canary-agent')
      expect(headers['user-agent']).toBe('swapgate/1.2.3')
      expect(headers.accept).toBe('application/json')
      expect(headers['content-type']).toBe(method === 'POST' ? 'application/json' : undefined)
      expect(operation).not.toBe('other')
    }
  })

  test('the key is sent in the header of the provider form, and nowhere for public operations', async () => {
    await everyOperation()
    const credentials = pair.provider.journal.map(({ operation, headers }) => [
      operation,
      provider === 'A' ? headers.authorization : headers['x-api-key'],
      provider === 'A' ? headers['x-api-key'] : headers.authorization,
    ])
    const key = provider === 'A' ? 'Bearer canary-client-key-1' : 'canary-client-key-1'
    for (const [operation, own, foreign] of credentials) {
      expect(own).toBe(operation === 'currencies' || operation === 'rate' ? undefined : key)
      expect(foreign).toBeUndefined()
    }
    expect(new Set(credentials.map(([operation]) => operation))).toEqual(new Set(['currencies', 'rate', 'create', 'list', 'get']))
  })

  test("a provider's headers never reach the client", async () => {
    const headers = {
      'set-cookie': ['a=canary', 'b=canary'],
      server: 'canary',
      'x-powered-by': 'canary',
      ratelimit: '"canary";r=0;t=9',
      'access-control-allow-origin': '*',
      etag: '"canary"',
      'x-swap-stale': '99',
      'x-internal': 'canary',
      via: '1.1 canary',
      link: '<canary>',
      age: '77',
      'cache-control': 'public, max-age=999',
      'x-request-id': 'canary',
    }
    const usual = { ...headers }
    for (const operation of ['get', 'list', 'create', 'rate', 'currencies'] as const) {
      pair.provider.reply(operation, () => undefined)
    }
    pair.provider.reply('get', () => ({ status: 404, headers: usual, json: { message: 'Transaction not found', code: 404 } }))
    pair.provider.reply('rate', () => ({ status: 400, headers: usual, json: { message: 'Bad amount', code: 400 } }))
    for (const response of await everyOperation()) {
      expect(Object.keys(response.headers).filter((name) => !allowedDown.has(name))).toEqual([])
      expect(JSON.stringify(response.headers)).not.toContain('canary')
    }
  })
})

test('a lifetime is in whole seconds, also if the configuration has a fraction', async () => {
  const pair = await startPair('A', 'A', { sections: { cache: { currencies: 600, rate: 0.5, staleFor: 0 } } })
  const rate = await pair.client.get(rateQuery('A', { from: assets.btc, to: assets.eth, amount: '1' }))
  const currencies = await pair.client.get('/currencies')
  await pair.close()
  expect(rate.headers['cache-control']).toMatch(/^private, max-age=\d+$/)
  expect(currencies.headers['cache-control']).toBe('private, max-age=600')
  expect(currencies.headers.age).toBe('0')
})

const page = { origin: 'https://evil.example', cookie: 'session=canary' }
const preflight = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' }
test.each([{ cors: [] }, { cors: ['https://app.example', 'https://*.app.example', 'app://evil.example'] }])(
  'H16: a page of another origin reads nothing, with $cors in server.cors',
  async ({ cors }) => {
    const pair = await startPair('A', 'A', { sections: { server: { cors } } })
    pair.provider.holdings.swaps = [swap()]
    const responses = [
      await pair.client.get('/transactions', { headers: page }),
      await pair.client.get('/transactions/alpha~tx-1', { headers: page }),
      await pair.client.get('/transactions/alpha~tx-1', { headers: { ...page, origin: 'null' } }),
      await pair.client.get('/transactions', { headers: { ...page, ...preflight }, method: 'OPTIONS', key: null }),
      await pair.client.get('/currencies', { headers: page }),
    ]
    await pair.close()
    for (const { headers } of responses) {
      expect(headers['access-control-allow-origin']).toBeUndefined()
      expect(headers['access-control-allow-credentials']).toBeUndefined()
    }
  },
)

test('H16: a page of a listed origin sends no cookies, and reads the limits and the reason of an error', async () => {
  const pair = await startPair('A', 'A', { sections: { server: { cors: ['https://app.example'] } } })
  const { headers } = await pair.client.get('/transactions', { headers: { origin: 'https://app.example' } })
  await pair.close()
  expect(headers['access-control-allow-origin']).toBe('https://app.example')
  expect(headers['access-control-allow-credentials']).toBeUndefined()
  expect(headers['access-control-expose-headers']?.split(',')).toEqual(
    expect.arrayContaining(['Link', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Swap-Reason']),
  )
  expect(headers.vary).toMatch(/\bOrigin\b/)
})

test('H16: a page of a listed origin may read X-Swap-Provider and X-Swap-Attention, and may choose a provider', async () => {
  const pair = await startPair('A', 'A', { sections: { server: { cors: ['https://app.example'] } } })
  const headers = { origin: 'https://app.example', 'access-control-request-method': 'GET' }
  const preflightHeaders = { ...headers, 'access-control-request-headers': 'x-swap-provider,x-api-key' }
  const preflight = await pair.client.get('/rate', { headers: preflightHeaders, method: 'OPTIONS', key: null })
  const response = await pair.client.get('/currencies', { headers: { origin: 'https://app.example' } })
  await pair.close()
  expect(preflight.status).toBe(204)
  expect(preflight.headers['access-control-allow-headers']?.split(',')).toEqual(
    expect.arrayContaining(['X-Swap-Provider', 'X-API-Key']),
  )
  for (const { headers: received } of [preflight, response])
    expect(received['access-control-expose-headers']?.split(',')).toEqual(
      expect.arrayContaining(['X-Swap-Attention', 'X-Swap-Provider']),
    )
})

test.each([
  ['capacitor://localhost', 'capacitor://localhost'],
  ['app://-', 'app://-'],
  ['chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn', 'chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn'],
  ['https://*.example.com', 'https://app.example.com'],
  ['https://*.example.com', 'https://a.b.example.com'],
  ['https://*.example.com', undefined, 'https://example.com'],
  ['https://*.example.com', undefined, 'https://evilexample.com'],
  ['https://*.example.com', undefined, 'http://app.example.com'],
  ['https://*.example.com', undefined, 'https://app.example.com.evil.test'],
])('H16: with %s in server.cors the response names %s', async (listed, allowed, origin = allowed) => {
  const pair = await startPair('A', 'A', { sections: { server: { cors: [listed] } } })
  const asked = { origin: origin ?? '', 'access-control-request-method': 'GET', 'access-control-request-headers': 'traceparent' }
  const { headers } = await pair.client.get('/rate', { headers: asked, method: 'OPTIONS', key: null })
  await pair.close()
  expect(headers['access-control-allow-origin']).toBe(allowed)
})

test('H16: a preflight with headers of tracing libraries passes, and is kept for two hours', async () => {
  const pair = await startPair('A', 'A', { sections: { server: { cors: ['https://app.example'] } } })
  const asked = { origin: 'https://app.example', 'access-control-request-method': 'GET' }
  const { headers } = await pair.client.get('/rate', { headers: asked, method: 'OPTIONS', key: null })
  await pair.close()
  expect(headers['access-control-allow-headers']?.split(',')).toEqual(
    expect.arrayContaining(['traceparent', 'tracestate', 'baggage', 'sentry-trace', 'Cache-Control']),
  )
  expect(headers['access-control-max-age']).toBe('7200')
})
