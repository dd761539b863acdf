/** docs/contract.md §3.6: an address or a memo that the network cannot have is refused. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { startManaged } from '../support/managed.ts'
import { formNames, type Pair, pairs, pairWords, startPair } from '../support/pair.ts'
import { assets, depositOf } from '../support/swaps.ts'

const tron = 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'
const segwit = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'
const ethereum = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

const assetTable = [
  {
    coin: 'BTC',
    name: 'Bitcoin',
    networks: [
      {
        network: 'BTC',
        code: 'BTC',
        address: { pattern: 'bc1[02-9ac-hj-np-z]{11,71}|BC1[02-9AC-HJ-NP-Z]{11,71}', checksum: 'bech32' },
        memo: 'none',
      },
    ],
  },
  {
    coin: 'USDT',
    name: 'Tether',
    networks: [
      {
        network: 'TRX',
        code: 'USDTTRC20',
        address: { pattern: '^T[1-9A-HJ-NP-Za-km-z]{33}$', checksum: ['base58check'] },
        memo: { pattern: '[0-9]{1,4}' },
      },
      { network: 'ETH', code: 'USDTERC20', default: true, address: { pattern: '0x[0-9a-fA-F]{40}', checksum: 'eip55' } },
    ],
  },
  { coin: 'ETH', name: 'Ethereum', networks: [{ network: 'ETH', code: 'ETH' }] },
]
/** The same, and a coin whose memos are numbers. */
const withRipple = [
  ...assetTable,
  { coin: 'XRP', name: 'XRP', networks: [{ network: 'XRP', code: 'XRP', memo: { pattern: '[0-9]{1,10}' } }] },
]

/** What the shipped table has. */
const decoded = [
  ['BTC', 'Bitcoin'],
  ['ETH', 'Ethereum'],
  ['XRP', 'XRP'],
].map(([coin = '', name = '']) => ({
  coin,
  name,
  networks: [{ network: coin, code: coin, address: { format: coin }, ...(coin === 'XRP' && { memo: { format: coin } }) }],
}))

