/** docs/contract.md §3: an empty text of a provider counts as absent, and becomes no name. */
import { afterEach, describe, expect, test } from 'vitest'
import { createdB, detailedB, listedB } from '../support/form-b.ts'
import { type FormName, formNames, type Pair, pairWords, startPair } from '../support/pair.ts'
import { assets, swap } from '../support/swaps.ts'

const { btc, eth, usdtTrx } = assets
let pair: Pair
afterEach(() => pair.close())

interface Item {
  readonly coinFrom?: string
  readonly coinTo?: string
}

describe('provider B', () => {
  const facts = swap({ from: btc, to: eth })
  const start = async (form: FormName): Promise<void> => {
    pair = await startPair(form, 'B')
    pair.provider.holdings.swaps = [facts]
    const empty = { ...detailedB(facts), network_from: '', network_to: '', refund_address: '', tx_hash_in: '', tx_hash_out: '' }
    pair.provider.reply('get', { json: empty })
  }

  test('client A: a get without networks does not take the coins out of the next list', async () => {
    await start('A')
    const got = await pair.client.get('/transactions/alpha~tx-1')
    expect(got.json).toMatchObject({ coinFrom: 'BTC', coinTo: 'ETH' })
    expect(got.json).not.toHaveProperty('refundAddress')
    const { json } = await pair.client.get('/transactions')
    expect((json as { data: readonly Item[] }).data[0]).toMatchObject({ coinFrom: 'BTC', coinTo: 'ETH' })
  })

  test('client A: nor do they vanish from a list that gets the details', async () => {
    await start('A')
    const { json } = await pair.client.get('/transactions')
    expect((json as { data: readonly Item[] }).data[0]).toMatchObject({ coinFrom: 'BTC', coinTo: 'ETH' })
  })

  test('client B: what is empty is absent or null, as the form has it', async () => {
    await start('B')
    const { json } = await pair.client.get('/transactions/alpha~tx-1')
    expect(json).toMatchObject({ coin_from: 'BTC', refund_address: null, tx_hash_in: null, tx_hash_out: null })
    expect((json as { network_from?: string }).network_from).not.toBe('')
  })

  test.each(formNames)('client %s: a create keeps the requested networks', async (form) => {
    pair = await startPair(form, 'B')
    const order = swap({ from: usdtTrx, to: eth, withdrawalAddress: 'w' })
    pair.provider.reply('create', { json: { ...createdB(order), deposit_extra_id: '', withdrawal_extra_id: '' } })
    pair.provider.reply('list', { json: { data: [listedB(order)], count: 1 } })
    const body = { ...pairWords(form, usdtTrx, eth), amount: 0.1, withdrawalAddress: 'w' }
    expect((await pair.client.post('/transactions', body)).status).toBeLessThan(300)
    pair.provider.reply('get', { json: { ...detailedB(order), network_from: '', network_to: '' } })
    const { json } = await pair.client.get('/transactions/alpha~tx-1')
    expect(json).toMatchObject(
      form === 'A' ? { coinFrom: 'USDTTRC20' } : { coin_from: 'USDT', network_from: 'TRX', network_to: 'ETH' },
    )
    const { json: list } = await pair.client.get('/transactions')
    const named = form === 'A' ? { coinFrom: 'USDTTRC20', coinTo: 'ETH' } : { coin_from: 'USDT', coin_to: 'ETH' }
    expect((list as { data: readonly object[] }).data[0]).toMatchObject(named)
  })

  test('client B: an empty message of a rate is none', async () => {
    pair = await startPair('B', 'B')
    const rate = { fromAmount: 1, toAmount: 2, rate: 2, minAmount: 1, maxAmount: 3, message: '' }
    pair.provider.reply('rate', { json: rate })
    const { json } = await pair.client.get('/rate?coinFrom=BTC&coinTo=ETH&amount=1')
    expect(json).toMatchObject({ message: null })
  })
})

describe('provider A', () => {
  test('client A: a currency with an empty network has none, and contradicts nothing', async () => {
    pair = await startPair('A', 'A')
    const row = { name: 'n', icon: 'i', network: '' }
    pair.provider.holdings.currencies = [
      { ...row, code: 'FOO' },
      { ...row, code: 'BTC' },
    ]
    const { json } = await pair.client.get('/currencies')
    const rows = (json as { data: readonly object[] }).data
    expect(rows[0]).not.toHaveProperty('network')
    expect(rows[1]).toMatchObject({ code: 'BTC', network: 'BTC' })
  })

  test('client B: an empty network is not among the notes', async () => {
    pair = await startPair('B', 'A')
    pair.provider.holdings.currencies = [{ code: 'FOO', name: 'n', icon: 'i', network: '' }]
    const { json } = await pair.client.get('/currencies')
    expect((json as { data: readonly object[] }).data).toEqual([{ code: 'FOO', name: 'n', icon: 'i', notes: '' }])
  })

  test.each(formNames)('client %s: an empty refund address is none', async (form) => {
    pair = await startPair(form, 'A')
    pair.provider.holdings.swaps = [swap({ refundAddress: '', updatedAt: '' })]
    const { json } = await pair.client.get('/transactions/alpha~tx-1')
    if (form === 'A') expect(json).not.toHaveProperty('refundAddress')
    else expect(json).toMatchObject({ refund_address: null })
  })
})
