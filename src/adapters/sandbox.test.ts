import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { decimal } from '../sandbox/decimal.ts'
import { type Damage, DamagedResponse } from '../sandbox/server.ts'
import type { Swap } from '../sandbox/store.ts'
import type { Http, HttpResponse } from '../wire/http.ts'
import { listenOnLoopback, sandboxStore } from './sandbox.ts'

function swap(id: string, createdAt = 0, owner = 'owner'): Swap {
  const pair = { codeFrom: 'BTC', coinFrom: 'BTC', networkFrom: 'BTC', codeTo: 'XRP', coinTo: 'XRP', networkTo: 'XRP' }
  const terms = { rate: decimal('2.50'), fee: decimal('0.1'), minAmount: decimal('1e-8'), maxAmount: decimal('9') }
  const addresses = { depositAddress: `to ${id}`, withdrawalAddress: 'w' }
  return { ...pair, ...terms, ...addresses, id, owner, amountIn: decimal('1.10'), rateType: 'float', createdAt }
}

function temporaryFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return join(directory, 'not', 'yet', 'there', 'sandbox.db')
}

test('inserted and updated swaps survive a restart, with their digits', () => {
  const file = temporaryFile()
  const before = sandboxStore(file)
  before.insert(swap('one'))
  const paid = { ...swap('one'), deposit: { amount: decimal('1.100'), at: 5 } }
  before.update(paid)
  before.close()
  const after = sandboxStore(file)
  expect(after.find('one')).toEqual(paid)
  expect(after.findByDepositAddress('to one')).toEqual(paid)
  after.close()
})

test('a missing swap is undefined', () => {
  const store = sandboxStore(':memory:')
  store.insert(swap('one'))
  expect(store.find('to one')).toBeUndefined()
  expect(store.findByDepositAddress('one')).toBeUndefined()
})

test('no two swaps share a deposit address', () => {
  const store = sandboxStore(':memory:')
  store.insert(swap('one'))
  expect(() => store.insert({ ...swap('two'), depositAddress: 'to one' })).toThrow(/UNIQUE/)
})

test("an owner's swaps come newest first, in pages, between two times", () => {
  const store = sandboxStore(':memory:')
  for (const [id, createdAt] of [
    ['a', 1],
    ['b', 3],
    ['c', 2],
    ['d', 3],
  ] as const)
    store.insert(swap(id, createdAt))
  store.insert(swap('e', 2, 'another'))
  const ids = (from: number, to: number, page = 1, size = 10) =>
    store.list({ owner: 'owner', from, to }, { page, size }).map(({ id }) => id)
  expect(ids(0, 9)).toEqual(['d', 'b', 'c', 'a'])
  expect(ids(0, 9, 2, 3)).toEqual(['a'])
  expect(ids(2, 3)).toEqual(['d', 'b', 'c'])
  expect(ids(2, 2)).toEqual(['c'])
  expect(ids(0, 9, Number.MAX_SAFE_INTEGER, 100)).toEqual([])
  expect(store.count({ owner: 'owner', from: 2, to: 3 })).toBe(3)
})

const whole: HttpResponse = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"a":"é"}' }

async function serving(handle: Http): Promise<string> {
  const { port, close } = await listenOnLoopback(handle, 0)
  onTestFinished(close)
  return `http://127.0.0.1:${port}`
}

function damaged(damage: Damage): Promise<string> {
  return serving(async ({ path }) => (path === '/whole' ? whole : new DamagedResponse(damage, whole)))
}

test('request and response arrive unchanged', async () => {
  const url = await serving(async ({ method, path, query, headers, address, body }) => {
    const received = { method, path, query, address, sent: await body?.(), key: headers['x-api-key'] }
    return { ...whole, body: JSON.stringify(received) }
  })
  const response = await fetch(`${url}/a/b%20c?d=e%2Ff`, { method: 'POST', body: 'é', headers: { 'X-API-Key': 'k' } })
  expect(await response.json()).toEqual({
    method: 'POST',
    path: '/a/b%20c',
    query: 'd=e%2Ff',
    address: '127.0.0.1',
    sent: 'é',
    key: 'k',
  })
  expect(response.headers.get('content-type')).toBe('application/json')
})

test('every response says that it is of a sandbox', async () => {
  const response = await fetch(await serving(async () => whole))
  expect(response.headers.get('x-swap-sandbox')).toBe('true')
})

test('a body that is too large or not UTF-8 is rejected', async () => {
  const url = await serving(async ({ body }) => {
    const reason: unknown = await body?.().catch((fault) => fault)
    return { ...whole, body: JSON.stringify(reason) }
  })
  const answerTo = async (body: string | Uint8Array<ArrayBuffer>) => (await fetch(url, { method: 'POST', body })).json()
  expect(await answerTo('x'.repeat(16_385))).toMatchObject({ kind: 'tooLarge' })
  expect(await answerTo(new Uint8Array([0xff]))).toMatchObject({ kind: 'invalid' })
})

test('a reset breaks the connection before any response', async () => {
  const url = await damaged('reset')
  await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
})

test('a truncated response has its status and ends inside its body', async () => {
  const response = await fetch(await damaged('truncation'))
  expect(response.status).toBe(200)
  await expect(response.text()).rejects.toThrow()
})

test('silence blocks one request while others get responses', async () => {
  const url = await damaged('silence')
  const silent = fetch(url).then(
    () => 'completed',
    () => 'aborted',
  )
  expect((await fetch(`${url}/whole`)).status).toBe(200)
  expect(await Promise.race([silent, Promise.resolve('nothing yet')])).toBe('nothing yet')
})

test('a port that is taken is an error', async () => {
  const url = new URL(await serving(async () => whole))
  await expect(listenOnLoopback(async () => whole, Number(url.port))).rejects.toMatchObject({ code: 'EADDRINUSE' })
})
