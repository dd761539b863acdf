import { describe, expect, test } from 'vitest'
import type { Amount } from '../domain/amount.ts'
import { AssetTable } from '../domain/asset.ts'
import type { Context, SwapService } from '../domain/operations.ts'
import type { NewTransaction, Transaction } from '../domain/swap.ts'
import { agreement } from './agreement.ts'
import { answers } from './layer.ts'
import { naming, type OwnWords } from './naming.ts'

const asset = { coin: 'USDT', name: 'Tether', isStandard: false, aliases: [] }
const table = new AssetTable([
  {
    coin: 'USDT',
    name: 'Tether',
    assets: [
      { ...asset, code: 'USDTTRC20', network: 'TRX', aliases: ['TRC20', 'TRON'], isStandard: true },
      { ...asset, code: 'USDTERC20', network: 'ETH' },
    ],
  },
  { coin: 'BTC', name: 'Bitcoin', assets: [{ ...asset, code: 'BTC', coin: 'BTC', name: 'Bitcoin', network: 'BTC' }] },
])
const pair = { codeFrom: 'BTC', coinFrom: 'BTC', networkFrom: 'BTC', codeTo: 'USDTTRC20', coinTo: 'USDT', networkTo: 'TRX' }
const terms = { amountIn: '1' as Amount, withdrawalAddress: 'TWithdraw', rateType: 'float' } as const
const told = { id: 'tx-1', amountIn: '1' as Amount, createdAt: '2026-03-01T10:00:00Z' }
const inWords: NewTransaction = { ...terms, coinFrom: 'BTC', networkFrom: 'BTC', coinTo: 'USDT', networkTo: 'TRX' }
const inCodes: NewTransaction = { ...terms, codeFrom: 'BTC', codeTo: 'usdt_trc' }

async function contradicted(asked: NewTransaction, answer: Partial<Transaction>, own: OwnWords = new Map()) {
  const byCode = asked.codeFrom !== undefined
  const never = (): never => {
    throw new Error('not asked')
  }
  const provider: SwapService = answers({
    listCurrencies: never,
    getRate: never,
    listTransactions: never,
    getTransaction: never,
    createTransaction: async () => ({ body: { ...told, ...answer } }),
  })
  const service = agreement(naming(table, byCode, own), true)(provider)
  return (await service.call('createTransaction', asked, { pair } as unknown as Context)).contradicted ?? []
}

describe('M6: a create is about what was asked', () => {
  test.each<[string, NewTransaction, Partial<Transaction>]>([
    ['nothing more is told', inWords, {}],
    ['the same words', inWords, { coinFrom: 'btc', coinTo: 'USDT', networkTo: 'TRX' }],
    ['an alias of the network', inWords, { coinTo: 'USDT', networkTo: 'tron' }],
    ['the same code', inCodes, { codeTo: 'USDT_TRC' }],
    ["the table's code for it", inCodes, { codeTo: 'USDTTRC20' }],
    ['the same terms', inWords, { withdrawalAddress: 'TWithdraw', rateType: 'float', refundAddress: '' }],
    ['no refund address', { ...inWords, refundAddress: 'bc1q' }, {}],
    ['an address in other case', { ...inWords, withdrawalAddress: '0xAbCd' }, { withdrawalAddress: '0xabcd' }],
    ['bech32 in capitals', { ...inWords, refundAddress: 'BC1Q4YLK8S3' }, { refundAddress: 'bc1q4ylk8s3' }],
  ])('%s', async (_, asked, answer) => {
    expect(await contradicted(asked, answer, new Map([['USDTTRC20', { code: 'usdt_trc' }]]))).toEqual([])
  })

  test.each<[string, NewTransaction, Partial<Transaction>, readonly string[]]>([
    ['another coin', inWords, { coinFrom: 'ETH', coinTo: 'USDT' }, ['coinFrom']],
    ['another network', inWords, { coinTo: 'USDT', networkTo: 'ETH' }, ['coinTo']],
    ['a network that nobody knows', inWords, { coinTo: 'USDT', networkTo: 'PLASMA' }, ['coinTo']],
    ['the code of another network', inCodes, { codeTo: 'USDTERC20' }, ['coinTo']],
    ['another withdrawal address', inWords, { withdrawalAddress: 'TWithdraW' }, ['withdrawalAddress']],
    ['another refund address', { ...inWords, refundAddress: 'bc1q' }, { refundAddress: 'bc1p' }, ['refundAddress']],
    ['a refund address that was not asked for', inWords, { refundAddress: 'bc1q' }, ['refundAddress']],
    ['another memo', { ...inWords, withdrawalExtraId: '1' }, { withdrawalExtraId: '2' }, ['withdrawalExtraId']],
    ['another refund memo', inWords, { refundExtraId: '2' }, ['refundExtraId']],
    ['another rate type', inWords, { rateType: 'fixed' }, ['rateType']],
  ])('not with %s', async (_, asked, answer, fields) => {
    expect(await contradicted(asked, answer, new Map([['USDTTRC20', { code: 'usdt_trc' }]]))).toEqual(fields)
  })
})
