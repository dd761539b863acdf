// Takes long: it waits until lists are too old.
/** docs/contract.md §3.3: a create to a provider that names an asset in one word needs that provider's whole list, or the operator's word. */
import { afterEach, describe, expect, test } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { readJson } from '../support/json.ts'
import { type FormName, formNames, type Pair, type PairSettings, pairWords, startPair } from '../support/pair.ts'
import type { Received, Reply } from '../support/stand-in.ts'
import { type AssetWords, assets } from '../support/swaps.ts'

const { btc } = assets
const usdt: AssetWords = { code: 'USDT', coin: 'USDT', network: 'ETH' }
/** The table calls USDT on ETH by the plain word, which many providers use for another network. */
const assetTable = [
  { coin: 'BTC', name: 'Bitcoin', networks: [{ network: 'BTC', code: 'BTC' }] },
  { coin: 'ETH', name: 'Ethereum', networks: [{ network: 'ETH', code: 'ETH' }] },
  {
    coin: 'USDT',
    name: 'Tether',
    networks: [
      { network: 'ETH', code: 'USDT', default: true, aliases: ['ERC20'] },
      { network: 'TRX', code: 'USDTTRC20', aliases: ['TRC20'] },
    ],
  },
]
const row = (code: string, network?: string): object => ({ code, name: code, icon: 'i', ...(network !== undefined && { network }) })
const sound = [row('BTC', 'BTC'), row('ETH', 'ETH'), row('USDT', 'ETH'), row('USDTTRC20', 'TRX')]
const onTron = [row('BTC', 'BTC'), row('ETH', 'ETH'), row('USDT', 'TRX')]

let pair: Pair
afterEach(() => pair.close())

async function start(form: FormName, rows: readonly unknown[], settings: PairSettings = {}): Promise<void> {
  pair = await startPair(form, 'A', { assetTable, ...settings })
  pair.provider.holdings.currencies = rows
}

const create = (from: AssetWords = usdt, to: AssetWords = btc) =>
  pair.client.post('/transactions', { ...pairWords(pair.client.form, from, to), amount: 1, withdrawalAddress: 'w' })

function sent(): unknown {
  const [first] = pair.provider.received('create')
  return first && readJson(first.body)
}

/** The requested page of a list that names another total than it has. */
function paged(rows: readonly unknown[], total: number) {
  return ({ query }: Received): Reply => {
    const page = Number(query.get('page'))
    const size = Number(query.get('size'))
    return { json: { data: rows.slice((page - 1) * size, page * size), pagination: { page, size, total } } }
  }
}

const filler = (from: number, to: number): object[] => Array.from({ length: to - from }, (_, at) => row(`C${from + at}`, 'N'))