type Facts = Readonly<Record<string, unknown>>

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, provider, { assetTable, provider: { extraIds: 'unconfirmed' } })
  })
  beforeEach(() => pair.provider.reset())
  afterAll(() => pair.close())

  const created = form === 'A' ? 201 : 200
  const create = (facts: Facts, key?: string): Promise<ReceivedResponse> => {
    const order = { ...pairWords(form, assets.btc, assets.usdtTrx), amount: digits('0.10'), withdrawalAddress: tron, ...facts }
    return pair.client.post('/transactions', order, key === undefined ? {} : { headers: { 'idempotency-key': key } })
  }
  const sentUp = (): number => pair.provider.received('create').length

  test.each<[string, string, Facts]>([
    ['no address at all', 'withdrawalAddress', { withdrawalAddress: 'not-an-address!' }],
    ['an address of another network', 'withdrawalAddress', { withdrawalAddress: segwit }],
    ['an address of another network of the coin', 'withdrawalAddress', { withdrawalAddress: ethereum }],
    ['a wrong checksum in base 58', 'withdrawalAddress', { withdrawalAddress: tron.replace('Q', 'q') }],
    ['more than the address', 'withdrawalAddress', { withdrawalAddress: `${tron}x` }],
    ['a wrong checksum in bech32', 'refundAddress', { refundAddress: segwit.replace('q', 'p') }],
    [
      'taproot with the checksum of the version before it',
      'refundAddress',
      { refundAddress: 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd' },
    ],
    ['the network of what is received', 'refundAddress', { refundAddress: tron }],
    [
      'a wrong checksum in the case of letters',
      'withdrawalAddress',
      { ...pairWords(form, assets.btc, assets.usdtEth), withdrawalAddress: ethereum.replace('aA', 'AA') },
    ],
  ])('M33: %s is refused by the name of its parameter, and nothing is sent', async (_, name, facts) => {
    const message = expectRefusal(await create(facts), form, 400, 'address_invalid')
    expect(message).toContain(name)
    expect(sentUp()).toBe(0)
  })

  test('M33: refusals are counted by network of the table', async () => {
    const before = pair.gateway.observations.length
    await create({ withdrawalAddress: 'nothing' })
    await create({ refundAddress: 'nothing' })
    const counted = pair.gateway.observations.slice(before).filter(({ what }) => what === 'addressRefused')
    expect(counted).toEqual([
      { what: 'addressRefused', network: 'TRX' },
      { what: 'addressRefused', network: 'BTC' },
    ])
  })

  test('M33: a refused address does not use the Idempotency-Key up', async () => {
    const key = `order-${form}-${provider}`
    expectRefusal(await create({ withdrawalAddress: 'nothing' }, key), form, 400, 'address_invalid')
    expect((await create({}, key)).status).toBe(created)
    expect(sentUp()).toBe(1)
  })

  test.each<[string, Facts]>([
    ['as the network has them', { refundAddress: segwit }],
    ['in capitals', { refundAddress: segwit.toUpperCase() }],
    [
      'without the checksum that lies in their case',
      { ...pairWords(form, assets.btc, assets.usdtEth), withdrawalAddress: ethereum.toLowerCase() },
    ],
    ['on a network without rules', { ...pairWords(form, assets.btc, assets.eth), withdrawalAddress: 'whatever' }],
    ['to be refunded on a network without rules', { ...pairWords(form, assets.eth, assets.usdtTrx), refundAddress: 'whatever' }],
  ])('addresses %s are taken', async (_, facts) => {
    const response = await create(facts)
    expect(response.status, response.text).toBe(created)
  })

  test.each<[string, string, Facts]>([
    ['of another shape', 'withdrawalExtraId', { withdrawalExtraId: 'tag' }],
    ['too long', 'withdrawalExtraId', { withdrawalExtraId: '12345' }],
    ['on a network that has none', 'refundExtraId', { refundAddress: segwit, refundExtraId: '1' }],
  ])('M32: a memo %s is refused by its name, and nothing is sent', async (_, name, facts) => {
    expect(expectRefusal(await create(facts), form, 400, 'memo_invalid')).toContain(name)
    expect(sentUp()).toBe(0)
  })

  test.each<[string, Facts]>([
    ['that fits', { withdrawalExtraId: '1234' }],
    ['that is missing', {}],
    ['that is empty', { withdrawalExtraId: '', refundExtraId: '' }],
    ['that is null', { withdrawalExtraId: null, refundExtraId: null }],
    ['on a network without rules', { ...pairWords(form, assets.btc, assets.eth), withdrawalExtraId: 'any text' }],
  ])('M32: a memo %s is taken', async (_, facts) => {
    const response = await create(facts)
    expect(response.status, response.text).toBe(created)
  })
})

