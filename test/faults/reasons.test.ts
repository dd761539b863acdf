/** Which word of `X-Swap-Reason` each refusal has (docs/contract.md §6), in both forms and with related refusals. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Reason } from '../../src/domain/fault.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { orderIn } from '../support/managed.ts'
import { credential, formNames, type Pair, pairs, pairWords, rateQuery, startPair } from '../support/pair.ts'
import { sendRaw } from '../support/raw.ts'
import { type AssetWords, assets, swap } from '../support/swaps.ts'

const { btc, usdtTrx, usdcEth } = assets

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider: side }) => {
  let pair: Pair
  let key: string
  beforeAll(async () => {
    pair = await startPair(form, side, { provider: { assets: { USDCSOL: null } } })
  })
  beforeEach(async () => {
    pair.provider.reset()
    await pair.gateway.forget()
    pair.provider.holdings.swaps = [swap()]
    key = await pair.gateway.freshKey()
  })
  afterAll(() => pair.close())

  const get = (path: string, headers = {}): Promise<ReceivedResponse> => pair.client.get(path, { key, headers })
  const create = (facts: object = {}, headers = {}): Promise<ReceivedResponse> =>
    pair.client.post('/transactions', orderIn(form, facts), { key, headers })
  const rate = (amount = '1', to: AssetWords = usdtTrx): Promise<ReceivedResponse> =>
    get(rateQuery(form, { from: btc, to, amount }))
  const other = form === 'A' ? 'B' : 'A'

  const cases: readonly (readonly [what: string, status: number, Reason, () => Promise<ReceivedResponse>])[] = [
    ['an unknown path', 404, 'path', () => get('/nothing')],
    ['a slash at the end', 404, 'path', () => get('/currencies/')],
    ['another method', 405, 'method', () => pair.client.get('/transactions', { key, method: 'DELETE' })],
    ['another form', 400, 'form_conflict', () => get('/currencies', { 'x-swap-form': other })],
    ['a form that does not exist', 400, 'form_conflict', () => get('/currencies', { 'x-swap-form': 'Z' })],
    ['two credentials', 400, 'form_conflict', () => get('/currencies', credential(other, 'k'))],
    ['no amount', 400, 'parameter_invalid', () => get('/rate?coinFrom=BTC&coinTo=ETH')],
    ['an amount of nothing', 400, 'parameter_invalid', () => rate('0')],
    ['an amount with a unit', 400, 'parameter_invalid', () => create({ amount: '1 BTC' })],
    ['page 0', 400, 'parameter_invalid', () => get('/currencies?page=0')],
    ['a parameter twice', 400, 'parameter_invalid', () => get('/currencies?page=1&page=2')],
    ['a malformed Idempotency-Key', 400, 'parameter_invalid', () => create({}, { 'idempotency-key': '' })],
    ['a missing address', 400, 'parameter_invalid', () => create({ withdrawalAddress: undefined })],
    ['an unknown parameter', 400, 'parameter_unknown', () => get('/currencies?limit=5')],
    ['an unknown field', 400, 'parameter_unknown', () => create({ withdrawalAmount: 1 })],
    ['half a body', 400, 'body_invalid', () => pair.client.post('/transactions', '{"coinFrom":', { key })],
    ['a list as body', 400, 'body_invalid', () => pair.client.post('/transactions', '[]', { key })],
    ['no body', 400, 'body_invalid', () => pair.client.post('/transactions', '', { key })],
    ['an unknown coin', 400, 'unknown_asset', () => rate('1', { code: 'NOBODY', coin: 'NOBODY', network: 'X' })],
    ['an unknown coin to create', 400, 'unknown_asset', () => create({ coinTo: 'NOBODY' })],
    ['an asset that is not offered', 400, 'not_offered', () => rate('1', assets.usdcSol)],
    ['an address with a space', 400, 'address_invalid', () => create({ withdrawalAddress: 'a b' })],
    ['a refund address that is a number', 400, 'address_invalid', () => create({ refundAddress: 5 })],
    ['a memo that may be lost', 400, 'memo_invalid', () => create({ withdrawalExtraId: '77' })],
    ['a memo with a control character', 400, 'memo_invalid', () => create({ refundExtraId: 'a\u0000' })],
    ['no key', 401, 'key_missing', () => pair.client.get('/transactions', { key: null })],
    ['an empty key', 401, 'key_invalid', () => pair.client.get('/transactions', { key: null, headers: credential(form, '') })],
    [
      'the key of the other form',
      401,
      'key_missing',
      () => pair.client.get('/transactions', { key: null, headers: credential(other, 'k') }),
    ],
    ['an unknown swap', 404, 'not_found', () => get('/transactions/alpha~missing')],
    ['an unknown tag', 404, 'not_found', () => get('/transactions/unknown~tx-1')],
    ['a large body', 413, 'too_large', () => create({ withdrawalAddress: 'w'.repeat(20_000) })],
    ['a long path', 414, 'too_large', () => get(`/currencies?search=${'x'.repeat(9_000)}`)],
    ['large headers', 431, 'too_large', () => get('/currencies', { 'x-large': 'x'.repeat(17_000) })],
    ['another type', 415, 'media_type', () => create({}, { 'content-type': 'text/plain' })],
    ['a compressed body', 415, 'media_type', () => create({}, { 'content-encoding': 'gzip' })],
    ['an expectation', 417, 'parameter_invalid', () => get('/currencies', { expect: 'a-miracle' })],
  ]
  test.each(cases)('S11: %s is %i %s', async (_, status, reason, send) => {
    expectRefusal(await send(), form, status, reason)
    expect(pair.provider.received('create')).toHaveLength(0)
  })

  test('S11, S13: HEAD has the reason of GET, and a success has none', async () => {
    const head = await pair.client.get('/currencies?page=0', { method: 'HEAD' })
    expect([head.status, head.text, head.headers['x-swap-reason']]).toEqual([400, '', 'parameter_invalid'])
    const path = `/${form.toLowerCase()}/api/v2/currencies`
    const options = await sendRequest(pair.gateway.url, { method: 'OPTIONS', path })
    for (const { status, headers } of [options, await get('/currencies'), await rate(), await create()]) {
      expect(status).toBeLessThan(300)
      expect([headers['x-swap-reason'], headers['x-content-type-options']]).toEqual([undefined, 'nosniff'])
    }
  })

  const raw: readonly (readonly [string, string, number, Reason])[] = [
    ['no HTTP', 'GET /x HTTP/1.1\r\nno colon\r\n\r\n', 400, 'parameter_invalid'],
    ['no Host', `GET /${form}/api/v2/currencies HTTP/1.1\r\n\r\n`, 400, 'parameter_invalid'],
    ['a target that is no path', 'GET ftp://elsewhere/ HTTP/1.1\r\nHost: h\r\n\r\n', 400, 'path'],
    ['a tunnel', 'CONNECT elsewhere:443 HTTP/1.1\r\nHost: h\r\n\r\n', 400, 'path'],
    ['a broken chunk', 'POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 400, 'body_invalid'],
    ['a header of 20,000 bytes', `GET /x HTTP/1.1\r\nHost: h\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'too_large'],
  ]
  test.each(raw)('S11, S13: %s is refused with its reason, below the service too', async (_, bytes, status, reason) => {
    const response = await sendRaw(pair.gateway.port, bytes)
    expect(response.status).toBe(status)
    expect(response.head).toMatch(new RegExp(`\r\nx-swap-reason: ${reason}(?:\r\n|$)`))
    expect(response.head).toMatch(/\r\nx-content-type-options: nosniff(?:\r\n|$)/)
  })
})

test.each(formNames)('S11: in form %s pages have reasons too', async (form) => {
  const pair = await startPair(form, form)
  const page = `/${form.toLowerCase()}/openapi.json`
  const responses = await Promise.all([
    sendRequest(pair.gateway.url, { path: page, method: 'POST' }),
    sendRequest(pair.gateway.url, { path: `${page}/x` }),
    sendRequest(pair.gateway.url, { path: page, headers: { 'x-swap-form': 'Z' } }),
    sendRequest(pair.gateway.url, { path: page }),
  ])
  await pair.close()
  const returned = responses.map(({ status, headers }) => [status, headers['x-swap-reason'], headers['x-content-type-options']])
  expect(returned).toEqual([
    [405, 'method', 'nosniff'],
    [404, 'path', 'nosniff'],
    [400, 'form_conflict', 'nosniff'],
    [200, undefined, 'nosniff'],
  ])
})

describe('a network', () => {
  const order = { ...pairWords('B', btc, usdtTrx), amount: digits('1'), withdrawalAddress: 'w' }
  test.each(formNames)('S11: that is missing or not the coin’s, before a provider of form %s', async (side) => {
    const pair = await startPair('B', side)
    const { get, post } = pair.client
    const rate = (words: string): Promise<ReceivedResponse> => get(`/rate?coinFrom=BTC&amount=1&${words}`)
    expectRefusal(await post('/transactions', { ...order, networkTo: undefined }), 'B', 400, 'network_required')
    expectRefusal(await post('/transactions', { ...order, networkTo: 'SOL' }), 'B', 400, 'network_unknown')
    expectRefusal(await rate('coinTo=USDT&networkTo=SOL'), 'B', 400, 'network_unknown')
    expect((await rate('coinTo=USDT')).status).toBe(200)
    if (side === 'A') expectRefusal(await rate(`coinTo=${usdcEth.coin}`), 'B', 400, 'network_required')
    await pair.close()
  })
})
