// Takes long: it checks after a wait that a connection stays open.
/** What belongs to one connection alone, and several requests on it. */
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { expectErrorBody } from '../support/expectations.ts'
import { readJson } from '../support/json.ts'
import { type RawResponse, sendRaw } from '../support/raw.ts'
import { openSession } from '../support/raw-session.ts'
import { sharedPair } from '../support/shared-pair.ts'

const key = 'Authorization: Bearer canary-client-key-1\r\n'
const list = 'GET /a/api/v2/transactions HTTP/1.1\r\nHost: gateway\r\n'
const get = 'GET /a/api/v2/transactions/alpha~tx-1 HTTP/1.1\r\nHost: gateway\r\n'
const order = '{"coinFrom":"BTC","coinTo":"USDTTRC20","amount":1,"withdrawalAddress":"w-1"}'

const pair = sharedPair()

const raw = (text: string): Promise<RawResponse> => sendRaw(pair().gateway.port, Buffer.from(text, 'latin1'), 150)
const statusesIn = (text: string): readonly number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
const goingUp = ['host', 'connection', 'accept', 'accept-encoding', 'user-agent', 'x-request-id', 'authorization']

const plain = { authorization: 'Bearer canary-client-key-1' }
/** The create that is sent under this `X-Request-Id`, past the recorded clients. */
function witnessed(id: string): void {
  const headers = { ...plain, 'x-request-id': id }
  pair().witness.pending({ method: 'POST', path: '/a/api/v2/transactions', headers, body: order })
}

function expectPlainUp(): void {
  expect(pair().provider.journal).toHaveLength(1)
  for (const { headerNames, headers } of pair().provider.journal) {
    expect(headerNames.toSorted()).toEqual(goingUp.toSorted())
    expect(headers).toMatchObject({ authorization: 'Bearer canary-client-key-1', connection: 'keep-alive' })
  }
}

test.each(['authorization', 'x-api-key, authorization', 'Authorization, host, x-request-id', 'keep-alive, authorization'])(
  'H3: Connection: %s strips no key, here or on the way up',
  async (names) => {
    expect((await raw(`${list}${key}Connection: ${names}\r\n\r\n`)).status).toBe(200)
    expectPlainUp()
    expect((await raw(`${list}Connection: ${names}\r\n\r\n`)).status).toBe(401)
    expect(pair().provider.journal).toHaveLength(1)
  },
)

test('H3: what Connection names stays here, and close closes', async () => {
  const { status, closed } = await raw(`${list}${key}Connection: close, X-Foo\r\nX-Foo: canary\r\n\r\n`)
  expect([status, closed]).toEqual([200, true])
  expectPlainUp()
})

const hops = [
  'TE: trailers',
  'Trailer: X-Foo',
  'Keep-Alive: timeout=9999, max=9999',
  'Proxy-Connection: keep-alive',
  'Proxy-Authorization: Basic canary',
  'Proxy-Authenticate: Basic',
  'Proxy-Foo: canary',
  'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13',
]
test.each(hops)('H4: %j is not passed on, and nothing is upgraded', async (lines) => {
  const { text, head } = await raw(`${list}${key}${lines}\r\n\r\n`)
  expect(statusesIn(text)).toEqual([200])
  expect(head).not.toMatch(/\r\n(?:upgrade|te|trailer|proxy-[a-z]+):/i)
  expectPlainUp()
})

