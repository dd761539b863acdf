import { beforeEach, describe, expect, it } from 'vitest'
import type { Transaction } from '../domain/swap.ts'
import { Freshness, oldestOf } from './freshness.ts'
import type { LedgerEntry } from './ports/ledger.ts'

const start = Date.parse('2026-03-01T10:00:00Z')
const hour = 3_600_000
const transaction = { id: 'tx-1', status: 'wait' } as Transaction
const entryFetchedAt = (fetchedAt: number | undefined, overrides: Partial<Transaction> = {}): LedgerEntry => ({
  transaction: { ...transaction, ...overrides },
  derived: [],
  reportedAt: fetchedAt ?? start,
  fetchedAt,
  owner: 'acme',
  provider: 'alpha',
  isCreated: true,
})

let wall: number
let steady: number
let freshness: Freshness
beforeEach(() => {
  wall = start
  steady = start
  freshness = new Freshness({ refreshMs: 10_000, clock: () => wall, steadyClock: () => steady })
})
const advance = (ms: number): void => {
  wall += ms
  steady += ms
}

describe('is due', () => {
  it.each<[string, LedgerEntry, boolean]>([
    ['as long ago as it counts as fresh', entryFetchedAt(start - 10_000), true],
    ['a moment less', entryFetchedAt(start - 9_999), false],
    ['never, only by its create', entryFetchedAt(undefined), true],
    ['long ago, and final', entryFetchedAt(0, { status: 'success' }), false],
    ['in the future', entryFetchedAt(start + 1), true],
  ])('read %s: %#', (_, entry, expected) => {
    expect(freshness.needsRefresh(entry)).toBe(expected)
  })

  it('by elapsed time if this process read it, whatever the wall clock does', () => {
    const entry = entryFetchedAt(wall)
    freshness.recordRead('alpha', 'tx-1', wall)
    for (const jump of [-hour, 2 * hour]) {
      wall += jump
      expect([freshness.needsRefresh(entry), freshness.ageSeconds(entry)]).toEqual([false, 0])
    }
    advance(10_000)
    wall -= hour
    expect([freshness.needsRefresh(entry), freshness.ageSeconds(entry)]).toEqual([true, 10])
  })

  it('by both clocks if another process read it since', () => {
    freshness.recordRead('alpha', 'tx-1', wall - 20_000)
    expect(freshness.needsRefresh(entryFetchedAt(wall))).toBe(false)
    advance(hour)
    wall -= hour
    expect(freshness.needsRefresh(entryFetchedAt(start))).toBe(true)
    expect(freshness.ageSeconds(entryFetchedAt(start))).toBe(3_600)
  })

  it('per provider: ids are not shared', () => {
    freshness.recordRead('beta', 'tx-1', start - hour)
    expect(freshness.needsRefresh(entryFetchedAt(start - hour))).toBe(true)
  })
})

it('an age is never negative', () => {
  expect(freshness.ageSeconds(entryFetchedAt(start + hour))).toBe(0)
})

it('the oldest stale row counts', () => {
  expect(oldestOf([{}, { staleSeconds: 0 }, { staleSeconds: 7 }, { staleSeconds: undefined }])).toBe(7)
  expect(oldestOf([{}])).toBeUndefined()
})

describe('P60: a success whose payout the provider does not have', () => {
  const missing = (fetchedAt: number): LedgerEntry => ({
    ...entryFetchedAt(fetchedAt, { status: 'success' }),
    payoutMissingSince: start,
  })

  it('is read again as if it were open, then once an hour, for a day', () => {
    expect(freshness.needsRefresh(missing(start))).toBe(false)
    advance(10_000)
    expect(freshness.needsRefresh(missing(start))).toBe(true)
    expect(freshness.needsRefresh(missing(start + 5_000))).toBe(false)
    advance(hour)
    expect(freshness.needsRefresh(missing(start + 5_000))).toBe(true)
    advance(23 * hour)
    expect(freshness.needsRefresh(missing(start + 5_000))).toBe(false)
  })

  it('is read once an hour though the read fails', () => {
    advance(10_000)
    freshness.recordPayoutRead(missing(start))
    advance(hour - 1)
    expect(freshness.needsRefresh(missing(start))).toBe(false)
    advance(1)
    expect(freshness.needsRefresh(missing(start))).toBe(true)
  })

  it('is not read again if an operator has settled it', () => {
    advance(10_000)
    expect(freshness.needsRefresh({ ...missing(start), settledAt: start })).toBe(false)
  })
})
