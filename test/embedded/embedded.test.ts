/** docs/contract.md §17: the gateway in another program. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createSwapgate, type Swapgate, type SwapgateOptions } from '../../src/embedded.ts'
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

it('a create behind a body parser is 500, and nothing is sent', async () => {
  const app = express()
  app.use(express.json())
  app.use(create().handler)
  const url = await listen(app)
  await swapgate.start()
  const response = await post(url, '/a/api/v2/transactions')
  expect([response.status, response.headers['x-swap-reason']]).toEqual([500, 'internal'])
  expect(provider.received('create')).toEqual([])
  expect((await sendRequest(url, { path: quote })).status).toBe(200)
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
