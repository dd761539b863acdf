import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect as connectPlain } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { request } from 'undici'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { type Stack, startStack } from './stack.ts'

const quote = '/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=10'
const order = {
  coinFrom: 'XRP',
  coinTo: 'USDTERC20',
  amount: 10,
  withdrawalAddress: '0x52908400098527886E0F7030069857D2E4169EE7',
}

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
  await vi.waitUntil(() => stack.health() === 0, { timeout: eventTimeoutMs })
}, 180_000)
afterAll(() => stack?.[Symbol.asyncDispose]())

type RequestOptions = Pick<NonNullable<Parameters<typeof request>[1]>, 'method' | 'headers' | 'body'>

async function sendRequest(path: string, options: RequestOptions = {}) {
  const { statusCode, headers, body } = await request(stack.url + path, { dispatcher: stack.dispatcher, ...options })
  return { status: statusCode, headers, text: await body.text() }
}

/** 2xx responses of each gateway, as the balancer counts them. */
async function requestCounts(): Promise<readonly number[]> {
  const metrics = await fetch(`${stack.operatorsUrl}/metrics`).then((response) => response.text())
  const counts = metrics.matchAll(
    /^haproxy_server_http_responses_total\{proxy="gateways",server="gateway-\d",code="2xx"\} (\d+)$/gm,
  )
  return [...counts].map(([, count]) => Number(count))
}

it('serves HTTPS with both gateways, which count a client together and ignore its forged address', async () => {
  const left: unknown[] = []
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4']) {
    const { status, headers } = await sendRequest(quote, { headers: { 'x-forwarded-for': address } })
    left.push([status, /r=(\d+)/.exec(String(headers.ratelimit))?.[1]])
  }
  expect(left).toEqual([59, 58, 57, 56].map((remaining) => [200, String(remaining)]))
  await expect.poll(requestCounts).toEqual([2, 2])
})

it('a swap that one gateway created is there in the other', async () => {
  const headers = { authorization: `Bearer ${await stack.issueKey('acme')}` }
  const created = await sendRequest('/a/api/v2/transactions', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': 'order-1' },
    body: JSON.stringify(order),
  })
  expect(created).toMatchObject({ status: 201 })
  const { id } = JSON.parse(created.text)
  const before = await vi.waitUntil(
    async () => {
      const counts = await requestCounts()
      return counts.reduce((sum, count) => sum + count, 0) === 5 && counts
    },
    { timeout: eventTimeoutMs },
  )
  const read = [
    await sendRequest(`/a/api/v2/transactions/${id}`, { headers }),
    await sendRequest(`/a/api/v2/transactions/${id}`, { headers }),
  ]
  expect(read.map(({ status, text }) => [status, JSON.parse(text).id])).toEqual([
    [200, id],
    [200, id],
  ])
  await expect.poll(requestCounts).toEqual(before.map((count) => count + 1))
})

const operate = async (path: string, token = stack.operatorToken) =>
  (await fetch(stack.adminUrl + path, { headers: { authorization: `Bearer ${token}` } })).status

it("the operator's page and API are there with the token, and nothing else of the admin port", async () => {
  const paths = ['/', '/page/main.js', '/api/providers', '/metrics', '/livez', '/readyz']
  expect(await Promise.all(paths.map((path) => operate(path)))).toEqual([200, 200, 200, 404, 404, 404])
  expect(await operate('/api/providers', 'x'.repeat(32))).toBe(401)
})

async function open(localAddress: string, text: string): Promise<TLSSocket> {
  const { port } = new URL(stack.url)
  const plain = connectPlain({ port: Number(port), host: '127.0.0.1', localAddress }).on('error', () => {})
  const socket = connect({ socket: plain, rejectUnauthorized: false }).on('error', () => {})
  await new Promise<void>((resolve) => socket.once('secureConnect', resolve).once('close', () => resolve()))
  socket.write(text)
  return socket.resume()
}

/** Requests that the gateways have in progress, as the balancer counts them. */
async function inProgress(): Promise<number> {
  const metrics = await fetch(`${stack.operatorsUrl}/metrics`).then((response) => response.text())
  return Number(/^haproxy_backend_current_sessions\{proxy="gateways"\} (\d+)$/m.exec(metrics)?.[1])
}

