// Runs alone: the gateway is in this process, and sheds traffic if that is busy.
/** docs/contract-operators.md §17: the gateway in another program. */

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import express from 'express'
import { Counter, Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hashKey } from '../../src/adapters/crypto.ts'
import { issueKey } from '../../src/core/operations/keys.ts'
import { createSwapgate, type Swapgate, type SwapgateOptions } from '../../src/embedded.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { digits } from '../support/json.ts'

let provider: ProviderA
let directory: string
let swapgate: Swapgate
const servers: Server[] = []
beforeEach(async () => {
  provider = await startFormA()
  directory = mkdtempSync(join(tmpdir(), 'swapgate-embedded-'))
})
afterEach(async () => {
  for (const server of servers.splice(0)) server.close()
  await swapgate.stop()
  await provider.close()
  rmSync(directory, { recursive: true })
})

const settings = (facts: object = {}) => ({
  providers: { alpha: { form: 'A', url: provider.url } },
  routing: { providers: ['alpha'] },
  ledger: { url: `sqlite:${join(directory, 'ledger.db')}` },
  log: { level: 'silent' as const },
  ...facts,
})

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  servers.push(server)
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const create = (facts: object = {}, options: SwapgateOptions = {}): Swapgate => {
  swapgate = createSwapgate(settings(facts), options)
  return swapgate
}

/** In the ledger that the gateway has open too. */
async function keyOf(name: string): Promise<string> {
  const { accounts, close } = await openLedger(settings().ledger.url)
  const { key } = await issueKey({ accounts, digest: hashKey, actor: 'tester' }, name, undefined)
  await close()
  return key
}

const quote = '/a/api/v2/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=0.10'
const order = JSON.stringify({
  coinFrom: 'BTC',
  coinTo: 'USDTTRC20',
  amount: 0.1,
  withdrawalAddress: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE',
})
const post = (url: string, path: string): Promise<ReceivedResponse> =>
  sendRequest(url, {
    method: 'POST',
    path,
    headers: { authorization: 'Bearer client-key-1', 'content-type': 'application/json' },
    body: order,
  })

it('mounts in an express application, beside what is its own', async () => {
  const app = express()
  app.use('/swap', create().handler)
  app.use(express.json())
  app.get('/own', (_, response) => void response.send('own'))
  const url = await listen(app)
  await swapgate.start()
  expect((await sendRequest(url, { path: `/swap${quote}` })).json).toMatchObject({ amount: digits('0.10') })
  expect((await post(url, '/swap/a/api/v2/transactions')).status).toBe(201)
  expect((await fetch(`${url}/own`)).status).toBe(200)
  const unknown = await sendRequest(url, { path: '/swap/nowhere' })
  expect([unknown.status, unknown.headers['x-swap-reason']]).toEqual([404, 'path'])
})

it('is the listener of a bare server', async () => {
  const url = await listen(create().handler)
  await swapgate.start()
  expect((await sendRequest(url, { path: quote })).status).toBe(200)
  expect((await post(url, '/a/api/v2/transactions')).status).toBe(201)
})

