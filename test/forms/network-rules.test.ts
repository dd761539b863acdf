/** docs/contract.md §3.5, §3.6: what holds on a network for each coin there, also for one that the table lacks, and who can receive. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { digits, readJson } from '../support/json.ts'
import { formNames, type Pair, pairWords, startPair } from '../support/pair.ts'
import { type AssetWords, assets, depositOf, swap } from '../support/swaps.ts'

const usdt = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const issuer = 'rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De'
const wallet = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const segwit = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'
const ripple = 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59'

const ethereum = { network: 'ETH', aliases: ['ERC20'], address: { format: 'ETH' }, memo: 'none' }
const xrpLedger = { network: 'XRP', address: { format: 'XRP' }, memo: { format: 'XRP' } }
const assetTable = [
  { coin: 'BTC', name: 'Bitcoin', networks: [{ network: 'BTC', code: 'BTC', address: { format: 'BTC' }, memo: 'none' }] },
  { coin: 'ETH', name: 'Ethereum', networks: [{ ...ethereum, code: 'ETH' }] },
  { coin: 'USDT', name: 'Tether', networks: [{ ...ethereum, code: 'USDTERC20', contract: usdt }] },
  { coin: 'USDC', name: 'USD Coin', networks: [{ ...ethereum, code: 'USDCERC20', contract: usdc }] },
  { coin: 'XRP', name: 'XRP', networks: [{ ...xrpLedger, code: 'XRP' }] },
  { coin: 'RLUSD', name: 'Ripple USD', networks: [{ ...xrpLedger, code: 'RLUSDXRP', contract: `RLUSD-${issuer}`, digits: 16 }] },
]

/** Coins that the table lacks, under a name of its network and an alias. */
const zeta = { code: 'ZETA', coin: 'ZETA', network: 'ETH' }
const eta = { code: 'ETA', coin: 'ETA', network: 'erc20' }
const solo = { code: 'SOLO', coin: 'SOLO', network: 'XRP' }
const rlusd = { code: 'RLUSDXRP', coin: 'RLUSD', network: 'XRP' }
const row = ({ code, network }: AssetWords): object => ({
  ...{ code, name: code, icon: 'https://icons.test/x.svg', network },
  ...{ depositMin: 0.001, depositMax: 1e6 },
})

