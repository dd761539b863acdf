/** docs/contract.md §11: lists of headers in both directions, the swap of credentials, and interim responses. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sendRaw } from '../support/raw.ts'
import { type NativeRig, providerKey, startRig } from './rig.ts'

let rig: NativeRig
beforeAll(async () => {
  rig = await startRig()
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.provider.reset())

/** What Node's own client sets. */
const ofTheConnection = ['host', 'connection', 'transfer-encoding']
const listedUp = [
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'user-agent',
  'x-request-id',
]

const junk = {
  cookie: 'a=b',
  'x-forwarded-for': '1.2.3.4',
  'x-forwarded-host': 'evil',
  'x-forwarded-proto': 'https',
  'x-real-ip': '1.2.3.4',
  forwarded: 'for=1.2.3.4',
  via: '1.1 evil',
  referer: 'https://evil',
  origin: 'https://evil',
  range: 'bytes=0-1',
  'if-none-match': '"a"',
  'if-modified-since': 'Sat, 01 Jan 2000 00:00:00 GMT',
  'proxy-authorization': 'Basic eA==',
  'x-http-method-override': 'DELETE',
  'x-swap-form': 'B',
  'x-swap-provider': 'alpha',
  'x-original-url': '/transactions',
  'x-rewrite-url': '/transactions',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  tracestate: 'a=b',
  baggage: 'a=b',
  te: 'trailers',
  connection: 'keep-alive, x-secret',
  'keep-alive': 'timeout=5',
  'x-secret': 'a',
  'accept-charset': 'utf-8',
  'content-md5': 'a',
  'content-language': 'en',
  expect: '100-continue',
  pragma: 'no-cache',
  'cache-control': 'no-cache',
  date: 'Sat, 01 Jan 2000 00:00:00 GMT',
  'user-agent': 'evil/1',
}
const passed = {
  accept: 'text/plain, */*;q=0.1',
  'accept-language': 'de-CH',
  'content-encoding': 'identity',
  'content-type': 'application/x-www-form-urlencoded',
}

describe('N2: up go', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'HEAD'])('headers of the list and no other, with %s', async (method) => {
    const path = { GET: '/exchange/range', HEAD: '/exchange/range', POST: '/estimates' }[method] ?? '/alerts/a'
    const hasBody = method !== 'GET' && method !== 'HEAD'
    const { status } = await rig.send(path, {
      method,
      headers: { ...junk, ...passed, 'accept-encoding': 'gzip, br', 'x-request-id': 'mine-1' },
      ...(hasBody && { body: 'a=b' }),
    })
    expect(status).toBe(200)
    const [{ headers, headerNames }] = rig.provider.arrived as [(typeof rig.provider.arrived)[0]]
    expect(headerNames.filter((name) => ![...listedUp, ...ofTheConnection].includes(name))).toEqual([])
    expect(headerNames.toSorted()).toEqual([...new Set(headerNames)].toSorted())
    expect(headers).toMatchObject({
      ...passed,
      'accept-encoding': 'identity',
      authorization: `Bearer ${providerKey}`,
      'user-agent': 'swapgate/1.2.3',
      'x-request-id': 'mine-1',
      host: new URL(rig.provider.url).host,
      connection: 'close',
      ...(hasBody && { 'content-length': '3' }),
    })
  })

  test('nothing that the client did not send, but what is the gateway’s own', async () => {
    await sendRaw(rig.gateway.port, rig.head('GET /native/alpha/exchange/range', 'connection: close'))
    expect(rig.provider.arrived[0]?.headerNames.toSorted()).toEqual([
      'accept-encoding',
      'authorization',
      'connection',
      'host',
      'user-agent',
      'x-request-id',
    ])
  })

  test.each([
    ['A', { authorization: `Bearer ${providerKey}` }, 'x-api-key'],
    ['B', { 'x-api-key': providerKey }, 'authorization'],
  ] as const)(
    'the gateway’s own key in the header of the provider’s form (%s), whatever form the client speaks',
    async (form, own, other) => {
      await using formed = await startRig({ provider: rig.provider, facts: { form } })
      for (const client of ['A', 'B'] as const) {
        rig.provider.reset()
        expect((await formed.send('/exchange/range', { form: client })).status).toBe(200)
        const [{ headers }] = rig.provider.arrived as [(typeof rig.provider.arrived)[0]]
        expect(headers).toMatchObject(own)
        expect(headers[other]).toBeUndefined()
        expect(JSON.stringify(headers)).not.toContain(formed.key)
      }
    },
  )

  test('a request id that is none in place of one that is', async () => {
    await rig.send('/exchange/range', { headers: { 'x-request-id': 'not one' } })
    expect(rig.provider.arrived[0]?.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })
})

