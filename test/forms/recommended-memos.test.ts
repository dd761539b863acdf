/** docs/contract.md §3.5: a create without a memo, where the network has memos, is made and warned of. */
import { afterEach, describe, expect, test } from 'vitest'
import { carryMemos, extraIdsIn } from '../support/memos.ts'
import { type Pair, pairs, pairWords, startPair } from '../support/pair.ts'
import { type AssetWords, assets } from '../support/swaps.ts'

const assetTable = [
  { coin: 'BTC', name: 'Bitcoin', networks: [{ network: 'BTC', code: 'BTC' }] },
  { coin: 'ETH', name: 'Ethereum', networks: [{ network: 'ETH', code: 'ETH', memo: 'none' }] },
  { coin: 'XRP', name: 'XRP', networks: [{ network: 'XRP', code: 'XRP', memo: { format: 'XRP' } }] },
]

const classic = 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59'
const withTag1 = 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu'
const warned = 'memo_recommended'

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  let pair: Pair
  afterEach(() => pair.close())

  type Wanted = readonly [string, from: AssetWords, to: AssetWords, request: object, warning: string | undefined]
  const cases: readonly Wanted[] = [
    ['to a network with memos', assets.btc, assets.xrp, { withdrawalAddress: classic }, warned],
    ['with the memo', assets.btc, assets.xrp, { withdrawalAddress: classic, withdrawalExtraId: '77' }, undefined],
    ['with the memo in the address', assets.btc, assets.xrp, { withdrawalAddress: withTag1 }, undefined],
    ['to a network without memos', assets.btc, assets.eth, { withdrawalAddress: 'w' }, undefined],
    [
      'from a network with memos, with a refund address',
      assets.xrp,
      assets.btc,
      { withdrawalAddress: 'w', refundAddress: classic },
      warned,
    ],
    ['from a network with memos, without a refund address', assets.xrp, assets.btc, { withdrawalAddress: 'w' }, undefined],
  ]
  test.each(cases)('a create %s', async (_, from, to, request, warning) => {
    const memos = 'withdrawalExtraId' in request ? { withdrawal: '77' } : {}
    pair = await startPair(form, provider, { assetTable, provider: { extraIds: true, depositMemo: [] } })
    if (to !== assets.eth)
      carryMemos(pair, provider, { from: from === assets.btc ? 'btc' : 'xrp', create: extraIdsIn(provider, memos) })
    const body = { ...pairWords(form, from, to), amount: 1, ...request }
    const response = await pair.client.post('/transactions', body, { headers: { 'idempotency-key': 'order-1' } })
    expect(response.status, response.text).toBe(form === 'A' ? 201 : 200)
    expect(response.headers['x-swap-warning']).toBe(warning)
    const again = await pair.client.post('/transactions', body, { headers: { 'idempotency-key': 'order-1' } })
    expect([again.headers['idempotent-replayed'], again.headers['x-swap-warning']]).toEqual(['true', warning])
  })
})
