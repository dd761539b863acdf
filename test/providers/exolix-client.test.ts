/** docs/contract.md §16: a client that speaks Exolix v2 swaps at any provider; only its base URL is new. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { digits } from '../support/json.ts'
import { type Managed, startManaged } from '../support/managed.ts'

let managed: Managed
let key: string
afterEach(() => managed.close())

const mount = '/exolix/api/v2'
const unknownForm = 'The checker has no client of this form.'
const pairQuery = 'coinFrom=BTC&coinTo=USDT&amount=0.10&rateType=float'

const get = (path: string, headers: Readonly<Record<string, string>> = { authorization: key }): Promise<ReceivedResponse> =>
  sendRequest(managed.gateway.url, { path: mount + path, headers })

const create = (facts: object = {}, headers: Readonly<Record<string, string>> = {}): Promise<ReceivedResponse> =>
  sendRequest(managed.gateway.url, {
    method: 'POST',
    path: `${mount}/transactions`,
    headers: { authorization: key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      coinFrom: 'BTC',
      networkFrom: 'BTC',
      coinTo: 'USDT',
      networkTo: 'TRX',
      amount: digits('0.10'),
      withdrawalAddress: 'TWithdraw1',
      withdrawalExtraId: '',
      refundAddress: 'bc1q-refund-1',
      refundExtraId: '',
      rateType: 'float',
      ...facts,
    }),
  })

describe.each(['alpha', 'beta'] as const)('before %s', (provider) => {
  beforeEach(async () => {
    managed = await startManaged({ routing: [provider] })
    key = await managed.issue()
  })

  it('a quote has the form of Exolix, in the digits of the provider', async () => {
    const { status, json, headers } = await get(`/rate?${pairQuery}&networkFrom=BTC&networkTo=TRX`)
    expect(status).toBe(200)
    expect(headers['x-swap-form']).toBe('exolix')
    expect(Object.keys(json as object)).toEqual(['fromAmount', 'toAmount', 'rate', 'message', 'minAmount', 'maxAmount'])
    expect(json).toMatchObject({ fromAmount: digits('0.10'), message: null })
    expect(headers['x-swap-omitted']).toBe('withdrawMin')
  })

  it('both spellings of the networks mean the same, and must agree', async () => {
    const { status, json } = await get(`/rate?${pairQuery}&coinFromNetwork=BTC&coinToNetwork=TRX`)
    expect(status).toBe(200)
    const other = await get(`/rate?${pairQuery}&networkFrom=BTC&networkTo=TRX&coinFromNetwork=BTC&coinToNetwork=TRX`)
    expect(other.json).toEqual(json)
    const refused = await get(`/rate?${pairQuery}&networkFrom=BTC&networkTo=TRX&coinToNetwork=ETH`)
    expect(refused.status).toBe(400)
    const message = 'Invalid coinToNetwork: it contradicts another parameter.'
    expect(refused.json).toEqual({ status: digits('400'), message, errors: { coinToNetwork: message } })
  })

  it('a create, a get and a list have coins and hashes as objects', async () => {
    for (const invariant of ['I1', 'I2', 'I4', 'I6'] as const) managed.witness.excuse(invariant, unknownForm)
    const created = await create()
    expect(created.status).toBe(201)
    const expected = {
      coinFrom: { coinCode: 'BTC', coinName: 'Bitcoin', network: 'BTC' },
      coinTo: { coinCode: 'USDT', coinName: 'Tether', network: 'TRX' },
      amount: digits('0.10'),
      depositAddress: expect.stringMatching(/./),
      depositExtraId: null,
      withdrawalAddress: 'TWithdraw1',
      withdrawalExtraId: null,
      refundAddress: 'bc1q-refund-1',
      hashIn: { hash: null },
      rateType: 'float',
      status: 'wait',
    }
    expect(created.json).toMatchObject(expected)
    expect(String(created.headers['x-swap-omitted']).split(',')).toContain('coinFrom.icon')
    const { id } = created.json as { readonly id: string }
    const hash = provider === 'beta' ? 'hash-in-tx-1' : null // Form A has none
    expect((await get(`/transactions/${id}`)).json).toMatchObject({ id, ...expected, hashIn: { hash } })
    const list = await get('/transactions?page=1&size=10')
    expect(list.json).toMatchObject({ count: digits('1'), data: [{ id, coinFrom: expected.coinFrom, hashOut: { hash: null } }] })
    expect((await get('/transactions?dateFrom=2001-01-01&dateTo=2001-01-02')).json).toMatchObject({ count: digits('0'), data: [] })
  })

  it('a list has the order that is chosen, the statuses, and the one swap that is searched', async () => {
    for (const invariant of ['I1', 'I2', 'I4', 'I6'] as const) managed.witness.excuse(invariant, unknownForm)
    const ids: string[] = []
    for (let at = 0; at < 5; at++) ids.push(((await create()).json as { readonly id: string }).id)
    const listed = async (query: string): Promise<readonly string[]> => {
      const { status, json, text } = await get(`/transactions?${query}`)
      expect(status, text).toBe(200)
      return (json as { readonly data: readonly { readonly id: string }[] }).data.map(({ id }) => id)
    }
    const newest = await listed('sort=createdAt&order=desc')
    expect(newest.toSorted()).toEqual(ids.toSorted())
    expect(await listed('order=asc')).toEqual(newest.toReversed())
    const walked = [1, 2, 3].map((page) => listed(`order=asc&size=2&page=${page}`))
    expect((await Promise.all(walked)).flat()).toEqual(newest.toReversed())
    expect(await listed('order=asc&size=2&page=4')).toEqual([])
    expect(await listed(`search=${ids[2]}&statuses=success,wait`)).toEqual([ids[2]])
    const none = [
      `search=${ids[2]}&statuses=success`,
      `search=${ids[2]}x`,
      `search=${ids[2]}&dateTo=2001-01-01`,
      'statuses=refunded',
    ]
    for (const query of none) expect(await listed(query)).toEqual([])
    const other = await managed.issue()
    expect((await get(`/transactions?search=${ids[2]}`, { authorization: other })).json).toMatchObject({ count: digits('0') })
  })

  it('networks are those of a coin, in any case of its code, or of all coins, each once', async () => {
    const { status, json } = await get('/currencies/usdt/networks')
    expect(status).toBe(200)
    const networks = json as readonly { readonly network: string }[]
    expect(networks.map(({ network }) => network).toSorted()).toEqual(['ETH', 'TRX'])
    const listed = await get('/currencies?search=USDT&withNetworks=true')
    expect((listed.json as { readonly data: readonly { readonly networks: unknown }[] }).data[0]?.networks).toEqual(networks)
    expect(networks[0]).toMatchObject({ name: expect.any(String), shortName: expect.any(String), blockExplorer: null })
    const refused = await get('/currencies/NOBODY/networks')
    expect([refused.status, refused.headers['x-swap-reason']]).toEqual([400, 'unknown_asset'])
    expect(refused.json).toMatchObject({ errors: { code: expect.stringContaining('NOBODY is not a coin') } })
    const all = (await get('/currencies/networks?size=100')).json as { readonly data: readonly { readonly network: string }[] }
    const names = all.data.map(({ network }) => network)
    expect(names).toEqual([...new Set(names)])
    expect(names).toEqual(expect.arrayContaining(['BTC', 'ETH', 'TRX']))
    const walked: string[] = []
    for (let page = 1; walked.length < names.length; page++) {
      const { data } = (await get(`/currencies/networks?size=2&page=${page}`)).json as typeof all
      walked.push(...data.map(({ network }) => network))
    }
    expect(walked).toEqual(names)
    expect((await get('/currencies/networks?search=trx')).json).toMatchObject({ count: digits('1'), data: [{ network: 'TRX' }] })
  })

  it('currencies have networks on request only', async () => {
    const { json } = await get('/currencies?page=1&size=100&withNetworks=true')
    const rows = (json as { readonly data: readonly { readonly code: string; readonly networks: readonly object[] }[] }).data
    const usdt = rows.find(({ code }) => code === 'USDT')
    expect(usdt?.networks).toContainEqual(expect.objectContaining({ network: 'TRX' }))
    const plain = await get('/currencies?search=tether')
    expect(JSON.stringify(plain.json)).not.toContain('networks')
    expect(plain.json).toMatchObject({ count: digits('1') })
  })

  it.each(['slippage'])('%s is refused by name, and nothing is sent', async (name) => {
    const refused = await create({ [name]: 1 })
    expect(refused.status).toBe(400)
    expect(refused.headers['x-swap-reason']).toBe('parameter_unknown')
    expect(refused.json).toMatchObject({ errors: { [name]: expect.stringContaining(name) } })
    const quote = await get(`/rate?${pairQuery}&networkFrom=BTC&networkTo=TRX&${name}=1`)
    expect(quote.status).toBe(400)
    expect(managed[provider].received('create')).toEqual([])
  })

  it('an amount to receive where the provider takes none is 400 not_offered, by its name', async () => {
    const refused = await create({ amount: undefined, withdrawalAmount: 1 })
    expect([refused.status, refused.headers['x-swap-reason']]).toEqual([400, 'not_offered'])
    expect(refused.json).toMatchObject({ errors: { withdrawalAmount: expect.stringContaining('withdrawalAmount') } })
    const equal = await create({ amount: digits('1.0'), withdrawalAmount: 1 })
    expect([equal.status, equal.headers['x-swap-reason']]).toEqual([400, 'not_offered'])
    const both = await create({ withdrawalAmount: 1 })
    expect([both.status, both.headers['x-swap-reason']]).toEqual([400, 'parameter_invalid'])
    expect(managed[provider].received('create')).toEqual([])
  })

  it('the key may stand behind Bearer', async () => {
    expect((await get('/transactions', { authorization: `bearer ${key}` })).status).toBe(200)
  })

  it('a refusal names each field, also of what only the table knows', async () => {
    const refused = await create({ coinTo: 'NOBODY', withdrawalAddress: 'two words' })
    expect(refused.json).toMatchObject({ errors: { withdrawalAddress: expect.stringContaining('without spaces') } })
    const unknown = await get('/rate?coinFrom=BTC&networkFrom=BTC&coinTo=NOBODY&networkTo=TRX&amount=1')
    expect(unknown.json).toMatchObject({ errors: { coinTo: expect.stringContaining('NOBODY is not a coin') } })
  })

  it('an empty network is none, but not of a coin with several', async () => {
    expect((await get('/rate?coinFrom=BTC&networkFrom=&coinTo=USDT&networkTo=TRX&amount=0.1')).status).toBe(200)
    const open = await get('/rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=&amount=0.1')
    expect([open.status, open.headers['x-swap-reason']]).toEqual([400, 'network_required'])
  })

  it('a create without a type of rate is refused', async () => {
    const refused = await create({ rateType: undefined })
    expect(refused.status).toBe(400)
    expect(refused.json).toMatchObject({ message: expect.stringContaining('rateType') })
  })

  it.each([
    ['no key', {}],
    ['an unknown key behind Bearer', { authorization: 'Bearer some-key' }],
    ['a key with a space', { authorization: 'some key' }],
    ['Bearer without a key', { authorization: 'Bearer ' }],
    ['an unknown key', { authorization: 'unknown' }],
    ['a key in the header of another form', { 'x-api-key': 'some-key' }],
  ])('%s is 401 for what needs a key', async (_, headers) => {
    const refused = await get('/transactions', headers as Record<string, string>)
    expect(refused.status).toBe(401)
    expect(refused.json).toMatchObject({ status: digits('401'), errors: {} })
  })

  it('an amount outside of known limits is 422 with the limits', async () => {
    const isA = provider === 'alpha'
    const limits = { minAmount: digits('0.5'), maxAmount: digits('10') }
    managed.witness.excuse('I6', unknownForm)
    const code = isA ? 422 : 400
    const text = JSON.stringify({ message: 'Out of range', code, minAmount: 0.5, maxAmount: 10 })
    managed[provider].reply('create', { status: code, text })
    const refused = await create()
    expect(refused.status).toBe(422)
    expect(refused.headers['x-swap-reason']).toBe('below_minimum')
    expect(refused.json).toMatchObject({ fromAmount: digits('0.10'), toAmount: digits('0'), ...limits })
  })

  it('P13: a quote below its own minimum is 422, whatever status the provider gives it', async () => {
    const isA = provider === 'alpha'
    const limits = { minAmount: digits('0.5'), maxAmount: digits('10') }
    const amounts = isA ? { amount: 0.1, amountTo: 6_000, fee: 1 } : { fromAmount: 0.1, toAmount: 6_000, message: null }
    const pair = isA ? { coinFrom: 'BTC', coinTo: 'USDTTRC20', rateType: 'float' } : {}
    const text = JSON.stringify({ ...pair, ...amounts, rate: 60_000, minAmount: 0.5, maxAmount: 10 })
    managed[provider].reply('rate', { status: 200, text })
    const refused = await get(`/rate?${pairQuery}&networkFrom=BTC&networkTo=TRX`)
    expect([refused.status, refused.headers['x-swap-reason']]).toEqual([422, 'below_minimum'])
    expect(refused.json).toMatchObject({ fromAmount: digits('0.10'), toAmount: digits('0'), ...limits })
    expect(refused.json).toMatchObject({ message: expect.stringContaining('Minimum 0.5, maximum 10.') })
  })
})

it('two equal amounts are what is to be received, and a repeat with one of them is the same request', async () => {
  managed = await startManaged({ routing: ['alpha'], providers: { alpha: { amountTo: true } } })
  for (const invariant of ['I1', 'I2', 'I4', 'I6'] as const) managed.witness.excuse(invariant, unknownForm)
  key = await managed.issue()
  const query = `${pairQuery.replace('amount=0.10', 'amount=5.0')}&networkFrom=BTC&networkTo=TRX&withdrawalAmount=5`
  const quoted = await get(`/rate?${query}`)
  expect(quoted.json).toMatchObject({ toAmount: digits('5') })
  expect(Object.fromEntries(managed.alpha.received('rate').at(-1)?.query ?? [])).toMatchObject({ amountTo: '5' })
  expect(managed.alpha.received('rate').at(-1)?.query.has('amount')).toBe(false)
  const headers = { 'idempotency-key': 'order-1' }
  const first = await create({ amount: 5, withdrawalAmount: digits('5.0') }, headers)
  expect(first.status, first.text).toBe(201)
  const again = await create({ amount: undefined, withdrawalAmount: 5 }, headers)
  expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true'])
  expect((await create({ amount: 5 }, headers)).status).toBe(422)
  expect(managed.alpha.received('create').map(({ body }) => JSON.parse(body))).toEqual([
    expect.not.objectContaining({ amount: expect.anything() }),
  ])
})

it('no key on the bare mount chooses this form; its name does', async () => {
  managed = await startManaged()
  key = await managed.issue()
  const path = '/api/v2/transactions'
  const bare = await sendRequest(managed.gateway.url, { path, headers: { authorization: key } })
  expect(bare.status).toBe(401)
  const named = await sendRequest(managed.gateway.url, { path, headers: { authorization: key, 'x-swap-form': 'Exolix' } })
  expect(named.status).toBe(200)
  expect(named.headers['x-swap-form']).toBe('exolix')
})