describe.each(formNames)('client %s', (form) => {
  const order = { ...pairWords(form, assets.btc, assets.usdtTrx), amount: digits('0.10'), withdrawalAddress: 'whatever' }

  test('a provider with unchecked addresses checks them itself', async () => {
    const pair = await startPair(form, 'A', { assetTable, provider: { addresses: 'unchecked' } })
    const response = await pair.client.post('/transactions', order)
    await pair.close()
    expect(response.status, response.text).toBe(form === 'A' ? 201 : 200)
  })

  test.each(['checked', 'unchecked'])('what the table refuses at one provider goes to no other (%s)', async (addresses) => {
    await using managed = await startManaged({ assetTable, routing: ['alpha', 'beta'], providers: { beta: { addresses } } })
    expectRefusal(
      await managed.client(form).post('/transactions', order, { key: await managed.issue() }),
      form,
      400,
      'address_invalid',
    )
    expect([...managed.alpha.received('create'), ...managed.beta.received('create')]).toEqual([])
  })

  test('a memo that one provider lacks goes to the next; one against its rule does not', async () => {
    const providers = { alpha: { extraIds: false }, beta: { extraIds: 'unconfirmed' } }
    await using managed = await startManaged({ assetTable: withRipple, routing: ['alpha', 'beta'], providers })
    for (const { holdings } of [managed.alpha, managed.beta]) {
      holdings.currencies = [...holdings.currencies, { code: 'XRP', name: 'XRP', icon: 'https://icons.test/xrp.svg', notes: '' }]
    }
    const toRipple = {
      ...order,
      ...pairWords(form, assets.btc, assets.xrp),
      withdrawalAddress: 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh',
    }
    const post = async (withdrawalExtraId: string) =>
      managed.client(form).post('/transactions', { ...toRipple, withdrawalExtraId }, { key: await managed.issue() })
    expectRefusal(await post('no number'), form, 400, 'memo_invalid')
    expect(managed.beta.received('create')).toEqual([])
    const response = await post('12345')
    expect(response.headers['x-swap-provider'], response.text).toBe('beta')
  })

  describe('with the formats of the shipped table', () => {
    let pair: Pair
    beforeAll(async () => {
      pair = await startPair(form, 'A', { assetTable: decoded, provider: { extraIds: 'unconfirmed' } })
      const { holdings } = pair.provider
      holdings.currencies = [...holdings.currencies, { code: 'XRP', name: 'XRP', icon: 'https://icons.test/xrp.svg', notes: '' }]
    })
    afterAll(() => pair.close())
    const [btc, eth, xrp] = [assets.btc, assets.eth, assets.xrp]
    const post = (words: object, facts: Facts): Promise<ReceivedResponse> =>
      pair.client.post('/transactions', { ...words, amount: digits('0.10'), ...facts })

    test.each([
      ['zero', `0x${'0'.repeat(40)}`],
      ['system', '0x0000000000000000000000000000000000000004'],
      ['burn', '0x000000000000000000000000000000000000dEaD'],
    ])('M40: a %s address is refused with that word, for what is received and for refunds', async (word, address) => {
      const toEthereum = await post(pairWords(form, btc, eth), { withdrawalAddress: address })
      expect(expectRefusal(toEthereum, form, 400, 'address_invalid')).toMatch(new RegExp(`\\bwithdrawalAddress: .*\\b${word}\\b`))
      const fromEthereum = await post(pairWords(form, eth, btc), { withdrawalAddress: segwit, refundAddress: address })
      expect(expectRefusal(fromEthereum, form, 400, 'address_invalid')).toMatch(new RegExp(`\\brefundAddress: .*\\b${word}\\b`))
      expect(pair.provider.received('create')).toEqual([])
    })

    test('M31: taproot with the checksum of bech32 is refused', async () => {
      const address = 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd'
      expectRefusal(await post(pairWords(form, eth, btc), { withdrawalAddress: address }), form, 400, 'address_invalid')
    })

    test.each(['1', '2'])('M32: a memo beside an X-address with the tag 1 is refused: %s', async (withdrawalExtraId) => {
      const address = 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu'
      const response = await post(pairWords(form, btc, xrp), { withdrawalAddress: address, withdrawalExtraId })
      expect(expectRefusal(response, form, 400, 'memo_invalid')).toContain('withdrawalExtraId')
    })

    test('M32: a tag of more than 32 bits is refused', async () => {
      const facts = { withdrawalAddress: 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59', withdrawalExtraId: '4294967296' }
      expectRefusal(await post(pairWords(form, btc, xrp), facts), form, 400, 'memo_invalid')
    })
  })

  test('M38: an address that the provider spells in its own way is no mismatch', async () => {
    const pair = await startPair(form, 'A', { assetTable })
    const words = pairWords(form, assets.usdtTrx, assets.btc)
    pair.provider.reply('create', ({ body }) => ({
      status: 201,
      json: { ...(JSON.parse(body) as object), ...reported, depositAddress: tron, withdrawalAddress: segwit },
    }))
    const response = await pair.client.post('/transactions', { ...order, ...words, withdrawalAddress: segwit.toUpperCase() })
    await pair.close()
    expect(response.status, response.text).toBe(form === 'A' ? 201 : 200)
  })
})

const reported = {
  id: 'tx-1',
  status: 'wait',
  amountTo: 1,
  depositAddress: depositOf('tx-1'),
  createdAt: '2026-03-01T10:00:00.000Z',
  rate: 1,
}
