import { lookup } from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { certify } from '../../test/support/certificate.ts'
import { upstream } from './undici.ts'

const settings = { timeoutMs: 5_000, maxAgeMs: 300_000, lookup }
const request = { method: 'POST', path: '/transactions', query: '', headers: {}, body: async () => '{}' }

test.each(['retire', 'close'] as const)('L51: a request after %s fails as not sent', async (end) => {
  const provider = upstream({ ...settings, url: 'http://127.0.0.1:9' })
  await provider[end]()
  await expect(provider.http(request)).rejects.toMatchObject({ kind: 'unreachable', effect: 'nothingSent' })
})

test('a request may allow a larger response than 2 MiB, and no larger one', async () => {
  const server = createServer((_, response) => void response.end('x'.repeat(3_000_000))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const provider = upstream({ ...settings, url: `http://127.0.0.1:${port}` })
  const get = (maxResponseBytes?: number) =>
    provider.http({
      ...{ method: 'GET', path: '/coins', query: '', headers: {} },
      ...(maxResponseBytes !== undefined && { maxResponseBytes }),
    })
  expect((await get(3_000_000)).body).toHaveLength(3_000_000)
  for (const tooSmall of [undefined, 2_999_999]) await expect(get(tooSmall)).rejects.toMatchObject({ kind: 'unreadable' })
  await provider.close()
  server.closeAllConnections()
  server.close()
})

test('each new connection over TLS reports when the certificate of the server ends', async () => {
  const authority = certify({ name: 'authority' })
  const until = new Date('2031-05-06T07:08:09Z')
  const { cert, key } = certify({ name: 'localhost', issuer: authority, until })
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, authority.cert])
  onTestFinished(() => setDefaultCACertificates(before))
  const server = createTlsServer({ cert, key }, (socket) =>
    socket
      .on('error', () => {})
      .on('data', (part) => part.includes('}') && socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')),
  ).listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const ends: number[] = []
  const provider = upstream({ ...settings, url: `https://localhost:${port}`, onCertificate: (notAfter) => ends.push(notAfter) })
  await provider.http(request)
  expect(ends).toEqual([until.getTime()])
  await expect.poll(() => provider.openConnections()).toEqual({ active: 0, idle: 1, max: 128 })
  await provider.close()
  server.close()
})

test.each([
  ['that announces 5 s', 'timeout=5', [2.4, 2.4, 2.6], 2],
  ['that announces a minute', 'timeout=60', [5, 29, 31], 2],
  ['that announces one second', 'timeout=1', [0.4, 0.6], 2],
  ['that announces none', undefined, [3.9, 4.1], 2],
])('U11: at a provider %s no request is sent on a connection that was idle for half of it', async (_, announced, pauses, count) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const sockets = new Set<unknown>()
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, response) => {
    sockets.add(incoming.socket)
    response.setHeader('connection', 'keep-alive')
    if (announced !== undefined) response.setHeader('keep-alive', announced)
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const provider = upstream({ ...settings, url: `http://127.0.0.1:${port}`, timeoutMs: 600_000 })
  const sendAndFree = async (): Promise<void> => {
    await provider.http(request)
    await new Promise(setImmediate) // then its connection is idle
  }
  await sendAndFree() // shows how long the provider keeps connections
  sockets.clear()
  await sendAndFree()
  for (const pause of pauses) {
    await vi.advanceTimersByTimeAsync(pause * 1_000)
    await sendAndFree()
  }
  expect(sockets.size).toBe(count)
  await provider.close()
  server.closeAllConnections()
  server.close()
})

/** A provider that counts the connections on which it got a request. */
async function countingProvider() {
  const sockets = new Set<unknown>()
  const server = createServer((incoming, response) => {
    sockets.add(incoming.socket)
    response.end('{}')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close().closeAllConnections())
  await once(server, 'listening')
  return { sockets, port: (server.address() as AddressInfo).port }
}

test('a connection that is older than the maximum takes no new request', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { sockets, port } = await countingProvider()
  const provider = upstream({ ...settings, url: `http://127.0.0.1:${port}`, maxAgeMs: 3_500 })
  const counts: number[] = []
  for (let second = 0; second < 9; second++) {
    await provider.http(request)
    await new Promise(setImmediate) // then its connection is idle
    counts.push(sockets.size)
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(counts).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 3])
  await provider.close()
})

test.each([
  ['lacks an address of before', ['127.0.0.1'], 1],
  ['has one more address', ['127.0.0.1', '192.0.2.1', '192.0.2.2'], 0],
])(
  'if the next answer about its name %s, its connections are kept unless they may lead to another machine',
  async (_, next, expected) => {
    const { sockets, port } = await countingProvider()
    let addresses = ['127.0.0.1', '192.0.2.1']
    const answerAll: LookupFunction = (_hostname, _options, done) =>
      void process.nextTick(
        done,
        null,
        addresses.map((address) => ({ address, family: 4 })),
      )
    const provider = upstream({ ...settings, url: `http://provider.example:${port}`, lookup: answerAll })
    const send = async (): Promise<void> => {
      await provider.http(request)
      await new Promise(setImmediate) // then its connection is idle
    }
    await send()
    addresses = next
    await Promise.all([send(), send()]) // for the second one a connection is made
    const before = sockets.size
    for (let times = 0; times < 3; times++) await send()
    expect([before, sockets.size - before]).toEqual([2, expected])
    await provider.close()
  },
)

test('a 100 Continue that nobody asked for is none, on a kept connection too', async () => {
  const sockets = new Set<unknown>()
  const server = createServer((incoming, response) => {
    sockets.add(incoming.socket)
    response.writeContinue(() => response.writeHead(201).end('{"id":1}'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const provider = upstream({ ...settings, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  for (let call = 0; call < 3; call++) {
    expect(await provider.http(request)).toMatchObject({ status: 201, body: '{"id":1}' })
    await new Promise(setImmediate) // then its connection is idle
  }
  expect(sockets.size).toBe(1)
  await provider.close()
  server.close()
})

test('a header that is there twice is one text: codings in two lines are as in one', async () => {
  const server = createServer((_, response) => {
    response.setHeader('content-encoding', ['gzip', 'gzip']).end(gzipSync(gzipSync('{"id":1}')))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const provider = upstream({ ...settings, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  const { headers, body } = await provider.http(request)
  expect([headers['content-encoding'], body]).toEqual(['gzip, gzip', '{"id":1}'])
  await provider.close()
  server.close()
})
