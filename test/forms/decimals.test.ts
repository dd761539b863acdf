/** docs/contract.md §3: a create has no more decimals than its asset in the table. */
import { afterEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { type Pair, pairs, pairWords, rateQuery, startPair } from '../support/pair.ts'
import { type AssetWords, assets } from '../support/swaps.ts'

const assetTable = [
  { coin: 'BTC', name: 'Bitcoin', networks: [{ network: 'BTC', code: 'BTC', decimals: 8 }] },
  {
    coin: 'USDT',
    name: 'Tether',
    networks: [
      { network: 'TRX', code: 'USDTTRC20', decimals: 0 },
      { network: 'ETH', code: 'USDTERC20', digits: 16 },
    ],
  },
  { coin: 'ETH', name: 'Ethereum', networks: [{ network: 'ETH', code: 'ETH' }] },
]

let pair: Pair
afterEach(() => pair.close())

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  const start = async (sections: object = {}): Promise<void> => {
    pair = await startPair(form, provider, { assetTable, sections: { ...sections } as Record<string, unknown> })
  }
  const create = (amount: string, from: AssetWords = assets.btc, headers: Record<string, string> = {}): Promise<ReceivedResponse> =>
    pair.client.post(
      '/transactions',
      {
        ...pairWords(form, from, from === assets.usdtTrx ? assets.btc : assets.usdtTrx),
        amount: digits(amount),
        withdrawalAddress: 'w-1',
      },
      { headers },
    )
  const name = form === 'A' ? 'amount' : 'amount_in'

  test.each([
    ['0.123456781', '0.12345678 or 0.12345679'],
    ['1.9999999999', '1.99999999 or 2'],
    ['12.3456789012345678e-1', '1.23456789 or 1.2345679'],
    ['0.000000001', '0.00000001'],
  ])('%s BTC is 400 with the nearest amounts, and nothing is sent', async (amount, nearest) => {
    await start()
    const response = await create(amount)
    const message = expectRefusal(response, form, 400)
    expect(message).toBe(`Invalid amount: BTC on the network BTC has 8 decimals: send ${nearest}.`)
    expect(response.headers['x-swap-reason']).toBe('parameter_invalid')
    expect(pair.provider.received('create')).toEqual([])
  })

  test.each(['0.12345678', '0.123456780000', '1e-8', '1', '100e-2'])('%s BTC is sent with its digits', async (amount) => {
    await start()
    expect([200, 201]).toContain((await create(amount)).status)
    expect(pair.provider.received('create')[0]?.body).toMatch(new RegExp(`"amount":${amount.replace('.', '[.]')}[,}]`))
  })

  test('an asset without decimals in the table takes any, and one with none takes whole amounts', async () => {
    await start()
    expect([200, 201]).toContain((await create('0.123456789012345678', assets.eth)).status)
    expect(expectRefusal(await create('2.5', assets.usdtTrx), form, 400)).toContain('has 0 decimals: send 2 or 3.')
  })

  test.each([
    ['100.123456789012345', '100.1234567890123 or 100.1234567890124'],
    ['0.00012345678901234567', '0.0001234567890123456 or 0.0001234567890123457'],
    ['9.9999999999999999', '9.999999999999999 or 10'],
  ])('%s of a token with 16 significant digits is 400 with the nearest amounts, and nothing is sent', async (amount, nearest) => {
    await start()
    const message = expectRefusal(await create(amount, assets.usdtEth), form, 400, 'parameter_invalid')
    expect(message).toBe(`Invalid amount: USDT on the network ETH has 16 significant digits: send ${nearest}.`)
    expect(pair.provider.received('create')).toEqual([])
  })

  test.each(['100.1234567890123', '0.0001234567890123456', '123.45', '100.12345678901230000', '1e3'])(
    '%s has no more than 16 significant digits',
    async (amount) => {
      await start()
      const response = await create(amount, assets.usdtEth)
      expect([200, 201], response.text).toContain(response.status)
    },
  )

  test('with routing.roundAmounts the amount below has its significant digits', async () => {
    await start({ routing: { providers: ['alpha'], roundAmounts: 'down' } })
    const response = await create('100.123456789012345', assets.usdtEth)
    expect(response.text).toContain(`"${name}":100.1234567890123,`)
  })

  test('a quote is never refused', async () => {
    await start()
    const query = rateQuery(form, { from: assets.btc, to: assets.usdtTrx, amount: '0.1234567891' })
    expect((await pair.client.get(query)).status).toBe(200)
    expect(pair.provider.received('rate')[0]?.query.get('amount')).toBe('0.1234567891')
  })

  test('with routing.roundAmounts the amount below is sent and named as derived, also in the replay', async () => {
    await start({ routing: { providers: ['alpha'], roundAmounts: 'down' } })
    const headers = { 'idempotency-key': 'order-1' }
    const first = await create('0.123456789', assets.btc, headers)
    const again = await create('0.123456789', assets.btc, headers)
    expect(pair.provider.received('create').map(({ body }) => /"amount":([^,}]+)/.exec(body)?.[1])).toEqual(['0.12345678'])
    for (const { headers: received, text } of [first, again]) {
      expect(String(received['x-swap-derived']).split(',')).toContain(name)
      expect(text).toContain(`"${name}":0.12345678,`)
    }
    expect(again.headers['idempotent-replayed']).toBe('true')
    expectRefusal(await create('0.000000001'), form, 400)
    expect([200, 201]).toContain((await create('2.5', assets.usdtTrx)).status)
    expect((await create('0.12345678')).headers['x-swap-derived'] ?? '').not.toContain(name)
  })
})

/** Its first two digits past the table's decimals are no zeros. */
const long = { in: '0.123456789012345678', out: '6543.5' }

describe.each(pairs)('reports: client $client, provider $provider', ({ client: form, provider }) => {
  test.each(['managed', 'passthrough'])(
    'more decimals than the table has are shown as they are, counted, and never stale: %s',
    async (mode) => {
      const sections = { auth: { mode }, ledger: { refreshAfter: 0 } }
      pair = await startPair(form, provider, {
        assetTable,
        sections,
        ...(mode === 'managed' && { provider: { key: 'provider-key' } }),
      })
      const key = mode === 'managed' ? await pair.gateway.issueKey('acme') : undefined
      const counted = () =>
        pair.gateway.observations.flatMap((seen) => (seen.what === 'drift' && seen.drift === 'excessDecimals' ? [seen.field] : []))
      const body = { ...pairWords(form, assets.btc, assets.usdtTrx), amount: digits('0.12'), withdrawalAddress: 'TWithdraw1' }
      const created = await pair.client.post('/transactions', body, { ...(key && { key }) })
      expect([200, 201]).toContain(created.status)
      const before = counted().length
      const { holdings } = pair.provider
      holdings.swaps = holdings.swaps.map((held) => ({
        ...held,
        ...{ status: 'success', amountIn: digits(long.in), amountOut: digits(long.out) },
      }))
      const { id } = created.json as { readonly id: string }
      for (const path of [`/transactions/${id}`, '/transactions']) {
        const { status, text, headers } = await pair.client.get(path, { ...(key && { key }) })
        expect([status, headers['x-swap-stale']], text).toEqual([200, undefined])
        expect([text.includes(`:${long.in},`), text.includes(`:${long.out},`)], text).toEqual([true, true])
      }
      expect(new Set(counted().slice(before))).toEqual(new Set(['amountIn', 'amountOut']))
    },
  )
})