it('has the reference and the OpenAPI documents where it is mounted, of the configuration in force', async () => {
  const url = await listen(express().use('/swap', create({ sandbox: { enabled: true }, limits: { quotes: 7 } }).handler))
  await swapgate.start()
  const read = async (path: string): Promise<string> => (await fetch(url + path)).text()
  const documents = async () => ({
    page: await read('/swap/docs'),
    description: JSON.parse(await read('/swap/b/openapi.json')) as { servers: object[]; info: { description: string } },
  })
  const { page, description } = await documents()
  expect(page).toContain('https://gateway.example/swap/a/api/v2')
  expect(description.servers).toEqual([expect.objectContaining({ url: '/swap/b/api/v2' })])
  for (const text of [page, description.info.description]) expect(text).not.toContain('/sandbox/deposits') // it has no port here
  const [stylesheet = ''] = /docs\/[^"]+\.css/.exec(page) ?? []
  expect((await fetch(new URL(stylesheet, `${url}/swap/docs`))).status).toBe(200)
  const html = { headers: { accept: 'text/html' } }
  for (const path of ['/swap', '/swap/']) expect((await fetch(url + path, html)).url).toBe(`${url}/swap/docs`)
  const moved = await fetch(`${url}/swap/a`, { ...html, redirect: 'manual' })
  expect([moved.status, moved.statusText, moved.headers.get('location')]).toEqual([302, 'Found', '/swap/docs#form-a'])
  await swapgate.reload(settings({ limits: { quotes: 7_000 } }))
  const reloaded = await documents()
  for (const text of [reloaded.page, reloaded.description.info.description]) expect(text).toMatch(/7000/)
  await swapgate.reload(settings({ docs: false }))
  expect((await fetch(`${url}/swap/docs`)).status).toBe(404)
})

it('an error leads to the reference where it is mounted, and names the base paths there', async () => {
  const url = await listen(express().use('/swap', create().handler))
  await swapgate.start()
  const { headers, text } = await sendRequest(url, { path: '/swap/nowhere' })
  expect(headers.link).toBe('</swap/docs#path>; rel="help"')
  expect(text).toContain('/swap/a/api/v2, /swap/b/api/v2')
})

/** What a registry says of the quotes that were answered. */
async function countedQuotes(registry: Pick<Registry, 'metrics'>): Promise<readonly string[]> {
  return (await registry.metrics()).split('\n').filter((line) => /^swapgate_requests_total\{operation="get_rate"/.test(line))
}
const oneQuote = [expect.stringMatching(/client_form="A",provider_form="A",provider="alpha",error_type="none"\} 1$/)]

it('hands out a registry with its metrics, and those of the process are not in it', async () => {
  const url = await listen(create().handler)
  await swapgate.start()
  await sendRequest(url, { path: quote })
  expect(await countedQuotes(swapgate.registry)).toEqual(oneQuote)
  expect(await swapgate.registry.metrics()).not.toMatch(/^(?:nodejs|process)_/m)
})

it('adds its metrics to the registry that it is given, while it is started', async () => {
  const registry = new Registry()
  const own = new Counter({ name: 'own_total', help: 'Of the application.', registers: [registry] })
  own.inc()
  const url = await listen(create({}, { registry }).handler)
  for (let start = 0; start < 2; start++) {
    await swapgate.start()
    await sendRequest(url, { path: quote })
    expect(await countedQuotes(registry)).toEqual(oneQuote)
    await swapgate.stop()
    expect(registry.getMetricsAsArray().map(({ name }) => name)).toEqual(['own_total'])
  }
})

it('counts by the configuration in force', async () => {
  const url = await listen(create().handler)
  await swapgate.start()
  await swapgate.reload(settings({ providers: { gamma: { form: 'A', url: provider.url } }, routing: { providers: ['gamma'] } }))
  await sendRequest(url, { path: quote })
  expect(await swapgate.registry.metrics()).toContain('provider_form="A",provider="gamma",error_type="none"} 1')
})

it('does not start with a registry that has such metrics already, and adds none', async () => {
  const registry = new Registry()
  new Counter({ name: 'swapgate_ledger_failures_total', help: 'Of the application.', registers: [registry] })
  create({}, { registry })
  await expect(swapgate.start()).rejects.toThrow('already been registered')
  expect(registry.getMetricsAsArray()).toHaveLength(1)
})

describe('behind a body parser', () => {
  const message = 'The body was read before it came to the gateway; please report the X-Request-Id.'

  it.each([
    ['A', '/a/api/v2/transactions', { error: 'Internal Server Error', message, code: digits('500') }],
    ['B', '/b/api/v2/transactions', { message, code: digits('500') }],
    ['exolix', '/exolix/api/v2/transactions', expect.anything()],
  ])('a create in form %s is 500 in its form, and nothing is sent', async (form, path, body) => {
    const url = await listen(express().use(express.json(), create().handler))
    await swapgate.start()
    const scheme = form === 'exolix' ? '' : 'Bearer '
    const key = form === 'B' ? { 'x-api-key': 'client-key-1' } : { authorization: `${scheme}client-key-1` }
    const headers = { ...key, 'content-type': 'application/json' }
    const response = await sendRequest(url, { method: 'POST', path, headers, body: order })
    expect([response.status, response.headers['x-swap-form'], response.headers['x-swap-reason']]).toEqual([500, form, 'internal'])
    expect(response.json).toEqual(body)
    expect(response.text).toContain(message)
    expect(provider.received('create')).toEqual([])
    expect((await sendRequest(url, { path: quote })).status).toBe(200)
  })

  it('so is a request to an own path of the provider', async () => {
    const native = { form: 'A', url: provider.url, key: 'key-of-the-gateway', native: ['POST /estimates'] }
    const managed = { auth: { mode: 'managed' }, providers: { alpha: native } }
    const url = await listen(express().use(express.json(), create(managed).handler))
    await swapgate.start()
    const key = await keyOf('acme')
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await sendRequest(url, { method: 'POST', path: '/native/alpha/estimates', headers, body: '{}' })
    expect([response.status, response.headers['x-swap-reason']]).toEqual([500, 'internal'])
    expect(response.text).toContain(message)
  })

  it('the log has the cause in one line', async () => {
    const program = `import express from 'express'
import { createSwapgate } from '${new URL('../../src/embedded.ts', import.meta.url).href}'
const settings = ${JSON.stringify(settings({ log: { format: 'text' } }))}
const swapgate = createSwapgate(settings)
await swapgate.start()
const server = express().use(express.json(), swapgate.handler).listen(0, async () => {
  await fetch('http://127.0.0.1:' + server.address().port + '/a/api/v2/transactions', {
    method: 'POST', headers: { authorization: 'Bearer client-key-1', 'content-type': 'application/json', 'x-request-id': 'mine' }, body: '{}',
  })
  await swapgate.stop()
  process.exit()
})`
    const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
    expect(stderr).toMatch(
      /^\S+ POST {2}\/a\/api\/v2\/transactions 500 \S+ ms - mine gateway_internal Error: The body was read before the gateway: mount the gateway in front of every body parser\.\n$/,
    )
  })
})

it('what middleware responds is its own', async () => {
  const teapot: NonNullable<SwapgateOptions['middleware']>[number] = (request, response, next) => {
    if (request.path === '/teapot') response.status(418).send('mine')
    else next()
  }
  const url = await listen(create({}, { middleware: [teapot] }).handler)
  await swapgate.start()
  const response = await fetch(`${url}/teapot`)
  expect([response.status, await response.text()]).toEqual([418, 'mine'])
  expect((await sendRequest(url, { path: quote })).status).toBe(200)
})

it('server.trustProxy alone decides the client address, whatever the application trusts', async () => {
  const app = express()
  app.set('trust proxy', true)
  app.use(create({ limits: { quotes: 1 } }).handler)
  const url = await listen(app)
  await swapgate.start()
  const from = (address: string) => sendRequest(url, { path: quote, headers: { 'x-forwarded-for': address } })
  expect((await from('203.0.113.1')).status).toBe(200)
  expect((await from('203.0.113.2')).status).toBe(429)
})

it('is 503 before its start and after its stop, and starts again', async () => {
  const url = await listen(create().handler)
  const closed = await sendRequest(url, { path: quote })
  expect([closed.status, closed.headers['x-swap-reason']]).toEqual([503, 'stopping'])
  await swapgate.start()
  await expect(swapgate.start()).rejects.toThrow('already started')
  expect((await sendRequest(url, { path: quote })).status).toBe(200)
  await swapgate.stop()
  expect((await sendRequest(url, { path: quote })).status).toBe(503)
  await swapgate.start()
  expect((await sendRequest(url, { path: quote })).status).toBe(200)
})

it('starts without a port and without a signal handler', async () => {
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
  const before = signals.map((signal) => process.listenerCount(signal))
  const servers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length
  const open = servers()
  await create({ sandbox: { enabled: true } }).start()
  expect(signals.map((signal) => process.listenerCount(signal))).toEqual(before)
  expect(servers()).toBeLessThanOrEqual(open)
})

it('a reload applies to new requests; one with a fault changes nothing', async () => {
  const url = await listen(create().handler)
  await swapgate.start()
  const next = await startFormA()
  await swapgate.reload(settings({ providers: { alpha: { form: 'A', url: next.url } } }))
  expect((await sendRequest(url, { path: quote })).status).toBe(200)
  expect([provider.received('rate').length, next.received('rate').length]).toEqual([0, 1])
  await expect(async () => swapgate.reload(settings({ routing: { providers: ['beta'] } }))).rejects.toThrow('is not in providers')
  await expect(async () => swapgate.reload('nowhere.yaml')).rejects.toThrow('cannot be read')
  expect((await sendRequest(url, { path: quote.replace('0.10', '0.20') })).status).toBe(200)
  await next.close()
})

it('a fault in the settings names its key', () => {
  swapgate = create()
  expect(() => createSwapgate({ ...settings(), limits: { quotes: -1 } })).toThrow('limits.quotes')
})
