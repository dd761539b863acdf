/** docs/contract.md §16.2: the key of an Exolix client in the header, in the body or in the query, and nowhere else. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { digits } from '../support/json.ts'
import { ownKeys } from '../support/managed.ts'
import { Collector } from '../tracing/collector.ts'

let directory: string
let provider: ProviderA
let collector: Collector
let gateway: InProcessGateway
/** Of two new accounts. */
let key: string
let otherKey: string
let accounts = 0

/** One gateway for the tests of a group. */
function withGateway(keyInQuery: boolean): void {
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'swapgate-exolix-keys-'))
    provider = await startFormA()
    collector = await Collector.start()
    gateway = await InProcessGateway.start({
      directory,
      mode: 'managed',
      providers: { alpha: { form: 'A', url: provider.url, key: ownKeys.alpha } },
      sections: { telemetry: { endpoint: collector.url, ratio: 1, delayMs: 20 }, exolix: { keyInQuery } },
    })
  })
  beforeEach(async () => {
    accounts++
    key = await gateway.createKey(`acme-${accounts}`)
    otherKey = await gateway.createKey(`umbra-${accounts}`)
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await Promise.all([provider.close(), collector[Symbol.asyncDispose]()])
    rmSync(directory, { recursive: true })
  })
}

type Headers = Readonly<Record<string, string>>

const get = (path: string, headers: Headers = {}): Promise<ReceivedResponse> =>
  sendRequest(gateway.url, { path: `/exolix/api/v2${path}`, headers })

const create = (facts: object, headers: Headers = {}, query = ''): Promise<ReceivedResponse> =>
  sendRequest(gateway.url, {
    method: 'POST',
    path: `/exolix/api/v2/transactions${query}`,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      coinFrom: 'BTC',
      networkFrom: 'BTC',
      coinTo: 'USDT',
      networkTo: 'TRX',
      amount: '0.10',
      withdrawalAddress: 'TWithdraw1',
      refundAddress: 'bc1q-refund-1',
      rateType: 'float',
      ...facts,
    }),
  })

const quote = '/rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=0.1'

const reasonOf = ({ status, headers }: ReceivedResponse): unknown => [status, headers['x-swap-reason']]
const count = async (client: string): Promise<unknown> =>
  ((await get('/transactions', { authorization: client })).json as { readonly count: unknown }).count

/** Everything that is kept or sent of a request, but to its client. */
async function whatIsKept(): Promise<string> {
  const metrics = await gateway.metrics()
  await expect.poll(() => collector.spans.length).toBeGreaterThan(0)
  await gateway.stop()
  const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'latin1'))
  const spans = collector.sent.map(({ bytes }) => bytes.toString('latin1'))
  return [gateway.output, metrics, JSON.stringify(provider.received('create')), ...spans, ...files].join('\n')
}

describe('in the body, and nowhere else', () => {
  withGateway(false)

  it('is the key of a create without a header, and goes no further', async () => {
    const created = await create({ apiToken: key })
    expect([created.status, created.headers['x-swap-form']]).toEqual([201, 'exolix'])
    expect([await count(key), await count(otherKey)]).toEqual([digits('1'), digits('0')])
    expect((await create({ apiToken: key, amount: 'x', foo: 1 })).status).toBe(400)
    expect((await create({ apiToken: `${key}x` })).status).toBe(401)
    const kept = await whatIsKept()
    expect(kept).toContain('TWithdraw1')
    expect(kept).not.toContain(key)
  })
})