describe.each(formNames)('client %s', (form) => {
  const done = form === 'A' ? 201 : 200

  test('a create that its list left too little time for is 503, and nothing is sent', async () => {
    await start(form, sound, { provider: { timeout: 1 } })
    pair.provider.reply('currencies', {
      delay: 600,
      json: { data: sound, pagination: { page: 1, size: 100, total: sound.length } },
    })
    const response = await create()
    expectRefusal(response, form, 503, 'provider_busy')
    expect(response.headers).toHaveProperty('retry-after')
    expect(sent()).toBeUndefined()
    expect(await pair.gateway.ledgerAdmin.unresolved()).toEqual([])
  })

  test.each<[string, Reply | ((received: Received) => Reply)]>([
    ['fails', { status: 500, json: {} }],
    ['is refused for coming too often', { status: 429, json: { error: 'e', message: 'm', code: 429 } }],
    ['is not of the form', { text: '<html>' }],
    ['resets', { reset: true }],
    ['breaks off before its total', paged(onTron.slice(0, 2), 3)],
    [
      'fails behind its first page',
      (request) => (request.query.get('page') === '1' ? paged(filler(0, 250), 250)(request) : { status: 500, json: {} }),
    ],
    [
      'has the same first page for every page',
      (request) => ({ ...paged(filler(0, 100), 250)({ ...request, query: new URLSearchParams('page=1&size=100') }) }),
    ],
  ])('a create while the list %s is 503, and nothing is sent', async (_, reply) => {
    await start(form, onTron)
    pair.provider.reply('currencies', reply)
    const response = await create()
    expectRefusal(response, form, 503)
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
    expect(sent()).toBeUndefined()
    expect(await pair.gateway.ledgerAdmin.unresolved()).toEqual([])
    pair.provider.reply('currencies', () => undefined)
  })

  test('a list that does not come at all is 503 while there is time left', async () => {
    await start(form, sound, { provider: { timeout: 1 } })
    pair.provider.reply('currencies', { delay: 3_000, json: {} })
    expectRefusal(await create(), form, 503)
    expect(sent()).toBeUndefined()
  })

  test('a failed create leaves its Idempotency-Key free for the next', async () => {
    await start(form, sound)
    pair.provider.reply('currencies', { status: 500, json: {} })
    const headers = { 'idempotency-key': '"k"' }
    const body = { ...pairWords(form, usdt, btc), amount: 1, withdrawalAddress: 'w' }
    expectRefusal(await pair.client.post('/transactions', body, { headers }), form, 503)
    pair.provider.reply('currencies', () => undefined)
    await expect.poll(() => pair.client.post('/transactions', body, { headers }).then(({ status }) => status)).toBe(done)
    expect(pair.provider.received('create')).toHaveLength(1)
  })

  test("the operator's own words need no list", async () => {
    await start(form, sound, { provider: { assets: { USDT: 'usdt_erc', BTC: 'xbt' } } })
    pair.provider.reply('currencies', { status: 500, json: {} })
    const response = await create()
    expect(sent(), response.text).toMatchObject({ coinFrom: 'usdt_erc', coinTo: 'xbt' })
  })

  test("one asset's own word does not speak for the other", async () => {
    await start(form, sound, { provider: { assets: { USDT: 'usdt_erc' } } })
    pair.provider.reply('currencies', { status: 500, json: {} })
    expectRefusal(await create(), form, 503)
    expectRefusal(await create(btc, usdt), form, 503)
    expect(sent()).toBeUndefined()
  })

  test('a whole list that agrees lets it up', async () => {
    await start(form, sound)
    const response = await create()
    expect(response.status, response.text).toBe(done)
    expect(sent()).toMatchObject({ coinFrom: 'USDT', coinTo: 'BTC' })
  })

  test('a row that names no network agrees, and so does an alias', async () => {
    await start(form, [row('BTC'), row('USDT', 'erc20')])
    expect((await create()).status).toBe(done)
  })

  test.each([
    ['alone', onTron],
    ['beside its own', [...sound, row('USDT', 'TRX')]],
    ['beside its own, and unknown to the table,', [...sound, row('usdt', 'OMNI')]],
    ['beside a row without a network', [row('BTC'), row('USDT'), row('USDT', 'TRX')]],
  ])('a word that the list uses for another network %s is 400', async (_, rows) => {
    await start(form, rows)
    expectRefusal(await create(), form, 400)
    expectRefusal(await create(btc, usdt), form, 400)
    expect(sent()).toBeUndefined()
  })

  test('an own word that the list uses for another network is 400', async () => {
    await start(form, [...sound, row('tether', 'TRX')], { provider: { assets: { USDT: 'tether' } } })
    expectRefusal(await create(), form, 400)
    expect(sent()).toBeUndefined()
  })

  test("an own word that the list has as another asset's, which is not offered there, is 400", async () => {
    await start(form, sound, { provider: { assets: { USDTTRC20: 'USDT', USDT: null } } })
    expectRefusal(await create({ code: 'USDTTRC20', coin: 'USDT', network: 'TRX' }), form, 400)
    expect(sent()).toBeUndefined()
  })

  test('what a whole list lacks is not offered: 400', async () => {
    await start(form, [row('BTC', 'BTC'), row('ETH', 'ETH')])
    expectRefusal(await create(), form, 400)
    expect(sent()).toBeUndefined()
  })

  test('a bad row is no agreement', async () => {
    await start(form, [row('BTC', 'BTC'), { ...row('USDT', 'TRX'), icon: 7 }, { ...row('USDT'), network: 7 }])
    expectRefusal(await create(), form, 400)
    expect(sent()).toBeUndefined()
  })

  test('a contradiction behind the first page is found', async () => {
    await start(form, [...sound, ...filler(0, 200), row('USDT', 'TRX')])
    expectRefusal(await create(), form, 400)
  })

  test('rows that are there twice make no list incomplete', async () => {
    await start(form, [...sound, ...sound, ...filler(0, 150), ...sound])
    expect((await create()).status).toBe(done)
  })

  test('rows that move to another page while the list is read are found all the same', async () => {
    await start(form, sound)
    const rows = [...filler(0, 199), ...sound]
    const moved = [...rows.slice(0, 99), rows[202], ...rows.slice(99, 202)]
    let readCount = 0
    pair.provider.reply('currencies', (request) => paged(++readCount === 2 ? moved : rows, rows.length)(request))
    expect((await create()).status).toBe(done)
  })

  test('a contradiction holds until a newer whole list does not contradict', async () => {
    await start(form, onTron, { sections: { cache: { currencies: 0, rate: 0, staleFor: 0 } } })
    expectRefusal(await create(), form, 400)
    pair.provider.reply('currencies', { status: 500, json: {} })
    expectRefusal(await create(), form, 400)
    pair.provider.reply('currencies', () => undefined)
    pair.provider.holdings.currencies = sound
    await expect.poll(() => create().then(({ status }) => status)).toBe(done)
  })

  test('a list serves creates for staleFor and no longer', async () => {
    await start(form, sound, { sections: { cache: { currencies: 0.1, rate: 0, staleFor: 1 } } })
    expect((await create()).status).toBe(done)
    pair.provider.reply('currencies', { status: 500, json: {} })
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect((await create()).status).toBe(done)
    await new Promise((resolve) => setTimeout(resolve, 800))
    expectRefusal(await create(), form, 503)
  })

  test('quotes go on without a list', async () => {
    await start(form, sound)
    pair.provider.reply('currencies', { status: 500, json: {} })
    const query = form === 'A' ? 'coinFrom=USDT&coinTo=BTC' : 'coinFrom=USDT&networkFrom=ETH&coinTo=BTC'
    expect((await pair.client.get(`/rate?${query}&amount=1`)).status).toBe(200)
  })
})

test.each(formNames)('client %s, provider B: both words are sent, so no list is needed', async (form) => {
  pair = await startPair(form, 'B', { assetTable })
  pair.provider.reply('currencies', { status: 500, json: {} })
  const response = await create()
  expect(sent(), response.text).toMatchObject({ coinFrom: 'USDT', networkFrom: 'ETH' })
})

test('one word for two coins that the table lacks is never sent', async () => {
  await start('B', [row('BTC', 'BTC'), row('FOO', 'X'), row('FOO', 'Y')])
  expectRefusal(await create({ code: 'FOO', coin: 'FOO', network: 'X' }), 'B', 400)
  expect(sent()).toBeUndefined()
})
