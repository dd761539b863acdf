/** docs/contract.md §18.3: where webhooks are sent, and where never. */
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns'
import { once } from 'node:events'
import { createServer, type LookupFunction } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { tunnelThrough } from '../../src/adapters/tunnel.ts'
import { postWebhook, type WebhookWay } from '../../src/adapters/webhook-connection.ts'
import { allowedTargets } from '../../src/domain/webhook-target.ts'
import { certify } from '../support/certificate.ts'
import { ConnectProxy } from '../support/connect-proxy.ts'
import { Receiver } from './receiver.ts'

const authority = certify({ name: 'Test Authority' })
const certificate = certify({ name: 'hooks.example', issuer: authority })

async function receiver(host?: string, tls?: typeof certificate): Promise<Receiver> {
  const started = await Receiver.start(host, tls)
  onTestFinished(() => started[Symbol.asyncDispose]())
  return started
}

const never: LookupFunction = () => {
  throw new Error('A name was looked up.')
}
function way(allow: readonly string[], lookup: LookupFunction = never, rest: Partial<WebhookWay> = {}): WebhookWay {
  return { allowed: allowedTargets(allow), lookup, ...rest }
}
const post = (url: string, on: WebhookWay) => postWebhook({ url, headers: { 'webhook-id': 'wh_1_1' }, body: '{"data":{}}' }, on)

/** A look-up that asks a name server of the test: each question for A gets the next of these answers, then the last one again. */
async function nameServer(
  ...answers: readonly (readonly string[])[]
): Promise<LookupFunction & { readonly asked: readonly string[] }> {
  const asked: string[] = []
  const server = createSocket('udp4')
  let questions = 0
  server.on('message', (message, { port, address }) => {
    const end = message.indexOf(0, 12) + 5
    const isA = message.readUInt16BE(end - 4) === 1
    const found = isA ? (answers[Math.min(questions++, answers.length - 1)] ?? []) : []
    const head = Buffer.from(message.subarray(0, end))
    head.writeUInt16BE(0x8180, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(found.length, 6)
    head.writeUInt16BE(0, 8)
    head.writeUInt16BE(0, 10)
    // Valid for no time.
    const rows = found.map((ip) => Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...ip.split('.').map(Number)]))
    server.send(Buffer.concat([head, ...rows]), port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const resolver = new Resolver()
  resolver.setServers([`127.0.0.1:${server.address().port}`])
  const lookup: LookupFunction = (hostname, _, callback) =>
    resolver.resolve4(hostname, (error, addresses) => {
      asked.push(`${addresses}`)
      callback(error, error ? [] : addresses.map((address) => ({ address, family: 4 })))
    })
  return Object.assign(lookup, { asked })
}

describe('an attempt', () => {
  it('posts the bytes with their headers, and keeps the status and the first 200 characters', async () => {
    const to = await receiver()
    to.respond = (_, response) => response.writeHead(202).end('é'.repeat(300))
    const attempt = await post(`http://127.0.0.1:${to.port}/swaps?a=b`, way([`http://127.0.0.1:${to.port}`]))
    expect(attempt).toEqual({ at: expect.any(Number), status: 202, ms: expect.any(Number), body: 'é'.repeat(200) })
    expect(to.received).toMatchObject([
      {
        method: 'POST',
        path: '/swaps?a=b',
        body: '{"data":{}}',
        headers: { 'webhook-id': 'wh_1_1', 'content-type': 'application/json' },
      },
    ])
  })

  it('follows no redirect', async () => {
    const [to, elsewhere] = [await receiver(), await receiver()]
    to.respond = (_, response) => response.writeHead(307, { location: `http://127.0.0.1:${elsewhere.port}/` }).end()
    expect(await post(`http://127.0.0.1:${to.port}/`, way(['http://127.0.0.1']))).toMatchObject({ status: 307 })
    expect(elsewhere.connections).toBe(0)
  })

  it('reads 4 KiB of a body, however long that is, and ends the connection', async () => {
    const to = await receiver()
    let written = 0
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    to.respond = (_, response) => {
      response.on('close', resolve)
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(1_024))) written++
      }
      response.on('drain', more)
      more()
    }
    expect(await post(`http://127.0.0.1:${to.port}/`, way(['http://127.0.0.1']))).toMatchObject({
      status: 200,
      body: 'x'.repeat(200),
    })
    await closed
    expect(written).toBeLessThan(20_000)
  })

  it('is a success by its head, whatever becomes of the body', async () => {
    const to = await receiver()
    to.respond = (_, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('some')
      setImmediate(() => response.destroy())
    }
    expect(await post(`http://127.0.0.1:${to.port}/`, way(['http://127.0.0.1']))).toMatchObject({ status: 200 })
  })

  it('ends where no head comes in time', async () => {
    const to = await receiver()
    to.respond = () => {}
    const attempt = await post(`http://127.0.0.1:${to.port}/`, way(['http://127.0.0.1'], never, { headTimeoutMs: 100 }))
    expect(attempt).toMatchObject({ status: null, body: null, reason: 'timed_out' })
    expect(attempt.ms).toBeLessThan(2_000)
  })

  it('says why no head came', async () => {
    const to = await receiver()
    to.respond = (_, response) => response.socket?.resetAndDestroy()
    expect(await post(`http://127.0.0.1:${to.port}/`, way(['http://127.0.0.1']))).toMatchObject({ status: null, reason: 'reset' })
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { readonly port: number }
    await new Promise((resolve) => server.close(resolve))
    expect(await post(`http://127.0.0.1:${port}/`, way(['http://127.0.0.1']))).toMatchObject({ status: null, reason: 'refused' })
  })
})

