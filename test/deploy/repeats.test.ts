/** docs/deployment.md: behind each balancer of `deploy/`, no client sends a request again that a gateway may have got. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Agent, type Dispatcher, request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { visit } from '../api-docs-page/browser.ts'
import { freePort } from '../support/free-port.ts'
import { type Balancer, balancerNames, startBalancer } from './balancers.ts'

const path = '/a/api/v2/transactions'

/** How a gateway ends in the middle of a create, by the header `x-step`. */
const steps: Readonly<Record<string, (response: ServerResponse) => Promise<void>>> = {
  'without a word': async ({ socket }) => void socket?.resetAndDestroy(),
  'with its connection closed in order': async ({ socket }) => void socket?.end(),
  'after the head': async (response) => {
    response.writeHead(201, { 'content-type': 'application/json', 'content-length': 20 }).flushHeaders()
    await delay(50)
    response.socket?.resetAndDestroy()
  },
  'after half of the response': async (response) => {
    response.writeHead(201, { 'content-type': 'application/json', 'content-length': 20 }).write('{"id":"x"')
    await delay(50)
    response.socket?.destroy()
  },
}

/** Creates that arrived, by their body. */
const arrived = new Map<string, number>()

async function receive(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const chunk of incoming.setEncoding('utf8')) body += chunk
  if (incoming.method !== 'POST' && !incoming.url?.startsWith('/native/'))
    return void response.writeHead(200, { 'content-type': 'text/html' }).end('<title>x</title>')
  const mark = body === '' ? String(incoming.headers['x-mark']) : body
  arrived.set(mark, (arrived.get(mark) ?? 0) + 1)
  await steps[String(incoming.headers['x-step'])]?.(response)
}

interface Seen {
  readonly status: number
  readonly text: string
}
interface Client extends AsyncDisposable {
  /** After a read on the same connection. */
  readonly create: (step: string, body: string) => Promise<Seen>
}

const run = promisify(execFile)
const failed: Seen = { status: 0, text: '' }

const ofCurl =
  (version: string) =>
  async (url: string): Promise<Client> => ({
    async create(step, body) {
      const common = ['--silent', '--insecure', version, '--max-time', '20']
      const post = ['--header', `X-Step: ${step}`, '--header', 'Content-Type: application/json', '--data', body]
      const args = [...common, url, '--next', ...common, '--write-out', '\n%{http_code}', ...post, url + path]
      const stdout = await run('curl', args).then(
        (done) => done.stdout,
        (error: { readonly stdout: string }) => error.stdout,
      )
      const lines = stdout.split('\n')
      const status = Number(lines.pop())
      return { status, text: (lines.pop() ?? '').replace('<title>x</title>', '') }
    },
    [Symbol.asyncDispose]: async () => {},
  })

const ofUndici =
  (allowH2: boolean) =>
  async (url: string): Promise<Client> => {
    const dispatcher: Dispatcher = new Agent({ connections: 1, allowH2, connect: { rejectUnauthorized: false } })
    return {
      async create(step, body) {
        await (await request(url, { dispatcher })).body.text()
        try {
          const headers = { 'x-step': step, 'content-type': 'application/json' }
          const response = await request(url + path, { dispatcher, method: 'POST', headers, body })
          return { status: response.statusCode, text: await response.body.text() }
        } catch {
          return failed
        }
      },
      [Symbol.asyncDispose]: () => dispatcher.close(),
    }
  }

const ofChromium = async (url: string): Promise<Client> => {
  const visited = await visit(url, { ignoreHTTPSErrors: true })
  return {
    async create(step, body) {
      const headers = { 'x-step': step, 'content-type': 'application/json' }
      const sending = `fetch(${JSON.stringify(path)}, ${JSON.stringify({ method: 'POST', headers, body })})`
      return await visited.page.evaluate(`${sending}.then(
        async (response) => ({ status: response.status, text: await response.text() })
      ).catch(() => ({ status: 0, text: '' }))`)
    },
    [Symbol.asyncDispose]: () => visited[Symbol.asyncDispose](),
  }
}

const clients: Readonly<Record<string, (url: string) => Promise<Client>>> = {
  'curl over HTTP/1.1': ofCurl('--http1.1'),
  'curl over HTTP/2': ofCurl('--http2'),
  'undici over HTTP/1.1': ofUndici(false),
  'undici over HTTP/2': ofUndici(true),
  Chromium: ofChromium,
}

describe.each(balancerNames)('behind %s', (name) => {
  let balancer: Balancer
  const open = new AsyncDisposableStack()

  beforeAll(async () => {
    const [port, adminPort] = [await freePort(12_000, 4_000), await freePort(16_000, 4_000)]
    const places = ['127.0.0.1', '127.0.0.2'].map((host) => ({
      url: `http://${host}:${port}`,
      adminUrl: `http://${host}:${adminPort}`,
    }))
    for (const { url, adminUrl } of places) {
      for (const each of [url, adminUrl]) {
        const { hostname, port } = new URL(each)
        const server = createServer((incoming, response) => void receive(incoming, response)).listen(Number(port), hostname)
        await once(server, 'listening')
        open.defer(() => {
          server.close()
          server.closeAllConnections()
        })
      }
    }
    balancer = open.use(await startBalancer(name, places))
  }, 180_000)
  afterAll(() => open.disposeAsync())

  test('its own error is JSON, and says when to try again', async () => {
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
    const headers = { 'x-step': 'without a word', 'content-type': 'application/json' }
    const response = await request(balancer.url + path, { dispatcher, method: 'POST', headers, body: `"${name}"` })
    expect(response.headers).toMatchObject({ 'retry-after': '5', 'content-type': expect.stringMatching(/^application\/json/) })
    expect(await response.body.json()).toMatchObject({ error: 'Bad Gateway', code: 502 })
    await dispatcher.close()
  })

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)('a %s of the native lane is sent once', async (method) => {
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
    const mark = JSON.stringify([name, method])
    // So that it has used connections to both gateways.
    for (let times = 0; times < 4; times++) await (await request(balancer.url, { dispatcher })).body.dump()
    const headers = { 'x-step': 'without a word', 'x-mark': mark, 'content-type': 'application/json' }
    const body = method === 'GET' || method === 'DELETE' ? null : mark
    const response = await request(`${balancer.url}/native/alpha/x`, { dispatcher, method, headers, body })
    expect([response.statusCode, arrived.get(mark)]).toEqual([502, 1])
    await response.body.dump()
    await dispatcher.close()
  })

  describe.each(Object.keys(clients))('%s', (client) => {
    test.each(Object.keys(steps))('sends a create once whose gateway ends %s', async (step) => {
      await using sender = await (clients[client] as (typeof clients)[string])(balancer.url)
      const body = JSON.stringify({ mark: [name, client, step] })
      const { status, text } = await sender.create(step, body)
      expect(arrived.get(body)).toBe(1)
      if (step.startsWith('after')) return
      expect([status, JSON.parse(text)]).toMatchObject([
        502,
        { code: 502, message: expect.stringContaining('Look into your list before you create again') },
      ])
    })
  })
})
