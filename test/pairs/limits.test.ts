/** Contract §7: limits on clients, as their headers tell them. */
import { describe, expect, test } from 'vitest'
import type { Answered } from '../support/client.ts'
import { ask } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { client, formNames, pairWords, rateQuestion, startPair } from '../support/pair.ts'
import { assets, swap } from '../support/swaps.ts'

const limits = { quotes: 5, create: 3, read: 4, unproven: 1_000 }
const question = rateQuestion('A', { from: assets.btc, to: assets.eth, amount: '1' })

/** The parameters of `"policy";a=1;b=2`. */
function readField(field: unknown): { policy: string; values: Record<string, number> } {
  const [, policy = '', rest = ''] = /^"([a-z]+)"((?:;[a-z]=\d+)+)$/.exec(String(field)) ?? []
  const values = rest
    .slice(1)
    .split(';')
    .map((pair) => pair.split('='))
  return { policy, values: Object.fromEntries(values.map(([name, value]) => [name, Number(value)])) }
}

async function expectLimited(call: (at: number) => Promise<Answered>, policy: string, limit: number): Promise<void> {
  for (let at = 1; at <= limit + 2; at++) {
    const answer = await call(at)
    expect(answer.headers['ratelimit-policy']).toBe(`"${policy}";q=${limit};w=60`)
    const { policy: named, values } = readField(answer.headers.ratelimit)
    expect([named, values.r]).toEqual([policy, Math.max(0, limit - at)])
    expect(values.t).toBeGreaterThan(50)
    expect(values.t).toBeLessThanOrEqual(60)
    if (at <= limit) expect(answer.status, answer.text).toBeLessThan(300)
    else {
      expectRefusal(answer, 'A', 429)
      const wait = Number(answer.headers['retry-after'])
      expect(wait).toBeGreaterThanOrEqual(values.t as number)
      expect(wait).toBeLessThanOrEqual(60)
    }
  }
}

test('quotes: currencies and rates share one bucket for an address, whatever the key', async () => {
  const pair = await startPair('A', 'A', { sections: { limits } })
  await expectLimited((at) => pair.client.get(at % 2 ? '/currencies' : question, { key: `k-${at}` }), 'quotes', 5)
  await pair.close()
  expect(pair.provider.received('rate')).toHaveLength(2)
})

test('create: for each key, over both forms', async () => {
  const pair = await startPair('A', 'B', { sections: { limits } })
  const inB = client('B', pair.gateway.url)
  const order = (form: 'A' | 'B'): object => ({ ...pairWords(form, assets.btc, assets.eth), amount: 1, withdrawalAddress: 'w' })
  expect((await inB.post('/transactions', order('B'))).headers.ratelimit).toMatch(/^"create";r=2;/)
  expect((await pair.client.post('/transactions', order('A'))).headers.ratelimit).toMatch(/^"create";r=1;/)
  expect((await inB.post('/transactions', order('B'))).headers.ratelimit).toMatch(/^"create";r=0;/)
  expectRefusal(await pair.client.post('/transactions', order('A')), 'A', 429)
  expectRefusal(await inB.post('/transactions', order('B')), 'B', 429)
  const another = await pair.gateway.freshKey()
  expect((await pair.client.post('/transactions', order('A'), { key: another })).status).toBe(201)
  await pair.close()
  expect(pair.provider.received('create')).toHaveLength(4)
})

test('read: lists and single transactions share one bucket for a key', async () => {
  const pair = await startPair('A', 'A', { sections: { limits } })
  pair.provider.holdings.swaps = [swap()]
  await expectLimited((at) => pair.client.get(at % 2 ? '/transactions' : '/transactions/alpha~tx-1'), 'read', 4)
  await pair.close()
  expect(pair.provider.journal).toHaveLength(4)
})

test('of many requests at once exactly the limit is admitted', async () => {
  const pair = await startPair('A', 'A', { sections: { limits: { ...limits, quotes: 20 } } })
  const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => pair.client.get(`${question}${at}`)))
  await pair.close()
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(80)
  expect(pair.provider.received('rate')).toHaveLength(20)
})

test('a window ends, and the next request after Retry-After is admitted', async () => {
  const pair = await startPair('A', 'A', { sections: { limits: { ...limits, quotes: 1, window: 1 } } })
  const first = await pair.client.get(question)
  const second = await pair.client.get(question)
  expect([first.status, second.status, second.headers['retry-after']]).toEqual([200, 429, '1'])
  await new Promise((resolve) => setTimeout(resolve, 1_010))
  const third = await pair.client.get(question)
  await pair.close()
  expect(third.status).toBe(200)
})

test('errors that reach a bucket are charged to it and say so; path, method and form are not', async () => {
  const pair = await startPair('A', 'A', { sections: { limits } })
  const { url } = pair.gateway
  for (const path of ['/nothing', '/a/api/v2/nothing']) expect((await ask(url, { path })).headers.ratelimit).toBeUndefined()
  expect((await ask(url, { path: '/a/api/v2/rate', method: 'DELETE' })).headers.ratelimit).toBeUndefined()
  expect((await ask(url, { path: '/a/api/v2/rate', headers: { 'x-swap-form': 'B' } })).headers.ratelimit).toBeUndefined()
  expect((await pair.client.get('/rate?bad=1')).headers.ratelimit).toMatch(/^"quotes";r=4;/)
  expect((await pair.client.get('/currencies', { method: 'HEAD' })).headers.ratelimit).toMatch(/^"quotes";r=3;/)
  await pair.close()
})

