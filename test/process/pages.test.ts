/** The static pages cost little for any client, and one address does not take all connections. */
import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { usageOf } from '../soak/process-usage.ts'
import { sendRequest } from '../support/client.ts'
import { expectErrorBody, expectRefusal } from '../support/expectations.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { readJson } from '../support/json.ts'
import { sendRaw } from '../support/raw.ts'
import { ConfigDirectory, Swapgate } from './swapgate.ts'

const timeout = 30_000
const sections = `
ledger: { url: "sqlite::memory:" }
providers: { alpha: { form: A, url: "http://127.0.0.1:9/api/v2" } }
routing: { providers: [alpha] }`

function configurationFile(lines: string, more = sections): string {
  const directory = new ConfigDirectory()
  onTestFinished(() => directory[Symbol.dispose]())
  return directory.write(lines + more)
}

const start = (lines: string, more?: string): Promise<InProcessGateway> => InProcessGateway.start(configurationFile(lines, more))

const free = 'server: { port: 0, shutdownDelay: 0 }\nadmin: { port: 0 }'

async function open(url: string, localAddress: string, requestText: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress }).on('error', () => {})
  await once(socket, 'connect')
  socket.pause()
  socket.write(requestText)
  return socket
}

interface Head {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

/** The response, without its body. */
async function headOf(url: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Head> {
  const sent = request(url + path, { headers }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return { status: response.statusCode ?? 0, headers: response.headers }
}

it('H19: a page is compressed for clients that accept it, and each representation has its tag', { timeout }, async () => {
  await using gateway = await start(free)
  const get = (headers: Readonly<Record<string, string>>) => headOf(gateway.url, '/docs', headers)
  const [plain, gzip, refused] = [
    await get({}),
    await get({ 'accept-encoding': 'br, gzip' }),
    await get({ 'accept-encoding': 'gzip;q=0, *' }),
  ]
  expect(gzip.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' })
  expect(plain.headers).toMatchObject({ vary: 'accept-encoding' })
  expect([plain.headers['content-encoding'], refused.headers['content-encoding']]).toEqual([undefined, undefined])
  expect(Number(gzip.headers['content-length'])).toBeLessThan(Number(plain.headers['content-length']) / 2)
  expect(gzip.headers.etag).not.toBe(plain.headers.etag)
  const known = await get({ 'accept-encoding': 'gzip', 'if-none-match': String(gzip.headers.etag) })
  expect(known.status).toBe(304)
})

it('H19: many clients that never read a page cost no memory, and the API goes on', { timeout }, async () => {
  await using gateway = new Swapgate(['start', '--config', configurationFile(free)])
  const urls = await gateway.urls()
  const [url = '', admin = ''] = [urls.get('gateway'), urls.get('admin')]
  const resident = async (): Promise<number> => usageOf(await (await fetch(`${admin}/metrics`)).text()).memory
  const before = await resident()
  const addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']
  const sockets = await Promise.all(
    addresses.flatMap((address) =>
      Array.from({ length: 100 }, () => open(url, address, 'GET /docs HTTP/1.1\r\nHost: gateway\r\n\r\n')),
    ),
  )
  const missing = await sendRequest(url, { path: '/a/api/v2/nowhere' })
  expect(missing.status).toBe(404)
  expect((await resident()) - before).toBeLessThan(100)
  for (const socket of sockets) socket.destroy()
})

it('H20: pages are limited by address, and the API does not count them', { timeout }, async () => {
  await using gateway = await start(free)
  const statuses: number[] = []
  for (let at = 0; at < 121; at++) statuses.push((await headOf(gateway.url, '/docs')).status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(120)
  const over = await sendRequest(gateway.url, { path: '/a/openapi.json' })
  expectRefusal(over, 'A', 429)
  expect(Number(over.headers['retry-after'])).toBeGreaterThan(0)
  expect(over.headers['ratelimit-policy']).toBe('"pages";q=120;w=60')
  const quote = await sendRequest(gateway.url, { path: '/a/api/v2/rate' })
  expect([quote.status, quote.headers.ratelimit]).toEqual([400, '"quotes";r=59;t=60'])
})

it('H20: docs: false serves no page, and no error leads to one', { timeout }, async () => {
  await using gateway = await start(`${free}\ndocs: false`)
  for (const path of ['/docs', '/docs/', '/a/openapi.json', '/b/openapi.json']) {
    const { status, headers, json } = await sendRequest(gateway.url, { path })
    expect([status, headers['x-swap-reason'], headers.link]).toEqual([404, 'path', undefined])
    expectErrorBody(json, path.startsWith('/b') ? 'B' : 'A', 404)
  }
})

it('an error leads to the page that explains its reason', { timeout }, async () => {
  await using gateway = await start(free)
  const { headers } = await sendRequest(gateway.url, { path: '/a/api/v2/nothing' })
  expect(headers.link).toBe('</docs#path>; rel="help"')
  expect((await headOf(gateway.url, '/docs')).status).toBe(200)
})

it('the page and the descriptions follow the configuration', { timeout }, async () => {
  const pagesOf = async ({ url }: InProcessGateway): Promise<readonly string[]> =>
    Promise.all(['/docs', '/b/openapi.json'].map(async (path) => (await fetch(url + path)).text()))
  const limits = 'limits: { quotes: 7, create: 5, read: 9, window: 30 }'
  const managed = sections.replace('form: A', 'form: A, key: key-of-alpha')
  await using issuing = await start(`${free}\n${limits}\nauth: { mode: managed }`, managed)
  for (const text of await pagesOf(issuing)) {
    expect(text).toContain('Requests in 30 seconds')
    expect(text).toContain('The operator of this gateway issues it.')
    expect(text).toContain('not supported by this gateway: a create with one is rejected.')
    for (const absent of ['The tag of the provider for this request', 'sandbox-key', 'Requests in 60 seconds'])
      expect(text).not.toContain(absent)
  }
  const choosing = managed
    .replace('providers: [alpha] }', 'providers: [alpha], pick: [alpha] }')
    .replace('key:', 'extraIds: true, key:')
  await using picking = await start(`${free}\nauth: { mode: managed }`, choosing)
  for (const text of await pagesOf(picking)) {
    expect(text).toContain('The tag of the provider for this request')
    expect(text).not.toContain('not supported by this gateway')
  }
  await using passing = await start(`${free}\ndefaultForm: B\nsandbox: { enabled: true, port: 0, data: ":memory:" }`)
  for (const text of await pagesOf(passing)) {
    expect(text).toContain('It is your key at the provider.')
    expect(text).toContain('Without them it is Form B.')
    expect(text).toContain('This gateway uses a sandbox')
  }
})

it('H21: one address does not hold every connection', { timeout }, async () => {
  await using gateway = await start(
    'server: { port: 0, shutdownDelay: 0, connections: 20, connectionsPerAddress: 5 }\nadmin: { port: 0 }',
  )
  const requestText = 'GET /nowhere HTTP/1.1\r\nHost: gateway\r\n\r\n'
  const isHeld = async (address: string): Promise<boolean> => {
    const socket = (await open(gateway.url, address, requestText)).resume()
    return new Promise((resolve) => socket.once('data', () => resolve(true)).once('close', () => resolve(false)))
  }
  const first = await Promise.all(Array.from({ length: 8 }, () => isHeld('127.0.0.2')))
  expect(first.filter(Boolean)).toHaveLength(5)
  expect(await isHeld('127.0.0.3')).toBe(true)
})

it('H22: the admin port serves its probes to any Host, and nothing else to a foreign name', { timeout }, async () => {
  await using gateway = await start('server: { port: 0, shutdownDelay: 0 }\nadmin: { port: 0, hosts: [ops.example] }')
  const statusOf = async (path: string, host: string): Promise<number> => (await headOf(gateway.adminUrl, path, { host })).status
  for (const path of ['/livez', '/readyz', '/metrics']) expect(await statusOf(path, 'evil.example')).toBe(200)
  const hosts = ['evil.example', 'evil.example:9090', 'ops.example.evil.example', '127.0.0.1.evil.example', 'a b']
  for (const host of hosts) expect([host, await statusOf('/', host)]).toEqual([host, 421])
  for (const host of ['127.0.0.1:9090', '[::1]', 'localhost:1', 'OPS.example', '10.0.0.1']) {
    expect([host, await statusOf('/', host)]).toEqual([host, 404])
  }
})

it('H25: errors of the admin port have the body of defaultForm, and its paths have Allow', { timeout }, async () => {
  for (const form of ['A', 'B'] as const) {
    await using gateway = await start(`defaultForm: ${form}\n${free}`)
    const missing = await fetch(`${gateway.adminUrl}/nothing`)
    expectErrorBody(readJson(await missing.text()), form, 404)
    const wrong = await fetch(`${gateway.adminUrl}/livez`, { method: 'POST' })
    expect([wrong.status, wrong.headers.get('allow'), wrong.headers.get('x-swap-reason')]).toEqual([
      405,
      'GET, HEAD, OPTIONS',
      'method',
    ])
    expectErrorBody(readJson(await wrong.text()), form, 405)
    const garbage = await sendRaw(Number(new URL(gateway.adminUrl).port), 'GARBAGE\r\n\r\n')
    expect(garbage.status).toBe(400)
    expectErrorBody(readJson(garbage.body), form, 400)
    for (const { headers } of [missing, wrong]) expect(headers.get('cache-control')).toBe('no-store')
    expect(garbage.head).toMatch(/^cache-control: no-store\r?$/im)
    const options = await fetch(`${gateway.adminUrl}/readyz`, { method: 'OPTIONS' })
    expect([options.status, options.headers.get('allow'), await options.text()]).toEqual([204, 'GET, HEAD, OPTIONS', ''])
    expect((await fetch(`${gateway.adminUrl}/livez`, { method: 'HEAD' })).status).toBe(200)
  }
})
