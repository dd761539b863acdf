/** docs/contract-operators.md §8: a proxy on the way to providers gets CONNECT alone, and what it refuses was not sent. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Observation } from '../../src/domain/observation.ts'
import { startNativeProvider } from '../native/provider.ts'
import { type Certified, certify } from '../support/certificate.ts'
import { sendRequest } from '../support/client.ts'
import { ConnectProxy } from '../support/connect-proxy.ts'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { type ProviderB, startFormB } from '../support/form-b.ts'
import { freePort } from '../support/free-port.ts'
import { type StartedGateway, startGateway } from '../support/gateway.ts'
import { orderIn } from '../support/managed.ts'
import { client } from '../support/pair.ts'

const providerKey = 'provider-key-of-alpha'
const name = 'provider.test'

let authority: Certified
let before: string[]
beforeAll(() => {
  authority = certify({ name: 'Authority of the test' })
  before = getCACertificates('default')
  setDefaultCACertificates([...before, authority.cert])
})
afterAll(() => setDefaultCACertificates(before))

let cleanUp: AsyncDisposableStack
let alpha: ProviderA
let beta: ProviderB
let proxy: ConnectProxy
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  ;[alpha, beta] = [await startFormA(), await startFormB()]
  cleanUp.defer(() => alpha.close())
  cleanUp.defer(() => beta.close())
  proxy = cleanUp.use(await ConnectProxy.start())
})
afterEach(() => cleanUp.disposeAsync())

/** A host with TLS, known by its name to the proxy alone, before a provider of plain HTTP. Returns the provider's URL there. */
async function secured(url: string, certified = certify({ name, issuer: authority })): Promise<string> {
  const { port, pathname } = new URL(url)
  const sockets = new Set<Socket>()
  const server = createServer(certified, (socket) => {
    const target = connect(Number(port), '127.0.0.1')
    for (const end of [socket, target]) sockets.add(end.on('error', () => {}))
    socket.on('close', () => target.destroy())
    target.on('close', () => socket.destroy())
    socket.pipe(target).pipe(socket)
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUp.defer(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return `https://${name}:${(server.address() as AddressInfo).port}${pathname}`
}

interface Way {
  readonly url?: string
  readonly proxy?: string
  readonly egress?: object
  readonly facts?: object
}

async function gatewayOver({ url, proxy: own, egress, facts }: Way): Promise<StartedGateway> {
  const gateway = await startGateway({
    provider: { form: 'A', key: providerKey, url: url ?? (await secured(alpha.url)), ...(own && { proxy: own }), ...facts },
    others: { beta: { form: 'B', url: beta.url, key: 'provider-key-of-beta' } },
    sections: { auth: { mode: 'managed' }, routing: { providers: ['alpha', 'beta'] }, ...(egress && { egress }) },
  })
  cleanUp.defer(() => gateway.close())
  return gateway
}

async function create(gateway: StartedGateway) {
  return client('A', gateway.url).post('/transactions', orderIn('A'), { key: await gateway.issueKey('acme') })
}

/** The causes of the calls that did not reach a provider. */
function causesIn(observations: readonly Observation[]): readonly string[] {
  const causes = observations.flatMap((one) =>
    one.what === 'call' && one.outcome === 'unreachable' ? [String(one.failureCause)] : [],
  )
  return [...new Set(causes)]
}

describe('a provider with a proxy on the way', () => {
  test('is called through it; the proxy sees its name and its port, and neither the key nor a request', async () => {
    const gateway = await gatewayOver({ egress: { proxy: proxy.urlFor('user', 'p@ss:word') } })
    expect((await create(gateway)).status).toBe(201)
    expect(alpha.received('create')[0]?.headers).toMatchObject({ authorization: `Bearer ${providerKey}` })
    const { port, host } = new URL(gateway.config.providers[0]?.url ?? '')
    expect(new Set(proxy.connects.map(({ authority: to }) => to))).toEqual(new Set([host]))
    expect(port).not.toBe('')
    const authorization = `Basic ${Buffer.from('user:p@ss:word').toString('base64')}`
    expect(proxy.connects[0]?.headers['proxy-authorization']).toBe(authorization)
    expect(alpha.received('create')[0]?.headers).not.toHaveProperty('proxy-authorization')
    const seen = Buffer.concat(proxy.seen).toString('latin1')
    expect(seen.length).toBeGreaterThan(1_000)
    for (const secret of [providerKey, '/transactions', 'TWithdraw1']) expect(seen).not.toContain(secret)
    expect(proxy.others).toEqual([])
  })

  test('keeps its connections: further calls need no tunnel of their own', async () => {
    const gateway = await gatewayOver({ proxy: proxy.url })
    for (let at = 0; at < 3; at++) expect((await create(gateway)).status).toBe(201)
    expect(alpha.received('create')).toHaveLength(3)
    expect(proxy.connects.length).toBeLessThan(3)
  })

  test('over TLS to the proxy, too', async () => {
    const port = Number(new URL(proxy.url).port)
    const url = await secured(`http://127.0.0.1:${port}/`, certify({ name: 'localhost', issuer: authority }))
    const gateway = await gatewayOver({ proxy: `https://localhost:${new URL(url).port}` })
    expect((await create(gateway)).status).toBe(201)
    expect(alpha.received('create')).toHaveLength(1)
    expect(proxy.connects.length).toBeGreaterThan(0)
  })

  test('on this machine, or over plain http, is called without it', async () => {
    const gateway = await gatewayOver({ url: alpha.url, egress: { proxy: proxy.url } })
    expect((await create(gateway)).status).toBe(201)
    expect([proxy.connects, alpha.received('create').length]).toEqual([[], 1])
    expect(gateway.config.providers.map((provider) => provider.proxy)).toEqual(['', ''])
  })

  test('gets another one by a reload, for new connections', async () => {
    const other = cleanUp.use(await ConnectProxy.start())
    const gateway = await gatewayOver({ proxy: proxy.url })
    expect((await create(gateway)).status).toBe(201)
    const count = proxy.connects.length
    gateway.reload({ proxy: other.url })
    expect((await create(gateway)).status).toBe(201)
    expect([proxy.connects.length, other.connects.length > 0]).toEqual([count, true])
  })

  test('with an address of IPv6 is named in brackets', async () => {
    const url = (await secured(alpha.url)).replace(name, '[fd00::1]')
    const gateway = await gatewayOver({ url, proxy: proxy.url })
    expect(await create(gateway)).toMatchObject({ status: 201, headers: { 'x-swap-provider': 'beta' } })
    expect(new Set(proxy.connects.map(({ authority: to }) => to))).toEqual(new Set([`[fd00::1]:${new URL(url).port}`]))
    expect(causesIn(gateway.observations)).toEqual(['tls_wrong_name'])
  })

  test('also on the native lane', async () => {
    const native = await startNativeProvider()
    cleanUp.defer(() => native.close())
    native.respond = (response) => response.end('{}')
    const gateway = await gatewayOver({
      ...{ url: await secured(native.url), proxy: proxy.url, facts: { native: ['GET /exchange/range'] } },
    })
    const headers = { authorization: `Bearer ${await gateway.issueKey('acme')}` }
    const get = () => sendRequest(gateway.url, { path: '/native/alpha/exchange/range', headers })
    expect(await get()).toMatchObject({ status: 200, text: '{}' })
    expect(native.arrived[0]?.headers).toMatchObject({ authorization: `Bearer ${providerKey}` })
    expect(Buffer.concat(proxy.seen).toString('latin1')).not.toContain(providerKey)
    proxy.status = '407 Proxy Authentication Required'
    expect((await get()).status).toBe(502)
    expect(causesIn(gateway.observations)).toEqual(['proxy_refused'])
    expect(native.arrived).toHaveLength(1)
  })
})

describe('a create goes to the next provider, since nothing was sent, if the proxy', () => {
  test.each(['407 Proxy Authentication Required', '403 Forbidden', '502 Bad Gateway'])('answers %s', async (status) => {
    proxy.status = status
    const gateway = await gatewayOver({ proxy: proxy.url })
    expect(await create(gateway)).toMatchObject({ status: 201, headers: { 'x-swap-provider': 'beta' } })
    expect(causesIn(gateway.observations)).toEqual(['proxy_refused'])
    expect([alpha.received('create').length, beta.received('create').length]).toEqual([0, 1])
  })

  const ends: readonly (readonly [string, () => Promise<string>])[] = [
    ['is not there', async () => `http://127.0.0.1:${await freePort(20_000, 2_000)}`],
    ['has no name', async () => 'http://proxy.invalid:3128'],
    ['closes the connection', () => serving((socket) => socket.once('data', () => socket.end()))],
    ['answers something else', () => serving((socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n')))],
    [
      'has a certificate of another authority',
      async () => `https://localhost:${new URL(await secured(alpha.url, certify({ name: 'localhost' }))).port}`,
    ],
  ]
  test.each(ends)('%s', async (_, urlOf) => {
    const gateway = await gatewayOver({ proxy: await urlOf() })
    expect(await create(gateway)).toMatchObject({ status: 201, headers: { 'x-swap-provider': 'beta' } })
    expect(causesIn(gateway.observations)).toEqual(['proxy_unreachable'])
    expect(beta.received('create')).toHaveLength(1)
  })

  test('is silent: once its time is over', { timeout: 30_000 }, async () => {
    proxy.isSilent = true
    const gateway = await gatewayOver({ proxy: proxy.url })
    expect(await create(gateway)).toMatchObject({ status: 201, headers: { 'x-swap-provider': 'beta' } })
    // The create waits less long for the list of coins than the tunnel has time.
    await expect.poll(() => causesIn(gateway.observations)).toEqual(['proxy_unreachable'])
  })

  test('opens a tunnel to a provider whose certificate is wrong: the cause is the certificate', async () => {
    const url = await secured(alpha.url, certify({ name: 'other.test', issuer: authority }))
    const gateway = await gatewayOver({ url, proxy: proxy.url })
    expect(await create(gateway)).toMatchObject({ status: 201, headers: { 'x-swap-provider': 'beta' } })
    expect(causesIn(gateway.observations)).toEqual(['tls_wrong_name'])
    expect(alpha.received('create')).toEqual([])
  })
})

test('a create whose tunnel breaks after it was sent may have been carried out, and goes nowhere else', async () => {
  alpha.reply('create', () => {
    proxy.cut()
    return { reset: true }
  })
  const gateway = await gatewayOver({ proxy: proxy.url })
  expect(await create(gateway)).toMatchObject({ status: 504, headers: { 'x-swap-reason': 'outcome_unknown' } })
  expect([alpha.received('create').length, beta.received('create').length]).toEqual([1, 0])
})

/** A server of raw bytes; returns its URL. */
async function serving(listener: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => listener(socket.on('error', () => {}))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUp.defer(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
