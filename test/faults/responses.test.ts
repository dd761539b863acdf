// Takes long: it waits for time-outs of providers.
/** Responses: their bodies for any Accept, and headers that independent parsers read. */
import { parseItem, parseList, serializeItem, Token } from 'structured-headers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { orderOf, rateOf, refused, right, type Sender, sender, wrong } from '../openapi/traffic.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { detailedB } from '../support/form-b.ts'
import { type Pair, pairs, startPair } from '../support/pair.ts'
import { swap } from '../support/swaps.ts'

const accepted = ['application/json', 'application/problem+json', 'text/html,application/xhtml+xml;q=0.9', 'application/json;q=0']

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider: side }) => {
  let pair: Pair
  let shortTimeout: Pair
  let client: Sender
  const clientOf = async ({ gateway, witness }: Pair): Promise<Sender> =>
    sender(form, `${gateway.url}/${form.toLowerCase()}/api/v2`, await gateway.freshKey(), witness)
  const freshClient = (): Promise<Sender> => clientOf(pair)
  beforeAll(async () => {
    const sections = { limits: { quotes: 100_000, create: 3, read: 100_000, unverified: 100_000 } }
    pair = await startPair(form, side, { sections, provider: { extraIds: true } })
    shortTimeout = await startPair(form, side, { sections, provider: { timeout: 0.2 } })
  })
  beforeEach(async () => {
    pair.provider.reset()
    await pair.gateway.forget()
    pair.provider.holdings.swaps = [swap()]
    client = await freshClient()
  })
  afterAll(() => Promise.all([pair.close(), shortTimeout.close()]))

  /** Adds the header to whatever is sent. */
  const accepting = ({ get, post }: Sender, accept: string): Sender => ({
    form,
    get: (path, more = {}) => get(path, { ...more, headers: { ...more.headers, accept } }),
    post: (body, more = {}) => post(body, { ...more, headers: { ...more.headers, accept } }),
  })

  test('S2: an error has the body of the form, whatever is accepted', async () => {
    for (const [name, status, send] of [...wrong, ...refused]) {
      const plain = await send(await freshClient())
      for (const accept of accepted) {
        const response = await send(accepting(await freshClient(), accept))
        expectRefusal(response, form, status)
        expect(response.text, `${name}, ${accept}`).toBe(plain.text)
      }
    }
  })

  test("S2: so has a provider's failure, and a limit", async () => {
    for (const accept of accepted) {
      const caller = accepting(await freshClient(), accept)
      pair.provider.reply('rate', { status: 500, text: '<html>' })
      expectRefusal(await caller.get(rateOf(form)), form, 502)
      shortTimeout.provider.reply('rate', { json: {}, delay: 400 })
      expectRefusal(await accepting(await clientOf(shortTimeout), accept).get(rateOf(form)), form, 504)
      for (let count = 0; count < 3; count++) await caller.post(orderOf(form))
      expectRefusal(await caller.post(orderOf(form)), form, 429)
    }
  })

  test('S3: 401 has WWW-Authenticate, 405 has Allow, 429 has Retry-After', async () => {
    const challenge = (await client.get('/transactions', { key: null })).headers['www-authenticate']
    expect(challenge).toBe(form === 'A' ? 'Bearer' : 'ApiKey header="X-API-Key"')
    const allow = (await client.get('/transactions', { method: 'DELETE' })).headers.allow ?? ''
    expect(allow.split(', ').toSorted()).toEqual(['GET', 'HEAD', 'OPTIONS', 'POST'])
    const responses: ReceivedResponse[] = []
    for (let count = 0; count < 4; count++) responses.push(await client.post(orderOf(form)))
    expect(responses.at(-1)?.status).toBe(429)
    expect(responses.at(-1)?.headers['retry-after']).toMatch(/^[1-9]\d*$/)
    pair.provider.reply('rate', { status: 429, json: {}, headers: { 'retry-after': '7' } })
    expect((await client.get(rateOf(form))).headers['retry-after']).toBe('7')
  })

  test('S4: another reader of structured fields understands every one', async () => {
    for (const [name, , send] of [...right, ...wrong]) {
      const { headers } = await send(await freshClient())
      const read = (header: string): readonly unknown[] => {
        const value = headers[header]
        return value === undefined ? [] : parseList(String(value)).map(([item, parameters]) => [item, ...parameters])
      }
      for (const [policy, ...parameters] of read('ratelimit-policy') as readonly (readonly unknown[])[]) {
        expect(['quotes', 'create', 'read', 'unverified'], name).toContain(policy)
        expect(parameters).toEqual([
          ['q', expect.any(Number)],
          ['w', 60],
        ])
        expect(read('ratelimit')).toEqual([[policy, ['r', expect.any(Number)], ['t', expect.any(Number)]]])
      }
      for (const header of ['x-swap-derived', 'x-swap-omitted'])
        for (const [field] of read(header) as readonly (readonly unknown[])[]) expect(field, name).toBeInstanceOf(Token)
      for (const header of ['retry-after', 'age', 'x-swap-stale'])
        if (headers[header] !== undefined) expect(parseItem(String(headers[header]))[0]).toEqual(expect.any(Number))
    }
  })

  test('S4: a key that another writer of structured fields quotes is the same key', async () => {
    const key = 'order "1" \\ 2'.replaceAll(' ', '-')
    const create = (header: string): Promise<ReceivedResponse> =>
      client.post(orderOf(form), { headers: { 'idempotency-key': header } })
    const first = await create(serializeItem(key))
    const again = await create(key)
    expect([again.status, again.text]).toEqual([first.status, first.text])
    expect(parseItem(String(again.headers['idempotent-replayed']))[0]).toEqual(new Token('true'))
  })

  test("S5: a provider's field that is not of its form reaches no client", async () => {
    const internal = { margin: 0.07, internalNote: 'canary-internal', user: { id: 7 } }
    const transactionBody = { ...(side === 'A' ? transactionA(swap()) : detailedB(swap())), ...internal }
    const plain = await client.get('/transactions/alpha~tx-1')
    pair.provider.reply('get', { json: transactionBody })
    pair.provider.reply('list', {
      json: {
        data: [transactionBody],
        ...internal,
        ...(side === 'A' ? { pagination: { page: 1, size: 20, total: 1 } } : { count: 1 }),
      },
    })
    expect((await (await freshClient()).get('/transactions/alpha~tx-1')).text).toBe(plain.text)
    const list = await (await freshClient()).get('/transactions')
    expect(list.status).toBe(200)
    expect(list.text).not.toMatch(/margin|canary|user/)
  })
})