const upgrades = [
  'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n',
  'Connection: Upgrade\r\nUpgrade: websocket\r\n',
  'Upgrade: websocket\r\n',
]
test.each(upgrades)('H17: behind an upgrade that is not made (%j) nothing is taken for a request', async (upgrade) => {
  const socket = connect(pair().gateway.port, '127.0.0.1').setNoDelay()
  let text = ''
  socket.on('data', (chunk) => {
    if (text === '') socket.write(`${get.replace('tx-1', 'smuggled')}${key}\r\n`)
    text += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  socket.write(`${list}${key}${upgrade}\r\n`)
  socket.write(`${get.replace('tx-1', 'pipelined')}${key}\r\n`)
  await once(socket, 'close')
  expect(statusesIn(text)).toEqual([200])
  expect(text).toMatch(/\r\nconnection: close\r\n/i)
  expect(pair().provider.journal.map(({ operation }) => operation)).toEqual(['list'])
})

test('H17: a create with an upgrade header is made, and ends its connection', async () => {
  await using session = await openSession(pair().gateway.port)
  const create = `POST /a/api/v2/transactions HTTP/1.1\r\nHost: gateway\r\n${key}${upgrades[0]}Content-Type: application/json\r\n`
  witnessed('upgrade')
  const upgradeRequest = `${create}X-Request-Id: upgrade\r\nContent-Length: ${order.length}\r\n\r\n${order}`
  expect(await session.sendRequest(upgradeRequest)).toMatch(/^HTTP\/1\.1 201 .*\r\nconnection: close\r\n/is)
})

test.each([
  'X_API_KEY: canary-client-key-1',
  'HTTP_AUTHORIZATION: Bearer canary-client-key-1',
  'Authorization_: Bearer canary-client-key-1',
])('H8: %s is no key', async (line) => {
  expect((await raw(`${list}${line}\r\n\r\n`)).status).toBe(401)
  expect((await raw(`${list.replace('/a/', '/b/')}${line}\r\n\r\n`)).status).toBe(401)
  expect(pair().provider.journal).toEqual([])
})

test.each(['X_REQUEST_ID: canary', 'X-Näme: canary', 'X-Name: cänary\xff', 'X-Request-Id: cänary'])(
  'H8: %s is not passed on',
  async (line) => {
    const { status } = await raw(`${list}${key}${line}\r\n\r\n`)
    expect(status).toBe(line.startsWith('X-Nä') ? 400 : 200)
    if (status === 200) expectPlainUp()
    expect(JSON.stringify(pair().provider.journal.map(({ headers }) => headers['x-request-id']))).not.toContain('nary')
  },
)

test('H8: a key with a letter outside ASCII is no key', async () => {
  expect((await raw(`${list}Authorization: Bearer canary-client-key-1\xe4\r\n\r\n`)).status).toBe(401)
  expect(pair().provider.journal).toEqual([])
})

test('H9: pipelined requests get their responses in order, though the last is done first', async () => {
  pair().provider.reply('list', { delay: 60, json: { data: [], pagination: { page: 1, size: 10, total: 0 } } })
  const { text, closed } = await raw(`${list}${key}\r\n${list}\r\n${get}${key}\r\n${get.replace('tx-1', 'none')}${key}\r\n`)
  expect(statusesIn(text)).toEqual([200, 401, 200, 404])
  expect(text.indexOf('"pagination"')).toBeLessThan(text.indexOf('"alpha~tx-1"'))
  expect(closed).toBe(false)
})

test.each(['BAD\r\n\r\n', 'GET / HTTP/1.1\r\nbad header\r\n\r\n', '\x16\x03\x01'])(
  'H9: %j behind good requests takes none of their responses, is 400 behind them, and stops all that follows',
  async (bad) => {
    const { text, closed } = await raw(`${list}${key}\r\n${get}${key}\r\n${list}${key}\r\n${bad}${get}${key}\r\n`)
    expect(statusesIn(text)).toEqual([200, 200, 200, 400])
    expect(closed).toBe(true)
    expect(
      pair()
        .provider.journal.map(({ operation }) => operation)
        .toSorted(),
    ).toEqual(['get', 'list', 'list'])
  },
)

test('H9: a request with a bad body is refused behind the responses before it', async () => {
  const create = `POST /a/api/v2/transactions HTTP/1.1\r\nHost: gateway\r\n${key}Content-Type: application/json\r\n`
  const { text, closed } = await raw(`${list}${key}\r\n${create}Transfer-Encoding: chunked\r\n\r\nZZ\r\n${get}${key}\r\n`)
  expect(statusesIn(text)).toEqual([200, 400])
  expect(closed).toBe(true)
  expect(pair().provider.journal.map(({ operation }) => operation)).toEqual(['list'])
})

test('H13: a client that waits with the body gets 100, and then its response', async () => {
  const sent = request({
    port: pair().gateway.port,
    method: 'POST',
    path: '/a/api/v2/transactions',
    headers: { ...plain, 'content-type': 'application/json', expect: '100-continue', 'x-request-id': 'patient' },
  })
  witnessed('patient')
  const status = new Promise((resolve, reject) => {
    sent.on('response', (response) => resolve(response.resume().statusCode))
    sent.on('error', reject)
  })
  sent.on('continue', () => sent.end(order))
  sent.flushHeaders()
  expect(await status).toBe(201)
  expect(pair().provider.received('create')).toHaveLength(1)
})

test.each(['200-ok', '100-continued', ''])('H13: Expect: "%s" is 417, and nothing is sent', async (expectation) => {
  const { status, body } = await raw(`${list}${key}Expect: ${expectation}\r\n\r\n`)
  expect(status).toBe(417)
  expectErrorBody(readJson(body), 'A', 417)
  expect(pair().provider.journal).toEqual([])
})

test('H18: a refused head costs what its length is, however it is made', async () => {
  const spaces = (count: number): string => `GET / HTTP/1.1\r\nA:${' '.repeat(count)}\x01\r\nHost: gateway\r\n\r\n`
  const began = performance.now()
  expect((await raw(spaces(3_000))).status).toBe(400)
  expect(performance.now() - began).toBeLessThan(1_000)
})

const noRequests = [
  '\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03',
  'SSH-2.0-client\r\n',
  'hello\r\n\r\n',
  '\0\0\0\0',
  'GET\r\n\r\n',
  'GET /a/api/v2/currencies\r\n\r\n',
  'GET /a/api/v2/currencies HTTP/9.9\r\n\r\n',
  'GET /a/api/v2/cur rencies HTTP/1.1\r\nHost: gateway\r\n\r\n',
]
test.each(noRequests)('H14: %j is 400 in a form, and the connection is closed', async (bytes) => {
  const { status, body, closed } = await raw(bytes)
  expect(status).toBe(400)
  expectErrorBody(readJson(body), 'A', 400)
  expect(closed).toBe(true)
  expect(pair().provider.journal).toEqual([])
})
