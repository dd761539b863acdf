import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Certified, certify } from '../../test/support/certificate.ts'
import { freePort } from '../../test/support/free-port.ts'
import { NameLookup } from './lookup.ts'
import { upstream } from './undici.ts'

const loopback = [{ address: '127.0.0.1', family: 4 }]

/** `silent.test` gets no answer, `unknown.test` is no name, `broken.test` fails; every other name is this machine. */
const { lookup } = new NameLookup({
  maxLookups: 4,
  system(hostname, _, done) {
    if (hostname === 'silent.test') return
    const code = { 'unknown.test': 'ENOTFOUND', 'broken.test': 'EAI_AGAIN' }[hostname]
    if (code !== undefined) done(Object.assign(new Error(`getaddrinfo ${code}`), { code }), [])
    else if (hostname === 'two.test') done(null, [{ address: '100::1', family: 6 }, ...loopback])
    else done(null, loopback)
  },
})

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => void sockets.add(socket.on('error', () => {})))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

function faultOf(url: string, facts: object = {}): Promise<unknown> {
  const provider = upstream({ url, timeoutMs: 5_000, maxAgeMs: 300_000, lookup })
  onTestFinished(() => provider.close())
  return provider.http({ method: 'GET', path: '/', query: '', headers: {}, ...facts }).then(
    (response) => response,
    (fault: unknown) => fault,
  )
}

const unsent = (failureCause: string) => ({ kind: 'unreachable', effect: 'nothingSent', failureCause })

