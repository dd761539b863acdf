import { describe, expect, it } from 'vitest'
import type { Amount } from '../../../domain/amount.ts'
import { AssetTable } from '../../../domain/swap/asset.ts'
import type { Transaction } from '../../../domain/swap/swap.ts'
import type { Discrepancy } from '../../../domain/telemetry/labels.ts'
import { discrepanciesOf } from './discrepancies.ts'

const asset = (code: string, coin: string, network: string, aliases: readonly string[] = []) => ({
  code,
  coin,
  network,
  aliases,
  name: coin,
  isDefault: false,
})
const table = new AssetTable([
  { coin: 'BTC', name: 'Bitcoin', assets: [asset('BTC', 'BTC', 'BTC')] },
  {
    coin: 'USDT',
    name: 'Tether',
    assets: [asset('USDTTRC20', 'USDT', 'TRX', ['TRON']), asset('USDTERC20', 'USDT', 'ETH')],
  },
])
const stored: Transaction = {
  id: 'tx-1',
  status: 'wait',
  codeFrom: 'BTC',
  coinFrom: 'BTC',
  networkFrom: 'BTC',
  codeTo: 'USDTTRC20',
  coinTo: 'USDT',
  networkTo: 'TRX',
  amountIn: '1' as Amount,
  createdAt: '2026-03-01T10:00:00Z',
  withdrawalAddress: '0xAbCd',
  withdrawalExtraId: '42',
  depositAddress: 'deposit-1',
  depositExtraId: '7',
  refundAddress: 'refund-1',
  refundExtraId: '8',
  rateType: 'float',
}
const nothing = { rejected: [], accepted: [] }
const compare = (reported: Partial<Transaction>, before: Partial<Transaction> = {}) => {
  const { id, amountIn, createdAt } = stored
  return discrepanciesOf({ ...stored, ...before }, { id, amountIn, createdAt, ...reported }, table)
}

describe('L40: rejected is', () => {
  it.each<[string, Partial<Transaction>, Discrepancy]>([
    ['another coin', { codeFrom: 'ETH', coinFrom: 'ETH' }, 'coinFrom'],
    ['another code alone', { codeFrom: 'ETH' }, 'coinFrom'],
    ['another coin alone', { coinTo: 'USDC' }, 'coinTo'],
    ['another network', { codeTo: 'USDTERC20', coinTo: 'USDT', networkTo: 'ETH' }, 'coinTo'],
    ['a network that the table lacks', { coinTo: 'USDT', networkTo: 'BSC' }, 'coinTo'],
    ['another withdrawal address', { withdrawalAddress: '0xAbCe' }, 'withdrawalAddress'],
    ['another withdrawal memo', { withdrawalExtraId: '43' }, 'withdrawalExtraId'],
    ['another deposit address', { depositAddress: 'Deposit-1' }, 'depositAddress'],
    ['another deposit memo', { depositExtraId: '77' }, 'depositExtraId'],
  ])('%s', (_, reported, field) => {
    expect(compare(reported)).toEqual({ rejected: [field], accepted: [] })
  })

  it('L64: accepts the memo of a transaction that was bound without a read', () => {
    const before = { withdrawalExtraId: undefined, depositAddress: undefined, depositExtraId: undefined }
    expect(compare({ withdrawalExtraId: '43' }, before)).toEqual({ rejected: [], accepted: [] })
  })

  it('a withdrawal memo that was not requested', () => {
    const before = { withdrawalExtraId: undefined }
    expect(compare({ withdrawalExtraId: '43' }, before)).toEqual({ rejected: ['withdrawalExtraId'], accepted: [] })
  })
})

describe('L40: accepted is', () => {
  it.each<[string, Partial<Transaction>, Discrepancy]>([
    ['another refund address', { refundAddress: 'refund-2' }, 'refundAddress'],
    ['another refund memo', { refundExtraId: '9' }, 'refundExtraId'],
    ['another rate type', { rateType: 'fixed' }, 'rateType'],
  ])('%s', (_, reported, field) => {
    expect(compare(reported)).toEqual({ rejected: [], accepted: [field] })
  })
})

describe('L40: no discrepancy is', () => {
  it.each<[string, Partial<Transaction>, Partial<Transaction>]>([
    ['what is not reported', {}, {}],
    [
      'what is empty',
      { withdrawalAddress: '', depositAddress: '', depositExtraId: '', withdrawalExtraId: '', refundAddress: '' },
      {},
    ],
    ['an address in another case, if its rules ignore case', { withdrawalAddress: '0xaBcD' }, {}],
    ['an alias of the network', { coinTo: 'USDT', networkTo: 'tron' }, {}],
    ['a coin without its network', { coinTo: 'usdt' }, {}],
    ['the code alone', { codeTo: 'usdttrc20' }, {}],
    [
      'what was never known',
      { depositAddress: 'd', depositExtraId: '9' },
      { depositAddress: undefined, depositExtraId: undefined },
    ],
    ['a refund address where none was known', { refundAddress: 'r' }, { refundAddress: undefined }],
    ['another amount', { amountIn: '2' as Amount }, {}],
    [
      'a coin that the table has called otherwise since',
      { codeTo: 'USDTTRC20', coinTo: 'USDT', networkTo: 'TRX' },
      { codeTo: 'USDTTRON', coinTo: 'USDT', networkTo: 'TRON' },
    ],
    ['a coin that the table lacks', { codeTo: 'DOGE', coinTo: 'DOGE' }, { codeTo: 'doge', coinTo: 'doge', networkTo: 'DOGE' }],
  ])('%s', (_, reported, before) => {
    expect(compare(reported, before)).toEqual(nothing)
  })
})
