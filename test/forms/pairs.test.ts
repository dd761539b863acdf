/** docs/contract.md §3.2: what a client must know of a pair before it shows it to its users. */
import { afterEach, describe, expect, test } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { startManaged } from '../support/managed.ts'
import { type FormName, formNames, type Pair, type PairSettings, pairs, startPair } from '../support/pair.ts'
import { refused } from '../support/swaps.ts'

const assetTable = [
  {
    coin: 'BTC',
    name: 'Bitcoin',
    networks: [{ network: 'BTC', code: 'BTC', decimals: 8, address: { pattern: 'bc1[a-z0-9]+' }, memo: 'none' }],
  },
  {
    coin: 'USDT',
    name: 'Tether',
    networks: [
      { network: 'TRX', code: 'USDTTRC20', decimals: 6, default: true },
      { network: 'ETH', code: 'USDTERC20', address: { format: 'ETH' }, memo: { pattern: '[0-9]+' } },
    ],
  },
]

const paths: Readonly<Record<FormName, string>> = { A: '/pairs/btc/USDTTRC20', B: '/pairs/btc/USDT' }

let pair: Pair
afterEach(() => pair.close())
const start = async (form: FormName, provider: FormName = 'A', settings: PairSettings = {}): Promise<void> => {
  pair = await startPair(form, provider, { assetTable, provider: { extraIds: true }, ...settings })
}

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  test('both assets, the limits of each rate type, and both directions', async () => {
    await start(form, provider)
    const { status, json, headers, text } = await pair.client.get(paths[form], { key: null })
    expect(status, text).toBe(200)
    const limits = { minAmount: digits('0.001'), maxAmount: digits('1e3') }
    expect(json).toEqual({
      from: {
        coin: 'BTC',
        network: 'BTC',
        decimals: digits('8'),
        memoNeeded: false,
        addressPattern: '^(?:bc1[a-z0-9]+)$',
      },
      to: { coin: form === 'A' ? 'USDTTRC20' : 'USDT', network: 'TRX', decimals: digits('6') },
      directions: { forward: true, reverse: true },
      rateTypes: [
        { rateType: 'float', ...limits },
        { rateType: 'fixed', ...limits },
      ],
    })
    expect(headers['x-swap-omitted']).toBe('to.addressPattern,to.memoNeeded')
    expect(headers['x-swap-provider']).toBe('alpha')
    expect(headers['cache-control']).toBe('no-store')
    expect(headers.ratelimit).toMatch(/^"quotes";/)
  })

  test('a refusal for the amount says that the pair is there, with the limits that it names', async () => {
    await start(form, provider)
    pair.provider.reply('rate', {
      ...refused(400, 'Bad Request', 'Too much', provider),
      json: { error: 'Bad Request', message: 'Too much', code: 400, minAmount: 0.1, maxAmount: 0.5 },
    })
    const { json } = await pair.client.get(paths[form], { key: null })
    const limits = { minAmount: digits('0.1'), maxAmount: digits('0.5') }
    expect(json).toMatchObject({ directions: { forward: true, reverse: true }, rateTypes: [limits, limits] })
  })

  test('a refusal without a reason says nothing about the pair', async () => {
    await start(form, provider)
    pair.provider.reply('rate', refused(400, 'Bad Request', 'No.', provider))
    const { status, json } = await pair.client.get(paths[form], { key: null })
    expect(status).toBe(200)
    expect(json).toMatchObject({ directions: {}, rateTypes: [] })
  })

  test('while the provider fails, what the table knows is there, and the rest is left out and named', async () => {
    await start(form, provider)
    pair.provider.reply('rate', { status: 500, text: '{}' })
    const { status, json, headers } = await pair.client.get(paths[form], { key: null })
    expect(status).toBe(200)
    expect(json).toMatchObject({ from: { network: 'BTC' }, directions: {}, rateTypes: [] })
    expect(headers['x-swap-omitted']).toBe(
      'directions.forward,directions.reverse,rateTypes.rateType,to.addressPattern,to.memoNeeded',
    )
  })
})

