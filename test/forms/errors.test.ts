/** docs/contract.md §6: refusals of the gateway itself, and the order in which it checks. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { credential, formNames, type Pair, pairWords, startPair } from '../support/pair.ts'
import { sendRaw } from '../support/raw.ts'
import { assets, swap } from '../support/swaps.ts'

const key = 'canary-client-key-1'

describe.each(formNames)('client %s', (form) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, form)
  })
  beforeEach(async () => {
    pair.provider.reset()
    pair.provider.holdings.swaps = [swap()]
    await pair.gateway.forget() // the provider gives its ids anew
  })
  afterAll(() => pair.close())

  const mount = `/${form.toLowerCase()}/api/v2`
  const json = { 'content-type': 'application/json' }
  const own = credential(form, key)
  const other = form === 'A' ? 'B' : 'A'
  const big = JSON.stringify({ x: 'y'.repeat(20_000) })
  const send = (method: string, path: string, headers: Record<string, string> = own, body?: string): Promise<ReceivedResponse> =>
    pair.witness.sendRequest(pair.gateway.url, { method, path: mount + path, headers, ...(body !== undefined && { body }) })

  test.each([
    '/nothing',
    '/currencies/',
    '/currencies/BTC',
    '/rate/',
    '/Rate',
    '/CURRENCIES',
    '/transactions/alpha~tx-1/',
    '/transactions/a/b',
    '//currencies',
    '',
    '/',
  ])('the path "%s" is 404', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) expectRefusal(await send(method, path), form, 404)
    expect(pair.provider.journal).toEqual([])
  })

  const methods: readonly (readonly [string, string, readonly string[]])[] = [
    ['/currencies', 'GET, HEAD, OPTIONS', ['POST', 'PUT', 'PATCH', 'DELETE']],
    ['/rate', 'GET, HEAD, OPTIONS', ['POST', 'PUT', 'DELETE']],
    ['/transactions', 'GET, HEAD, POST, OPTIONS', ['PUT', 'PATCH', 'DELETE']],
    ['/transactions/alpha~tx-1', 'GET, HEAD, OPTIONS', ['POST', 'PUT', 'DELETE', 'PATCH']],
  ]
  test.each(methods)('%s has %s, and another method is 405', async (path, allow, wrong) => {
    for (const method of wrong) {
      const response = await send(method, path)
      expectRefusal(response, form, 405)
      expect(response.headers.allow?.split(', ').toSorted()).toEqual(allow.split(', ').toSorted())
    }
    expect(pair.provider.journal).toEqual([])
  })

  test.each(methods)('OPTIONS %s is 204 with the methods of the path, without a key and without a call', async (path, allow) => {
    const response = await send('OPTIONS', path, {})
    expect([response.status, response.text]).toEqual([204, ''])
    expect(response.headers.allow?.split(', ').toSorted()).toEqual(allow.split(', ').toSorted())
    expect(response.headers['x-swap-form']).toBe(form)
    expect(pair.provider.journal).toEqual([])
  })

  test.each(['/currencies', '/transactions', '/transactions/alpha~tx-1', '/transactions/alpha~missing', '/rate', '/nothing'])(
    'HEAD %s is GET without the body',
    async (path) => {
      const headers = { ...own, 'x-request-id': 'same' }
      const get = await send('GET', path, headers)
      const head = await send('HEAD', path, headers)
      expect(head.status).toBe(get.status)
      expect(head.text).toBe('')
      expect(head.headers['content-length']).toBe(String(Buffer.byteLength(get.text)))
      const moving = ['date', 'ratelimit', 'age']
      const comparableHeaders = ({ headers: all }: ReceivedResponse): object =>
        Object.fromEntries(Object.entries(all).filter(([name]) => !moving.includes(name)))
      expect(comparableHeaders(head)).toEqual(comparableHeaders(get))
    },
  )

  test('checks come in order: path, method, form, key, media type, size, content', async () => {
    const wrongForm = { 'x-swap-form': other }
    expectRefusal(await send('DELETE', '/nothing', wrongForm), form, 404)
    expectRefusal(await send('DELETE', '/transactions', wrongForm), form, 405)
    expectRefusal(await send('POST', '/transactions', wrongForm, big), form, 400)
    expectRefusal(await send('POST', '/transactions', { 'content-type': 'text/plain' }, big), form, 401)
    expectRefusal(await send('POST', '/transactions', { ...own, 'content-type': 'text/plain' }, big), form, 415)
    expectRefusal(await send('POST', '/transactions', { ...own, ...json }, big), form, 413)
    expectRefusal(await send('POST', '/transactions', { ...own, ...json }, '{"x":'), form, 400)
    expectRefusal(await send('POST', '/transactions', { ...own, ...json }, '{"x":1}'), form, 400)
    expect(pair.provider.journal).toEqual([])
  })

  test('a used-up limit is 429 before the request is read, and unreadable requests are counted', async () => {
    const limits = { quotes: 2, create: 2, read: 1, unverified: 1000 }
    const tight = await startPair(form, form, { sections: { limits } })
    const statuses: number[] = []
    for (const body of ['nonsense', '{}', 'nonsense']) statuses.push((await tight.client.post('/transactions', body)).status)
    for (const query of ['?nonsense=1', '', '']) statuses.push((await tight.client.get(`/rate${query}`)).status)
    const limited = await tight.client.post('/transactions', 'x', { headers: { 'content-type': 'text/plain' } })
    await tight.close()
    expect(statuses).toEqual([400, 400, 429, 400, 400, 429])
    expectRefusal(limited, form, 429)
    expect(tight.provider.journal).toEqual([])
  })

  const keyless: readonly (readonly [string, Record<string, string>])[] =
    form === 'A'
      ? [
          ['no', {}],
          ['an empty', { authorization: '' }],
          ['a bare scheme as', { authorization: 'Bearer' }],
          ['an empty token as', { authorization: 'Bearer ' }],
          ['another scheme as', { authorization: 'Basic eDp5' }],
          ['a bare token as', { authorization: key }],
          ['two tokens as', { authorization: `Bearer ${key} ${key}` }],
          ['a too long', { authorization: `Bearer ${'x'.repeat(5_000)}` }],
        ]
      : [
          ['no', {}],
          ['an empty', { 'x-api-key': '' }],
          ['a key with a space as', { 'x-api-key': 'a b' }],
          ['a key with a non-ASCII letter as', { 'x-api-key': 'schl\u00fcssel' }],
          ['a too long', { 'x-api-key': 'x'.repeat(5_000) }],
        ]
  test.each(keyless)('%s credential is 401 that says how the key is sent, and nothing is sent', async (_, headers) => {
    const fresh = await startPair(form, form)
    const path = `${mount}/transactions/alpha~tx-1`
    const response = await sendRequest(fresh.gateway.url, { path, headers })
    await fresh.close()
    const isMissing = Object.keys(headers).length === 0
    const message = expectRefusal(response, form, 401, isMissing ? 'key_missing' : 'key_invalid')
    expect(message).toContain(form === 'A' ? 'Authorization: Bearer <key>' : 'X-API-Key: <key>')
    expect(response.headers['www-authenticate']).toBeDefined()
    expect(fresh.provider.journal).toEqual([])
  })

  const order = JSON.stringify({ ...pairWords(form, assets.btc, assets.eth), amount: 1, withdrawalAddress: 'w' })
  test.each([
    ['application/json', 0],
    ['application/json; charset=utf-8', 0],
    ['Application/JSON;charset="UTF-8"', 0],
    ['text/plain', 415],
    ['', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/json-seq', 415],
    ['application/json; charset=utf-16', 415],
    ['multipart/form-data; boundary=x', 415],
  ])('a body of content type "%s" ends with %i', async (type, refused) => {
    const response = await send('POST', '/transactions', { ...own, 'content-type': type }, order)
    if (refused === 0) expect(response.status).toBe(form === 'A' ? 201 : 200)
    else expectRefusal(response, form, refused)
    expect(pair.provider.received('create')).toHaveLength(refused === 0 ? 1 : 0)
  })

  test('a body of exactly the greatest size is read, and one byte more is 413', async () => {
    const padded = (size: number): string => order.slice(0, -1) + ' '.repeat(size - order.length) + order.slice(-1)
    expect((await send('POST', '/transactions', { ...own, ...json }, padded(16_384))).status).toBe(form === 'A' ? 201 : 200)
    expectRefusal(await send('POST', '/transactions', { ...own, ...json }, padded(16_385)), form, 413)
    expect(pair.provider.received('create')).toHaveLength(1)
  })

  test('a path over 8 kB is 414, and so is one that no parser takes', async () => {
    expectRefusal(await send('GET', `/currencies?search=${'x'.repeat(9_000)}`), form, 414)
    expectRefusal(await send('GET', `/currencies?search=${'x'.repeat(20_000)}`), form, 414)
  })

  test('headers over 16 kB are 431 in the form of the path', async () => {
    expectRefusal(await send('GET', '/currencies', { 'x-much': 'x'.repeat(20_000) }), form, 431)
  })

  test('an expectation that is not understood is 417', async () => {
    expectRefusal(await send('GET', '/currencies', { expect: 'a-miracle' }), form, 417)
  })

  test('what is not HTTP is 400 in a form', async () => {
    const { status, head, body } = await sendRaw(pair.gateway.port, `GET ${mount}/currencies HTTP/1.1\r\nbad header\r\n\r\n`)
    expect(status).toBe(400)
    expect(head.toLowerCase()).toContain('content-type: application/json; charset=utf-8')
    expect(Object.keys(JSON.parse(body) as object).toSorted()).toEqual(
      form === 'A' ? ['code', 'error', 'message'] : ['code', 'message'],
    )
  })

  const unknown: readonly (readonly [string, string])[] = [
    ['/currencies?limit=5', 'limit'],
    ['/currencies?Page=1', 'Page'],
    ['/rate?coinFrom=BTC&coinTo=ETH&amount=1&withdrawalAmount=5', 'withdrawalAmount'],
    ['/transactions?state=wait', 'state'],
    ['/transactions/alpha~tx-1?verbose=1', 'verbose'],
  ]
  test.each(unknown)('%s is refused by the name of its unknown parameter', async (path, name) => {
    expect(expectRefusal(await pair.client.get(path), form, 400)).toContain(name)
    expect(pair.provider.journal).toEqual([])
  })

  test.each(['page=1&page=1', 'size=5&page=1&size=5'])('the duplicated parameter of %s is refused', async (query) => {
    expect(expectRefusal(await pair.client.get(`/currencies?${query}`), form, 400)).toMatch(/page|size/)
    expect(pair.provider.journal).toEqual([])
  })

  test('a message repeats nothing that could be markup', async () => {
    const response = await pair.client.get('/currencies?%3Cscript%3Ealert(1)%3C/script%3E%00=1')
    expectRefusal(response, form, 400)
    expect(response.text).not.toContain('<script>alert(1)</script>\u0000')
  })
})

test('outside the mounts an error has the default form', async () => {
  for (const defaultForm of formNames) {
    const pair = await startPair('A', 'A', { sections: { defaultForm } })
    for (const path of ['/', '/metrics', '/api/v1/rate', '/livez', '/index.html']) {
      expectRefusal(await sendRequest(pair.gateway.url, { path }), defaultForm, 404)
    }
    await pair.close()
  }
})
