/** nginx with a cache in front of every route (docs/contract.md §6, §11): what a key was answered goes to nobody else. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FrontProxy } from '../support/front-proxy.ts'
import { type Managed, startManaged } from '../support/managed.ts'
import { credential, type FormName } from '../support/pair.ts'
import { type NativeRig, startRig } from './rig.ts'

let managed: Managed
let rig: NativeRig
let proxies: { readonly operations: FrontProxy; readonly native: FrontProxy }
beforeAll(async () => {
  managed = await startManaged()
  rig = await startRig()
  const before = (url: string) => FrontProxy.start('nginxWithCache', Number(new URL(url).port))
  proxies = { operations: await before(managed.gateway.url), native: await before(rig.gateway.url) }
}, 60_000)
afterAll(async () => {
  await Promise.all([proxies.operations, proxies.native].map((proxy) => proxy[Symbol.asyncDispose]()))
  await rig[Symbol.asyncDispose]()
  await managed.close()
})

const get = (proxy: FrontProxy, path: string, key: string | undefined, form: FormName): Promise<Response> =>
  fetch(`http://127.0.0.1:${proxy.port}${path}`, { headers: key === undefined ? {} : credential(form, key) })

const pair = { A: 'coinFrom=BTC&coinTo=USDTTRC20', B: 'coinFrom=BTC&coinTo=USDT&networkTo=TRX' }
const quotesOf = (base: string, form: FormName) =>
  [`${base}/currencies`, `${base}/rate?${pair[form]}&amount=1`].map((path) => [path, form, 200] as const)
const readsOf = (base: string, form: FormName) => [
  [`${base}/transactions`, form, 200] as const,
  [`${base}/transactions/alpha~tx-1`, form, 404] as const,
]

test.each([
  ...quotesOf('/a/api/v2', 'A'),
  ...quotesOf('/b/api/v2', 'B'),
  ...quotesOf('/api/v2', 'A'),
  ...readsOf('/a/api/v2', 'A'),
  ...readsOf('/b/api/v2', 'B'),
  ...readsOf('/api/v2', 'A'),
])('%s', async (path, form, status) => {
  const [one, other] = [await managed.issue(), await managed.issue()]
  expect((await get(proxies.operations, path, one, form)).status).toBe(status)
  for (const key of [undefined, other, one]) {
    const response = await get(proxies.operations, path, key, form)
    expect(response.headers.get('x-cache')).toBe('MISS')
    if (path.includes('/transactions')) expect(response.status).toBe(key === undefined ? 401 : status)
  }
})

test.each(['max-age=30', 'public, s-maxage=60', undefined])('the native lane, where the provider says %s', async (cacheControl) => {
  const path = `/native/alpha/exchange/range?x=${encodeURIComponent(String(cacheControl))}`
  rig.provider.respond = (response) => {
    if (cacheControl) response.setHeader('cache-control', cacheControl)
    response.setHeader('expires', 'Thu, 01 Jan 2099 00:00:00 GMT').end('{"limit":1}')
  }
  const read = (form: FormName) => get(proxies.native, path, rig.key, form)
  expect((await read('A')).status).toBe(200)
  const second = await get(proxies.native, path, undefined, 'A')
  expect([second.status, second.headers.get('x-cache')]).toEqual([401, 'MISS'])
  expect((await read('B')).headers.get('x-cache')).toBe('MISS')
})

test('the cache keeps what it may', async () => {
  const server = createServer((_, response) => response.setHeader('cache-control', 'max-age=60').end('for everybody'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  await using proxy = await FrontProxy.start('nginxWithCache', (server.address() as AddressInfo).port)
  const caches: (string | null)[] = []
  for (let n = 0; n < 2; n++) caches.push((await get(proxy, '/page', undefined, 'A')).headers.get('x-cache'))
  expect(caches).toEqual(['MISS', 'HIT'])
  server.close()
})