test('a claimed address is not believed without a proxy that is trusted', async () => {
  const pair = await startPair('A', 'A', { sections: { limits: { ...limits, quotes: 2 } } })
  const statuses: number[] = []
  for (let at = 0; at < 4; at++) {
    const headers = { 'x-forwarded-for': `192.0.2.${at}`, forwarded: `for=192.0.2.${at}`, 'x-real-ip': `192.0.2.${at}` }
    statuses.push((await pair.client.get(question, { headers })).status)
  }
  await pair.close()
  expect(statuses).toEqual([200, 200, 429, 429])
})

test('behind one trusted proxy the last address that it names counts', async () => {
  const pair = await startPair('A', 'A', { sections: { limits: { ...limits, quotes: 1 }, server: { trustProxy: 1 } } })
  const from = async (forwarded: string): Promise<number> =>
    (await pair.client.get(question, { headers: { 'x-forwarded-for': forwarded } })).status
  expect(await from('192.0.2.1')).toBe(200)
  expect(await from('198.51.100.9, 192.0.2.1')).toBe(429)
  expect(await from('192.0.2.2')).toBe(200)
  expect(await from('2001:db8:1:2::1')).toBe(200)
  expect(await from('2001:db8:1:2:ffff::9')).toBe(429)
  expect(await from('2001:db8:1:3::1')).toBe(200)
  await pair.close()
})

test('an IPv4 address is one address however it is written, and nonsense is answered', async () => {
  const pair = await startPair('A', 'A', { sections: { limits: { ...limits, quotes: 1 }, server: { trustProxy: 1 } } })
  const from = async (forwarded: string): Promise<number> =>
    (await pair.client.get(question, { headers: { 'x-forwarded-for': forwarded } })).status
  expect(await from('192.0.2.9')).toBe(200)
  expect(await from('::ffff:192.0.2.9')).toBe(429)
  expect(await from('::ffff:192.0.2.10')).toBe(200)
  expect(await from('::FFFF:192.0.2.10')).toBe(429)
  for (const odd of ['nonsense', '', ',', '1.2.3.4:80', '[::1]:80', 'fe80::1%eth0', ':::::', '::', 'x'.repeat(2_000)]) {
    expect([200, 429]).toContain(await from(odd))
  }
  await pair.close()
})

describe('keys that nobody has accepted', () => {
  test('number 20 a minute from an address, then 429 without asking anybody', async () => {
    const pair = await startPair('A', 'A', { provenKeys: [] })
    pair.provider.reply('list', { status: 401, json: { error: 'Unauthorized', message: 'no', code: 401 } })
    const statuses: number[] = []
    for (let at = 0; at < 22; at++) statuses.push((await pair.client.get('/transactions', { key: `guess-${at}` })).status)
    await pair.close()
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429])
    expect(pair.provider.received('list')).toHaveLength(20)
  })

  test.each(formNames)('form %s: requests without the key that they need are charged alike', async (form) => {
    const pair = await startPair(form, 'A', { provenKeys: [] })
    const answers: Answered[] = []
    for (let at = 0; at < 21; at++) answers.push(await pair.client.get('/transactions', { key: null }))
    await pair.close()
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 401), 429])
    expect(answers.at(-1)?.headers['retry-after']).toMatch(/^[1-9]\d?$/)
    expect(pair.provider.journal).toEqual([])
  })

  test('of all addresses together number limits.unproven', async () => {
    const sections = { limits: { ...limits, unproven: 4 }, server: { trustProxy: 1 } }
    const pair = await startPair('A', 'A', { provenKeys: [], sections })
    const statuses: number[] = []
    for (let at = 0; at < 6; at++) {
      const headers = { 'x-forwarded-for': `192.0.2.${at}` }
      statuses.push((await pair.client.get('/transactions', { key: null, headers })).status)
    }
    await pair.close()
    expect(statuses).toEqual([401, 401, 401, 401, 429, 429])
  })

  test('hold up no key that was accepted once', async () => {
    const pair = await startPair('A', 'A', { provenKeys: [] })
    expect((await pair.client.get('/transactions', { key: 'honest' })).status).toBe(200)
    for (let at = 0; at < 25; at++) await pair.client.get('/transactions', { key: null })
    expect((await pair.client.get('/transactions', { key: null })).status).toBe(429)
    expect((await pair.client.get('/transactions', { key: 'honest' })).status).toBe(200)
    await pair.close()
  })

  test.each([404, 400])('are proven by an answer of %i, which only an accepted key gets', async (status) => {
    const pair = await startPair('A', 'A', { provenKeys: [] })
    pair.provider.reply('get', { status, json: { error: 'x', message: 'No', code: status } })
    for (let at = 0; at < 25; at++) {
      expect((await pair.client.get('/transactions/alpha~x', { key: 'honest' })).status).toBe(status)
    }
    await pair.close()
  })

  test('do not hold up quotes', async () => {
    const pair = await startPair('A', 'A', { provenKeys: [] })
    for (let at = 0; at < 25; at++) await pair.client.get('/transactions', { key: null })
    expect((await pair.client.get(question)).status).toBe(200)
    await pair.close()
  })
})
