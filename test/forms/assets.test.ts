/** docs/contract.md §3, docs/contract-operators.md §9: a network is never guessed and never dropped, whatever a provider calls its assets. */
import { describe, expect, test } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { digits, readJson } from '../support/json.ts'
import { type FormName, formNames, type Pair, pairWords, rateQuery, startPair } from '../support/pair.ts'
import { type AssetWords, assets, swap } from '../support/swaps.ts'

const { btc, eth, usdtTrx, usdtEth } = assets
const row = (code: string, network?: string): object => ({
  code,
  name: `Coin ${code}`,
  icon: 'i',
  ...(network !== undefined && { network }),
})

async function withRows(client: FormName, rows: readonly object[], provider: object = {}): Promise<Pair> {
  const pair = await startPair(client, 'A', { provider: provider as Record<string, unknown> })
  pair.provider.holdings.currencies = rows
  return pair
}

async function expectNotRequested(pair: Pair, from: AssetWords): Promise<void> {
  const { form, get, post } = pair.client
  expectRefusal(await get(rateQuery(form, { from, to: eth, amount: '1' })), form, 400)
  expectRefusal(await post('/transactions', { ...pairWords(form, from, eth), amount: 1, withdrawalAddress: 'w' }), form, 400)
  expect(pair.provider.received('rate')).toEqual([])
  expect(pair.provider.received('create')).toEqual([])
  await pair.close()
}

describe.each(formNames)('client %s, provider A', (form) => {
  test('one word for two networks is listed as both, and never sent: it would name neither', async () => {
    const pair = await withRows(form, [row('USDT', 'TRC20'), row('USDT', 'ERC20'), row('ETH', 'ETH')])
    const { json } = await pair.client.get('/currencies')
    const listed = form === 'A' ? ['USDTTRC20', 'USDTERC20', 'ETH'] : ['USDT', 'ETH']
    expect((json as { data: { code: string }[] }).data.map(({ code }) => code)).toEqual(listed)
    await expectNotRequested(pair, usdtTrx)
  })

  test('a code that the provider has on another network than the table is never sent', async () => {
    await expectNotRequested(await withRows(form, [row('BTC', 'BEP20'), row('ETH', 'ETH')]), btc)
  })

  test('an asset that is set to null is never sent, though the provider lists it', async () => {
    await expectNotRequested(await withRows(form, [row('USDTTRC20', 'TRX')], { assets: { USDTTRC20: null } }), usdtTrx)
  })

  test("the provider's word is found by the network in its list", async () => {
    const pair = await withRows(form, [row('USDT', 'TRC20'), row('ETH', 'ETH')])
    const order = { ...pairWords(form, usdtTrx, eth), amount: 1, withdrawalAddress: 'w' }
    const response = await pair.client.post('/transactions', order)
    await pair.close()
    expect(response.status, response.text).toBeLessThan(300)
    expect(readJson(pair.provider.received('create')[0]?.body ?? '')).toMatchObject({ coinFrom: 'USDT', coinTo: 'ETH' })
    expect(response.json).toMatchObject(form === 'A' ? { coinFrom: 'USDTTRC20' } : { coin_from: 'USDT' })
  })

  test('own words swapped between two assets go up and come back each as its own', async () => {
    const pair = await withRows(form, [row('USDTERC20', 'TRX'), row('USDTTRC20', 'ETH')], {
      assets: { USDTTRC20: 'USDTERC20', USDTERC20: 'USDTTRC20' },
    })
    const order = { ...pairWords(form, usdtTrx, usdtEth), amount: 1, withdrawalAddress: 'w' }
    const response = await pair.client.post('/transactions', order)
    await pair.close()
    expect(readJson(pair.provider.received('create')[0]?.body ?? '')).toMatchObject({ coinFrom: 'USDTERC20', coinTo: 'USDTTRC20' })
    if (form === 'A') expect(response.json).toMatchObject({ coinFrom: 'USDTTRC20', coinTo: 'USDTERC20' })
  })
})

test("B from A: a network that only the provider's own list gives a coin of the table is taken", async () => {
  const pair = await withRows('B', [row('USDT', 'BEP20'), row('ETH', 'ETH')])
  const order = { coinFrom: 'USDT', networkFrom: 'bep20', coinTo: 'ETH', networkTo: 'ETH', amount: 1, withdrawalAddress: 'w' }
  const response = await pair.client.post('/transactions', order)
  const unknown = await pair.client.post('/transactions', { ...order, networkFrom: 'SOL' })
  await pair.close()
  expect(response.status, response.text).toBe(200)
  expect(readJson(pair.provider.received('create')[0]?.body ?? '')).toMatchObject({ coinFrom: 'USDT' })
  const message = expectRefusal(unknown, 'B', 400)
  for (const network of ['TRX', 'ETH', 'BEP20']) expect(message).toContain(network)
})

test("B from B: the operator's own words for a coin and a network go up, both of them", async () => {
  const own = { USDTTRC20: { coin: 'TETHER', network: 'TRON' }, USDTERC20: { coin: 'USDT', network: 'ETHEREUM' } }
  const pair = await startPair('B', 'B', { provider: { assets: own } })
  const order = { coinFrom: 'USDT', networkFrom: 'TRC20', coinTo: 'USDT', networkTo: 'ETH', amount: 1, withdrawalAddress: 'w' }
  const response = await pair.client.post('/transactions', order)
  await pair.close()
  expect(readJson(pair.provider.received('create')[0]?.body ?? '')).toMatchObject({
    coinFrom: 'TETHER',
    networkFrom: 'TRON',
    coinTo: 'USDT',
    networkTo: 'ETHEREUM',
  })
  expect(response.json).toMatchObject({ coin_from: 'USDT', coin_to: 'USDT' })
})

test.each(formNames)(
  "client %s, provider B: a transaction in the provider's own words is returned in the table's",
  async (form) => {
    const own = { USDTTRC20: { coin: 'TETHER', network: 'TRON' } }
    const pair = await startPair(form, 'B', { provider: { assets: own } })
    pair.provider.holdings.swaps = [swap({ from: { code: '', coin: 'TETHER', network: 'TRON' }, to: btc, amountIn: digits('5') })]
    const { json } = await pair.client.get('/transactions/alpha~tx-1')
    await pair.close()
    expect(json).toMatchObject(form === 'A' ? { coinFrom: 'USDTTRC20' } : { coin_from: 'USDT', network_from: 'TRX' })
  },
)
