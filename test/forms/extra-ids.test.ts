/** docs/contract.md §3.5: memos and tags are carried, confirmed, and never lost in silence. */

import { afterEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { detailedB } from '../support/form-b.ts'
import { digits, readJson } from '../support/json.ts'
import { type Carried, carryMemos, extraIdsIn } from '../support/memos.ts'
import { type Pair, pairs, pairWords, startPair } from '../support/pair.ts'
import { assets, depositOf, type Swap, swap } from '../support/swaps.ts'

const classic = 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59'
const withTag1 = 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu'

const swapOf = (id: string): Swap => swap({ id, from: assets.xrp, to: assets.btc, depositAddress: 'shared-address' })

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  let pair: Pair
  afterEach(() => pair.close())

  const start = async (facts: Readonly<Record<string, unknown>>, carried: Carried = {}, unjudged = {}): Promise<void> => {
    pair = await startPair(form, provider, { provider: facts, unjudged })
    carryMemos(pair, provider, carried)
  }
  const own = (ids: Parameters<typeof extraIdsIn>[1]): object => extraIdsIn(provider, ids)
  const created = form === 'A' ? 201 : 200
  const order = (facts: object = {}, from: 'btc' | 'xrp' = 'btc'): object => ({
    ...pairWords(form, assets[from], from === 'btc' ? assets.xrp : assets.btc),
    amount: digits('0.10'),
    withdrawalAddress: classic,
    ...facts,
  })
  const create = (facts: object, from?: 'btc' | 'xrp', key?: string): Promise<ReceivedResponse> =>
    pair.client.post('/transactions', order(facts, from), key === undefined ? {} : { headers: { 'idempotency-key': key } })
  const sentUp = (): object => readJson(pair.provider.received('create').at(-1)?.body ?? '{}') as object
  const shown = (ids: Parameters<typeof extraIdsIn>[1]): object => extraIdsIn(form, ids)

  const expectMismatch = async (response: ReceivedResponse): Promise<void> => {
    expectRefusal(response, form, 502, 'mismatch')
    expect(response.text).not.toContain(depositOf('tx-1'))
    expect(await pair.gateway.ledgerAdmin.gauges()).toMatchObject({ unresolvedCounts: [{ count: 1, state: 'mismatch' }] })
  }

  test('M34: a missing memo is read by one get', async () => {
    await start({ extraIds: true }, { get: own({ withdrawal: '77', refund: '88' }) })
    const response = await create({ withdrawalExtraId: '77', refundAddress: 'bc1q-refund-1', refundExtraId: '88' })
    expect(response.status, response.text).toBe(created)
    expect(response.json).toMatchObject(shown({ withdrawal: '77', refund: '88' }))
    expect(pair.provider.received('get')).toHaveLength(1)
  })

  test('M34: a memo that is never confirmed is a mismatch, kept, and the key is used up', async () => {
    await start({ extraIds: true }, { get: {} })
    await expectMismatch(await create({ withdrawalExtraId: '77' }, 'btc', 'order-1'))
    expect(pair.provider.received('get')).toHaveLength(1)
    expectRefusal(await create({ withdrawalExtraId: '77' }, 'btc', 'order-1'), form, 502, 'mismatch')
    expect(pair.provider.received('create')).toHaveLength(1)
  })

  test('M34: so is one whose get reports another memo, or confirms only half', async () => {
    await start({ extraIds: true })
    for (const get of [own({ withdrawal: '78' }), own({ withdrawal: '77' })]) {
      carryMemos(pair, provider, { get })
      const response = await create({ withdrawalExtraId: '77', refundAddress: 'bc1q-refund-1', refundExtraId: '88' })
      expectRefusal(response, form, 502, 'mismatch')
    }
  })

  test('M34: without a get the outcome is unknown', async () => {
    await start({ extraIds: true })
    pair.provider.reply('get', { status: 500, json: {} })
    expectRefusal(await create({ withdrawalExtraId: '77' }), form, 504, 'outcome_unknown')
    expect(pair.provider.received('get').length).toBeGreaterThan(1)
    expect(await pair.gateway.ledgerAdmin.gauges()).toMatchObject({ unresolvedCounts: [{ count: 1, state: 'unknown' }] })
  })

  test('a memo that the response repeats needs no get', async () => {
    await start({ extraIds: true }, { create: own({ withdrawal: '77' }) })
    expect((await create({ withdrawalExtraId: '77' })).json).toMatchObject(shown({ withdrawal: '77' }))
    expect(pair.provider.received('get')).toEqual([])
  })

  test('extraIds: unconfirmed takes silence for agreement, and no other memo', async () => {
    await start({ extraIds: 'unconfirmed' })
    const response = await create({ withdrawalExtraId: '77' })
    expect(response.status, response.text).toBe(created)
    expect(response.json).toMatchObject(shown({ withdrawal: '77' }))
    expect(pair.provider.received('get')).toEqual([])
    carryMemos(pair, provider, { create: own({ withdrawal: '78' }) })
    expectRefusal(await create({ withdrawalExtraId: '77' }), form, 502, 'mismatch')
  })

  test('a provider that does not carry memos is sent none', async () => {
    await start({})
    const message = expectRefusal(await create({ withdrawalExtraId: '77' }), form, 400, 'memo_invalid')
    expect(message).toContain('withdrawalExtraId')
    expect(pair.provider.received('create')).toEqual([])
    expect((await create({ withdrawalExtraId: '', refundExtraId: null })).status).toBe(created)
  })

  test('the tag in an X-address counts as the memo', async () => {
    await start({ extraIds: true }, { create: { ...own({ withdrawal: '1' }), ...place(classic) } })
    expect((await create({ withdrawalAddress: withTag1 })).status).toBe(created)
    carryMemos(pair, provider, { create: { ...own({ withdrawal: '2' }), ...place(classic) } })
    expectRefusal(await create({ withdrawalAddress: withTag1 }), form, 502, 'mismatch')
    carryMemos(pair, provider, { create: place(classic), get: place(classic) })
    expectRefusal(await create({ withdrawalAddress: withTag1 }), form, 502, 'mismatch')
    const message = expectRefusal(await create({ withdrawalAddress: withTag1, withdrawalExtraId: '2' }), form, 400, 'memo_invalid')
    expect(message).toContain('withdrawalExtraId')
  })

  test('two memos that contradict each other are a mismatch, of a create and of a get', async () => {
    await start({ extraIds: true }, { create: { ...own({ withdrawal: '2' }), ...place(withTag1) } })
    expectRefusal(await create({ withdrawalExtraId: '2' }), form, 502, 'mismatch')
    const fresh = (id: string) => ({ id, depositAddress: depositOf(id) })
    carryMemos(pair, provider, { create: { ...own({ withdrawal: '01' }), ...place(withTag1) }, addresses: fresh('tx-3') })
    expect((await create({ withdrawalExtraId: '1' })).status).toBe(created)
    carryMemos(pair, provider, {
      create: own({ withdrawal: '2' }),
      get: { ...own({ withdrawal: '2' }), ...place(withTag1) },
      addresses: fresh('tx-4'),
    })
    const response = await create({ withdrawalExtraId: '2' })
    const { id } = response.json as { id: string }
    const later = await pair.client.get(`/transactions/${id}`)
    expect(later.headers['x-swap-stale'], later.text).toBeDefined()
    expect(later.json).toMatchObject(shown({ withdrawal: '2' }))
  })

  test('a swap from elsewhere with two memos for its deposit shows no deposit address', async () => {
    await start({ extraIds: true })
    const known = { ...swapOf('elsewhere'), depositAddress: withTag1 }
    const details = provider === 'A' ? transactionA(known) : detailedB(known)
    pair.provider.reply('get', () => ({ json: { ...details, ...own({ deposit: '2' }) } }))
    const response = await pair.client.get('/transactions/alpha~elsewhere')
    expect(response.status, response.text).toBe(200)
    expect(response.text).not.toContain(withTag1)
  })

  const place = (address: string): object => (provider === 'A' ? { withdrawalAddress: address } : { withdrawal_address: address })

  test('M37: the provider has words of its own', async () => {
    const extraIdNames = {
      deposit: 'payinExtraId',
      withdrawal: { request: 'extraId', response: 'payoutExtraId' },
      refund: 'backTag',
    }
    const reported = { payinExtraId: 'd-1', payoutExtraId: '77', backTag: '88', ...own({ refund: 'wrong' }) }
    await start(
      { extraIds: true, extraIdNames },
      { create: reported, get: reported },
      { I11: 'The checker has only the words of the forms.' },
    )
    const response = await create({ withdrawalExtraId: '77', refundAddress: 'bc1q-refund-1', refundExtraId: '88' })
    expect(response.json).toMatchObject(shown({ deposit: 'd-1', withdrawal: '77', refund: '88' }))
    expect(sentUp()).toMatchObject({ extraId: '77', backTag: '88' })
    expect(Object.keys(sentUp())).not.toContain('withdrawalExtraId')
    const { id } = response.json as { id: string }
    expect((await pair.client.get(`/transactions/${id}`)).json).toMatchObject(shown({ deposit: 'd-1', withdrawal: '77' }))
  })

  test('M35: a shared deposit address without its memo is returned to no client', async () => {
    await start({ extraIds: true, depositMemo: ['XRP', 'XLM'] }, { from: 'xrp' })
    await expectMismatch(await create({}, 'xrp'))
    carryMemos(pair, provider, { from: 'xrp', create: own({ deposit: '' }) })
    expectRefusal(await create({}, 'xrp'), form, 502, 'mismatch')
  })

  test('M35: with its memo, or with the tag in the address, it is', async () => {
    await start({ extraIds: true, depositMemo: ['XRP'] }, { from: 'xrp', create: own({ deposit: '12' }) })
    expect((await create({}, 'xrp')).json).toMatchObject(shown({ deposit: '12' }))
    carryMemos(pair, provider, { from: 'xrp', addresses: { id: 'tx-2', depositAddress: withTag1 } })
    expect((await create({}, 'xrp')).status).toBe(created)
    carryMemos(pair, provider, { from: 'btc', addresses: { id: 'tx-3' } })
    expect((await create({}, 'btc')).status).toBe(created)
  })

  test('M35: nor is it by a get or a list of what was created elsewhere', async () => {
    await start({ extraIds: true, depositMemo: ['XRP'] })
    pair.provider.holdings.swaps = [swapOf('elsewhere')]
    for (const response of [await pair.client.get('/transactions/alpha~elsewhere'), await pair.client.get('/transactions')]) {
      expect(response.status, response.text).toBe(200)
      expect(response.text).toContain('alpha~elsewhere')
      expect(response.text).not.toContain('shared-address')
    }
  })

  test('M35: a get without the memo has the memo of the create', async () => {
    await start({ extraIds: true, depositMemo: ['XRP'] }, { from: 'xrp', create: own({ deposit: '12' }), get: {} })
    const { id } = (await create({}, 'xrp')).json as { id: string }
    const response = await pair.client.get(`/transactions/${id}`)
    expect(response.json).toMatchObject(shown({ deposit: '12' }))
    expect(response.text).toContain(depositOf('tx-1', assets.xrp))
  })

  test('M36: if memos are not carried, coins from such a network are not offered, and nothing is sent', async () => {
    await start({ depositMemo: ['XRP'] }, { from: 'xrp', create: own({ deposit: '12' }) })
    const message = expectRefusal(await create({}, 'xrp'), form, 400, 'not_offered')
    expect(message).toContain('coinFrom')
    const request = new URLSearchParams({ ...pairWords(form, assets.xrp, assets.btc), amount: '1' })
    expectRefusal(await pair.client.get(`/rate?${request}`), form, 400, 'not_offered')
    expect([...pair.provider.received('create'), ...pair.provider.received('rate')]).toEqual([])
    carryMemos(pair, provider, { from: 'btc' })
    expect((await create({}, 'btc')).status).toBe(created)
  })
})
