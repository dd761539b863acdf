/** The content of a trace, as a collector receives it from the real process. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { orderIn, ownKeys } from '../support/managed.ts'
import { rateQuery } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'
import { Caller } from './collector.ts'
import type { ExportedSpan } from './otlp.ts'
import { type Rig, startRig } from './rig.ts'

const quote = rateQuery('A', { from: assets.btc, to: assets.usdtTrx, amount: '0.10' })
let rig: Rig
beforeAll(async () => {
  rig = await startRig()
  await rig.warm()
  // A second try is a fifth of the calls at most.
  for (let n = 0; n < 20; n++) await rig.client('A').get(quote, { key: null })
})
afterAll(() => rig[Symbol.asyncDispose]())
let caller: Caller
beforeEach(() => {
  caller = new Caller()
  rig.alpha.reset()
  rig.beta.reset()
})

function expectWithin(parent: ExportedSpan, child: ExportedSpan): void {
  expect(child.start).toBeGreaterThanOrEqual(parent.start)
  expect(child.end).toBeGreaterThanOrEqual(child.start)
  expect(child.end).toBeLessThanOrEqual(parent.end)
}

test('a quote: one server span, what could wait, and one client span', async () => {
  expect((await rig.client('A').get(quote, { key: null, headers: caller.headers })).status).toBe(200)
  const trace = await rig.collector.traceFrom(caller)
  expect(trace.outline()).toEqual(['GET /a/api/v2/rate', '  admission', '  quoteCache', '    queue', '    GET'])
  const [call] = trace.clients as [ExportedSpan]
  expect(trace.root).toMatchObject({
    kind: 'server',
    status: 'unset',
    links: [{ traceId: caller.traceId, spanId: caller.spanId, traceState: '' }],
    events: [],
    traceState: '',
  })
  expect(trace.root.attributes).toEqual({
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'http.route': '/a/api/v2/rate',
    'url.path': '/a/api/v2/rate',
    'url.scheme': 'http',
    'swapgate.form': 'A',
    'swapgate.operation': 'getRate',
    'swapgate.provider': 'alpha',
    'swapgate.request_id': expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
  expect(call.attributes).toEqual({
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(rig.alpha.url).port),
    'swapgate.operation': 'getRate',
    'swapgate.provider': 'alpha',
  })
  expect(trace.named('quoteCache')?.attributes).toEqual({ 'swapgate.quote': 'requested', 'swapgate.provider': 'alpha' })
  for (const span of trace.spans) expectWithin(trace.root, span)
  expect(trace.named('queue')?.end).toBeLessThanOrEqual(call.start)
  expect(new Set(trace.spans.map(({ spanId }) => spanId)).size).toBe(trace.spans.length)
  const now = BigInt(Date.now()) * 1_000_000n
  expect(trace.root.end).toBeGreaterThan(now - 30_000_000_000n)
  expect(trace.root.end).toBeLessThanOrEqual(now + 1_000_000_000n)
  expect(trace.root.resource).toMatchObject({ 'service.name': 'swapgate', 'service.instance.id': expect.any(String) })
})

test('O5: a read that is sent twice has a client span for each, and the second shows it', async () => {
  let callCount = 0
  rig.alpha.reply('rate', () => (++callCount === 1 ? { reset: true } : undefined))
  expect((await rig.client('A').get(quote, { key: null, headers: caller.headers })).status).toBe(200)
  const trace = await rig.collector.traceFrom(caller)
  const [first, second, ...others] = trace.clients as [ExportedSpan, ExportedSpan]
  expect(others).toEqual([])
  expect(first).toMatchObject({
    status: 'error',
    attributes: { 'error.type': 'provider_failed', 'swapgate.error_type': 'provider_failed', 'swapgate.cause': 'reset' },
  })
  expect(first.attributes).not.toHaveProperty(['http.response.status_code'])
  expect(first.attributes).not.toHaveProperty(['http.request.resend_count'])
  expect(second).toMatchObject({
    status: 'unset',
    attributes: { 'http.request.resend_count': 1, 'http.response.status_code': 200 },
  })
  expect(trace.root.status).toBe('unset')
  expect(trace.spans.filter(({ kind }) => kind === 'server')).toHaveLength(1)
})

test('O5: a quote that goes to the next provider has a client span at each, under one server span', async () => {
  rig.alpha.reply('rate', { status: 503, json: { error: 'Service Unavailable', message: 'no', code: 503 } })
  expect((await rig.client('A').get(quote, { key: null, headers: caller.headers })).status).toBe(200)
  const trace = await rig.collector.traceFrom(caller)
  const at = trace.clients.map(({ attributes, status }) => [
    attributes['swapgate.provider'],
    attributes['http.request.resend_count'] ?? 0,
    status,
    attributes['error.type'] ?? '',
  ])
  expect(at).toEqual([
    ['alpha', 0, 'error', '503'],
    ['alpha', 1, 'error', '503'],
    ['beta', 0, 'unset', ''],
  ])
  expect(trace.root.attributes['swapgate.provider']).toBe('beta')
  expect(trace.spans.filter(({ kind }) => kind === 'server')).toHaveLength(1)
})

test('O5: a create that moves on is one trace: the ledger is waited for at each provider', async () => {
  // Creates leave a provider whose last quote has failed.
  expect((await rig.client('A').get(quote, { key: null })).headers['x-swap-provider']).toBe('alpha')
  rig.alpha.reply('create', {
    status: 429,
    headers: { 'retry-after': '60' },
    json: { error: 'Too Many Requests', message: 'no', code: 429 },
  })
  const create = (order: string) =>
    rig
      .client('B')
      .post('/transactions', orderIn('B'), { key: rig.key, headers: { ...caller.headers, 'idempotency-key': `"${order}"` } })
  expect((await create('order-1')).status).toBe(200) // from now on the first provider rests
  caller = new Caller()
  const created = await create('order-2')
  expect([created.status, created.headers['x-swap-provider']]).toEqual([200, 'beta'])
  const trace = await rig.collector.traceFrom(caller)
  expect(trace.outline()).toEqual([
    'POST /b/api/v2/transactions',
    '  admission',
    '  idempotency',
    '    recordResult',
    '      intent',
    '    recordResult',
    '      intent',
    '        queue',
    '        POST',
    '        queue',
    '        GET', // Form B names the networks of a create only in a get
  ])
  const [refused, done] = trace.spans.filter(({ name }) => name === 'intent').toSorted((a, b) => Number(a.start - b.start))
  expect(refused?.attributes).toMatchObject({ 'swapgate.outcome': 'refused', 'swapgate.provider': 'alpha' })
  expect(done?.attributes).toMatchObject({ 'swapgate.outcome': 'done', 'swapgate.provider': 'beta' })
  expect(trace.root.status).toBe('unset')
})

test('the provider gets the name of the client span, and nothing else of the trace', async () => {
  await rig.client('A').get(quote, { key: null, headers: caller.headers })
  const trace = await rig.collector.traceFrom(caller)
  const [call] = trace.clients as [ExportedSpan]
  const [received] = rig.alpha.received('rate')
  expect(received?.headers.traceparent).toBe(`00-${call.traceId}-${call.spanId}-01`)
  expect(received?.headerNames).not.toContain('tracestate')
})

test.each([
  ['GET', '/a/api/v2/nothing', 404, 'GET', { 'http.request.method': 'GET' }],
  ['PROPFIND', '/a/api/v2/rate', 405, 'HTTP', { 'http.request.method': '_OTHER' }],
  ['GET', '/a/api/v2/rate?coinFrom=BTC', 400, 'GET /a/api/v2/rate', { 'swapgate.error_type': 'caller_invalid' }],
  ['HEAD', '/api/v2/rate?coinFrom=BTC', 400, 'HEAD /api/v2/rate', { 'http.route': '/api/v2/rate' }],
  ['GET', '/a/api/v2/transactions', 401, 'GET /a/api/v2/transactions', { 'swapgate.error_type': 'caller_unauthorized' }],
])('the response to %s %s is %i: no failure, under the name %s', async (method, path, status, name, attributes) => {
  const response = await fetch(rig.gateway.url + path, { method, headers: caller.headers })
  expect(response.status).toBe(status)
  const { root } = await rig.collector.traceFrom(caller)
  expect(root).toMatchObject({ name, status: 'unset', statusMessage: '', attributes })
  expect(root.attributes).not.toHaveProperty(['error.type'])
})

test('a get is named by its template', async () => {
  const created = await rig.client('A').post('/transactions', orderIn('A'), { key: rig.key })
  const { id } = created.json as { readonly id: string }
  expect((await rig.client('A').get(`/transactions/${id}`, { key: rig.key, headers: caller.headers })).status).toBe(200)
  const trace = await rig.collector.traceFrom(caller)
  expect(trace.root.name).toBe('GET /a/api/v2/transactions/{id}')
  expect(trace.named('ownership')?.kind).toBe('internal')
})

test('O1: no key, address, amount, id of a transaction or query is in any span', async () => {
  const facts = { withdrawalAddress: 'canary-address-1', refundAddress: 'canary-address-2', amount: 0.123454321 }
  const made = await rig.client('A').post('/transactions', orderIn('A', facts), {
    key: rig.key,
    headers: {
      'x-request-id': 'order-of-today',
      'idempotency-key': '"canary-order"',
      'user-agent': 'canary-agent',
      traceparent: new Caller().headers.traceparent,
      tracestate: 'canary=1',
    },
  })
  const { id } = made.json as { readonly id: string }
  await rig.client('B').get(`/transactions/${id}`, { key: rig.key })
  await rig.client('A').get('/currencies?search=canary-search', { key: null })
  await rig.client('A').get('/canary-path', { key: 'canary-client-key-9' })
  await rig.client('A').get('/transactions/alpha~canary-id', { key: rig.key, headers: caller.headers })
  await rig.collector.traceFrom(caller)
  const text = Buffer.concat(rig.collector.sent.map(({ bytes }) => bytes)).toString('latin1')
  expect(text.length).toBeGreaterThan(10_000)
  const secrets = [
    'canary',
    rig.key,
    ownKeys.alpha,
    ownKeys.beta,
    id,
    id.split('~')[1] ?? '',
    '0.123454321',
    'bc1q-deposit',
    'TWithdraw',
    'amount',
  ]
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
})
