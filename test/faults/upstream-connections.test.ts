// Takes long: it waits for time-outs of providers.
/** Connections to providers, and where they go. */
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { createServer, getCACertificates, setDefaultCACertificates, type TlsOptions } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { FaultProxy } from '../checker/proxy.ts'
import { bandwidth, latency, limitData, resetPeer, slicer, slowClose, type Toxic, timeout } from '../checker/toxics.ts'
import { certify } from '../support/certificate.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { startFormA, transactionA } from '../support/form-a.ts'
import { startGateway } from '../support/gateway.ts'
import { orderIn, startManaged } from '../support/managed.ts'
import { client, pairWords } from '../support/pair.ts'
import { providerAssets } from '../support/provider-assets.ts'
import { rawResponse } from '../support/raw.ts'
import { get, rig, shortly, whole } from '../support/raw-rig.ts'
import { assets, swap } from '../support/swaps.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const order = { ...pairWords('A', assets.btc, assets.usdtTrx), amount: 1, withdrawalAddress: 'w' }

describe('U9', () => {
  test('U9: bytes after a response are dropped with its connection, and reach no other request', async () => {
    const foreign = rawResponse(JSON.stringify(transactionA(swap({ id: 'tx-1', depositAddress: 'bc1q-of-another' }))))
    let responses = 0
    const made = await rig((socket) => socket.write(responses++ === 0 ? rawResponse(whole) + foreign : rawResponse(whole)))
    for (let call = 0; call < 3; call++) {
      const response = await get(made)
      expect(response.status).toBe(200)
      expect(response.text).not.toContain('bc1q-of-another')
    }
  })
})

