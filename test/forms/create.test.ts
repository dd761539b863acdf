/** docs/contract.md §3.3, §3.5: creates and their extra ids. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { createdB, depositOfB } from '../support/form-b.ts'
import { digits, readJson } from '../support/json.ts'
import { formNames, type Pair, pairs, pairWords, startPair } from '../support/pair.ts'
import { assets, depositOf, swap } from '../support/swaps.ts'

const fieldsOfB =
  'id status coin_from coin_to amount_in amount_out_expected rate_type deposit_address withdrawal_address created_at'

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, provider)
  })
  beforeEach(async () => {
    pair.provider.reset()
    pair.provider.holdings.swaps = []
    await pair.gateway.forget() // the provider gives its ids anew
  })
  afterAll(() => pair.close())

  const order = (facts: object = {}): object => ({
    ...pairWords(form, assets.btc, assets.usdtTrx),
    amount: digits('0.10'),
    withdrawalAddress: 'TWithdraw1',
    ...facts,
  })
  const create = (facts: object = {}): Promise<ReceivedResponse> => pair.client.post('/transactions', order(facts))
  const sentUp = (): Record<string, unknown> =>
    readJson(pair.provider.received('create').at(-1)?.body ?? '{}') as Record<string, unknown>

  test('the response has exactly the fields and the status of the form', async () => {
    const response = await create({ refundAddress: 'bc1q-refund-1', rateType: 'fixed' })
    const out = digits('6543.210000000000000001')
    const shared = { id: 'alpha~tx-1', status: 'wait' }
    const created = '2026-03-01T10:00:00.000Z'
    expect(response.status).toBe(form === 'A' ? 201 : 200)
    expect(response.json).toEqual(
      form === 'A'
        ? {
            ...shared,
            coinFrom: 'BTC',
            coinTo: 'USDTTRC20',
            amount: digits('0.10'),
            amountTo: out,
            depositAddress: provider === 'A' ? depositOf('tx-1') : depositOfB('tx-1'),
            withdrawalAddress: 'TWithdraw1',
            refundAddress: 'bc1q-refund-1',
            createdAt: created,
            updatedAt: provider === 'A' ? '2026-03-01T10:05:00.000Z' : created,
            rate: provider === 'A' ? digits('65432.10') : digits('65432.10000000000000001'),
            rateType: 'fixed',
          }
        : {
            ...shared,
            coin_from: 'BTC',
            coin_to: 'USDT',
            amount_in: digits('0.10'),
            amount_out_expected: out,
            rate_type: 'fixed',
            deposit_address: provider === 'A' ? depositOf('tx-1') : depositOfB('tx-1'),
            withdrawal_address: 'TWithdraw1',
            created_at: created,
          },
    )
    if (form === 'B') expect(Object.keys(response.json as object)).toEqual(fieldsOfB.split(' '))
  })

  test('the order is sent once, in the fields of the provider form and nothing else', async () => {
    await create({ refundAddress: 'bc1q-refund-1', rateType: 'fixed' })
    const words = provider === 'A' ? pairWords('A', assets.btc, assets.usdtTrx) : pairWords('B', assets.btc, assets.usdtTrx)
    expect(pair.provider.received('create')).toHaveLength(1)
    expect(sentUp()).toEqual({
      ...words,
      amount: digits('0.10'),
      withdrawalAddress: 'TWithdraw1',
      refundAddress: 'bc1q-refund-1',
      rateType: 'fixed',
    })
  })

  test('what the order does not have is not invented', async () => {
    const response = await create()
    const { rateType = 'float', ...sent } = sentUp()
    expect(rateType).toBe('float')
    expect(sent).toEqual({
      ...(provider === 'A' ? pairWords('A', assets.btc, assets.usdtTrx) : pairWords('B', assets.btc, assets.usdtTrx)),
      amount: digits('0.10'),
      withdrawalAddress: 'TWithdraw1',
    })
    expect(response.json).not.toHaveProperty('refundAddress')
    expect(response.headers['x-swap-omitted']).toBe(form === 'A' ? 'refundAddress' : undefined)
  })

  test.each([200, 201, 202])("a provider's %i is returned to the client in the status of its form", async (status) => {
    pair.provider.reply('create', { status, json: provider === 'A' ? transactionOfA() : createdB(swap()) })
    expect((await create()).status).toBe(form === 'A' ? 201 : 200)
  })

  test('codes and networks match in any case and come back as the table spells them', async () => {
    const words =
      form === 'A'
        ? { coinFrom: 'btc', coinTo: 'usdttrc20' }
        : { coinFrom: 'btc', coinTo: 'usdt', networkFrom: 'btc', networkTo: 'trc20' }
    const response = await create(words)
    expect(response.status, response.text).toBe(form === 'A' ? 201 : 200)
    expect(response.json).toMatchObject(
      form === 'A' ? { coinFrom: 'BTC', coinTo: 'USDTTRC20' } : { coin_from: 'BTC', coin_to: 'USDT' },
    )
    expect(sentUp()).toMatchObject(pairWords(provider, assets.btc, assets.usdtTrx))
  })

  test('an unknown code is refused by name and nothing is sent', async () => {
    for (const side of ['coinFrom', 'coinTo']) {
      expect(expectRefusal(await create({ [side]: 'NOPE' }), form, 400)).toContain('NOPE')
    }
    expect(pair.provider.received('create')).toEqual([])
  })

  test('the digits of the amount reach the provider unchanged', async () => {
    for (const lexeme of ['1.10', '1e-8', '0.0000001', '900719925474099.3', '1E+2', '0.123456789012345678901234567890', '5']) {
      await create({ amount: digits(lexeme) })
      expect(sentUp().amount).toEqual(digits(lexeme))
    }
  })

  test.each(['withdrawalExtraId', 'refundExtraId'])('%s is refused if the provider may ignore it', async (name) => {
    const message = expectRefusal(await create({ [name]: '12345' }), form, 400)
    expect(message).toContain(name)
    expect(pair.provider.received('create')).toEqual([])
  })

  test.each([null, ''])('an extra id of %j means none', async (none) => {
    const response = await create({ withdrawalExtraId: none, refundExtraId: none })
    expect(response.status, response.text).toBe(form === 'A' ? 201 : 200)
    expect(response.text).not.toMatch(/extra/i)
    expect(Object.keys(sentUp()).filter((name) => /extra/i.test(name))).toEqual([])
  })

  test('extra ids are carried end to end if the provider takes them', async () => {
    const taking = await startPair(form, provider, { provider: { extraIds: true } })
    const facts = provider === 'A' ? transactionOfA() : createdB(swap())
    const own =
      provider === 'A'
        ? { depositExtraId: 'deposit memo', withdrawalExtraId: '100200', refundExtraId: 'r-7' }
        : { deposit_extra_id: 'deposit memo', withdrawal_extra_id: '100200', refund_extra_id: 'r-7' }
    taking.provider.reply('create', { json: { ...facts, ...own } })
    const body = order({ withdrawalExtraId: '100200', refundExtraId: 'r-7' })
    const response = await taking.client.post('/transactions', body)
    await taking.close()
    expect(readJson(taking.provider.received('create')[0]?.body ?? '')).toMatchObject({
      withdrawalExtraId: '100200',
      refundExtraId: 'r-7',
    })
    expect(response.json).toMatchObject(
      form === 'A'
        ? { depositExtraId: 'deposit memo', withdrawalExtraId: '100200', refundExtraId: 'r-7' }
        : { deposit_extra_id: 'deposit memo', withdrawal_extra_id: '100200', refund_extra_id: 'r-7' },
    )
  })

  test('a memo in the response is never dropped, for any configuration', async () => {
    const facts = provider === 'A' ? { ...transactionOfA(), depositExtraId: '77' } : { ...createdB(swap()), deposit_extra_id: '77' }
    pair.provider.reply('create', { json: facts })
    expect((await create()).json).toMatchObject(form === 'A' ? { depositExtraId: '77' } : { deposit_extra_id: '77' })
  })

  test('a status outside the form of the provider is returned as wait', async () => {
    const facts = provider === 'A' ? transactionOfA() : createdB(swap())
    pair.provider.reply('create', { json: { ...facts, status: 'finished' } })
    const response = await create()
    expect(response.json).toMatchObject({ status: 'wait' })
  })
})

function transactionOfA(): object {
  return {
    id: 'tx-1',
    status: 'wait',
    coinFrom: 'BTC',
    coinTo: 'USDTTRC20',
    amount: digits('0.10'),
    amountTo: digits('6543.2'),
    depositAddress: depositOf('tx-1'),
    withdrawalAddress: 'TWithdraw1',
    createdAt: '2026-03-01T10:00:00.000Z',
    rate: digits('65432.10'),
    rateType: 'float',
  }
}

describe.each(formNames)('client B, provider %s', (provider) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair('B', provider)
  })
  beforeEach(() => pair.provider.reset())
  afterAll(() => pair.close())

  const order = (facts: object): object => ({
    ...pairWords('B', assets.btc, assets.usdtTrx),
    amount: 1,
    withdrawalAddress: 'w',
    ...facts,
  })

  test('a network that the coin does not have is refused, naming the networks it has, and nothing is sent', async () => {
    const message = expectRefusal(await pair.client.post('/transactions', order({ networkTo: 'BEP20' })), 'B', 400)
    expect(message).toContain('networkTo')
    expect(message).toContain('TRX')
    expect(message).toContain('ETH')
    expect(pair.provider.received('create')).toEqual([])
  })

  test.each(['networkFrom', 'networkTo'])('a missing %s is refused by name and nothing is sent', async (name) => {
    const message = expectRefusal(await pair.client.post('/transactions', order({ [name]: undefined })), 'B', 400)
    expect(message).toContain(name)
    expect(pair.provider.journal).toEqual([])
  })
})

test('B from A: a coin that only the provider lists is created on the network that it lists', async () => {
  const pair = await startPair('B', 'A')
  const order = { coinFrom: 'DOGE', networkFrom: 'doge', coinTo: 'BTC', networkTo: 'BTC', amount: 7, withdrawalAddress: 'w' }
  const response = await pair.client.post('/transactions', order)
  const refused = await pair.client.post('/transactions', { ...order, networkFrom: 'ETH' })
  await pair.close()
  expect(response.status, response.text).toBe(200)
  expect(readJson(pair.provider.received('create')[0]?.body ?? '')).toMatchObject({ coinFrom: 'DOGE', coinTo: 'BTC' })
  expect(expectRefusal(refused, 'B', 400)).toContain('DOGE')
  expect(pair.provider.received('create')).toHaveLength(1)
})

test('A from B: a code that only the provider lists is refused, since its network would be a guess', async () => {
  const pair = await startPair('A', 'B')
  const order = { coinFrom: 'DOGE', coinTo: 'BTC', amount: 7, withdrawalAddress: 'w' }
  const message = expectRefusal(await pair.client.post('/transactions', order), 'A', 400)
  await pair.close()
  expect(message).toContain('DOGE')
  expect(pair.provider.received('create')).toEqual([])
})
