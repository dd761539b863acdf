/** docs/contract.md §11, §5, §6, §7: who may call, how often, and in which form a refusal is. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { memoryBudgets } from '../../src/adapters/memory.ts'
import { sendRaw } from '../support/raw.ts'
import { errorFacts, type NativeRig, refusal, sendTo, startRig } from './rig.ts'

let rig: NativeRig
beforeAll(async () => {
  rig = await startRig()
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.provider.reset())

const made = 'sg_live_000000000000000000000000000000000'

describe('N4: a request', () => {
  test.each([
    ['with a key of Form A', 'A'],
    ['with a key of Form B', 'B'],
  ] as const)('%s is let in', async (_, form) => {
    const { status, body } = await rig.send('/exchange/range', { form })
    expect([status, String(body)]).toEqual([200, 'hello'])
  })

  test.each([
    ['without a key', {}, refusal(401, 'key_missing')],
    ['with an unknown key', { authorization: `Bearer ${made}` }, refusal(401, 'key_invalid')],
    ['with an unknown key of Form B', { 'x-api-key': made }, refusal(401, 'key_invalid', 'B')],
    ['with an empty key', { authorization: 'Bearer ' }, refusal(401, 'key_invalid')],
    ['with an empty key of Form B', { 'x-api-key': '' }, refusal(401, 'key_invalid', 'B')],
    ['with another scheme', { authorization: 'Basic eDp5' }, refusal(401, 'key_invalid')],
    ['with the key alone', { authorization: made }, refusal(401, 'key_invalid')],
    ['with two keys', { authorization: `Bearer ${made}`, 'x-api-key': made }, refusal(400, 'form_conflict')],
    ['with another scheme and a key', { authorization: 'Basic eDp5', 'x-api-key': made }, refusal(400, 'form_conflict', 'B')],
  ])('%s is refused', async (_, headers, expected) => {
    const response = await rig.send('/exchange/range', { key: null, headers })
    expect(errorFacts(response)).toEqual(expected)
    expect(response.headers['cache-control']).toBe('no-store')
    expect(rig.provider.arrived).toEqual([])
  })

  test('with one key twice is refused', async () => {
    const twice = rig.head('GET /native/alpha/exchange/range', `authorization: Bearer ${rig.key}`, 'connection: close')
    const { status, text } = await sendRaw(rig.gateway.port, twice)
    expect([status, /x-swap-reason: (.*)\r/.exec(text)?.[1]]).toEqual([400, 'form_conflict'])
    expect(rig.provider.arrived).toEqual([])
  })

  test('whose key is revoked or expired is refused', async () => {
    const expired = await rig.gateway.issueKey('acme', Date.now() - 1)
    expect(errorFacts(await rig.send('/exchange/range', { key: expired }))).toEqual(refusal(401, 'key_invalid'))
    expect(rig.provider.arrived).toEqual([])
  })

  test('for a closed path is 404 before it is anything else', async () => {
    const closed = { headers: { 'x-api-key': made, 'idempotency-key': 'a', upgrade: 'x' } }
    expect(errorFacts(await rig.send('/closed', closed))).toEqual(refusal(404, 'not_open'))
    expect(errorFacts(await rig.send('/closed', { key: null }))).toEqual(refusal(404, 'not_open'))
  })

  test.each([
    ['Idempotency-Key', { 'idempotency-key': '"a"' }],
    ['an empty Idempotency-Key', { 'idempotency-key': '' }],
    ['Upgrade', { upgrade: 'websocket' }],
    ['Upgrade of the connection', { upgrade: 'h2c', connection: 'Upgrade, HTTP2-Settings' }],
  ])('with %s is 400', async (_, headers) => {
    for (const [method, path] of [
      ['GET', '/exchange/range'],
      ['POST', '/estimates'],
    ] as const) {
      for (const form of ['A', 'B'] as const)
        expect(errorFacts(await rig.send(path, { method, headers, form }))).toEqual(refusal(400, 'parameter_invalid', form))
    }
    expect(rig.provider.arrived).toEqual([])
  })
})

describe('N5: a call counts', () => {
  const limited = { limits: { quotes: 1, create: 2, read: 3, unverified: 100_000 }, auth: { mode: 'managed' } }

  test('under the read limit or the create limit of the account, with the operations', async () => {
    await using few = await startRig({ sections: limited })
    const statuses = async (method: string, path: string, count: number): Promise<readonly number[]> => {
      const responses = []
      for (let at = 0; at < count; at++) responses.push(await few.send(path, { method, form: at % 2 ? 'A' : 'B' }))
      return responses.map(({ status }) => status)
    }
    expect(await statuses('GET', '/exchange/range', 2)).toEqual([200, 200])
    await sendTo(`${few.gateway.url}/a/api/v2/transactions`, { key: few.key })
    expect(await statuses('HEAD', '/exchange/range', 1)).toEqual([429])
    expect(await statuses('POST', '/estimates', 1)).toEqual([200])
    expect(await statuses('DELETE', '/alerts/a', 1)).toEqual([200])
    expect(await statuses('PATCH', '/alerts/a', 1)).toEqual([429])
    const refused = await few.send('/exchange/range', { form: 'B' })
    expect(errorFacts(refused)).toEqual(refusal(429, 'limited', 'B'))
    expect(refused.headers).toMatchObject({
      'ratelimit-policy': '"read";q=3;w=60',
      ratelimit: expect.stringMatching(/^"read";r=0;t=\d+$/),
    })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await few.send('/exchange/range', { key: await few.gateway.issueKey('other') })).headers.ratelimit).toMatch(
      /^"read";r=2;/,
    )
    expect(few.provider.arrived.filter(({ url }) => !url.endsWith('/transactions'))).toHaveLength(5)
  })

  test('where it is refused, too', async () => {
    await using few = await startRig({ sections: limited })
    const headers = { 'idempotency-key': 'a' }
    for (const status of [400, 400, 400, 429]) expect((await few.send('/exchange/range', { headers })).status).toBe(status)
  })

  test('as one of an unverified key where it has none that is known', async () => {
    await using few = await startRig()
    const responses = []
    for (let at = 0; at < 22; at++) responses.push(await few.send('/exchange/range', { key: at < 10 ? null : made }))
    expect(responses.map(({ status }) => status)).toEqual([...Array(20).fill(401), 429, 429])
    expect(errorFacts(responses.at(-1) as never)).toEqual(refusal(429, 'unverified_limited'))
    expect((await few.send('/exchange/range')).status).toBe(200)
  })

  test('against the provider’s budget of reads or creates, which it shares with the operations', async () => {
    await using few = await startRig({
      budgets: memoryBudgets(() => performance.now()),
      facts: { rateLimit: { quotes: 10, create: 2, read: 2 } },
    })
    for (const [method, path] of [
      ['GET', '/exchange/range'],
      ['POST', '/estimates'],
    ] as const) {
      const keys = await Promise.all(['a', 'b', 'c'].map((name) => few.gateway.issueKey(name)))
      const responses = []
      for (const key of keys) responses.push(await few.send(path, { method, key }))
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 503])
      expect(errorFacts(responses[2] as never)).toEqual(refusal(503, 'provider_busy'))
      expect(Number(responses[2]?.headers['retry-after'])).toBeGreaterThan(0)
    }
    expect(few.provider.arrived).toHaveLength(4)
  })
})
