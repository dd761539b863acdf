import { setTimeout as wait } from 'node:timers/promises'
import { request } from 'undici'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
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
  await vi.waitUntil(() => stack.health() === 0, { timeout: 10_000 })
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
  const counts = metrics.matchAll(/^haproxy_server_http_responses_total\{.*server="gateway-\d",code="2xx"\} (\d+)$/gm)
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
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(order),
  })
  expect(created).toMatchObject({ status: 201 })
  const { id } = JSON.parse(created.text)
  const before = await vi.waitUntil(async () => {
    const counts = await requestCounts()
    return counts.reduce((sum, count) => sum + count, 0) === 5 && counts
  })
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

  second?.child.kill('SIGTERM')
  await expect.poll(() => stack.health(), { timeout: 10_000 }).toBe(1)
  const { status, headers, text } = await sendRequest(quote)
  expect([status, headers['content-type']]).toEqual([503, 'application/json; charset=utf-8'])
  expect(JSON.parse(text)).toMatchObject({ error: 'Service Unavailable', code: 503 })
})