describe('never connected to', () => {
  it.each([
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '127.0.0.1.',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::1]',
  ])('https://%s', async (host) => {
    const to = await receiver(host === '[::1]' ? '::1' : '127.0.0.1', certificate)
    expect(await post(`https://${host}:${to.port}/`, way([]))).toMatchObject({ status: null, reason: 'address' })
    expect(to.connections).toBe(0)
  })

  it('http where no host is open for it', async () => {
    const to = await receiver()
    const others = [`http://127.0.0.1:${to.port + 1}`, 'http://localhost', '127.0.0.0/8']
    expect(await post(`http://127.0.0.1:${to.port}/`, way(others))).toMatchObject({ status: null, reason: 'address' })
    expect(to.connections).toBe(0)
  })

  it('a name that leads to an address that is not public', async () => {
    const to = await receiver('127.0.0.1', certificate)
    const lookup = await nameServer(['127.0.0.1'])
    expect(await post(`https://hooks.example:${to.port}/`, way([], lookup))).toMatchObject({ status: null, reason: 'address' })
    expect([to.connections, lookup.asked]).toEqual([0, ['127.0.0.1']])
  })

  it('a name of which one address of several is not public', async () => {
    const to = await receiver('127.0.0.1', certificate)
    const lookup = await nameServer(['127.0.0.1', '192.168.1.1'])
    expect(await post(`https://hooks.example:${to.port}/`, way(['127.0.0.1/32'], lookup))).toMatchObject({ reason: 'address' })
    expect(to.connections).toBe(0)
  })

  it('a name whose second answer is private: the answer that was judged is the one connected to', async () => {
    vi.stubEnv('NODE_EXTRA_CA_CERTS', '')
    const open = await receiver('127.0.0.1', certificate)
    const inside = createServer()
    let connections = 0
    inside.on('connection', (socket) => {
      connections++
      socket.destroy()
    })
    inside.listen(open.port, '127.0.0.2')
    await once(inside, 'listening')
    onTestFinished(() => void inside.close())
    const lookup = await nameServer(['127.0.0.1'], ['127.0.0.2'])
    // 127.0.0.1 stands for a public address.
    const on = way(['127.0.0.1/32'], lookup)
    const first = await post(`https://hooks.example:${open.port}/`, on)
    expect([first.reason, lookup.asked]).toEqual(['tls_untrusted', ['127.0.0.1']])
    expect(open.connections).toBe(1)
    expect(await post(`https://hooks.example:${open.port}/`, on)).toMatchObject({ status: null, reason: 'address' })
    expect([connections, open.connections]).toEqual([0, 1])
  })
})

describe('certificates', () => {
  it('are verified, also where the environment says otherwise', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const to = await receiver('127.0.0.1', certificate)
    const lookup = await nameServer(['127.0.0.1'])
    expect(await post(`https://hooks.example:${to.port}/`, way(['127.0.0.0/8'], lookup))).toMatchObject({
      status: null,
      reason: 'tls_untrusted',
    })
    expect(to.received).toEqual([])
  })
})

describe('webhooks.proxy', () => {
  it('gets all of them, unjudged: it looks up the name', async () => {
    const to = await receiver()
    await using proxy = await ConnectProxy.start()
    const tunnel = tunnelThrough(proxy.url, never)
    const on = way([], never, { tunnel })
    expect(await post(`http://inside.example:${to.port}/`, on)).toMatchObject({ status: 200, body: 'taken' })
    expect(proxy.connects.map(({ authority: to }) => to)).toEqual([`inside.example:${to.port}`])
  })

  it('of the environment is never used', async () => {
    const to = await receiver()
    await using proxy = await ConnectProxy.start()
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY']) vi.stubEnv(name, proxy.url)
    vi.stubEnv('NODE_USE_ENV_PROXY', '1')
    expect(await post(`http://127.0.0.1:${to.port}/`, way(['http://127.0.0.1']))).toMatchObject({ status: 200 })
    expect([proxy.connects, proxy.others]).toEqual([[], []])
  })
})
