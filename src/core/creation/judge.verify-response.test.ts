import { describe, expect, test } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import type { Amount } from '../../domain/amount.ts'
import { AssetTable } from '../../domain/asset.ts'
import type { Context } from '../../domain/service.ts'
import type { NewTransaction, Transaction } from '../../domain/swap.ts'
import { type ConfiguredNames, createAssetNaming } from '../assets/asset-naming.ts'
import { verifyResponse } from './judge.ts'

const asset = { coin: 'USDT', name: 'Tether', isDefault: false, aliases: [] }
const table = new AssetTable([
  {
    coin: 'USDT',
    name: 'Tether',
    assets: [
      { ...asset, code: 'USDTTRC20', network: 'TRX', aliases: ['TRC20', 'TRON'], isDefault: true },
      { ...asset, code: 'USDTERC20', network: 'ETH' },
    ],
  },
  { coin: 'BTC', name: 'Bitcoin', assets: [{ ...asset, code: 'BTC', coin: 'BTC', name: 'Bitcoin', network: 'BTC' }] },
])
const pair = { codeFrom: 'BTC', coinFrom: 'BTC', networkFrom: 'BTC', codeTo: 'USDTTRC20', coinTo: 'USDT', networkTo: 'TRX' }
const terms = { amountIn: '1' as Amount, withdrawalAddress: 'TWithdraw', rateType: 'float' } as const
const transaction = { id: 'tx-1', amountIn: '1' as Amount, createdAt: '2026-03-01T10:00:00Z' }
const withCoins: NewTransaction = { ...terms, coinFrom: 'BTC', networkFrom: 'BTC', coinTo: 'USDT', networkTo: 'TRX' }
const withCodes: NewTransaction = { ...terms, codeFrom: 'BTC', codeTo: 'usdt_trc' }

function contradicted(requested: NewTransaction, reported: Partial<Transaction>, configured: ConfiguredNames = new Map()) {
  const byCode = requested.codeFrom !== undefined
  const naming = createAssetNaming(table, { byCode }, configured)
  const verify = verifyResponse(providerScope({ currencyList: { naming } }))
  const response = { intent: 'intent-1', response: { body: { ...transaction, ...reported } } }
  const verified = verify(response, requested, { pair } as unknown as Context)
  expect(verified.intent).toBe('intent-1')
  return verified.contradicted
}

describe('M6: a response is about its request', () => {
  test.each<[string, NewTransaction, Partial<Transaction>]>([
    ['no more fields', withCoins, {}],
    ['the same names', withCoins, { coinFrom: 'btc', coinTo: 'USDT', networkTo: 'TRX' }],
    ['an alias of the network', withCoins, { coinTo: 'USDT', networkTo: 'tron' }],
    ['the same code', withCodes, { codeTo: 'USDT_TRC' }],
    ["the table's code for it", withCodes, { codeTo: 'USDTTRC20' }],
    ['the same terms', withCoins, { withdrawalAddress: 'TWithdraw', rateType: 'float', refundAddress: '' }],
    ['no refund address', { ...withCoins, refundAddress: 'bc1q' }, {}],
    ['an address in other case', { ...withCoins, withdrawalAddress: '0xAbCd' }, { withdrawalAddress: '0xabcd' }],
    ['bech32 in capitals', { ...withCoins, refundAddress: 'BC1Q4YLK8S3' }, { refundAddress: 'bc1q4ylk8s3' }],
  ])('%s', (_, requested, reported) => {
    expect(contradicted(requested, reported, new Map([['USDTTRC20', { code: 'usdt_trc' }]]))).toEqual([])
  })

  test.each<[string, NewTransaction, Partial<Transaction>, readonly string[]]>([
    ['another coin', withCoins, { coinFrom: 'ETH', coinTo: 'USDT' }, ['coinFrom']],
    ['another network', withCoins, { coinTo: 'USDT', networkTo: 'ETH' }, ['coinTo']],
    ['an unknown network', withCoins, { coinTo: 'USDT', networkTo: 'PLASMA' }, ['coinTo']],
    ['the code of another network', withCodes, { codeTo: 'USDTERC20' }, ['coinTo']],
    ['another withdrawal address', withCoins, { withdrawalAddress: 'TWithdraW' }, ['withdrawalAddress']],
    ['another refund address', { ...withCoins, refundAddress: 'bc1q' }, { refundAddress: 'bc1p' }, ['refundAddress']],
    ['a refund address that was not requested', withCoins, { refundAddress: 'bc1q' }, ['refundAddress']],
    ['another memo', { ...withCoins, withdrawalExtraId: '1' }, { withdrawalExtraId: '2' }, ['withdrawalExtraId']],
    ['another refund memo', withCoins, { refundExtraId: '2' }, ['refundExtraId']],
    ['another rate type', withCoins, { rateType: 'fixed' }, ['rateType']],
  ])('not with %s', (_, requested, reported, fields) => {
    expect(contradicted(requested, reported, new Map([['USDTTRC20', { code: 'usdt_trc' }]]))).toEqual(fields)
  })
})
