/**
 * What is served without a call to the provider: rates, pages of currencies, and 304 for clients that have them
 * (docs/contract.md §6, docs/contract-operators.md §8).
 */
import { setImmediate } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { client, type FormName, formNames, type Pair, pairs, pairWords, rateQuery, startPair } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'

const open: Pair[] = []
afterEach(async () => {
  for (const pair of open.splice(0)) await pair.close()
})

/** Rates are as old as `pass` makes them. */
async function start(
  clientForm: FormName,
  providerForm: FormName,
  { rate = 60, provider = {} }: { readonly rate?: number; readonly provider?: Readonly<Record<string, unknown>> } = {},
): Promise<Pair & { pass: (seconds: number) => void }> {
  let now = 0
  const cache = { currencies: 600, rate, staleFor: 0 }
  const pair = await startPair(clientForm, providerForm, { provider, sections: { cache }, steadyClock: () => now })
  open.push(pair)
  const pass = (seconds: number): void => {
    now += seconds * 1000
  }
  return { ...pair, pass }
}

const btcToUsdt = (form: FormName, amount: string): string => rateQuery(form, { from: assets.btc, to: assets.usdtTrx, amount })

test.each(['A', 'B'] as const)(
  'clients of both forms share a rate of provider %s, each in its form with its own digits',
  async (form) => {
    const pair = await start('A', form)
    const clients = { A: client('A', pair.gateway.url), B: client('B', pair.gateway.url) }
    const a = await clients.A.get(btcToUsdt('A', '1.50'))
    const b = await clients.B.get(btcToUsdt('B', '15e-1'))
    expect([a.status, b.status, pair.provider.received('rate').length]).toEqual([200, 200, 1])
    expect(a.text).toMatch(/"amount":1\.50\b/)
    expect(b.text).toMatch(/"fromAmount":15e-1\b/)
    expect([a.headers['x-swap-form'], b.headers['x-swap-form']]).toEqual(['A', 'B'])
    expect([a.headers['x-swap-provider'], b.headers['x-swap-provider']]).toEqual(['alpha', 'alpha'])
    expect(b.headers['cache-control']).toBe('private, max-age=60')
  },
)

test.each(pairs)(
  'client $client, provider $provider: quotes by equal amounts to receive are one, each with its own digits',
  async ({ client: form, provider }) => {
    const pair = await start(form, provider, { provider: { amountTo: true } })
    const name = form === 'A' ? 'amountTo' : 'toAmount'
    const rateOf = (amountTo: string): Promise<ReceivedResponse> =>
      pair.client.get(`/rate?${new URLSearchParams({ ...pairWords(form, assets.btc, assets.usdtTrx), amountTo })}`)
    const concurrent = await Promise.all([rateOf('5'), rateOf('5.0')])
    const later = await rateOf('50e-1')
    const texts = [...concurrent, later].map(({ text }) => text)
    for (const [at, digits] of ['5', '5.0', '50e-1'].entries()) expect(texts[at]).toContain(`"${name}":${digits},`)
    expect(pair.provider.received('rate')).toHaveLength(1)
    expect((await pair.client.get(btcToUsdt(form, '5'))).status).toBe(200)
    expect((await rateOf('5.1')).status).toBe(200)
    expect(pair.provider.received('rate')).toHaveLength(3)
  },
)

test('Age is the age of a rate, and nothing is older than its lifetime', async () => {
  const pair = await start('A', 'A', { rate: 3 })
  const ages: unknown[] = []
  for (const wait of [0, 1, 1.5, 1]) {
    pair.pass(wait)
    const { headers } = await pair.client.get(btcToUsdt('A', '1'))
    ages.push(headers.age)
  }
  expect(ages).toEqual(['0', '1', '2', '0'])
  expect(pair.provider.received('rate')).toHaveLength(2)
})

