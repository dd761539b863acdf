// Runs alone: the gateway is in this process, and sheds traffic if that is busy.
/** docs/contract-operators.md §17: the order in which a program may start, stop and reload the gateway, and requests in progress meanwhile. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createSwapgate, type Swapgate } from '../../src/embedded.ts'
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
  swapgate = createSwapgate(settings())
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

const quote = '/a/api/v2/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=0.10'
const create = (url: string): Promise<ReceivedResponse> =>
  sendRequest(url, {
    method: 'POST',
    path: '/a/api/v2/transactions',
    headers: { authorization: 'Bearer client-key-1', 'content-type': 'application/json', 'idempotency-key': 'order-1' },
    body: JSON.stringify({
      coinFrom: 'BTC',
      coinTo: 'USDTTRC20',
      amount: 0.1,
      withdrawalAddress: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE',
    }),
  })

it('P14: a stop waits for a create that is under way; its key has the result after the next start', async () => {
  const url = await listen(swapgate.handler)
  await swapgate.start()
  expect((await sendRequest(url, { path: '/a/api/v2/currencies' })).status).toBe(200)
  provider.reply('create', () => void swapgate.stop() as undefined)
  const created = await create(url)
  expect(created.status).toBe(201)
  await swapgate.stop()
  await swapgate.start()
  const repeated = await create(url)
  expect([repeated.status, repeated.text, repeated.headers['idempotent-replayed']]).toEqual([201, created.text, 'true'])
  expect(provider.received('create')).toHaveLength(1)
})

it('P14: a stop does not wait longer than server.drain', async () => {
  swapgate = createSwapgate(settings({ server: { drain: 0.1 } }))
  const url = await listen(swapgate.handler)
  await swapgate.start()
  const reached = Promise.withResolvers<void>()
  provider.reply('rate', () => {
    reached.resolve()
    return { after: new Promise(() => {}) }
  })
  const response = sendRequest(url, { path: quote })
  await reached.promise
  await swapgate.stop()
  expect((await response).status).toBeGreaterThan(500)
})

it('P15: starts and stops come one after another, whatever the program waits for', async () => {
  const url = await listen(swapgate.handler)
  const status = async (): Promise<number> => (await sendRequest(url, { path: quote })).status
  const [first, second] = await Promise.allSettled([swapgate.start(), swapgate.start()])
  expect([first.status, second.status]).toEqual(['fulfilled', 'rejected'])
  await Promise.all([swapgate.stop(), swapgate.stop()])
  expect(await status()).toBe(503)
  await Promise.all([swapgate.start(), swapgate.stop()])
  expect(await status()).toBe(503)
  await Promise.all([swapgate.start(), swapgate.stop(), swapgate.start()])
  expect(await status()).toBe(200)
})

it('P15: the configuration of the last reload is that of the next start', async () => {
  const url = await listen(swapgate.handler)
  await swapgate.start()
  await swapgate.reload(settings({ limits: { quotes: 7 }, defaultForm: 'B' }))
  await swapgate.stop()
  expect((await sendRequest(url, { path: '/nothing' })).headers['x-swap-form']).toBe('B')
  await swapgate.start()
  expect((await sendRequest(url, { path: quote })).headers['ratelimit-policy']).toBe('"quotes";q=7;w=60')
})

it('P15: a reload that fails is a rejection, not an exception', async () => {
  await expect(swapgate.reload(settings())).rejects.toThrow('not started')
  await swapgate.start()
  await expect(swapgate.reload('nowhere.yaml')).rejects.toThrow('cannot be read')
})

it('P15: a start and a reload report what the command reports', async () => {
  const ending = { alpha: { form: 'simpleswap', url: provider.url, key: 'key-of-the-gateway' } }
  const managed = settings({ providers: ending, auth: { mode: 'managed' }, sandbox: { enabled: true } })
  swapgate = createSwapgate(managed)
  const warnings = await swapgate.start()
  expect(warnings.filter((warning) => warning.includes('is not found again'))).toHaveLength(1)
  expect(warnings).toContain('sandbox.enabled is of no effect: the sandbox has a port of its own')
  const again = await swapgate.reload({ ...managed, server: { trustProxy: 1 } })
  expect(again).toContain('server: a change takes effect with another createSwapgate')
  expect(again.filter((warning) => warning.includes('is not found again'))).toHaveLength(1)
})

it.each([
  ['/a/api/v2/rate', 'A', { code: digits('503') }],
  ['/b/api/v2/transactions', 'B', { code: digits('503') }],
  ['/a/api/v2/pairs/BTC/XRP', 'A', { code: digits('503') }],
  ['/b/api/v2/rates', 'B', { code: digits('503') }],
  ['/exolix/api/v2/currencies', 'exolix', { status: digits('503'), errors: {} }],
])('P16: while it is stopped, %s is 503 in its own form', async (path, form, body) => {
  const url = await listen(swapgate.handler)
  const { status, headers, json } = await sendRequest(url, { path, headers: { 'x-request-id': 'my-request' } })
  expect([status, headers['x-swap-form'], headers['x-swap-reason']]).toEqual([503, form, 'stopping'])
  expect([headers['x-request-id'], headers['retry-after'], headers['cache-control']]).toEqual(['my-request', '1', 'no-store'])
  expect(json).toMatchObject(body)
})

it('P17: server.trustProxy alone counts the proxies, whatever the application trusts', async () => {
  swapgate = createSwapgate(settings({ server: { trustProxy: 1 }, limits: { quotes: 1 } }))
  const plain = express().use('/plain', swapgate.handler)
  const trusting = express().set('trust proxy', true).use('/trusting', swapgate.handler).use(plain)
  const url = await listen(trusting)
  await swapgate.start()
  const from = async (mount: string, addresses: string): Promise<number> =>
    (await sendRequest(url, { path: mount + quote, headers: { 'x-forwarded-for': addresses } })).status
  expect(await from('/trusting', '203.0.113.1')).toBe(200)
  expect(await from('/plain', '203.0.113.2')).toBe(200)
  expect(await from('/trusting', '203.0.113.3, 203.0.113.1')).toBe(429)
  expect(await from('/plain', '203.0.113.4, 203.0.113.2')).toBe(429)
})
