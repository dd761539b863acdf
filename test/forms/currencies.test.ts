/** docs/contract.md §3.1: currencies. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { currenciesA } from '../support/form-a.ts'
import { currenciesB } from '../support/form-b.ts'
import { digits, readJson } from '../support/json.ts'
import { type FormName, formNames, type Pair, type PairSettings, pairs, startPair } from '../support/pair.ts'

interface Page {
  readonly data: readonly Record<string, unknown>[]
  readonly pagination?: Record<string, unknown>
  readonly count?: unknown
}

const exact = (rows: readonly object[]): unknown => readJson(JSON.stringify(rows))
const icon = (coin: string): string => `https://icons.test/${coin}.svg`
const row = (code: string, facts: object = {}): object => ({ code, name: `Coin ${code}`, icon: icon(code), ...facts })

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, provider)
  })
  beforeEach(() => {
    pair.provider.reset()
    pair.provider.holdings.currencies = provider === 'A' ? currenciesA : currenciesB
  })
  afterAll(() => pair.close())

  const read = async (query = ''): Promise<Page> => {
    const response = await pair.client.get(`/currencies${query}`)
    expect(response.status, response.text).toBe(200)
    return response.json as Page
  }
  const totalOf = ({ pagination, count }: Page): unknown => (form === 'A' ? pagination?.total : count)
  const offer = (rows: readonly unknown[]): void => {
    pair.provider.holdings.currencies = rows
  }

  test('the page has the fields of the form and nothing else', async () => {
    const page = await read('?page=1&size=2')
    const total = form === 'A' ? 'pagination' : 'count'
    expect(Object.keys(page).toSorted()).toEqual(['data', total].toSorted())
    const fields =
      form === 'A' ? ['code', 'name', 'icon', 'network', 'depositMin', 'depositMax'] : ['code', 'name', 'icon', 'notes']
    for (const item of page.data) for (const name of Object.keys(item)) expect(fields).toContain(name)
    if (form === 'A') expect(page.pagination).toEqual({ page: digits('1'), size: digits('2'), total: digits('5') })
  })

  test('without a page and a size it is the first fifty', async () => {
    offer(Array.from({ length: 60 }, (_, at) => row(`C${at}`, provider === 'B' ? { notes: '' } : {})))
    const page = await read()
    expect(page.data).toHaveLength(50)
    expect(totalOf(page)).toEqual(digits('60'))
  })

  test.each([0, 1, 20, 21, 101, 250])('walking the pages of %i rows yields every row once', async (count) => {
    const codes = Array.from({ length: count }, (_, at) => `C${at}`)
    offer(codes.map((code) => row(code, provider === 'B' ? { notes: '' } : { network: `N${code}` })))
    const walked: unknown[] = []
    const lastPage = Math.ceil(count / 20)
    for (let page = 1; page <= lastPage; page++) walked.push(...(await read(`?page=${page}&size=20`)).data.map(({ code }) => code))
    expect(walked).toEqual(codes)
    const beyond = await read(`?page=${lastPage + 1}&size=20`)
    expect(beyond.data).toEqual([])
    expect(totalOf(beyond)).toEqual(digits(String(count)))
  })

  test('a page far past the end is empty and 200', async () => {
    expect((await read('?page=9007199254740991&size=100')).data).toEqual([])
  })

  test('a search matches code or name without regard to case, in the words of the client form', async () => {
    const codes = async (word: string): Promise<unknown> => (await read(`?search=${word}`)).data.map(({ code }) => code)
    const usdt = form === 'A' ? ['USDTERC20', 'USDTTRC20'] : ['USDT']
    expect((await codes('tEtHeR')) as string[]).toEqual(expect.arrayContaining(usdt))
    expect(await codes('tEtHeR')).toHaveLength(usdt.length)
    expect(await codes('doge')).toEqual(['DOGE'])
    expect(await codes('usdttrc')).toEqual(form === 'A' ? ['USDTTRC20'] : [])
    expect(await codes('no-such-coin')).toEqual([])
    expect(totalOf(await read('?search=bit'))).toEqual(digits('1'))
  })

  test('a bad row is dropped and counted, and its neighbours stay', async () => {
    const before = pair.gateway.observations.length
    offer([
      row('GOOD1', { notes: '' }),
      { code: 'NAMELESS', icon: icon('x') },
      'text',
      null,
      row('GOOD2', { notes: '' }),
      { ...row('X'), icon: 7 },
    ])
    const page = await read()
    expect(page.data.map(({ code }) => code)).toEqual(['GOOD1', 'GOOD2'])
    expect(totalOf(page)).toEqual(digits('2'))
    const dropped = pair.gateway.observations
      .slice(before)
      .filter((observation) => observation.what === 'drift' && observation.drift === 'badRow')
    expect(dropped).toHaveLength(4)
  })

  test('a whole page of bad rows does not hide the rows behind it', async () => {
    const rows = Array.from({ length: 250 }, (_, at) => row(`C${at}`, { notes: '', ...(at >= 100 && at < 200 && { icon: null }) }))
    offer(rows)
    const page = await read('?size=100&page=2')
    expect(totalOf(page)).toEqual(digits('150'))
    expect(page.data.at(-1)?.code).toBe('C249')
  })

  test('fields that the form lacks are dropped', async () => {
    offer([row('NEW', { notes: '', isHot: true, nested: { deep: 1 } })])
    const [item] = (await read()).data
    expect(Object.keys(item ?? {})).not.toContain('isHot')
    expect(Object.keys(item ?? {})).not.toContain('nested')
  })

  test('an asset that the configuration sets to null is not offered', async () => {
    const without = await startPair(form, provider, { provider: { assets: { ETH: null, USDTERC20: null } } })
    const codes = ((await without.client.get('/currencies')).json as Page).data.map(({ code }) => code)
    await without.close()
    expect(codes).toEqual(form === 'A' ? ['BTC', 'USDTTRC20', 'DOGE'] : ['BTC', 'USDT', 'DOGE'])
  })
})

async function listOf(client: FormName, provider: FormName, rows: readonly object[], settings: object = {}): Promise<Page> {
  const pair = await startPair(client, provider, settings)
  pair.provider.holdings.currencies = rows
  const response = await pair.client.get('/currencies')
  await pair.close()
  expect(response.status, response.text).toBe(200)
  return response.json as Page
}

test('A from A: as given, with the digits of its limits', async () => {
  const rows = currenciesA.map((currency) => ({ ...currency, depositMin: digits('1.10'), depositMax: digits('1e8') }))
  expect((await listOf('A', 'A', rows)).data).toEqual(exact(rows))
})

test('A from A: code, name and network in the words of the table', async () => {
  const [item] = (
    await listOf('A', 'A', [{ code: 'usdttrc20', name: 'USDT on Tron', icon: 'i', network: 'tron', depositMin: 1, depositMax: 2 }])
  ).data
  expect(item).toEqual({
    code: 'USDTTRC20',
    name: 'Tether',
    icon: 'i',
    network: 'TRX',
    depositMin: digits('1'),
    depositMax: digits('2'),
  })
})

describe('B from B', () => {
  const read = async (rows: readonly object[], settings: PairSettings = {}) => {
    const pair = await startPair('B', 'B', settings)
    pair.provider.holdings.currencies = rows
    const response = await pair.client.get('/currencies')
    await pair.close()
    const notes = (response.json as Page).data.map(({ code, notes }) => [code, notes])
    return { notes: Object.fromEntries(notes), derived: response.headers['x-swap-derived'] }
  }

  test('notes are as given; empty ones are filled with the networks of the table', async () => {
    const { notes, derived } = await read(currenciesB)
    expect(notes).toEqual({ BTC: 'Networks: BTC', ETH: 'ERC20 only', USDT: 'TRC20 and ERC20', DOGE: '' })
    expect(derived).toBe('notes')
  })

  test('notes that are only given are not derived', async () => {
    const { derived } = await read([row('ETH', { notes: 'ERC20 only' }), row('DOGE', { notes: '' })])
    expect(derived).toBeUndefined()
  })

  test.each([[''], ['  '], [null], [undefined]])('notes %j are empty', async (given) => {
    const { notes } = await read([row('USDT', { notes: given })])
    expect(notes).toEqual({ USDT: 'Networks: TRX, ETH' })
  })

  test('a network on which the coin is not offered is not named', async () => {
    const { notes } = await read([row('USDT', { notes: '' })], { provider: { assets: { USDTTRC20: null } } })
    expect(notes).toEqual({ USDT: 'Networks: ETH' })
  })
})

test('A from B: one row for each asset, with the fields of the table and no notes', async () => {
  const { data } = await listOf('A', 'B', currenciesB)
  expect(data).toHaveLength(5)
  expect(data).toEqual(
    expect.arrayContaining([
      { code: 'BTC', name: 'Bitcoin', icon: icon('btc'), network: 'BTC' },
      { code: 'ETH', name: 'Ethereum', icon: icon('eth'), network: 'ETH' },
      {
        code: 'USDTTRC20',
        name: 'Tether',
        icon: icon('usdt'),
        network: 'TRX',
        depositMin: digits('10.0'),
        depositMax: digits('100000.123456789012345678'),
      },
      { code: 'USDTERC20', name: 'Tether', icon: icon('usdt'), network: 'ETH' },
      { code: 'DOGE', name: 'Dogecoin', icon: icon('doge') },
    ]),
  )
})

test('A from B: what is left out is named', async () => {
  const pair = await startPair('A', 'B')
  const { headers } = await pair.client.get('/currencies')
  await pair.close()
  expect(headers['x-swap-omitted']).toBe('depositMax,depositMin,network')
})

test('B from A: one row for each coin, with its networks in the notes, the default one first', async () => {
  const { data } = await listOf('B', 'A', currenciesA)
  expect(data).toEqual([
    { code: 'BTC', name: 'Bitcoin', icon: icon('btc'), notes: 'Networks: BTC' },
    { code: 'ETH', name: 'Ethereum', icon: icon('eth'), notes: 'Networks: ETH' },
    { code: 'USDT', name: 'Tether', icon: icon('usdt'), notes: 'Networks: TRX, ETH' },
    { code: 'DOGE', name: 'Dogecoin', icon: icon('doge'), notes: 'Networks: DOGE' },
  ])
})

describe.each(formNames)('a provider of form A, client %s', (form) => {
  test('a row whose code is on another network in the table is hidden and counted', async () => {
    const pair = await startPair(form, 'A')
    pair.provider.holdings.currencies = [row('BTC', { network: 'BEP20' }), row('ETH', { network: 'ETH' })]
    const { data } = (await pair.client.get('/currencies')).json as Page
    await pair.close()
    expect(data.map(({ code }) => code)).toEqual(['ETH'])
    expect(pair.gateway.observations).toContainEqual({
      what: 'drift',
      provider: 'alpha',
      field: '_other',
      drift: 'contradictingNetwork',
    })
  })

  test("the provider's own word for an asset is shown in the table's", async () => {
    const rows = [row('usdt_trc', { network: 'TRX' })]
    const { data } = await listOf(form, 'A', rows, { provider: { assets: { USDTTRC20: 'usdt_trc' } } })
    expect(data.map(({ code, name }) => [code, name])).toEqual([[form === 'A' ? 'USDTTRC20' : 'USDT', 'Tether']])
  })

  test('an asset is identified by coin and network if its code is unknown', async () => {
    const { data } = await listOf(form, 'A', [row('USDT', { network: 'TRC20' })])
    expect(data.map(({ code, name }) => [code, name])).toEqual([[form === 'A' ? 'USDTTRC20' : 'USDT', 'Tether']])
  })
})

describe.each(formNames)('a provider of form B, client %s', (form) => {
  test("the provider's own words for an asset are shown in the table's", async () => {
    const rows = [row('TETHER', { notes: 'n' })]
    const words = { coin: 'TETHER', network: 'TRON' }
    const { data } = await listOf(form, 'B', rows, { provider: { assets: { USDTTRC20: words, USDTERC20: null } } })
    expect(data.map(({ code, name }) => [code, name])).toEqual([[form === 'A' ? 'USDTTRC20' : 'USDT', 'Tether']])
  })
})