describe.each(formNames)('client %s', (form) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, 'A', { assetTable, provider: { extraIds: true, depositMemo: [] } })
  })
  beforeEach(() => {
    pair.provider.reset()
    pair.provider.holdings.currencies = [
      assets.btc,
      assets.eth,
      assets.usdtEth,
      assets.usdcEth,
      assets.xrp,
      rlusd,
      zeta,
      eta,
      solo,
    ].map(row)
  })
  afterAll(() => pair.close())

  const created = form === 'A' ? 201 : 200
  const create = (from: AssetWords, to: AssetWords, facts: object): Promise<ReceivedResponse> =>
    pair.client.post('/transactions', { ...pairWords(form, from, to), amount: digits('0.10'), ...facts })
  let orders = 0
  /** A create from the asset, of which the provider reports this deposit address. */
  const deposit = (from: AssetWords, depositAddress: string): Promise<ReceivedResponse> => {
    const id = `tx-${++orders}`
    pair.provider.reply('create', ({ body }) => {
      const { withdrawalAddress, amount } = readJson(body) as { withdrawalAddress: string; amount: never }
      return {
        json: transactionA(
          swap({ id, from, to: assets.btc, amountIn: amount, withdrawalAddress, refundAddress: null, depositAddress }),
        ),
      }
    })
    return create(from, assets.btc, { withdrawalAddress: segwit })
  }
  const expectRefused = async (
    response: Promise<ReceivedResponse>,
    reason: 'address_invalid' | 'memo_invalid',
  ): Promise<string> => {
    const message = expectRefusal(await response, form, 400, reason)
    expect(pair.provider.received('create')).toEqual([])
    return message
  }

  describe.each([
    ['a name of the network', zeta],
    ['an alias', eta],
  ])('a coin that the table lacks, under %s', (_, coin) => {
    test.each([
      ['of another network', 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'],
      ['with a wrong checksum', wallet.replace('aA', 'AA')],
      ['that burns', '0x000000000000000000000000000000000000dEaD'],
      ['of a token of the table', usdt],
    ])('is sent to no address %s, and not refunded to it', async (__, address) => {
      await expectRefused(create(assets.btc, coin, { withdrawalAddress: address }), 'address_invalid')
      await expectRefused(create(coin, assets.btc, { withdrawalAddress: segwit, refundAddress: address }), 'address_invalid')
    })

    test('has no memo where no coin has one', async () => {
      await expectRefused(create(assets.btc, coin, { withdrawalAddress: wallet, withdrawalExtraId: '7' }), 'memo_invalid')
    })

    test('is sent to a wallet', async () => {
      pair.provider.reply('create', ({ body }) => {
        const { withdrawalAddress, amount } = readJson(body) as { withdrawalAddress: string; amount: never }
        const id = `tx-${++orders}`
        const made = swap({ id, to: coin, amountIn: amount, withdrawalAddress, refundAddress: null, depositAddress: depositOf(id) })
        return { json: transactionA(made) }
      })
      const response = await create(assets.btc, coin, { withdrawalAddress: wallet })
      expect(response.status, response.text).toBe(created)
    })

    test('is deposited at no contract of the table', async () => {
      expectRefusal(await deposit(coin, usdt), form, 502, 'mismatch')
    })
  })

  test('a tag of a coin that the table lacks is one of its network', async () => {
    await expectRefused(create(assets.btc, solo, { withdrawalAddress: ripple, withdrawalExtraId: 'order 7' }), 'memo_invalid')
  })

  test.each([
    ['a token', rlusd],
    ['a token that the table lacks', solo],
  ])('an amount of %s of the XRP Ledger has 16 significant digits', async (_, token) => {
    const sent = pair.client.post('/transactions', {
      ...pairWords(form, token, assets.btc),
      ...{ amount: digits('100.123456789012345'), withdrawalAddress: segwit },
    })
    const message = expectRefusal(await sent, form, 400, 'parameter_invalid')
    expect(message).toContain('has 16 significant digits: send 100.1234567890123 or 100.1234567890124.')
    expect(pair.provider.received('create')).toEqual([])
  })

  test.each([
    ['its own contract', assets.usdtEth, usdt],
    ['its own contract in lower case', assets.usdtEth, usdt.toLowerCase()],
    ["another token's contract", assets.usdcEth, usdt],
    ["a token's contract", assets.eth, usdt],
  ])('a coin is not sent to %s, nor refunded, nor deposited there', async (_, coin, address) => {
    const payout = await expectRefused(create(assets.btc, coin, { withdrawalAddress: address }), 'address_invalid')
    expect(payout).toContain('it is the contract of USDT on the network ETH, which pays nothing out')
    await expectRefused(create(coin, assets.btc, { withdrawalAddress: segwit, refundAddress: address }), 'address_invalid')
    expectRefusal(await deposit(coin, address), form, 502, 'mismatch')
  })

  test('a token is not sent to its issuer, which burns it; other coins may be', async () => {
    const message = await expectRefused(create(assets.btc, rlusd, { withdrawalAddress: issuer }), 'address_invalid')
    expect(message).toContain('it is the issuer of RLUSD on the network XRP')
    pair.provider.reply('create', ({ body }) => {
      const { withdrawalAddress, amount } = readJson(body) as { withdrawalAddress: string; amount: never }
      const id = `tx-${++orders}`
      const made = swap({
        id,
        to: assets.xrp,
        amountIn: amount,
        withdrawalAddress,
        refundAddress: null,
        depositAddress: depositOf(id),
      })
      return { json: transactionA(made) }
    })
    expect((await create(assets.btc, assets.xrp, { withdrawalAddress: issuer })).status).toBe(created)
  })
})