test('M18: many pairs and amounts at once, each response is about its own request', async () => {
  const pair = await start('A', 'A')
  pair.provider.reply('rate', ({ query }) => ({
    json: {
      coinFrom: query.get('coinFrom'),
      coinTo: query.get('coinTo'),
      amount: Number(query.get('amount')),
      amountTo: Number(query.get('amount')) * 7,
      rate: 7,
      minAmount: 1,
      maxAmount: 100,
      fee: 0,
      rateType: query.get('rateType'),
    },
    after: setImmediate(),
  }))
  const requests = Array.from({ length: 200 }, (_, at) => ({
    from: at % 2 ? assets.btc : assets.eth,
    to: at % 3 ? assets.usdtTrx : assets.usdtEth,
    amount: String(1 + (at % 10)),
    rateType: at % 5 ? 'float' : 'fixed',
  }))
  const responses = await Promise.all(requests.map((wanted) => pair.client.get(rateQuery('A', wanted))))
  for (const [at, { from, to, amount, rateType }] of requests.entries()) {
    const facts = { coinFrom: from.code, coinTo: to.code, amount: Number(amount), amountTo: Number(amount) * 7, rateType }
    expect(JSON.parse(responses[at]?.text ?? '')).toMatchObject(facts)
  }
  expect(pair.provider.received('rate')).toHaveLength(new Set(requests.map((wanted) => JSON.stringify(wanted))).size)
})

test.each(pairs)(
  'client $client, provider $provider: a client with a quote gets 304, without a body',
  async ({ client: form, provider }) => {
    const pair = await start(form, provider)
    for (const path of ['/currencies?page=1', btcToUsdt(form, '1')]) {
      const first = await pair.client.get(path)
      const tag = String(first.headers.etag)
      expect(tag).toMatch(/^"[0-9a-f-]+"$/)
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const again = await pair.client.get(path, { headers: { 'if-none-match': known } })
        expect([again.status, again.text, again.headers['content-length'], again.headers['content-type']]).toEqual([
          304,
          '',
          undefined,
          undefined,
        ])
        expect(again.headers).toMatchObject({ etag: tag, 'cache-control': first.headers['cache-control'], 'x-swap-form': form })
      }
      const other = await pair.client.get(path, { headers: { 'if-none-match': '"other"' } })
      expect([other.status, other.text, other.headers.etag]).toEqual([200, first.text, tag])
    }
  },
)

test('on the bare mount a tag is of one form, and Vary names what it depends on', async () => {
  const pair = await start('A', 'A')
  const sendRequest = (form: string, known?: string): Promise<Response> =>
    fetch(`${pair.gateway.url}/api/v2/currencies`, { headers: { 'x-swap-form': form, ...(known && { 'if-none-match': known }) } })
  const [a, b] = [await sendRequest('A'), await sendRequest('B')]
  const tag = a.headers.get('etag') ?? ''
  expect(b.headers.get('etag')).not.toBe(tag)
  const [same, other] = [await sendRequest('A', tag), await sendRequest('B', tag)]
  expect([same.status, other.status]).toEqual([304, 200])
  expect(same.headers.get('vary')).toBe('X-Swap-Form, Authorization, X-API-Key')
})

test('H15: an operation with a key has no tag, is never cached, and never gets 304', async () => {
  const pair = await start('A', 'A')
  const order = { coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: 1, withdrawalAddress: 'TWithdraw1' }
  const headers = { 'if-none-match': '*' }
  const responses = [
    await pair.client.post('/transactions', order, { headers }),
    await pair.client.get('/transactions/alpha~tx-1', { headers }),
    await pair.client.get('/transactions', { headers }),
    await pair.client.get('/rate?amount=0', { headers }),
  ]
  expect(responses.map(({ status }) => status)).toEqual([201, 200, 200, 400])
  for (const response of responses) {
    expect([response.headers.etag, response.headers['cache-control']]).toEqual([undefined, 'no-store'])
  }
})

const paths = [
  '/currencies',
  '/currencies?page=2&size=2',
  '/currencies?size=2',
  '/currencies?search=te',
  '/currencies?search=E&size=1',
]

async function sendAllRequests({ gateway }: Pair): Promise<readonly string[]> {
  const texts: string[] = []
  for (const form of formNames) {
    for (const path of paths) texts.push((await client(form, gateway.url).get(path)).text)
  }
  return texts
}

test('pages of currencies are ready-made: in each form, page, size and search the same again', async () => {
  const pair = await start('A', 'A')
  const first = await sendAllRequests(pair)
  expect(new Set(first).size).toBe(first.length)
  expect(await sendAllRequests(pair)).toEqual(first)
  expect(pair.provider.received('currencies')).toHaveLength(1)
})

test('a new list has new pages', async () => {
  const pair = await startPair('A', 'A')
  open.push(pair)
  expect((await sendAllRequests(pair))[0]).toContain('DOGE')
  pair.provider.holdings.currencies = pair.provider.holdings.currencies.slice(0, 4)
  expect((await sendAllRequests(pair))[0]).not.toContain('DOGE')
})
