/** Bytes that no well-behaved client sends. */
import { expect, test } from 'vitest'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { expectErrorBody, expectRefusal } from '../support/expectations.ts'
import { readJson } from '../support/json.ts'
import { type RawResponse, sendRaw } from '../support/raw.ts'
import { sharedPair } from '../support/shared-pair.ts'
import { workMs } from '../support/work.ts'

const key = 'Authorization: Bearer canary-client-key-1\r\n'
const pair = sharedPair()

const raw = (bytes: string): Promise<RawResponse> => sendRaw(pair().gateway.port, bytes, 150)
const close = 'Connection: close\r\n\r\n'

const targets: readonly (readonly [string, string])[] = [
  ['two Host lines', `GET /a/api/v2/currencies HTTP/1.1\r\nHost: one\r\nHost: two\r\n${close}`],
  ['two equal Host lines', `GET /a/api/v2/currencies HTTP/1.1\r\nHost: one\r\nHost: one\r\n${close}`],
  ['no Host', `GET /a/api/v2/currencies HTTP/1.1\r\n${close}`],
  ['an empty Host', `GET /a/api/v2/currencies HTTP/1.1\r\nHost:\r\n${close}`],
  ['a Host with a path', `GET /a/api/v2/currencies HTTP/1.1\r\nHost: one/two\r\n${close}`],
  ['a Host with a space', `GET /a/api/v2/currencies HTTP/1.1\r\nHost: one two\r\n${close}`],
  ['a Host with an at', `GET /a/api/v2/currencies HTTP/1.1\r\nHost: user@one\r\n${close}`],
  [
    'HTTP/1.0 with Transfer-Encoding',
    `POST /a/api/v2/transactions HTTP/1.0\r\nHost: one\r\n${key}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['the absolute form of another scheme', `GET ftp://one/a/api/v2/currencies HTTP/1.1\r\nHost: one\r\n${close}`],
  ['the absolute form with a user', `GET http://user@one/a/api/v2/currencies HTTP/1.1\r\nHost: one\r\n${close}`],
  ['the absolute form without a host', `GET http:///a/api/v2/currencies HTTP/1.1\r\nHost: one\r\n${close}`],
  ['the absolute form and no Host', `GET http://one/a/api/v2/currencies HTTP/1.1\r\n${close}`],
  ['the authority form', `GET evil.test:80 HTTP/1.1\r\nHost: evil.test\r\n${close}`],
  ['the asterisk form', `OPTIONS * HTTP/1.1\r\nHost: one\r\n${close}`],
  ['CONNECT', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n'],
]
test.each(targets)('H2: a request with %s is 400 in a form, and nothing is sent', async (_, bytes) => {
  const { status, body, head } = await raw(bytes)
  expect(status, head).toBe(400)
  expectErrorBody(readJson(body), 'A', 400)
  expect(pair().provider.journal).toEqual([])
})

test.each([
  ['http://one/a/api/v2/currencies?size=1', 200],
  ['HTTPS://other:8443/a/api/v2/currencies', 200],
  ['http://one?size=1', 404],
  ['http://one', 404],
  ['http://one/a/api/v2/../v2/currencies', 404],
])('H2: a target as proxies get it, %s, is %i as its path is', async (target, expected) => {
  const { status, head } = await raw(`GET ${target} HTTP/1.1\r\nHost: one\r\n${close}`)
  expect(status, head).toBe(expected)
})

const paths = [
  '//evil.test/a/api/v2/rate',
  '/a//api/v2/currencies',
  '/a/api/v2//currencies',
  '/a/api/v2/../v2/currencies',
  '/a/api/v2/./currencies',
  '/a/api/v2/..;/currencies',
  '/a/api/v2/%2e%2e/currencies',
  '/a/api/v2/%2e%2e%2fcurrencies',
  '/a/api/v2%2fcurrencies',
  '/a/api/v2/currencies%00',
  '/a/api/v2/currencies%2f',
  '/a/api/v2/%63urrencies',
  '/a/api/v2\\currencies',
  '/a\\..\\admin',
  '/a/api/v2/transactions/../currencies',
  '/a/api/v2/transactions/%2e%2e%2f%2e%2e%2fadmin',
  '/a/api/v2/transactions/alpha~%252f%2e%2e',
  '/a/api/v2/transactions/alpha~..%2f..%2f..%2fadmin',
  '/a/api/v2/transactions/alpha~..%5cadmin',
  '/a/api/v2/transactions/alpha~tx-1%3Fkey=1',
  '/a/api/v2/transactions/alpha~tx-1;x=1',
  '/a/api/v2/transactions/alpha~tx-1%00',
  '/a/api/v2/transactions/alpha~http:%2f%2fevil.test',
]
test.each(paths)('H5: the path %s is 404 or 400, and the call stays inside the base path', async (path) => {
  const { status } = await raw(`GET ${path} HTTP/1.1\r\nHost: gateway\r\n${key}${close}`)
  expect([400, 404]).toContain(status)
  for (const received of pair().provider.journal) {
    expect(received.operation).toBe('get')
    expect(received.rawQuery).toBe('')
  }
})

const variants = [
  '/A/api/v2/transactions',
  '/a/API/v2/transactions',
  '/a/api/V2/transactions',
  '/a/api/v2/Transactions',
  '/a/api/v2/transactions?',
  '/a/api/v2/TRANSACTIONS/alpha~tx-1',
  '/API/v2/transactions',
  '/api/v2/currencies/',
  '/a/api/v2/rate/',
  '/a/api/v2/transactions/alpha~tx-1/',
]
test.each(variants.filter((path) => !path.endsWith('?')))('H6: the variant %s is no path, with a key or without', async (path) => {
  for (const headers of [{}, { authorization: 'Bearer canary-client-key-1' }]) {
    expectRefusal(await sendRequest(pair().gateway.url, { path, headers }), 'A', 404)
  }
  expect(pair().provider.journal).toEqual([])
})

test('H6: an empty query is no other path', async () => {
  expect((await pair().client.get('/transactions?')).status).toBe(200)
})

const methods = [
  'TRACE',
  'DELETE',
  'PUT',
  'PATCH',
  'PROPFIND',
  'QUERY',
  'TRACK',
  'DEBUG',
  'get',
  'PURGE',
  'XYZZY',
  'SEARCH',
  'COPY',
]
test.each(methods)('H10: %s is 405 with Allow, and nothing is sent', async (method) => {
  for (const path of ['/a/api/v2/currencies', '/a/api/v2/transactions', '/b/api/v2/rate']) {
    const { status, head, body } = await raw(`${method} ${path} HTTP/1.1\r\nHost: gateway\r\n${key}${close}`)
    expect(status, head).toBe(405)
    expect(head).toMatch(/\r\nallow: [A-Z, ]*GET/i)
    expectErrorBody(readJson(body), path.startsWith('/a') ? 'A' : 'B', 405)
  }
  expect(pair().provider.journal).toEqual([])
})

test('H10: CONNECT opens nothing: 400, and the connection is closed', async () => {
  const response = await raw('CONNECT /a/api/v2/currencies HTTP/1.1\r\nHost: gateway\r\n\r\n')
  expect([400, 405]).toContain(response.status)
  expect(response.closed).toBe(true)
})

const endless: readonly (readonly [string, string, number])[] = [
  ['a search of 9 kB', `/currencies?search=${'x'.repeat(9_000)}`, 414],
  ['an id of 9 kB', `/transactions/alpha~${'x'.repeat(9_000)}`, 414],
  ['a path that no parser takes', `/currencies?search=${'x'.repeat(200_000)}`, 414],
  ['5,000 parameters', `/currencies?${'a=1&'.repeat(5_000)}`, 414],
  ['as many parameters as fit', `/currencies?${'a&'.repeat(4_000)}`, 400],
  ['as many percent signs as fit', `/currencies?search=${'%'.repeat(8_000)}`, 400],
  ['as many slashes as fit', '/'.repeat(8_000), 404],
  ['a fragment behind the path', '/currencies#fragment', 404],
  ['a fragment behind the query', '/currencies?page=1#fragment', 400],
]
test.each(endless)('H7: %s is refused at once, and nothing is sent', async (_, path, refused) => {
  const send = async (): Promise<void> => {
    const { status, body } = await raw(`GET /a/api/v2${path} HTTP/1.1\r\nHost: gateway\r\n${key}${close}`)
    expect(status).toBe(refused)
    expectErrorBody(readJson(body), 'A', refused)
  }
  expect(await workMs(send)).toBeLessThan(500)
  expect(pair().provider.journal).toEqual([])
})

const ofTheMoment = ['x-request-id', 'date', 'ratelimit', 'age']
test.each([
  '/currencies',
  '/rate?coinFrom=BTC&coinTo=ETH&amount=1',
  '/transactions',
  '/transactions/alpha~tx-1',
  '/transactions/alpha~none',
  '/nothing',
  '/rate',
])('H11: HEAD %s has the status and headers of GET, and no body', async (path) => {
  const [get, head] = [await pair().client.get(path), await pair().client.get(path, { method: 'HEAD' })]
  const fixed = ({ headers }: ReceivedResponse): unknown => Object.entries(headers).filter(([name]) => !ofTheMoment.includes(name))
  expect([head.status, head.text]).toEqual([get.status, ''])
  expect(fixed(head)).toEqual(fixed(get))
  expect(Object.keys(head.headers)).toEqual(Object.keys(get.headers))
})

test('H11: HEAD keeps its connection clean for what follows', async () => {
  const { text } = await raw(
    `HEAD /a/api/v2/transactions HTTP/1.1\r\nHost: gateway\r\n${key}\r\nGET /nothing HTTP/1.1\r\nHost: gateway\r\n${close}`,
  )
  expect(text).toMatch(/^HTTP\/1\.1 200 [^{]*\r\n\r\nHTTP\/1\.1 404 /)
})

const allowed = [
  ['/currencies', 'GET, HEAD, OPTIONS'],
  ['/rate', 'GET, HEAD, OPTIONS'],
  ['/transactions', 'GET, HEAD, OPTIONS, POST'],
  ['/transactions/alpha~tx-1', 'GET, HEAD, OPTIONS'],
] as const
test.each(allowed)('H11: OPTIONS %s is 204 with Allow, and nothing is sent', async (path, methods) => {
  for (const options of [{}, { key: null }]) {
    const { status, headers, text } = await pair().client.get(path, { ...options, method: 'OPTIONS' })
    expect([status, text, headers['content-length']]).toEqual([204, '', undefined])
    expect(headers.allow?.split(', ').toSorted().join(', ')).toBe(methods)
  }
  expectRefusal(await pair().client.get('/nothing', { method: 'OPTIONS' }), 'A', 404)
  expect(pair().provider.journal).toEqual([])
})