describe('in the body', () => {
  withGateway(false)

  it('is no part of what an Idempotency-Key stands for', async () => {
    const headers = { 'idempotency-key': 'order-1' }
    const before = provider.received('create').length
    const { text } = await create({ apiToken: key }, headers)
    for (const again of [
      await create({}, { ...headers, authorization: key }),
      await create({ apiToken: key }, { ...headers, authorization: `Bearer ${key}` }),
      await create({ apiToken: '' }, { ...headers, authorization: key }),
      await create({ apiToken: key }, headers),
    ])
      expect([again.status, again.headers['idempotent-replayed'], again.text]).toEqual([201, 'true', text])
    expect(provider.received('create')).toHaveLength(before + 1)
  })

  it.each([
    ['another key than that of the header', () => create({ apiToken: otherKey }, { authorization: key })],
    ['a good key beside a bad header', () => create({ apiToken: key }, { authorization: 'bad key' })],
    ['a good key beside an unknown one', () => create({ apiToken: key }, { authorization: 'unknown' })],
    ['an unknown key', () => create({ apiToken: 'unknown' })],
    ['a key with a space', () => create({ apiToken: `${key} ` })],
    ['a number', () => create({ apiToken: 5 })],
    ['a number beside a good header', () => create({ apiToken: 5 }, { authorization: key })],
  ])('%s is 401, and nothing is sent', async (_, request) => {
    const before = provider.received('create').length
    expect(reasonOf(await request())).toEqual([401, 'key_invalid'])
    expect(provider.received('create')).toHaveLength(before)
  })

  it('a request without a key, or a body that has none that can be read, is 401 before anything else', async () => {
    for (const facts of [{}, { apiToken: '' }, { apiToken: null }])
      expect(reasonOf(await create(facts))).toEqual([401, 'key_missing'])
    const send = (body: string, type = 'application/json'): Promise<ReceivedResponse> =>
      sendRequest(gateway.url, {
        method: 'POST',
        path: '/exolix/api/v2/transactions',
        headers: { 'content-type': type },
        body,
      })
    for (const body of [
      '',
      '[]',
      '{"apiToken":"',
      `{"apiToken":"${key}","apiToken":"${key}"}`,
      `{"apiToken":"${'x'.repeat(20_000)}"}`,
    ])
      expect(reasonOf(await send(body))).toEqual([401, 'key_missing'])
    expect(reasonOf(await send(`{"apiToken":"${key}"}`, 'text/plain'))).toEqual([401, 'key_missing'])
  })

  it('a message names where the key belongs, and never the key', async () => {
    const { json } = await create({})
    expect(json).toMatchObject({
      message: 'The API key is missing; Form exolix takes it as Authorization: <key>, or as apiToken in the body of a create.',
    })
    const { text } = await create({ apiToken: otherKey }, { authorization: key })
    expect(text).toContain('Two keys were sent, in Authorization and as apiToken, and they differ.')
    for (const secret of [key, otherKey]) expect(text).not.toContain(secret)
  })

  it('in the query it is no parameter', async () => {
    for (const path of [`/rate?coinFrom=BTC&coinTo=USDT&networkTo=TRX&amount=0.1&apiToken=${key}`, `/currencies?apiToken=${key}`]) {
      const refused = await get(path)
      expect(reasonOf(refused)).toEqual([400, 'parameter_unknown'])
      expect(refused.text).not.toContain(key)
    }
    expect(reasonOf(await get(`/transactions?apiToken=${key}`))).toEqual([401, 'key_missing'])
  })

  it('in Forms A and B it is no parameter, and no key', async () => {
    for (const form of ['a', 'b']) {
      const path = `/${form}/api/v2/transactions`
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ apiToken: key })
      expect(reasonOf(await sendRequest(gateway.url, { method: 'POST', path, headers, body }))).toEqual([401, 'key_missing'])
    }
  })
})

describe('in the query, and nowhere else', () => {
  withGateway(true)

  it('is the key of every request, and no part of it', async () => {
    const created = await create({}, {}, `?apiToken=${key}`)
    expect(created.status).toBe(201)
    const { id } = created.json as { readonly id: string }
    expect((await get(`/transactions/${id}?apiToken=${key}`)).status).toBe(200)
    expect((await get(`/transactions/${id}?apiToken=${otherKey}`)).status).toBe(404)
    expect((await get(`/transactions?page=1&apiToken=${key}&size=10`)).json).toMatchObject({ count: digits('1') })
    expect((await get(`/transactions?%61piToken=${key}`)).status).toBe(200)
    for (const path of [`${quote}&apiToken=${key}`, `/currencies?apiToken=${key}`, `${quote}&apiToken=unknown`])
      expect((await get(path)).status).toBe(200)
    expect(provider.received('rate')).toHaveLength(1) // the same quote, whatever the key
    expect(reasonOf(await get(`/rate?apiToken=${key}&foo=1`))).toEqual([400, 'parameter_unknown'])
    const kept = await whatIsKept()
    expect(kept).toContain('TWithdraw1')
    expect(kept).not.toContain(key)
  })
})

describe('in the query, where the operator allows it', () => {
  withGateway(true)

  it('no cache may store such a response; one without the key as before', async () => {
    for (const path of [`${quote}&apiToken=${key}`, `/currencies?apiToken=${key}`]) {
      const { headers } = await get(path)
      expect([headers['cache-control'], headers.age]).toEqual(['no-store', undefined])
    }
    expect((await get(quote)).headers['cache-control']).toMatch(/^private, max-age=/)
  })

  it.each([
    ['another one than in the header', () => get(`/transactions?apiToken=${otherKey}`, { authorization: key })],
    ['two that differ', () => get(`/transactions?apiToken=${key}&apiToken=${otherKey}`)],
    ['another one than in the body', () => create({ apiToken: otherKey }, {}, `?apiToken=${key}`)],
    ['an unknown one', () => get('/transactions?apiToken=unknown')],
    ['one that is not encoded', () => get('/transactions?apiToken=%zz')],
  ])('%s is 401', async (_, request) => {
    const before = provider.received('create').length
    expect(reasonOf(await request())).toEqual([401, 'key_invalid'])
    expect(provider.received('create')).toHaveLength(before)
  })

  it('an empty one is none, and limits count by the account', async () => {
    expect(reasonOf(await get('/transactions?apiToken='))).toEqual([401, 'key_missing'])
    const { headers } = await get(`${quote}&apiToken=${key}`)
    const next = await get(quote, { authorization: key })
    const left = (value: unknown): number => Number(/r=(\d+)/.exec(String(value))?.[1])
    expect(left(next.headers.ratelimit)).toBe(left(headers.ratelimit) - 1)
  })

  it('the start says that keys are in URLs', () => {
    expect(gateway.printed.join('\n')).toContain('keyInQuery: keys of clients may be in URLs')
  })
})
