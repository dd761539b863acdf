import { describe, expect, test } from 'vitest'
import type { Amount } from '../domain/amount.ts'
import type { Status } from '../domain/status.ts'
import type { Transaction } from '../domain/swap.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import type { Entry } from './ledger.ts'
import { shown, sight } from './sighting.ts'

const told: Transaction = {
  id: 'tx-1',
  status: 'exchanging',
  coinFrom: 'BTC',
  coinTo: 'USDT',
  amountIn: '0.10' as Amount,
  createdAt: '2026-03-01T10:00:00Z',
  updatedAt: '2026-03-01T10:00:00Z',
}
const entry: Entry = {
  owner: 'somebody',
  provider: 'beta',
  isCreated: true,
  derived: ['rate', 'updatedAt'],
  promised: '6500' as Amount,
  seenAt: 1_000,
  transaction: {
    ...told,
    status: 'wait',
    codeFrom: 'BTC',
    codeTo: 'USDTTRC20',
    networkTo: 'TRX',
    rate: '65000' as Amount,
    refundAddress: 'bc1q-refund',
  },
}
const at = Date.parse('2026-03-01T10:07:00.123Z')
const see = (before: Entry | undefined, facts: Partial<Transaction> = {}, isWhole = true) =>
  sight(before, { told: { ...told, ...facts }, derived: ['updatedAt'], at, isWhole })
const holding = (facts: Partial<Transaction>, isCreated = true): Entry => ({
  ...entry,
  isCreated,
  transaction: { ...entry.transaction, ...facts },
})

describe('what is told over what was known', () => {
  test('what was never seen is as it is told', () => {
    expect(see(undefined)).toMatchObject({ transaction: told, derived: ['updatedAt'], seenAt: at, readAt: at })
    expect(see(undefined).changedAt).toBeUndefined()
  })

  test('what is not told is as it was known, and still counts as worked out', () => {
    const { transaction, derived, promised } = see(entry)
    expect(transaction).toMatchObject({ status: 'exchanging', refundAddress: 'bc1q-refund', rate: '65000' })
    expect(derived.toSorted()).toEqual(['rate', 'updatedAt'])
    expect(promised).toBe('6500')
    expect(see(entry, { rate: '65001' as Amount }).derived).toEqual(['updatedAt'])
  })

  test("the assets are the creator's", () => {
    expect(see(entry, { networkTo: 'TRON' }).transaction).toMatchObject({ codeTo: 'USDTTRC20', networkTo: 'TRX' })
    expect(see(holding({}, false), { networkTo: 'TRON' }).transaction.networkTo).toBe('TRON')
  })

  test('a list names assets less well than what was known before', () => {
    expect(see(holding({}, false), { networkTo: 'TRON' }, false).transaction.networkTo).toBe('TRX')
    expect(see(entry, {}, false).readAt).toBeUndefined()
  })
})

describe('L19: statuses', () => {
  test.each(['success', 'refunded'] as const)('%s is final, whatever is told later', (status) => {
    expect(see(holding({ status }), { status: 'wait' }).transaction.status).toBe(status)
    expect(see(holding({ status }), { status: 'wait' }).changedAt).toBeUndefined()
  })

  test('others follow the provider, back and forth; overdue can be revived', () => {
    expect(see(holding({ status: 'sending' }), { status: 'wait' }).transaction.status).toBe('wait')
    expect(see(holding({ status: 'overdue' }), { status: 'exchanging' }).transaction.status).toBe('exchanging')
  })

  test('a word that nobody has explained leaves the last one', () => {
    expect(see(holding({ status: 'sending' }), { status: undefined }).transaction.status).toBe('sending')
    expect(see(undefined, { status: undefined }).transaction.status).toBeUndefined()
  })
})

describe('updatedAt', () => {
  test('is when the change of the status was seen', () => {
    expect(see(entry)).toMatchObject({ changedAt: at, transaction: { updatedAt: '2026-03-01T10:07:00.123Z' } })
  })

  test('stays at the last change', () => {
    const changed = { ...holding({ status: 'exchanging' }), changedAt: Date.parse('2026-03-01T10:03:00Z') }
    expect(see(changed).transaction.updatedAt).toBe('2026-03-01T10:03:00.000Z')
  })

  test('is as the provider tells it where it does', () => {
    const facts = sight(entry, { told, derived: [], at, isWhole: true })
    expect(facts.transaction.updatedAt).toBe(told.updatedAt)
  })
})

describe('L41: of two readings the one that was asked for later counts', () => {
  const sightingOf = (sequence: number | undefined, status: Status) =>
    sight(
      { ...holding({ status: 'sending' }), sequence: 10 },
      { told: { ...told, status }, derived: [], at, isWhole: true, sequence },
    )

  test.each<[number | undefined, Status, Status, number]>([
    [9, 'exchanging', 'sending', 10],
    [10, 'exchanging', 'sending', 10],
    [11, 'exchanging', 'exchanging', 11],
    [undefined, 'exchanging', 'exchanging', 10],
    [9, 'success', 'success', 11],
    [9, 'refunded', 'refunded', 11],
  ])('%s tells %s: %s', (sequence, status, wanted, kept) => {
    expect(sightingOf(sequence, status)).toMatchObject({ sequence: kept, transaction: { status: wanted } })
  })

  test('and of two ends the one that is kept', () => {
    const ended = { ...holding({ status: 'refunded' }), sequence: 10 }
    const sighting = { told: { ...told, status: 'success' }, derived: [], at, isWhole: true } as const
    expect(sight(ended, { ...sighting, sequence: 9 })).toBe(ended)
    expect(sight(ended, { ...sighting, sequence: 11 }).transaction.status).toBe('refunded')
  })
})

test('what is told as empty is not told', () => {
  expect(see(entry, { refundAddress: '' }).transaction.refundAddress).toBe('bc1q-refund')
})

describe('L43: a wall clock that was set back', () => {
  test('does not move updatedAt before the last change, or before the creation', () => {
    const changed = { ...holding({ status: 'wait' }), changedAt: at + 3_600_000 }
    expect(see(changed).changedAt).toBe(at + 3_600_000)
    const created = new Date(at + 60_000).toISOString()
    expect(see(entry, { createdAt: created }).transaction.updatedAt).toBe(created)
    expect(see(entry, { createdAt: created.slice(0, -1) }).transaction.updatedAt).toBe(created)
  })
})

test.each([
  [true, undefined, '6500'],
  [true, '6400', '6400'],
  [false, undefined, undefined],
])('a form that expects an amount (%s) shows for %s: %s', (expectsAmount, amountOut, wanted) => {
  const client = { expectsAmount } as Vocabulary
  const facts = holding({ amountOut: amountOut as Amount | undefined, status: 'wait' satisfies Status })
  expect(shown(facts, { client }).amountOut).toBe(wanted)
})
