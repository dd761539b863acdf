/** docs/contract.md §6, docs/contract-operators.md §8: how quotes are cached, and the headers that show it. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { client, type FormName, pairs, startPair } from '../support/pair.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const cache = { currencies: 600, rate: 0, staleFor: 600 }

test('in every pair the list is read once, and returned with its age and its provider', async () => {
  for (const names of pairs) await expectKept(names.client, names.provider)
})

async function expectKept(form: FormName, provider: FormName): Promise<void> {
  const pair = await startPair(form, provider, { sections: { cache }, steadyClock: () => performance.now() })
  const first = await Promise.all([pair.client.get('/currencies'), pair.client.get('/currencies?page=2&size=1')])
  vi.advanceTimersByTime(1_020)
  const later = await pair.client.get('/currencies')
  await pair.close()
  expect(pair.provider.received('currencies')).toHaveLength(1)
  for (const { headers } of first) expect([headers.age, headers['cache-control']]).toEqual(['0', 'private, max-age=600'])
  expect(later.headers.age).toBe('1')
  expect(later.headers['x-swap-provider']).toBe('alpha')
}

test('both forms are served from one reading', async () => {
  const pair = await startPair('A', 'B', { sections: { cache } })
  await pair.client.get('/currencies')
  expect((await client('B', pair.gateway.url).get('/currencies')).status).toBe(200)
  await pair.close()
  expect(pair.provider.received('currencies')).toHaveLength(1)
})

test('an old list serves while the provider fails, for as long as it may', async () => {
  const pair = await startPair('A', 'A', {
    sections: { cache: { currencies: 0, rate: 0, staleFor: 0.3 } },
    steadyClock: () => performance.now(),
  })
  expect((await pair.client.get('/currencies')).status).toBe(200)
  pair.provider.reply('currencies', { status: 500, text: 'oops' })
  const stale = await pair.client.get('/currencies')
  vi.advanceTimersByTime(320)
  const failed = await pair.client.get('/currencies')
  await pair.close()
  expect(stale.status).toBe(200)
  expectRefusal(failed, 'A', 502)
})

test('no origin may read responses', async () => {
  const pair = await startPair('A', 'A')
  const headers = { origin: 'https://app.example', 'access-control-request-method': 'GET' }
  const responses = await Promise.all(
    ['GET', 'OPTIONS'].map((method) => sendRequest(pair.gateway.url, { method, path: '/a/api/v2/currencies', headers })),
  )
  await pair.close()
  for (const response of responses) {
    expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  }
})

test('an origin that is listed may read responses, and no other', async () => {
  const pair = await startPair('A', 'A', { sections: { server: { cors: ['https://app.example'] } } })
  const read = async (origin: string): Promise<unknown> =>
    (await sendRequest(pair.gateway.url, { path: '/a/api/v2/currencies', headers: { origin } })).headers[
      'access-control-allow-origin'
    ]
  const [listed, other] = [await read('https://app.example'), await read('https://evil.example')]
  await pair.close()
  expect(listed).toBe('https://app.example')
  expect(other).toBeUndefined()
})

test('a page of a listed origin may send what a create needs, and read refusals too', async () => {
  const pair = await startPair('A', 'A', { sections: { server: { cors: ['https://app.example'] } } })
  const origin = { origin: 'https://app.example' }
  const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type' }
  const path = '/api/v2/transactions'
  const preflightResponse = await sendRequest(pair.gateway.url, { method: 'OPTIONS', path, headers: { ...origin, ...preflight } })
  const refused = await sendRequest(pair.gateway.url, { path, headers: origin })
  await pair.close()
  expect(preflightResponse.status).toBe(204)
  expect(preflightResponse.headers['access-control-allow-origin']).toBe('https://app.example')
  expect(preflightResponse.headers['access-control-allow-headers']?.toLowerCase()).toContain('authorization')
  expect(preflightResponse.headers['access-control-allow-headers']?.toLowerCase()).toContain('content-type')
  expect(preflightResponse.headers['access-control-allow-methods']).toContain('POST')
  expectRefusal(refused, 'A', 401)
  expect(refused.headers['access-control-allow-origin']).toBe('https://app.example')
  expect(refused.headers.vary?.split(', ').toSorted()).toEqual(['Authorization', 'Origin', 'X-API-Key', 'X-Swap-Form'])
  expect(pair.provider.journal).toEqual([])
})