describe('why a provider cannot be reached', () => {
  const day = 86_400_000
  let authority: Certified
  let before: string[]
  beforeAll(() => {
    authority = certify({ name: 'Authority of the test' })
    before = getCACertificates('default')
    setDefaultCACertificates([...before, authority.cert])
  })
  afterAll(() => setDefaultCACertificates(before))

  const secured = async ({ cert, key }: Certified): Promise<number> => {
    const server = createTlsServer({ cert, key }, (socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'))
    server.on('tlsClientError', () => {})
    return listening(server)
  }

  test.each([
    ['no such name', 'unknown.test', 'dns_not_found'],
    ['a silent name server', 'silent.test', 'dns_timeout'],
    ['a name server that fails', 'broken.test', 'dns_failed'],
  ])('%s', async (_, host, cause) => {
    expect(await faultOf(`https://${host}`)).toMatchObject(unsent(cause))
  })

  test('a closed port, also where the name has an address without a route before it', async () => {
    const port = await freePort(20_000, 2_000)
    expect(await faultOf(`https://127.0.0.1:${port}`)).toMatchObject(unsent('refused'))
    expect(await faultOf(`https://two.test:${port}`)).toMatchObject(unsent('refused'))
  })

  test('a server that accepts and is silent, and a deadline that comes before its end', async () => {
    const port = await listening(createServer(() => {}))
    expect(await faultOf(`https://provider.test:${port}`)).toMatchObject(unsent('timed_out'))
    const deadline = performance.now() + 200
    expect(await faultOf(`https://provider.test:${port}`, { deadline })).toMatchObject({
      ...{ kind: 'timedOut', effect: 'nothingSent', failureCause: 'timed_out' },
    })
  })

  test('a connection that is closed or reset in the handshake', async () => {
    const closing = await listening(createServer((socket) => socket.once('data', () => socket.end())))
    const resetting = await listening(createServer((socket) => socket.once('data', () => socket.resetAndDestroy())))
    for (const port of [closing, resetting]) expect(await faultOf(`https://provider.test:${port}`)).toMatchObject(unsent('reset'))
  })

  test('a server of plain HTTP, and one that wants another version of TLS', async () => {
    const plain = await listening(createServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 No\r\n\r\n'))))
    expect(await faultOf(`https://provider.test:${plain}`)).toMatchObject(unsent('not_tls'))
    const alert = Buffer.from([21, 3, 3, 0, 2, 2, 70])
    const other = await listening(createServer((socket) => socket.once('data', () => socket.end(alert))))
    expect(await faultOf(`https://provider.test:${other}`)).toMatchObject(unsent('tls_failed'))
  })

  test('a certificate: past its end, before its start, of another authority, of another name, and a good one', async () => {
    const name = 'provider.test'
    const past = { from: new Date(Date.now() - 2 * day), until: new Date(Date.now() - day) }
    const coming = { from: new Date(Date.now() + day), until: new Date(Date.now() + 2 * day) }
    for (const [certified, cause] of [
      [certify({ name, issuer: authority, ...past }), 'tls_expired'],
      [certify({ name, issuer: authority, ...coming }), 'tls_expired'],
      [certify({ name, issuer: certify({ name: 'Another authority' }) }), 'tls_untrusted'],
      [certify({ name }), 'tls_untrusted'],
      [certify({ name: 'other.test', issuer: authority }), 'tls_wrong_name'],
    ] as const)
      expect(await faultOf(`https://${name}:${await secured(certified)}`)).toMatchObject(unsent(cause))
    const good = await secured(certify({ name, issuer: authority }))
    expect(await faultOf(`https://${name}:${good}`)).toMatchObject({ status: 204 })
  })

  test('a connection that breaks after the request is not called unreachable', async () => {
    const port = await listening(createServer((socket) => socket.once('data', () => socket.resetAndDestroy())))
    expect(await faultOf(`http://provider.test:${port}`)).toMatchObject({
      ...{ kind: 'failed', effect: 'maybe', failureCause: 'reset' },
    })
  })
})

describe('why a response cannot be read', () => {
  const utf16 = Buffer.from('\ufeff{}', 'utf16le')
  const twice = Buffer.from('\ufeff\ufeff{}')
  const packed = gzipSync(Buffer.from('{"amount":"1"}'))
  test.each([
    ['bytes of another charset', 'charset', '', Buffer.from('{"name":"Z\xfcrich"}', 'latin1')],
    ['UTF-16', 'bom', '', utf16],
    ['UTF-16 of the other order', 'bom', '', Buffer.from(utf16).swap16()],
    ['two byte order marks', 'bom', '', twice],
    ['a coding that is not known', 'encoding', 'content-encoding: zstd\r\n', Buffer.from('{}')],
    ['bytes that are not in the coding', 'encoding', 'content-encoding: gzip\r\n', Buffer.from('{}')],
    ['three codings', 'encoding', 'content-encoding: gzip, gzip, gzip\r\n', packed],
    ['half of a compressed body', 'cut_off', 'content-encoding: gzip\r\n', packed.subarray(0, 15)],
    ['a few bytes that become many', 'too_large', 'content-encoding: br\r\n', brotliCompressSync(Buffer.alloc(3_000_000, ' '))],
    ['many bytes', 'too_large', '', Buffer.alloc(3_000_000, ' ')],
  ])('%s: %s', async (_, cause, header, body) => {
    const head = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n${header}\r\n`
    const port = await listening(
      createServer((socket) => socket.once('data', () => void socket.write(Buffer.concat([Buffer.from(head), body])))),
    )
    expect(await faultOf(`http://provider.test:${port}`)).toMatchObject({
      kind: 'unreadable',
      effect: 'maybe',
      failureCause: cause,
    })
  })

  test.each([
    ['a body that is shorter than announced', 'content-length: 10\r\n\r\n{'],
    ['chunks without an end', 'transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n'],
  ])('%s: cut_off', async (_, rest) => {
    const port = await listening(createServer((socket) => socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${rest}`))))
    expect(await faultOf(`http://provider.test:${port}`)).toMatchObject({ kind: 'unreadable', failureCause: 'cut_off' })
  })

  test('many chunks of an unknown length: too_large', async () => {
    const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`
    const port = await listening(
      createServer((socket) =>
        socket.once('data', () => void socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(3)}`)),
      ),
    )
    expect(await faultOf(`http://provider.test:${port}`)).toMatchObject({ kind: 'unreadable', failureCause: 'too_large' })
  })
})