it('of one address the balancer takes a hundred connections, and others are served', { timeout: 30_000 }, async () => {
  const sockets = await Promise.all(Array.from({ length: 120 }, () => open('127.0.0.2', 'GET / HTTP/1.1\r\nHost: x\r\n')))
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  expect(sockets.filter(({ destroyed, encrypted }) => encrypted && !destroyed)).toHaveLength(100)
  expect((await sendRequest('/a/api/v2/rate', { method: 'OPTIONS' })).status).toBe(204)
})

it('of one address the balancer takes two hundred requests at a time, whose bodies never end, and others create', {
  timeout: 60_000,
}, async () => {
  const { port } = new URL(stack.url)
  let refused = 0
  const sessions = await Promise.all(
    Array.from({ length: 15 }, async () => {
      const address = { port: Number(port), host: '127.0.0.1', localAddress: '127.0.0.4' }
      const session = connectHttp2(stack.url, {
        createConnection: () => connect({ socket: connectPlain(address), rejectUnauthorized: false, ALPNProtocols: ['h2'] }),
      })
      await once(
        session.on('error', () => {}),
        'connect',
      )
      return session
    }),
  )
  onTestFinished(() => sessions.forEach((session) => void session.destroy()))
  const headers = {
    ':method': 'POST',
    ':path': '/a/api/v2/transactions',
    'content-type': 'application/json',
    'content-length': '60000',
  }
  for (const session of sessions)
    for (let count = 0; count < 20; count++) {
      const sent = session.request(headers, { endStream: false }).on('error', () => {})
      // The gateways refuse some, too.
      sent.on('response', ({ ':status': status, 'x-request-id': id }) => {
        if (status === 429 && id === undefined) refused++
      })
      sent.write('x'.repeat(20_000))
    }
  await expect.poll(() => refused, { timeout: 20_000 }).toBe(100)
  const authorization = `Bearer ${await stack.issueKey('acme')}`
  const own = { authorization, 'content-type': 'application/json', 'idempotency-key': 'order-2' }
  const created = await sendRequest('/a/api/v2/transactions', { method: 'POST', headers: own, body: JSON.stringify(order) })
  expect(created).toMatchObject({ status: 201 })
})

it('a gateway gets no request that is not whole', { timeout: 30_000 }, async () => {
  await expect.poll(inProgress).toBe(0)
  const head = 'POST /a/api/v2/transactions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  const sockets = await Promise.all(Array.from({ length: 20 }, () => open('127.0.0.3', `${head}Content-Length: 9\r\n\r\n{`)))
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  expect((await sendRequest('/a/api/v2/rate', { method: 'OPTIONS' })).status).toBe(204)
  expect(await inProgress()).toBe(0)
  const whole = once(sockets[0] as TLSSocket, 'data')
  sockets[0]?.write('"a": 1}\n')
  expect(String((await whole)[0])).toMatch(/^HTTP\/1.1 401 /)
})

it('one gateway ends and no request fails; both have ended and the response is still JSON', { timeout: 60_000 }, async () => {
  const [first, second] = stack.gateways
  let isOver = false
  const statuses = new Set<number>()
  const load = [1, 2, 3, 4].map(async () => {
    while (!isOver) {
      statuses.add((await sendRequest('/a/api/v2/rate', { method: 'OPTIONS' })).status)
      await wait(5)
    }
  })
  first?.child.kill('SIGTERM')
  expect(await first?.ended).toMatchObject({ exitCode: 0 })
  await wait(200)
  isOver = true
  await Promise.all(load)
  expect([...statuses]).toEqual([204])
  expect(await operate('/api/providers')).toBe(200)

  second?.child.kill('SIGTERM')
  await expect.poll(() => stack.health()).toBe(1)
  const { status, headers, text } = await sendRequest(quote)
  expect([status, headers['content-type']]).toEqual([503, 'application/json; charset=utf-8'])
  expect(JSON.parse(text)).toMatchObject({ error: 'Service Unavailable', code: 503 })
})
