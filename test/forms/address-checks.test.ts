/** docs/contract.md §3.6: a client asks whether an address and a memo are those of a network, before it creates a swap. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Reason } from '../../src/domain/fault.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type FormName, type Pair, pairs, startPair } from '../support/pair.ts'

const assetTable = [
  { coin: 'BTC', name: 'Bitcoin', networks: [{ network: 'BTC', code: 'BTC', address: { format: 'BTC' }, memo: 'none' }] },
  {
    coin: 'USDT',
    name: 'Tether',
    networks: [
      { network: 'TRX', code: 'USDTTRC20', address: { format: 'TRX' }, memo: 'none' },
      { network: 'ETH', code: 'USDTERC20', address: { format: 'ETH' }, memo: 'none' },
    ],
  },
  { coin: 'XRP', name: 'XRP', networks: [{ network: 'XRP', code: 'XRP', address: { format: 'XRP' }, memo: { format: 'XRP' } }] },
]

const words = {
  usdtTrx: { A: { coin: 'USDTTRC20' }, B: { coin: 'USDT', network: 'TRX' } },
  usdtEth: { A: { coin: 'USDTERC20' }, B: { coin: 'USDT', network: 'ETH' } },
  xrp: { A: { coin: 'XRP' }, B: { coin: 'XRP', network: 'XRP' } },
} as const

const onTron = 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'
const onEthereum = '0x52908400098527886E0F7030069857D2E4169EE7'
const onRipple = 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59'
const withTag1 = 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu'

const noTron = 'Invalid address: it is no address of USDT on the network TRX.'
const noMemos = 'Invalid extraId: USDT on the network TRX has no memo or tag: leave it out.'
const text = 'Invalid address: it must be an address of 1 to 256 ASCII characters without spaces.'

function about(field: 'address' | 'extraId', message: string): object {
  return { field, reason: field === 'address' ? 'address_invalid' : 'memo_invalid', message }
}

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, provider, { assetTable, provider: { extraIds: true } })
  })
  beforeEach(() => pair.provider.reset())
  afterAll(() => pair.close())

  const check = (body: object, headers: Record<string, string> = {}): Promise<ReceivedResponse> =>
    pair.client.post('/addresses/check', body, { key: null, headers })

  interface Verdict {
    readonly of: string
    readonly asset: keyof typeof words
    readonly question: object
    readonly errors?: readonly object[]
    readonly warning?: string
  }
  const memo = 'memo_recommended'
  const zero = 'it is the zero address of the network ETH, which nobody owns: what is sent to it is burned.'
  const twoMemos = 'the address holds a memo or tag of its own: leave this one out.'
  const noTag = 'it is no memo or tag of XRP on the network XRP.'
  const verdicts: readonly Verdict[] = [
    { of: 'an address of the network', asset: 'usdtTrx', question: { address: onTron } },
    {
      of: 'an address of another network',
      asset: 'usdtTrx',
      question: { address: onEthereum },
      errors: [about('address', noTron)],
    },
    { of: 'a typo', asset: 'usdtTrx', question: { address: onTron.replace('Q', 'R') }, errors: [about('address', noTron)] },
    { of: 'a text that is no address', asset: 'usdtTrx', question: { address: 'my wallet' }, errors: [about('address', text)] },
    { of: 'a long text', asset: 'usdtTrx', question: { address: 'T'.repeat(10_000) }, errors: [about('address', text)] },
    {
      of: 'the zero address',
      asset: 'usdtEth',
      question: { address: `0x${'0'.repeat(40)}` },
      errors: [about('address', `Invalid address: ${zero}`)],
    },
    { of: 'no memo, where there may be one', asset: 'xrp', question: { address: onRipple }, warning: memo },
    { of: 'a memo that is null', asset: 'xrp', question: { address: onRipple, extraId: null }, warning: memo },
    { of: 'a memo', asset: 'xrp', question: { address: onRipple, extraId: '77' } },
    { of: 'a memo in the address', asset: 'xrp', question: { address: withTag1 } },
    {
      of: 'a memo beside the one in the address',
      asset: 'xrp',
      question: { address: withTag1, extraId: '77' },
      errors: [about('extraId', `Invalid extraId: ${twoMemos}`)],
    },
    {
      of: 'a memo that the network cannot have',
      asset: 'xrp',
      question: { address: onRipple, extraId: '4294967296' },
      errors: [about('extraId', `Invalid extraId: ${noTag}`)],
    },
    {
      of: 'a memo of a network without memos',
      asset: 'usdtTrx',
      question: { address: onTron, extraId: '77' },
      errors: [about('extraId', noMemos)],
    },
    {
      of: 'both wrong',
      asset: 'usdtTrx',
      question: { address: onEthereum, extraId: '77' },
      errors: [about('address', noTron), about('extraId', noMemos)],
    },
  ]
  test.each(verdicts)('$of', async ({ asset, question, errors = [], warning }) => {
    const response = await check({ ...words[asset][form], ...question })
    expect(response.status, response.text).toBe(200)
    expect(response.json).toEqual({ valid: errors.length === 0, errors })
    expect(response.headers['x-swap-warning']).toBe(warning)
    expect(response.headers['cache-control']).toBe('no-store')
  })

  const codes = 'its codes are USDTTRC20, USDTERC20'
  const refusals: Readonly<Record<FormName, readonly (readonly [string, body: object, reason: Reason, message: string])[]>> = {
    A: [
      [
        'a code of no asset',
        { coin: 'NOBODY' },
        'unknown_asset',
        'Invalid coin: NOBODY is not a coin whose addresses are known here.',
      ],
      [
        'a coin without its network',
        { coin: 'USDT' },
        'unknown_asset',
        `Invalid coin: USDT is not a coin whose addresses are known here: ${codes}.`,
      ],
      [
        'a network beside a code',
        { coin: 'USDTTRC20', network: 'TRX' },
        'parameter_unknown',
        'Invalid network: it is not a parameter here; coin has the network in its code, such as USDTTRC20.',
      ],
    ],
    B: [
      [
        'a coin that is unknown',
        { coin: 'NOBODY', network: 'TRX' },
        'unknown_asset',
        'Invalid coin: NOBODY is not a coin whose addresses are known here.',
      ],
      [
        'a code in the place of the coin',
        { coin: 'USDTTRC20', network: 'TRX' },
        'unknown_asset',
        'Invalid coin: USDTTRC20 is not a coin whose addresses are known here: it is the coin USDT with network TRX.',
      ],
      [
        'a network that the coin does not have',
        { coin: 'USDT', network: 'BTC' },
        'network_unknown',
        'Invalid network: it must be one of TRX, ETH.',
      ],
      ['no network', { coin: 'USDT' }, 'network_required', 'Invalid network: it is missing; it must be one of TRX, ETH.'],
    ],
  }
  test.each(refusals[form])('%s is refused', async (_, body, reason, message) => {
    const response = await check({ ...body, address: onTron })
    expect(expectRefusal(response, form, 400, reason)).toBe(message)
  })

  test('a missing address, and a name of another request', async () => {
    const missing = await check(words.xrp[form])
    expect(expectRefusal(missing, form, 400, 'parameter_invalid')).toBe('Invalid address: it is missing.')
    const other = await check({ ...words.xrp[form], withdrawalAddress: onRipple })
    expect(expectRefusal(other, form, 400, 'parameter_unknown')).toBe(
      'Invalid withdrawalAddress: it is not a parameter here; its name is address.',
    )
  })

  test('nothing is sent to the provider, and it is counted as a quote', async () => {
    await pair.client.get('/currencies') // after that nothing of the gateway's own is due
    const before = pair.provider.journal.length
    const response = await check({ ...words.usdtTrx[form], address: onTron })
    await check({ ...words.usdtTrx[form], address: onEthereum })
    await check({ ...words.usdtTrx[form], coin: 'NOBODY', address: onEthereum })
    expect(pair.provider.journal.slice(before)).toEqual([])
    expect(response.headers.ratelimit).toMatch(/^"quotes";/)
  })

  test('the path has only POST', async () => {
    const response = await pair.client.get('/addresses/check')
    expect(expectRefusal(response, form, 405, 'method')).toBe('This path has POST, OPTIONS.')
  })
})

test.each(pairs)(
  'a rule that the provider has switched off does not count: client $client, provider $provider',
  async ({ client: form, provider }) => {
    const pair = await startPair(form, provider, { assetTable, provider: { addresses: 'unchecked', extraIds: false } })
    try {
      const ask = (body: object): Promise<ReceivedResponse> => pair.client.post('/addresses/check', { ...words.xrp[form], ...body })
      expect((await ask({ address: onTron })).json).toEqual({ valid: true, errors: [] })
      const message = 'Invalid extraId: extra ids are not supported here, and one that is lost loses the funds.'
      expect((await ask({ address: onRipple, extraId: '77' })).json).toEqual({ valid: false, errors: [about('extraId', message)] })
    } finally {
      await pair.close()
    }
  },
)

test('a client of Exolix does not have it', async () => {
  const pair = await startPair('A', 'A', { assetTable })
  try {
    const response = await sendRequest(pair.gateway.url, { method: 'POST', path: '/exolix/api/v2/addresses/check' })
    expect([response.status, response.headers['x-swap-reason']]).toEqual([404, 'path'])
  } finally {
    await pair.close()
  }
})
