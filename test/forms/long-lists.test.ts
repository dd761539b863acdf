// Takes long: lists of thousands of rows.
/** A provider with as many currencies as the gateway takes: no request waits for another's long list. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type FormName, type Pair, pairs, pairWords, startPair } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'

const rowCount = 10_000
let pair: Pair
afterEach(() => pair.close())

/** The coins that the table has come last. */
function longList(form: FormName): readonly object[] {
  const own = Array.from({ length: rowCount - 4 }, (_, at) => {
    const row = { code: `C${at}`, name: `Coin number ${at}`, icon: `https://icons.test/coin-${at}.svg` }
    return form === 'A' ? { ...row, network: `N${at % 97}`, depositMin: 0.001, depositMax: 1000 } : { ...row, notes: '' }
  })
  const offered = form === 'A' ? ['BTC', 'ETH', 'USDTTRC20', 'T7'] : ['BTC', 'ETH', 'USDT', 'T7']
  return [...own, ...offered.map((code) => ({ code, name: code, icon: 'i', notes: '' }))]
}

const known = [assets.btc, assets.eth, assets.usdtTrx]
const tabled = Array.from({ length: 500 }, (_, at) => ({ coin: `T${at}`, network: `N${at}`, code: `T${at}` }))
const settings = {
  sections: { cache: { currencies: 600, rate: 0, staleFor: 600 } },
  assetTable: [...known, ...tabled].map(({ coin, network, code }) => ({ coin, name: coin, networks: [{ network, code }] })),
}

async function start(form: FormName, provider: FormName): Promise<void> {
  pair = await startPair(form, provider, { ...settings, provider: { timeout: 60 } })
  pair.provider.holdings.currencies = longList(provider)
}

/** What tests do once, such as to read the description of the API, is done before anything is measured. */
beforeAll(async () => {
  for (const { client: form, provider } of pairs) {
    const warm = await startPair(form, provider)
    await warm.client.get('/currencies')
    await warm.client.post('/transactions', { ...pairWords(form, assets.btc, assets.usdtTrx), amount: 1, withdrawalAddress: 'w' })
    await warm.close()
  }
})

/** The longest time for which one turn of the loop kept the processor, in milliseconds: other processes do not count. */
async function maxTurnMs(work: () => Promise<unknown>): Promise<number> {
  let maxMs = 0
  let isOver = false
  let before = process.threadCpuUsage()
  const probe = (): void => {
    const { user, system } = process.threadCpuUsage(before)
    maxMs = Math.max(maxMs, (user + system) / 1000)
    before = process.threadCpuUsage()
    if (!isOver) setImmediate(probe)
  }
  setImmediate(probe)
  await work()
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  isOver = true
  return maxMs
}

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  const order = { ...pairWords(form, assets.btc, assets.usdtTrx), amount: 1, withdrawalAddress: 'w' }

  test('a list of 10,000 rows never holds the loop for long', async () => {
    await start(form, provider)
    const held = await maxTurnMs(async () => {
      const responses = await Promise.all([
        pair.client.get('/currencies?size=100'),
        pair.client.get('/currencies?search=coin&page=40&size=100'),
        pair.client.get('/currencies?search=number%20777'),
        pair.client.post('/transactions', order),
      ])
      expect(responses.map(({ status }) => Math.floor(status / 100))).toEqual([2, 2, 2, 2])
    })
    expect(held).toBeLessThan(100)
  }, 60_000)

  test('so it is if the provider sends it as one page', async () => {
    await start(form, provider)
    const data = pair.provider.holdings.currencies
    const text = JSON.stringify(
      provider === 'A' ? { data, pagination: { page: 1, size: rowCount, total: rowCount } } : { data, count: rowCount },
    )
    pair.provider.reply('currencies', { text })
    const held = await maxTurnMs(async () => {
      expect((await pair.client.get('/currencies?size=100')).status).toBe(200)
    })
    expect(held).toBeLessThan(100)
  }, 60_000)

  test('pages and searches of it cost about what those of a short list cost', async () => {
    const costOf = async (): Promise<number> => {
      await pair.client.get('/currencies')
      const costs: number[] = []
      // The least of three: what the list itself left to be collected is no cost of a page.
      for (let round = 0; round < 3; round++) {
        const before = process.threadCpuUsage()
        for (let page = 1; page <= 50; page++) await pair.client.get(`/currencies?page=${page}&size=10&search=${page}`)
        const { user, system } = process.threadCpuUsage(before)
        costs.push((user + system) / 50_000)
      }
      return Math.min(...costs)
    }
    await start(form, provider)
    const [long, short] = [await costOf(), await costOfShort()]
    expect(long).toBeLessThan(2 * short + 3)
    async function costOfShort(): Promise<number> {
      await pair.close()
      pair = await startPair(form, provider, settings)
      return costOf()
    }
  }, 60_000)
})