describe.each(formNames)('client %s', (form) => {
  test('what is refused is named as in the path', async () => {
    await start(form)
    const unknown = await pair.client.get('/pairs/BTC/NOBODY', { key: null })
    expect(expectRefusal(unknown, form, 400, 'unknown_asset')).toMatch(/^Invalid to: NOBODY is not a coin/)
    const equal = await pair.client.get('/pairs/BTC/BTC', { key: null })
    expect(expectRefusal(equal, form, 400, 'parameter_invalid')).toMatch(/^Invalid to: it must be another asset/)
    const other = await pair.client.get(`${paths[form]}?amount=1`, { key: null })
    expect(expectRefusal(other, form, 400, 'parameter_unknown')).toMatch(/^Invalid amount: /)
  })

  test('all ask once a minute', async () => {
    await start(form, 'A', { steadyClock: () => performance.now() })
    for (let asked = 0; asked < 3; asked++) await pair.client.get(paths[form], { key: null })
    expect(pair.provider.received('rate')).toHaveLength(3)
  })

  test('a rate type whose quote has failed is named, and asked for again by the next one', async () => {
    await start(form, 'A', { steadyClock: () => performance.now() })
    const failing = ({ query }: { query: URLSearchParams }) =>
      query.get('rateType') === 'fixed' ? { status: 500, text: '{}' } : undefined
    pair.provider.reply('rate', failing)
    const { json, headers } = await pair.client.get(paths[form], { key: null })
    expect(json).toMatchObject({ directions: { forward: true, reverse: true }, rateTypes: [{ rateType: 'float' }] })
    expect(headers['x-swap-omitted']).toBe('rateTypes.rateType,to.addressPattern,to.memoNeeded')
    pair.provider.reply('rate', () => undefined)
    const again = await pair.client.get(paths[form], { key: null })
    expect(again.json).toMatchObject({ rateTypes: [{ rateType: 'float' }, { rateType: 'fixed' }] })
    expect(again.headers['x-swap-omitted']).toBe('to.addressPattern,to.memoNeeded')
  })

  test('a direction whose quote has failed is asked for again by the next one', async () => {
    await start(form, 'A', { steadyClock: () => performance.now() })
    const failing = ({ query }: { query: URLSearchParams }) =>
      query.get('coinFrom') === 'BTC' ? undefined : { status: 500, text: '{}' }
    pair.provider.reply('rate', failing)
    const { json } = await pair.client.get(paths[form], { key: null })
    expect(json).toMatchObject({ directions: { forward: true } })
    expect(json).not.toHaveProperty('directions.reverse')
    pair.provider.reply('rate', () => undefined)
    const again = await pair.client.get(paths[form], { key: null })
    expect(again.json).toMatchObject({ directions: { forward: true, reverse: true } })
  })

  test('one that has chosen its provider gets that one’s', async () => {
    await start(form)
    const managed = await startManaged({ sections: { routing: { providers: ['alpha'], pick: ['beta'] } } })
    try {
      const path = form === 'A' ? '/pairs/BTC/USDTTRC20' : '/pairs/BTC/USDT?networkTo=TRX'
      const headers = { 'x-swap-provider': 'beta' }
      const chosen = await managed.client(form).get(path, { key: await managed.issue(), headers })
      expect([chosen.status, chosen.headers['x-swap-provider']]).toEqual([200, 'beta'])
      const refusal = await managed.client(form).get(path, { key: null, headers })
      expect(expectRefusal(refusal, form, 400, 'parameter_invalid')).toMatch(/^Invalid X-Swap-Provider/)
    } finally {
      await managed.close()
    }
  })
})

test('in Form B a network may be named, and one that the coin does not have is refused', async () => {
  await start('B')
  const { json } = await pair.client.get('/pairs/BTC/USDT?networkTo=ETH', { key: null })
  expect(json).toMatchObject({ to: { coin: 'USDT', network: 'ETH', memoNeeded: true, addressPattern: '^(?:0x[0-9A-Fa-f]{40})$' } })
  const refusal = await pair.client.get('/pairs/BTC/USDT?networkTo=SOL', { key: null })
  expect(expectRefusal(refusal, 'B', 400, 'network_unknown')).toBe('Invalid networkTo: it must be one of TRX, ETH.')
})
