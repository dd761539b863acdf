import { describe, expect, it, test } from 'vitest'
import type { Amount } from '../domain/amount.ts'
import { AssetTable } from '../domain/asset.ts'
import type { Discrepancy } from '../domain/observation.ts'
import type { NewTransaction, SentWords, Transaction } from '../domain/swap.ts'
import { createAssetNaming, pairOf } from './assets/asset-naming.ts'
import {
  compareCreate,
  contradictedTerms,
  discrepanciesOf,
  otherTokensThanSent,
  unconfirmedMemos,
  type Verdict,
} from './same-swap.ts'

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
  return discrepanciesOf({ transaction: { ...stored, ...before } }, { id, amountIn, createdAt, ...reported }, table)
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

const classic = 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59'
const withTag1 = 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu'
type Terms = Partial<NewTransaction>

describe('M38: spellings of an address contradict nothing, and a tag in one is a memo', () => {
  test.each<[string, Terms, Terms, readonly string[]]>([
    [
      'in capitals',
      { withdrawalAddress: 'BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ' },
      { withdrawalAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
      [],
    ],
    ['a tag beside it', { withdrawalAddress: withTag1 }, { withdrawalAddress: classic, withdrawalExtraId: '1' }, []],
    ['a tag within it', { withdrawalAddress: classic, withdrawalExtraId: '1' }, { withdrawalAddress: withTag1 }, []],
    ['another tag beside it', { refundAddress: withTag1 }, { refundAddress: classic, refundExtraId: '2' }, ['refundExtraId']],
    [
      'another tag within it',
      { withdrawalAddress: classic, withdrawalExtraId: '2' },
      { withdrawalAddress: withTag1 },
      ['withdrawalExtraId'],
    ],
    ['a tag that was not requested', { withdrawalAddress: classic }, { withdrawalAddress: withTag1 }, ['withdrawalExtraId']],
    ['no tag', { withdrawalAddress: withTag1 }, { withdrawalAddress: classic }, []],
  ])('%s', (_, requested, reported, fields) => {
    expect(contradictedTerms(requested, reported)).toEqual(fields)
  })
})
test('a requested memo is confirmed by the same address with its tag, and not by a missing field', () => {
  const requested = { withdrawalAddress: classic, withdrawalExtraId: '1', refundAddress: withTag1 }
  expect(unconfirmedMemos(requested, {})).toEqual(['withdrawalExtraId', 'refundExtraId'])
  expect(unconfirmedMemos(requested, { withdrawalAddress: withTag1, refundExtraId: '1' })).toEqual([])
  expect(unconfirmedMemos({ withdrawalAddress: classic }, {})).toEqual([])
})

describe('a token is another one', () => {
  const other = '0x7f5c764cbc14f9669b88837ca1490cca17c31607'
  const now = '0x0b2c639c533813f4aa9d7837caf62653d097ff85'
  const usdc = { ...asset('USDCOP', 'USDC', 'OPTIMISM'), contract: now }
  const naming = createAssetNaming(new AssetTable([{ coin: 'USDC', name: 'USDC', assets: [usdc] }]), { byCode: true }, [])
  const requested = { codeTo: 'USDCOP', coinTo: 'USDC', networkTo: 'OPTIMISM' } as NewTransaction

  test.each<[string, SentWords | undefined, string | undefined, boolean]>([
    ['if its contract is not that of then', { contractTo: other }, now, true],
    ['not if the table has another contract since', { contractTo: other }, other.toUpperCase().replace('X', 'x'), false],
    ['not if it had no contract then', { codeTo: 'usdcop' }, other, false],
    ['for a create of an older version, if its contract is not that of now', undefined, other, true],
    ['not if none is reported', { contractTo: other }, undefined, false],
  ])('%s', (_, sent, contractTo, isOther) =>
    expect(otherTokensThanSent({ ownAssets: { contractTo } }, { requested, sent }, naming)).toEqual(isOther ? ['contractTo'] : []),
  )
})

test('a token that was sent under a word of the provider is the same under the name of the table, on its network', () => {
  const contract = '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9'
  const usdt = { ...asset('USDTARB', 'USDT', 'ARBITRUM'), contract }
  const tokens = new AssetTable([{ coin: 'USDT', name: 'Tether', assets: [usdt] }])
  const transaction = { ...stored, codeTo: 'USDT0', coinTo: 'USDT0', networkTo: 'arbitrum' } as Transaction
  const reported = { ...transaction, codeTo: 'USDTARB', coinTo: 'USDT', networkTo: 'ARBITRUM' }
  const rejected = (sent: SentWords): readonly string[] => discrepanciesOf({ transaction, sent }, reported, tokens).rejected
  const words = { coinTo: 'usdt0', networkTo: 'arbitrum' }
  expect(rejected({ ...words, contractTo: contract.toLowerCase() })).toEqual([])
  expect([rejected({ ...words, contractTo: '0x912CE59144191C1204E64559FE8253a0e49E6548' }), rejected(words)]).toEqual([
    ['coinTo'],
    ['coinTo'],
  ])
})

describe('the reference of a create decides whose transaction it is', () => {
  const attemptedAt = Date.parse('2026-03-01T10:00:00Z')
  const naming = createAssetNaming(table, { byCode: true }, new Map())
  const requested = { ...pairOf(stored), amountIn: '1' as Amount, withdrawalAddress: '0xAbCd', rateType: 'float' as const }
  const create = { intent: 'intent-1', requested, sent: { hasReference: true }, attemptedAt } as const
  const row = { ...requested, id: 'x', createdAt: '2026-03-01T10:00:01Z' }

  test.each<[string, Partial<Transaction>, Verdict]>([
    ['its own', { reference: 'intent-1' }, 'match'],
    ['its own in capitals', { reference: 'INTENT-1' }, 'match'],
    ['its own, at any time', { reference: 'intent-1', createdAt: '2026-02-01T10:00:00Z' }, 'match'],
    ['its own, with rounded digits', { reference: 'intent-1', amountIn: '1.0000000001' as Amount }, 'match'],
    ['its own, with other terms', { reference: 'intent-1', amountIn: '2' as Amount, withdrawalAddress: '0xEf' }, 'match'],
    ['its own, with a term that is not reported', { reference: 'intent-1', withdrawalAddress: undefined }, 'incomplete'],
    ['another', { reference: 'intent-2' }, 'other'],
    ['none', {}, 'match'],
    ['an empty one', { reference: '' }, 'match'],
  ])('%s', (_, facts, expected) => expect(compareCreate([{ ...row, ...facts }], create, { naming })).toBe(expected))

  test.each<[string, number, Partial<Transaction>, Verdict]>([
    ['before', attemptedAt - 60_000, {}, 'other'],
    ['before, in an empty text', attemptedAt - 60_000, { reference: '' }, 'other'],
    ['only after it', attemptedAt + 60_000, {}, 'match'],
    ['before, and it has its own', attemptedAt - 60_000, { reference: 'intent-1' }, 'match'],
    ['before, and its time is unknown', attemptedAt - 60_000, { createdAt: '' }, 'incomplete'],
  ])('a row without one where the provider has shown one %s', (_, referencesSince, facts, expected) =>
    expect(compareCreate([{ ...row, ...facts }], create, { naming, referencesSince })).toBe(expected),
  )

  it('counts nothing for a create that was sent without one', () => {
    const older = { ...create, sent: undefined }
    for (const reference of [undefined, 'intent-1', 'intent-2'])
      expect(compareCreate([{ ...row, reference }], older, { naming, referencesSince: 0 })).toBe('match')
  })

  it('is known if only one report of a transaction has it', () => {
    expect(compareCreate([row, { ...row, reference: 'intent-2' }], create, { naming })).toBe('other')
    const late = { ...row, createdAt: '2026-03-01T11:00:00Z' }
    expect(compareCreate([late, { ...late, reference: 'intent-1' }], create, { naming })).toBe('match')
  })
})

describe('that a create made nothing is no conclusion from a row that may be it', () => {
  const attemptedAt = Date.parse('2026-03-01T10:00:00Z')
  const naming = createAssetNaming(table, { byCode: true }, new Map())
  const requested = {
    ...pairOf(stored),
    amountIn: '0.1234567891' as Amount,
    withdrawalAddress: 'xdcAbcdef0123456789abcdef0123456789abcdef01',
    rateType: 'float' as const,
  }
  const verdict = (facts: Partial<Transaction>) =>
    compareCreate([{ ...requested, id: 'x', createdAt: '2026-03-01T10:00:01Z', ...facts }], { requested, attemptedAt }, { naming })

  test.each<[string, Partial<Transaction>, Verdict]>([
    ['the same', {}, 'match'],
    ['an amount with fewer digits', { amountIn: '0.12345679' as Amount }, 'possible'],
    ['an amount whose last digits differ', { amountIn: '0.1234567889' as Amount }, 'possible'],
    ['no amount', { amountIn: '0' as Amount }, 'incomplete'],
    ['another amount', { amountIn: '0.1244567891' as Amount }, 'other'],
    ['another spelling of an address', { withdrawalAddress: '0xabcdef0123456789abcdef0123456789abcdef01' }, 'possible'],
    ['another address', { withdrawalAddress: '0xabcdef0123456789abcdef0123456789abcdef02' }, 'other'],
    ['another coin', { codeTo: 'USDTERC20', coinTo: 'USDT', networkTo: 'ETH' }, 'other'],
    ['a time a quarter of an hour later', { createdAt: '2026-03-01T10:15:01Z' }, 'possible'],
    ['a time of another zone', { createdAt: '2026-02-28T20:00:01Z' }, 'possible'],
    ['a time that is earlier in every zone', { createdAt: '2026-02-28T19:59:59Z' }, 'other'],
    ['a time of the day after', { createdAt: '2026-03-02T10:00:00Z' }, 'possible'],
  ])('%s', (_, facts, expected) => expect(verdict(facts)).toBe(expected))

  test.each(['1', '2'])('two memos that contradict each other, of which one was requested: %s', (withdrawalExtraId) => {
    const withMemo = { ...requested, withdrawalAddress: classic, withdrawalExtraId }
    const row = { ...withMemo, id: 'x', createdAt: '2026-03-01T10:00:01Z', withdrawalAddress: withTag1, withdrawalExtraId: '2' }
    expect(compareCreate([row], { requested: withMemo, attemptedAt }, { naming })).toBe('possible')
    expect(contradictedTerms(withMemo, row)).toEqual(['withdrawalExtraId'])
    const third = { ...withMemo, withdrawalExtraId: '3' }
    expect(compareCreate([row], { requested: third, attemptedAt }, { naming })).toBe('other')
  })

  test.each<[string, string, Verdict]>([
    ['in a zone far from the configured one', '2026-02-28T22:00:00', 'possible'],
    ['that is earlier in every zone', '2026-02-28T19:59:59', 'other'],
  ])('a time without a zone %s', (_, createdAt, expected) =>
    expect(
      compareCreate([{ ...requested, id: 'x', createdAt }], { requested, attemptedAt }, { naming, timezone: 'Asia/Tokyo' }),
    ).toBe(expected),
  )
})