const listedDown = {
  'content-type': 'text/html',
  'content-encoding': 'identity',
  'cache-control': 'public, max-age=60',
  etag: '"a"',
  'last-modified': 'Sat, 01 Jan 2000 00:00:00 GMT',
  'retry-after': '7',
}
const leaks = {
  'set-cookie': ['a=b', 'c=d'],
  server: 'evil/1',
  'x-powered-by': 'evil',
  'x-ratelimit-remaining': '7',
  ratelimit: '"evil";r=1',
  'ratelimit-policy': '"evil"',
  'x-request-id': 'theirs',
  'x-swap-provider': 'theirs',
  'x-swap-form': 'B',
  'x-swap-reason': 'refused',
  'x-content-type-options': 'evil',
  'content-security-policy': "default-src 'unsafe-inline'",
  'access-control-allow-origin': '*',
  location: 'https://evil',
  'content-location': '/evil',
  'content-disposition': 'attachment',
  'content-language': 'de',
  'alt-svc': 'h2="evil"',
  'strict-transport-security': 'max-age=0',
  'www-authenticate': 'Bearer',
  link: '</evil>; rel=preload',
  vary: 'x-evil',
  via: '1.1 evil',
  age: '5',
  expires: '0',
  date: 'Sat, 01 Jan 2000 00:00:00 GMT',
  'x-leak': providerKey,
}
const ownNames = [
  'content-security-policy',
  'ratelimit',
  'ratelimit-policy',
  'vary',
  'x-content-type-options',
  'x-request-id',
  'x-swap-provider',
]

describe('N3: down come', () => {
  test.each(['GET', 'HEAD'])('headers of the list, the gateway’s own, and no other, with %s', async (method) => {
    rig.provider.respond = (response) => {
      response.writeHead(200, 'Evil words', { ...listedDown, ...leaks, ...(method === 'GET' && { trailer: 'x-evil' }) })
      response.write('<html>')
      response.addTrailers({ 'x-evil': 'a' })
      response.end()
    }
    const { status, reason, headers, headerNames, trailers, body } = await rig.send('/exchange/range', {
      method,
      headers: { 'x-request-id': 'mine' },
    })
    expect([status, reason, String(body)]).toEqual([200, 'OK', method === 'HEAD' ? '' : '<html>'])
    const framing = ['connection', 'keep-alive', 'date', 'transfer-encoding']
    expect(headerNames.filter((name) => !framing.includes(name)).toSorted()).toEqual(
      [...Object.keys(listedDown), ...ownNames].toSorted(),
    )
    expect(headers).toMatchObject({
      ...listedDown,
      'cache-control': 'private, max-age=60',
      vary: 'Authorization, X-API-Key',
      'x-request-id': 'mine',
      'x-swap-provider': 'alpha',
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
      'ratelimit-policy': '"read";q=100000;w=60',
    })
    expect(headers.date).not.toBe(leaks.date)
    expect(trailers).toEqual({})
  })

  test('a length if the provider sends one, and no-store if it sends no Cache-Control', async () => {
    rig.provider.respond = (response) => response.writeHead(203, { 'content-length': 5 }).end('hello')
    const { status, headers, headerNames } = await rig.send('/exchange/range')
    expect([status, headers['content-length'], headers['cache-control']]).toEqual([203, '5', 'no-store'])
    expect(headerNames).not.toContain('transfer-encoding')
    expect(headerNames).not.toContain('content-type')
  })

  test.each([
    ['max-age=30', 'private, max-age=30'],
    ['public, s-maxage=30, max-age=30, immutable', 'private, max-age=30, immutable'],
    ['private="x-a, x-b", no-cache="x-c, x-d"', 'private, no-cache="x-c, x-d"'],
    ['public, No-Store, max-age=30', 'no-store'],
    [' , ', 'no-store'],
    ['no-cache="a\\", public", max-age=30', 'private, no-cache="a\\", public", max-age=30'],
    ['max-age=30, no-cache="never ended, public', 'private, max-age=30, no-cache="never ended, public'],
    [`max-age=30${','.repeat(1_000)}`, 'no-store'],
  ])('Cache-Control %s as %s: no shared cache keeps what one key may read', async (sent, received) => {
    rig.provider.respond = (response) => response.writeHead(200, { 'cache-control': sent }).end('hello')
    expect((await rig.send('/exchange/range')).headers['cache-control']).toBe(received)
  })

  test('no header that holds a key of the configuration', async () => {
    rig.provider.respond = (response) =>
      response
        .writeHead(200, {
          etag: `"${providerKey.toUpperCase()}"`,
          'content-type': `text/plain; a=${providerKey}`,
          'last-modified': 'x',
        })
        .end()
    const { headers } = await rig.send('/exchange/range')
    expect([headers.etag, headers['content-type'], headers['last-modified']]).toEqual([undefined, undefined, 'x'])
  })

  test('no interim responses', async () => {
    rig.provider.respond = (response, { request }) => {
      request.socket.write(
        'HTTP/1.1 102 Processing\r\nx-leak: a\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
        () => response.end('hello'),
      )
    }
    const { status, interim, body } = await rig.send('/exchange/range')
    expect([status, interim, String(body)]).toEqual([200, 0, 'hello'])
  })
})
