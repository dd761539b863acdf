import { describe, expect, test } from 'vitest'
import type { Amount } from '../../domain/amount.ts'
import type { Capabilities } from '../../domain/service.ts'
import type { Status } from '../../domain/status.ts'
import type { Transaction } from '../../domain/swap.ts'
import type { LedgerEntry } from '../ports/ledger.ts'
import { mergeTransaction, presented } from './merge-transaction.ts'

const reported: Transaction = {
  id: 'tx-1',
  status: 'exchanging',
  coinFrom: 'BTC',
  coinTo: 'USDT',
  amountIn: '0.10' as Amount,
  createdAt: '2026-03-01T10:00:00Z',
  updatedAt: '2026-03-01T10:00:00Z',
}
const entry: LedgerEntry = {
  owner: 'someone',
  provider: 'beta',
  isCreated: true,
  derived: ['rate', 'updatedAt'],
  quotedAmountOut: '6500' as Amount,
  reportedAt: 1_000,
  transaction: {
    ...reported,
    status: 'wait',
    codeFrom: 'BTC',
    codeTo: 'USDTTRC20',
    networkTo: 'TRX',
    rate: '65000' as Amount,
    refundAddress: 'bc1q-refund',
  },
}
const at = Date.parse('2026-03-01T10:07:00.123Z')
const merged = (before: LedgerEntry | undefined, record: Partial<Transaction> = {}, isComplete = true) =>
  mergeTransaction(before, { reported: { ...reported, ...record }, derived: ['updatedAt'], at, isComplete })
const storedWith = (record: Partial<Transaction>, isCreated = true): LedgerEntry => ({
  ...entry,
  isCreated,
  transaction: { ...entry.transaction, ...record },
})

describe('a report merged into the stored state', () => {
  test('without a stored state it is the report', () => {
    expect(merged(undefined)).toMatchObject({ transaction: reported, derived: ['updatedAt'], reportedAt: at, fetchedAt: at })
    expect(merged(undefined).changedAt).toBeUndefined()
  })

  test('a missing field is kept, and still counts as derived', () => {
    const { transaction, derived, quotedAmountOut } = merged(entry)
    expect(transaction).toMatchObject({ status: 'exchanging', refundAddress: 'bc1q-refund', rate: '65000' })
    expect(derived.toSorted()).toEqual(['rate', 'updatedAt'])
    expect(quotedAmountOut).toBe('6500')
    expect(merged(entry, { rate: '65001' as Amount }).derived).toEqual(['updatedAt'])
  })

  test("what is only compared is not stored: the provider's words for assets, and the reference of the create", () => {
    const own = { ownAssets: { coinFrom: 'btc' }, reference: 'intent-1' }
    for (const before of [undefined, entry])
      expect(merged(before, own).transaction).toMatchObject({ ownAssets: undefined, reference: undefined })
  })

  test("the assets are the creator's", () => {
    expect(merged(entry, { networkTo: 'TRON' }).transaction).toMatchObject({ codeTo: 'USDTTRC20', networkTo: 'TRX' })
    expect(merged(storedWith({}, false), { networkTo: 'TRON' }).transaction.networkTo).toBe('TRON')
  })

  test('asset names of a list do not replace stored ones', () => {
    expect(merged(storedWith({}, false), { networkTo: 'TRON' }, false).transaction.networkTo).toBe('TRX')
    expect(merged(entry, {}, false).fetchedAt).toBeUndefined()
  })
})

describe('L19: statuses', () => {
  test.each(['success', 'refunded'] as const)('%s is final, whatever is reported later', (status) => {
    expect(merged(storedWith({ status }), { status: 'wait' }).transaction.status).toBe(status)
    expect(merged(storedWith({ status }), { status: 'wait' }).changedAt).toBeUndefined()
  })

  test('others follow the provider, back and forth; overdue can be revived', () => {
    expect(merged(storedWith({ status: 'sending' }), { status: 'wait' }).transaction.status).toBe('wait')
    expect(merged(storedWith({ status: 'overdue' }), { status: 'exchanging' }).transaction.status).toBe('exchanging')
  })

  test('an unknown status keeps the last one', () => {
    expect(merged(storedWith({ status: 'sending' }), { status: undefined }).transaction.status).toBe('sending')
    expect(merged(undefined, { status: undefined }).transaction.status).toBeUndefined()
  })
})

describe('updatedAt', () => {
  test('is when the change of the status was observed', () => {
    expect(merged(entry)).toMatchObject({ changedAt: at, transaction: { updatedAt: '2026-03-01T10:07:00.123Z' } })
  })

  test('stays at the last change', () => {
    const changed = { ...storedWith({ status: 'exchanging' }), changedAt: Date.parse('2026-03-01T10:03:00Z') }
    expect(merged(changed).transaction.updatedAt).toBe('2026-03-01T10:03:00.000Z')
  })

  test('is the reported time if there is one', () => {
    const record = mergeTransaction(entry, { reported, derived: [], at, isComplete: true })
    expect(record.transaction.updatedAt).toBe(reported.updatedAt)
  })
})

describe('L41: of two reports the one with the later request counts', () => {
  const observedOf = (sequence: number | undefined, status: Status) =>
    mergeTransaction(
      { ...storedWith({ status: 'sending' }), sequence: 10 },
      { reported: { ...reported, status }, derived: [], at, isComplete: true, sequence },
    )

  test.each<[number | undefined, Status, Status, number]>([
    [9, 'exchanging', 'sending', 10],
    [10, 'exchanging', 'sending', 10],
    [11, 'exchanging', 'exchanging', 11],
    [undefined, 'exchanging', 'exchanging', 10],
    [9, 'success', 'success', 11],
    [9, 'refunded', 'refunded', 11],
  ])('%s reports %s: %s', (sequence, status, expected, stored) => {
    expect(observedOf(sequence, status)).toMatchObject({ sequence: stored, transaction: { status: expected } })
  })

  test('and of two final statuses the stored one', () => {
    const ended = { ...storedWith({ status: 'refunded' }), sequence: 10 }
    const observed = { reported: { ...reported, status: 'success' }, derived: [], at, isComplete: true } as const
    expect(mergeTransaction(ended, { ...observed, sequence: 9 })).toBe(ended)
    expect(mergeTransaction(ended, { ...observed, sequence: 11 }).transaction.status).toBe('refunded')
  })
})

test('an empty field counts as missing', () => {
  expect(merged(entry, { refundAddress: '' }).transaction.refundAddress).toBe('bc1q-refund')
})

describe('L43: a wall clock that was set back', () => {
  test('does not move updatedAt before the last change, or before the creation', () => {
    const changed = { ...storedWith({ status: 'wait' }), changedAt: at + 3_600_000 }
    expect(merged(changed).changedAt).toBe(at + 3_600_000)
    const created = new Date(at + 60_000).toISOString()
    expect(merged(entry, { createdAt: created }).transaction.updatedAt).toBe(created)
    expect(merged(entry, { createdAt: created.slice(0, -1) }).transaction.updatedAt).toBe(created)
  })
})

test.each([
  [true, undefined, '6500'],
  [true, '6400', '6400'],
  [false, undefined, undefined],
])('a form that expects an amount (%s) shows for %s: %s', (hasExpectedAmount, amountOut, expected) => {
  const clientCapabilities = { hasExpectedAmount } as Capabilities
  const record = storedWith({ amountOut: amountOut as Amount | undefined, status: 'wait' satisfies Status })
  expect(presented(record, { clientCapabilities }).body.amountOut).toBe(expected)
})