describe('U10', () => {
  const head = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'
  test('U10: some early hints before a response are ignored', async () => {
    const response = await get(await rig((socket) => socket.write(head.repeat(20) + rawResponse(whole))))
    expect([response.status, response.headers.link]).toEqual([200, undefined])
  })

  test('U10: an unasked 100 Continue before a response is ignored', async () => {
    const response = await get(await rig((socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${rawResponse(whole)}`)))
    expect(response.status).toBe(200)
  })

  test.each(['100 Continue', '103 Early Hints'])('U10: a flood of %s ends at the deadline', async (status) => {
    const flood = (socket: Socket): void => {
      const timer = setInterval(() => socket.write(`HTTP/1.1 ${status}\r\n\r\n`), 5)
      socket.on('close', () => clearInterval(timer))
    }
    const before = performance.now()
    expect([502, 504]).toContain((await get(await rig(flood, { timeout: shortly }))).status)
    expect(performance.now() - before).toBeLessThan(3_000)
  })

  test('U10: a 101 without an upgrade request is 502', async () => {
    const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
    expectRefusal(await get(await rig((socket) => socket.write(upgrade))), 'A', 502)
  })
})

describe('U11', () => {
  /** Ends a kept connection when the second request comes on it. */
  const stale = (end: (socket: Socket) => void): ((socket: Socket, request: string) => void) => {
    const used = new WeakSet<Socket>()
    return (socket, request) => {
      if (used.has(socket)) return end(socket)
      used.add(socket)
      socket.write(rawResponse(whole, request.startsWith('POST') ? '201 Created' : '200 OK'))
    }
  }
  const endings: readonly (readonly [string, (socket: Socket) => void])[] = [
    ['closes', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
  ]
  test.each(endings)('U11: a provider that %s a kept connection is read once more, on another', async (_, end) => {
    const made = await rig(stale(end))
    for (let call = 0; call < 4; call++) expect((await get(made)).status).toBe(200)
  })

  test.each(endings)('U11: a create on a connection that it %s is unknown, and is sent once', async (_, end) => {
    const made = await rig(stale(end))
    for (const { status } of await Promise.all(Array.from({ length: 4 }, () => get(made)))) expect(status).toBe(200)
    const created = await made.client.post('/transactions', order)
    expect(expectRefusal(created, 'A', 504)).toMatch(/outcome is unknown/i)
    expect(made.provider.requests.filter((request) => request.startsWith('POST'))).toHaveLength(1)
  })
})

describe('U1', () => {
  const toxics: readonly (readonly [string, Toxic])[] = [
    ['latency', latency(600)],
    ['bandwidth', bandwidth(20)],
    ['slow_close', slowClose(5_000)],
    ['timeout', timeout(0)],
    ['reset_peer', resetPeer()],
    ['slicer', slicer(1, 50)],
    ['limit_data', limitData(120)],
  ]
  test.each([...toxics, ['down', undefined] as const])(
    'U1: %s on the way to the first provider: reads come from the next one',
    async (_, toxic) => {
      const managed = await startProxied()
      if (toxic) managed.proxy.add(toxic, 'downstream')
      else await managed.proxy.down()
      const caller = managed.client('A')
      const before = performance.now()
      const rate = await caller.get('/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=1')
      expect(rate.status, rate.text).toBe(200)
      expect((await caller.get('/currencies')).status).toBe(200)
      expect(performance.now() - before).toBeLessThan(2_500)
      const created = await caller.post('/transactions', orderIn('A'), { key: await managed.issue() })
      expect([201, 504]).toContain(created.status)
      const posts = managed.alpha.received('create').length + managed.beta.received('create').length
      expect(posts).toBeLessThanOrEqual(1)
    },
  )
})

async function startProxied(): Promise<Awaited<ReturnType<typeof startManaged>> & { readonly proxy: FaultProxy }> {
  const behind = await startFormA()
  const proxy = await FaultProxy.start(behind.url)
  const slow = { timeout: 0.5 }
  const managed = await startManaged({
    routing: ['alpha', 'beta'],
    providers: { alpha: { url: proxy.url, ...slow }, beta: { timeout: 2 } },
  })
  cleanUps.push(
    () => behind.close(),
    () => proxy[Symbol.asyncDispose](),
    () => managed.close(),
  )
  managed.witness.behind('alpha', behind)
  return { ...managed, alpha: behind, proxy }
}

test('U19: a thousand requests to a provider that hangs: most are refused at once, and the gateway goes on', async () => {
  const managed = await startManaged({ routing: ['alpha'], providers: { alpha: { timeout: 4 } } })
  cleanUps.push(() => managed.close())
  const key = await managed.issue()
  const caller = managed.client('A')
  managed.alpha.reply('rate', { delay: 60_000, json: {} })
  const began = performance.now()
  const times: number[] = []
  const hanging = Array.from({ length: 1_000 }, async (_, at) => {
    const { status } = await caller.get(`/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=${at + 1}`)
    times.push(performance.now() - began)
    return status
  })
  await expect.poll(() => times.length, { interval: 5 }).toBeGreaterThan(500)
  expect(managed.alpha.received('rate').length).toBeLessThanOrEqual(128)
  const listed = await caller.get('/transactions', { key })
  expect(listed.status, listed.text).toBe(200)
  const statuses = await Promise.all(hanging)
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(700)
  expect(statuses.filter((status) => status === 504).length).toBeLessThanOrEqual(256)
  expect(managed.alpha.received('rate').length).toBeLessThanOrEqual(256)
  const localRejections = managed.gateway.observations.filter(
    (observation) => observation.what === 'localRejection' && observation.by === 'bulkhead',
  )
  expect(localRejections.length).toBeGreaterThan(700)
})

test('U21: a name that is not resolved is 502, nothing is sent, and no create is in doubt', async () => {
  const gateway = await startGateway({ provider: { form: 'A', url: 'https://no-such-host.invalid/v2', assets: providerAssets } })
  cleanUps.push(() => gateway.close())
  const caller = client('A', gateway.url)
  expectRefusal(await caller.get('/transactions/alpha~tx-1'), 'A', 502)
  expectRefusal(await caller.post('/transactions', order), 'A', 502)
  expect((await gateway.ledgerAdmin.stats(Date.now())).unknown).toBe(0)
})

test('U21: a provider that is found again is used again', async () => {
  const behind = await startFormA()
  const proxy = await FaultProxy.start(behind.url)
  behind.holdings.swaps = [swap()]
  const gateway = await startGateway({ provider: { form: 'A', url: proxy.url, assets: providerAssets } })
  cleanUps.push(
    () => behind.close(),
    () => proxy[Symbol.asyncDispose](),
    () => gateway.close(),
  )
  const caller = client('A', gateway.url)
  expect((await caller.get('/transactions/alpha~tx-1')).status).toBe(200)
  await proxy.down()
  expectRefusal(await caller.get('/transactions/alpha~tx-1'), 'A', 502)
  await proxy.up()
  expect((await caller.get('/transactions/alpha~tx-1')).status).toBe(200)
})

describe('U22', () => {
  const authority = certify({ name: 'Test authority' })
  const otherAuthority = certify({ name: 'Another authority' })
  const long = new Date('2020-01-01')
  const before = getCACertificates('default')
  beforeAll(() => setDefaultCACertificates([...before, authority.cert]))
  afterAll(() => setDefaultCACertificates(before))
  const good = certify({ name: 'localhost', issuer: authority })

  async function responsesOver(
    options: TlsOptions,
  ): Promise<{ readonly read: ReceivedResponse; readonly created: ReceivedResponse; readonly received: readonly string[] }> {
    const received: string[] = []
    const port = await listenTls(options, (socket, text) => {
      received.push(text)
      socket.write(rawResponse(whole))
    })
    const gateway = await startGateway({
      provider: { form: 'A', url: `https://localhost:${port}/v2`, timeout: 2, assets: providerAssets },
    })
    cleanUps.push(() => gateway.close())
    const caller = client('A', gateway.url)
    return { read: await caller.get('/transactions/alpha~tx-1'), created: await caller.post('/transactions', order), received }
  }

  test('a certificate that is in order is taken', async () => {
    expect((await responsesOver(good)).read.status).toBe(200)
  })

  test.each<[string, TlsOptions]>([
    ['a certificate of another name', certify({ name: 'other.test', issuer: authority })],
    [
      'a certificate that has expired',
      certify({ name: 'localhost', issuer: authority, from: long, until: new Date('2020-01-02') }),
    ],
    ['a certificate of an unknown authority', certify({ name: 'localhost', issuer: otherAuthority })],
    ['a certificate that it made itself', certify({ name: 'localhost' })],
    ['TLS of an old version', { ...good, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }],
  ])('U22: %s: 502, nothing is sent, and no create is in doubt', async (_, options) => {
    const { read, created, received } = await responsesOver(options)
    expectRefusal(read, 'A', 502)
    expectRefusal(created, 'A', 502)
    expect(received).toEqual([])
  })
})

async function listenTls(options: TlsOptions, receive: (socket: Socket, text: string) => void): Promise<number> {
  const server = createServer(options, (socket) => {
    cleanUps.push(() => socket.destroy())
    socket.on('error', () => socket.destroy()).on('data', (chunk) => receive(socket, String(chunk)))
  }).on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => void server.close())
  return (server.address() as AddressInfo).port
}

test('U23: nothing that a client sends chooses the host of a call', async () => {
  const elsewhere: string[] = []
  const trap = createTcpServer((socket) => void elsewhere.push(String(socket.remotePort)))
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => void trap.close())
  const target = `127.0.0.1:${(trap.address() as AddressInfo).port}`
  const provider = await startFormA()
  provider.holdings.swaps = [swap()]
  const gateway = await startGateway({ provider: { form: 'A', url: provider.url } })
  cleanUps.push(
    () => provider.close(),
    () => gateway.close(),
  )
  const headers = {
    authorization: 'Bearer canary-client-key-1',
    host: target,
    'x-forwarded-host': target,
    forwarded: `host=${target}`,
    'x-original-url': `http://${target}/x`,
    'x-rewrite-url': `http://${target}/x`,
  }
  const paths = ['/a/api/v2/transactions/alpha~tx-1', `/a/api/v2/transactions/alpha~@${target}`, `//${target}/a/api/v2/currencies`]
  const responses = await Promise.all(paths.map((path) => sendRequest(gateway.url, { path, headers })))
  expect(responses.map(({ status }) => status)).toEqual([200, 404, 404])
  expect(provider.journal.every((received) => received.headers.host === new URL(provider.url).host)).toBe(true)
  expect(elsewhere).toEqual([])
})
