/** docs/contract.md §6, §10: what a provider's refusals and failures are to a client. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectAlive, expectRefusal } from '../support/expectations.ts'
import { type Client, type FormName, type Pair, pairs, pairWords, rateQuery, startPair } from '../support/pair.ts'
import { providerAssets } from '../support/provider-assets.ts'
import type { Operation, Reply } from '../support/stand-in.ts'
import { assets, swap } from '../support/swaps.ts'

type OperationName = 'rate' | 'create' | 'list' | 'get'

function sendOperation({ form, get, post }: Client, operation: OperationName, key: string): Promise<ReceivedResponse> {
  const { btc, usdtTrx } = assets
  if (operation === 'rate') return get(rateQuery(form, { from: btc, to: usdtTrx, amount: '1' }))
  if (operation === 'create')
    return post('/transactions', { ...pairWords(form, btc, usdtTrx), amount: 1, withdrawalAddress: 'w' }, { key })
  return get(operation === 'list' ? '/transactions' : '/transactions/alpha~tx-1', { key })
}

function worded(form: FormName, status: number, message: string, more: object = {}): Reply {
  return { status, json: { ...(form === 'A' && { error: 'Some Error' }), message, code: status, ...more } }
}

/** Provider's status for each operation, and what the client gets. */
const table: readonly (readonly [OperationName, number, number])[] = [
  ['rate', 400, 400],
  ['rate', 404, 400],
  ['rate', 422, 400],
  ['rate', 401, 502],
  ['rate', 403, 502],
  ['rate', 409, 502],
  ['rate', 429, 429],
  ['rate', 500, 502],
  ['rate', 503, 502],
  ['get', 400, 400],
  ['get', 404, 404],
  ['get', 422, 400],
  ['get', 401, 401],
  ['get', 403, 401],
  ['get', 429, 429],
  ['get', 500, 502],
  ['get', 502, 502],
  ['list', 400, 400],
  ['list', 401, 401],
  ['list', 403, 401],
  ['list', 429, 429],
  ['list', 504, 502],
  ['create', 400, 400],
  ['create', 404, 400],
  ['create', 422, 400],
  ['create', 401, 401],
  ['create', 403, 401],
  ['create', 409, 504],
  ['create', 429, 429],
  ['create', 408, 504],
  ['create', 500, 504],
  ['create', 503, 504],
]
const silence: Reply = { after: new Promise(() => {}) }
const keepsItsMessage = (upstream: number, clientStatus: number): boolean =>
  [400, 404, 422].includes(upstream) && clientStatus < 500

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  let longTimeout: Pair
  let shortTimeout: Pair
  let pair: Pair
  let key: string
  beforeAll(async () => {
    longTimeout = await startPair(form, provider)
    shortTimeout = await startPair(form, provider, { provider: { timeout: 0.2 } })
  })
  beforeEach(() => use(longTimeout))
  afterAll(() => Promise.all([longTimeout.close(), shortTimeout.close()]))

  const use = async (used: Pair): Promise<void> => {
    pair = used
    pair.provider.reset()
    pair.provider.holdings.swaps = [swap()]
    key = await pair.gateway.freshKey()
  }
  const responseTo = (operation: OperationName, reply: Reply): Promise<ReceivedResponse> => {
    pair.provider.reply(operation as Operation, reply)
    return sendOperation(pair.client, operation, key)
  }

  test.each(table)('%s: the provider responds %i and the client gets %i', async (operation, upstream, clientStatus) => {
    const message = expectRefusal(
      await responseTo(operation, worded(provider, upstream, 'Refused because of the amount')),
      form,
      clientStatus,
    )
    expect(message === 'Refused because of the amount').toBe(keepsItsMessage(upstream, clientStatus))
    if (clientStatus === 504) expect(message).toMatch(/outcome is unknown/i)
    if (operation === 'create') expect(pair.provider.received('create')).toHaveLength(1)
  })

  test.each(['rate', 'get', 'list', 'create'] as const)("%s: a 429 keeps the provider's Retry-After", async (operation) => {
    const limited = { ...worded(provider, 429, 'slow down'), headers: { 'retry-after': '17' } }
    const response = await responseTo(operation, limited)
    expectRefusal(response, form, 429)
    expect(response.headers['retry-after']).toBe('17')
  })

  test.each(['', 'soon', '-5', '1.5'])('a 429 with the Retry-After "%s" has a whole one of ours', async (value) => {
    const response = await responseTo('get', {
      ...worded(provider, 429, 'slow down'),
      headers: value === '' ? {} : { 'retry-after': value },
    })
    expectRefusal(response, form, 429)
    expect(response.headers['retry-after']).toMatch(/^[1-9]\d*$/)
  })

  test('a reset is 502 and silence is 504, for whatever is only read', async () => {
    const operations = ['rate', 'get', 'list'] as const
    for (const operation of operations) expectRefusal(await responseTo(operation, { reset: true }), form, 502)
    await use(shortTimeout)
    const before = performance.now()
    const silent = await Promise.all(operations.map((operation) => responseTo(operation, silence)))
    expect(performance.now() - before).toBeLessThan(5_000)
    for (const response of silent) expectRefusal(response, form, 504)
    await expectAlive(pair.client)
  })

  const unknown: readonly (readonly [string, Reply])[] = [
    ['is reset', { reset: true }],
    ['is silent', silence],
    ['fails', { status: 500, text: 'oops' }],
    ['returns nothing', { status: 201, text: '' }],
    ['returns an empty object', { status: 201, json: {} }],
    ['returns an error with 200', { status: 200, json: { error: 'x' } }],
    ['returns HTML', { status: 200, headers: { 'content-type': 'text/html' }, text: '<html></html>' }],
    ['redirects', { status: 307, headers: { location: '/service/api/v2/transactions' }, text: '' }],
    ['returns 204', { status: 204, text: '' }],
  ]
  test.each(unknown)(
    'create: if the provider %s the outcome is unknown, 504, and no second POST is ever sent',
    async (_, reply) => {
      if (reply === silence) await use(shortTimeout)
      const message = expectRefusal(await responseTo('create', reply), form, 504)
      expect(message).toMatch(/outcome is unknown/i)
      await expectAlive(pair.client)
      expect(pair.provider.journal.filter(({ method }) => method === 'POST')).toHaveLength(1)
    },
  )

  test.each<[string, object, string]>([
    [
      'NestJS',
      { statusCode: 400, message: ['amount is too small', 'and odd'], error: 'Bad Request' },
      'amount is too small and odd',
    ],
    ['FastAPI', { detail: [{ loc: ['body', 'amount'], msg: 'must be above 1', type: 'value_error' }] }, 'must be above 1'],
    ['RFC 9457', { type: 'about:blank', title: 'Bad Request', status: 400, detail: 'amount is too small' }, 'amount is too small'],
    ['Django', { detail: 'amount is too small' }, 'amount is too small'],
    ['Rails', { errors: ['Amount is too small'] }, 'Amount is too small'],
    ['JSON:API', { errors: [{ status: '422', title: 'Invalid', detail: 'Amount is too small' }] }, 'Amount is too small'],
    ['one with an object', { error: { code: 7, message: 'Amount is too small' } }, 'Amount is too small'],
    ['one without a word', { error: 'Bad Request', message: null }, 'The request was refused; please check its parameters.'],
  ])('create: a refusal of %s keeps its message', async (_, json, message) => {
    expect(expectRefusal(await responseTo('create', { status: 400, json }), form, 400)).toBe(message)
  })

  const sensitiveTexts: readonly (readonly [string, string])[] = [
    ['a URL', 'See https://status.provider.test/help for more'],
    ['a host', 'Upstream api.internal-provider.io refused'],
    ['a host with a port', 'connect ECONNREFUSED db.internal:5432'],
    ['a host of one word with a port', 'connect ECONNREFUSED redis-master:6379'],
    ['localhost', 'localhost said no'],
    ['an IPv4 address', 'Blocked for 10.0.0.17'],
    ['an IPv6 address', 'Blocked for 2001:db8::1'],
    ['a bitcoin address', 'Bad address bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
    ['an ethereum address', 'Bad address 0x52908400098527886E0F7030069857D2E4169EE7'],
    ['an XRP address', 'Bad address rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe'],
    ["the provider's name", 'alpha does not take this coin'],
    ["the provider's name in capitals", 'Welcome to ALPHA.'],
    ['a bearer token', 'Authorization: Bearer abc123'],
  ]
  test.each(sensitiveTexts)('a message that holds %s is replaced by a general one', async (_, providerText) => {
    for (const operation of ['rate', 'create', 'get'] as const) {
      const message = expectRefusal(await responseTo(operation, worded(provider, 400, providerText)), form, 400)
      expect(message).not.toBe(providerText)
      for (const word of providerText.split(' ').filter((part) => /[.:0-9]|alpha/i.test(part))) expect(message).not.toContain(word)
    }
  })

  test('a message that holds the key of the caller is replaced by a general one', async () => {
    const response = await responseTo('get', worded(provider, 400, `The key ${key} is new`))
    expectRefusal(response, form, 400)
    expect(response.text).not.toContain(key)
  })

  test('a short key in a message is removed too', async () => {
    const short = 'k3y'
    pair.provider.reply('get', worded(provider, 400, 'The key k3y is new'))
    const response = await pair.client.get('/transactions/alpha~tx-1', { key: short })
    expectRefusal(response, form, 400)
    expect(response.text).not.toContain(short)
  })

  test('a message is cut to 300 printable characters', async () => {
    const message = expectRefusal(
      await responseTo('rate', worded(provider, 400, `Long\u0000 \u001b[31m ${'word '.repeat(200)}`)),
      form,
      400,
    )
    expect(message.length).toBeLessThanOrEqual(300)
    expect(message).toMatch(/^Long/)
    expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })

  test('a message in any script is kept', async () => {
    const providerText = 'Betrag zu klein: 金額が小さすぎます 💸'
    expect(expectRefusal(await responseTo('rate', worded(provider, 400, providerText)), form, 400)).toBe(providerText)
  })

  test.each([400, 404, 422])('limits beside a refusal of %i end the message, in the digits of the provider', async (status) => {
    const limits = { minAmount: 0.00012, maxAmount: '1.50' }
    const response = await responseTo('rate', worded(provider, status, 'Amount out of range', limits))
    expect(expectRefusal(response, form, 400)).toBe('Amount out of range. Minimum 0.00012, maximum 1.50.')
  })

  test.each([
    [{ minAmount: 1_000, maxAmount: 10 }, 'minAmount'],
    [{ minAmount: -1, maxAmount: 10 }, 'minAmount'],
    [{ minAmount: 2, maxAmount: -1 }, 'maxAmount'],
  ])('limits that cannot be right are left out and counted: %j', async (limits, field) => {
    const before = pair.gateway.observations.length
    const response = await responseTo('rate', worded(provider, 400, 'Amount out of range', limits))
    expect(expectRefusal(response, form, 400)).toBe('Amount out of range')
    expect(response.headers['x-swap-reason']).toBe('refused')
    expect(pair.gateway.observations.slice(before)).toContainEqual({
      what: 'drift',
      provider: 'alpha',
      field,
      drift: 'implausible',
    })
  })

  test('limits of another type are left out', async () => {
    const response = await responseTo('create', worded(provider, 422, 'Amount out of range.', { minAmount: 'low', maxAmount: 5 }))
    expect(expectRefusal(response, form, 400)).toBe('Amount out of range.')
  })

  test('a refusal of the list of currencies is no fault of the client', async () => {
    pair.provider.reply('currencies', worded(provider, 400, 'Bad size'))
    expectRefusal(await pair.client.get('/currencies'), form, 502)
    await use(shortTimeout)
    pair.provider.reply('currencies', silence)
    expectRefusal(await pair.client.get('/currencies'), form, 504)
  })
})

test.each(pairs)(
  'client $client, provider $provider: a provider that is not there is 502, for a create too, since nothing was sent',
  async (names) => {
    const provider = names.provider === 'A' ? { assets: providerAssets } : {}
    const pair = await startPair(names.client, names.provider, { provider })
    await pair.provider.close()
    const responses = await Promise.all(
      (['rate', 'list', 'get', 'create'] as const).map((operation) => sendOperation(pair.client, operation, 'k-1')),
    )
    await pair.close()
    for (const response of responses) {
      const message = expectRefusal(response, names.client, 502)
      expect(message).not.toMatch(/outcome|127\.0\.0\.1|ECONN/)
    }
  },
)
