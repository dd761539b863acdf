/** docs/contract.md §18.3: where webhooks are sent, and where never. */
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns'
import { once } from 'node:events'
import { createServer, isIP, type LookupFunction, Socket } from 'node:net'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
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

  it('is none by a 100 Continue that nobody asked for', async () => {
    const to = await receiver()
    to.respond = (_, response) => {
      response.writeContinue(() => response.writeHead(200).end('taken'))
    }
    expect(await post(`http://127.0.0.1:${to.port}/`, way(['http://127.0.0.1']))).toMatchObject({ status: 200, body: 'taken' })
  })

  it('ends where no head comes in time', async () => {
    const to = await receiver()
    to.respond = () => {}
    const attempt = await post(`http://127.0.0.1:${to.port}/`, way(['http://127.0.0.1'], never, { headTimeoutMs: 100 }))
    expect(attempt).toMatchObject({ status: null, body: null, reason: 'timed_out' })
    expect(attempt.ms).toBeLessThan(5_000)
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

/** Addresses to which this process begins a connection, from now to the end of the test, whether anybody listens there or not. */
function watchConnections(): readonly string[] {
  const begun: string[] = []
  const connect = Socket.prototype.connect as (this: Socket, ...args: unknown[]) => Socket
  const watched = vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...args: unknown[]) {
    this.on('connectionAttempt', (address: string) => begun.push(address))
    return connect.apply(this, args)
  })
  onTestFinished(() => watched.mockRestore())
  return begun
}

const closedAddresses = [
  ...['0.0.0.0', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.1.1', '172.16.0.1', '172.31.255.255'],
  ...['192.0.0.1', '192.88.99.1', '192.168.0.1', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['169.254.169.254', '169.254.170.2', '100.100.100.200', 'fd00:ec2::254'], // of metadata
  ...['::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:0:127.0.0.1'],
  ...['64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b:1::7f00:1'], // NAT64
  ...['2002:7f00:1::', '2002:a00:1::1'], // 6to4
  ...['2001::1', '2001:db8::1', 'fc00::1', 'fd12:3456:789a::1', 'fe80::1', 'fec0::1', 'ff02::1'],
]

describe('never connected to', () => {
  let begun: readonly string[]
  beforeEach(() => {
    begun = watchConnections()
  })

  it('is watched: what is open is connected to', async () => {
    const to = await receiver('127.0.0.1', certificate)
    await post(`https://127.0.0.1:${to.port}/`, way(['127.0.0.0/8']))
    const lookup = await nameServer(['127.0.0.1'])
    await post(`https://hooks.example:${to.port}/`, way(['127.0.0.0/8'], lookup))
    expect(begun).toEqual(['127.0.0.1', '127.0.0.1'])
  })

  it.each(closedAddresses)('%s, in a URL', async (address) => {
    const host = isIP(address) === 6 ? `[${address}]` : address
    for (const port of ['', ':80', ':8443'])
      expect(await post(`https://${host}${port}/`, way([])), port).toMatchObject({ status: null, reason: 'address' })
    expect(begun).toEqual([])
  })

  it.each(closedAddresses)('%s, behind a name, alone or beside a public one', async (address) => {
    const found = (...addresses: readonly string[]): LookupFunction => {
      return (_, __, callback) =>
        callback(
          null,
          addresses.map((each) => ({ address: each, family: isIP(each) })),
        )
    }
    for (const addresses of [[address], ['8.8.8.8', address], [address, '2606:4700:4700::1111']])
      for (const name of ['hooks.example', 'hooks.example.', 'localhost', 'LOCALHOST.'])
        expect(await post(`https://${name}/`, way([], found(...addresses)))).toMatchObject({ status: null, reason: 'address' })
    expect(begun).toEqual([])
  })

  it.each([
    ...[
      '127.0.0.1',
      '127.1',
      '127.0.1',
      '127.0.0.1.',
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '0177.0.0.1',
      '017700000001',
      '0',
      '0.',
    ],
    ...['%31%32%37.0.0.1', '１２７.0.0.1', '127。0。0。1', 'hooks.example@127.0.0.1', 'hooks.example:443@127.0.0.1'],
    ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', '[::1]', '[0:0:0:0:0:0:0:1]', '[::]'],
  ])('https://%s, where somebody listens', async (host) => {
    const to = await receiver(/^\[[0:]+1?\]$/.test(host) ? '::1' : '127.0.0.1', certificate)
    expect(await post(`https://${host}:${to.port}/`, way([]))).toMatchObject({ status: null, reason: 'address' })
    expect([to.connections, begun]).toEqual([0, []])
  })

  it('where a redirect leads', async () => {
    const [to, inside] = [await receiver(), await receiver('127.0.0.1', certificate)]
    const on = way([`http://127.0.0.1:${to.port}`])
    for (const status of [301, 302, 303, 307, 308])
      for (const location of [`https://127.0.0.1:${inside.port}/`, 'http://169.254.169.254/latest/', 'https://8.8.8.8/']) {
        to.respond = (_, response) => response.writeHead(status, { location, refresh: `0; url=${location}` }).end()
        expect(await post(`http://127.0.0.1:${to.port}/`, on)).toMatchObject({ status })
      }
    expect([inside.connections, to.received.length, new Set(begun)]).toEqual([0, 15, new Set(['127.0.0.1'])])
    expect(begun).toHaveLength(15)
  })

  it('another port, or another spelling, of a host that is open for http; nor the host by https', async () => {
    const [to, beside] = [await receiver(), await receiver()]
    const on = way([`http://127.0.0.1:${to.port}`])
    for (const url of [
      `http://127.0.0.1:${beside.port}/`,
      `http://127.0.0.2:${to.port}/`,
      `http://[::ffff:127.0.0.1]:${to.port}/`,
      `http://localhost:${to.port}/`,
      `http://127.0.0.1:${to.port}@localhost:${beside.port}/`,
      `https://127.0.0.1:${to.port}/`,
      'http://127.0.0.1/',
    ])
      expect(await post(url, on), url).toMatchObject({ status: null, reason: 'address' })
    expect(begun).toEqual([])
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
