/** docs/contract.md §12: which provider can take a pair, and the union of what all offer. */
import { afterEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { type FormName, formNames, pairWords, rateQuery } from '../support/pair.ts'
import { type AssetWords, assets } from '../support/swaps.ts'

let managed: Managed
afterEach(() => managed.close())

const start = async (routing: readonly string[], providers: Readonly<Record<string, object>> = {}): Promise<void> => {
  managed = await startManaged({ routing, providers })
}
const { btc, usdtTrx, usdcEth, usdcSol, xrp } = assets
const create = async (form: FormName, to: AssetWords): Promise<ReceivedResponse> =>
  managed.client(form).post('/transactions', orderIn(form, pairWords(form, btc, to)), { key: await managed.issue() })
const usdc = { code: 'USDC', name: 'USD Coin', icon: 'https://icons.test/usdc.svg', notes: '' }

describe.each(formNames)('M5, form %s', (form) => {
  test('a pair that the first list lacks is sent to the next provider, and only there', async () => {
    await start(['alpha', 'beta'])
    managed.beta.holdings.currencies = [...managed.beta.holdings.currencies, usdc]
    const created = await create(form, usdcEth)
    expect(created.status, created.text).toBe(form === 'A' ? 201 : 200)
    expect(created.headers['x-swap-provider']).toBe('beta')
    const quoted = await managed.client(form).get(rateQuery(form, { from: btc, to: usdcEth, amount: '1' }))
    expect(quoted.headers['x-swap-provider']).toBe('beta')
    expect([...managed.alpha.received('create'), ...managed.alpha.received('rate')]).toEqual([])
    const [sent] = managed.beta.received('create')
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({ coinTo: 'USDC', networkTo: 'ETH' })
  })

  test('so it is if the first names only its coins', async () => {
    await start(['beta', 'alpha'])
    managed.alpha.holdings.currencies = [
      ...managed.alpha.holdings.currencies,
      { ...usdc, code: 'USDCSOL', network: 'SOL', depositMin: 1, depositMax: 2 },
    ]
    expect((await create(form, usdcSol)).headers['x-swap-provider']).toBe('alpha')
    expect(managed.beta.received('create')).toEqual([])
  })

  test('so it is if the configuration does not offer it there', async () => {
    await start(['alpha', 'beta'], { alpha: { assets: { USDTTRC20: null } } })
    expect((await create(form, usdtTrx)).headers['x-swap-provider']).toBe('beta')
    expect(managed.alpha.received('create')).toEqual([])
  })

  test('a provider that lists it in words of its own takes it', async () => {
    await start(['beta', 'alpha'], { beta: { assets: { USDTTRC20: { coin: 'TETHER', network: 'TRON' } } } })
    const reason = 'For the checker TETHER on TRON is not USDT on TRX.'
    for (const invariant of ['I4', 'I5'] as const) managed.witness.excuse(invariant, reason)
    managed.beta.holdings.currencies = [
      { ...usdc, code: 'TETHER', name: 'Tether' },
      { ...usdc, code: 'BTC', name: 'Bitcoin' },
    ]
    expect((await create(form, usdtTrx)).headers['x-swap-provider']).toBe('beta')
    const [sent] = managed.beta.received('create')
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({ coinTo: 'TETHER', networkTo: 'TRON' })
  })

  test('one whose list puts it on another network does not', async () => {
    await start(['alpha', 'beta'])
    managed.alpha.holdings.currencies = managed.alpha.holdings.currencies.map((row) =>
      (row as { code: string }).code === 'USDTTRC20' ? { ...(row as object), network: 'BSC' } : row,
    )
    expect((await create(form, usdtTrx)).headers['x-swap-provider']).toBe('beta')
    expect(managed.alpha.received('create')).toEqual([])
  })

  test('what none of them offers is 400, and nothing is sent', async () => {
    await start(['alpha', 'beta'])
    expectRefusal(await create(form, xrp), form, 400)
    expectRefusal(await managed.client(form).get(rateQuery(form, { from: btc, to: xrp, amount: '1' })), form, 400)
    const sent = [managed.alpha, managed.beta].flatMap((provider) => [...provider.received('create'), ...provider.received('rate')])
    expect(sent).toEqual([])
    expect(await managed.gateway.ledgerAdmin.unresolved()).toEqual([])
  })

  test('a create that one cannot take without its list goes to the next', async () => {
    await start(['alpha', 'beta'])
    managed.alpha.reply('currencies', { status: 500, json: {} })
    expect((await create(form, usdtTrx)).headers['x-swap-provider']).toBe('beta')
    expect(managed.alpha.received('create')).toEqual([])
    const quoted = await managed.client(form).get(rateQuery(form, { from: btc, to: usdtTrx, amount: '1' }))
    expect(quoted.headers['x-swap-provider']).toBe('alpha')
  })

  test('if none can take it without its list, it is 503, and nothing is sent', async () => {
    await start(['alpha', 'beta'], { beta: { assets: { USDTTRC20: null } } })
    managed.alpha.reply('currencies', { status: 500, json: {} })
    expectRefusal(await create(form, usdtTrx), form, 503)
    expect([...managed.alpha.received('create'), ...managed.beta.received('create')]).toEqual([])
  })
})

test('a coin without a network is requested where it is listed', async () => {
  await start(['beta', 'alpha'])
  managed.beta.holdings.currencies = managed.beta.holdings.currencies.filter((row) => (row as { code: string }).code !== 'USDT')
  const response = await managed.client('B').get('/rate?coinFrom=BTC&coinTo=USDT&amount=1')
  expect(response.headers['x-swap-provider']).toBe('alpha')
})

interface Row {
  readonly code: string
  readonly notes?: string
}
const rowsOf = ({ json }: ReceivedResponse): readonly Row[] => (json as { data: readonly Row[] }).data

describe('the union of two lists', () => {
  const only = { ...usdc, code: 'LTC', name: 'Litecoin' }
  test('has each asset once for form A, in the order of the providers', async () => {
    await start(['alpha', 'beta'])
    managed.beta.holdings.currencies = [...managed.beta.holdings.currencies, only, usdc]
    const response = await managed.client('A').get('/currencies?size=100')
    const codes = ['BTC', 'ETH', 'USDTERC20', 'USDTTRC20', 'DOGE', 'LTC', 'USDCERC20', 'USDCSOL']
    expect(rowsOf(response).map(({ code }) => code)).toEqual(codes)
    expect(response.json).toMatchObject({ pagination: { total: digits('8') } })
    expect(response.headers).not.toHaveProperty('x-swap-provider')
  })

  test('has each coin once for form B, with the networks of both', async () => {
    await start(['alpha', 'beta'])
    managed.alpha.holdings.currencies = managed.alpha.holdings.currencies.filter(
      (row) => (row as { code: string }).code !== 'USDTTRC20',
    )
    managed.beta.holdings.currencies = [...managed.beta.holdings.currencies, only]
    const response = await managed.client('B').get('/currencies?size=100')
    expect(rowsOf(response).map(({ code }) => code)).toEqual(['BTC', 'ETH', 'USDT', 'DOGE', 'LTC'])
    expect(rowsOf(response).find(({ code }) => code === 'USDT')?.notes).toBe('Networks: TRX, ETH')
    expect(response.json).toMatchObject({ count: digits('5') })
  })

  test('walks page by page over every row once', async () => {
    await start(['alpha', 'beta'])
    managed.beta.holdings.currencies = [...managed.beta.holdings.currencies, only, usdc]
    const pages = await Promise.all([1, 2, 3, 4].map((page) => managed.client('A').get(`/currencies?size=3&page=${page}`)))
    const codes = pages.flatMap((page) => rowsOf(page).map(({ code }) => code))
    expect(codes).toHaveLength(8)
    expect(new Set(codes).size).toBe(8)
  })

  test.each(formNames)('is what the other one offers while one is down (form %s)', async (form) => {
    await start(['alpha', 'beta'])
    managed.alpha.reply('currencies', { reset: true })
    const response = await managed.client(form).get('/currencies?size=100')
    expect(response.status).toBe(200)
    expect(response.headers['x-swap-provider']).toBe('beta')
    expect(rowsOf(response).map(({ code }) => code)).toContain(form === 'A' ? 'USDTERC20' : 'USDT')
  })

  test('is a failure if both are down', async () => {
    await start(['alpha', 'beta'])
    for (const provider of [managed.alpha, managed.beta]) provider.reply('currencies', { status: 500, json: {} })
    expectRefusal(await managed.client('A').get('/currencies'), 'A', 502)
  })

  test('leaves out providers that the routing does not name', async () => {
    await start(['alpha'])
    managed.beta.holdings.currencies = [only]
    expect(rowsOf(await managed.client('A').get('/currencies?size=100')).map(({ code }) => code)).not.toContain('LTC')
    expect(managed.beta.journal).toEqual([])
  })
})
