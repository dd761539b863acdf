import { beforeEach, describe, expect, it } from 'vitest'
import type { Transaction } from '../domain/swap.ts'
import { Freshness, oldestOf } from './freshness.ts'
import type { Entry } from './ledger.ts'

const start = Date.parse('2026-03-01T10:00:00Z')
const hour = 3_600_000
const transaction = { id: 'tx-1', status: 'wait' } as Transaction
const entryReadAt = (readAt: number | undefined, facts: Partial<Transaction> = {}): Entry => ({
  transaction: { ...transaction, ...facts },
  derived: [],
  seenAt: readAt ?? start,
  readAt,
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
const pass = (ms: number): void => {
  wall += ms
  steady += ms
}

describe('is due', () => {
  it.each<[string, Entry, boolean]>([
    ['as long ago as it counts as fresh', entryReadAt(start - 10_000), true],
    ['a moment less', entryReadAt(start - 9_999), false],
    ['never, only its create was seen', entryReadAt(undefined), true],
    ['long ago, and final', entryReadAt(0, { status: 'success' }), false],
    ['in the future', entryReadAt(start + 1), true],
  ])('read %s: %#', (_, entry, expected) => {
    expect(freshness.isDue(entry)).toBe(expected)
  })

  it('by the time that has passed, where this process read it, whatever the wall clock does', () => {
    const entry = entryReadAt(wall)
    freshness.note('alpha', 'tx-1', wall)
    for (const jump of [-hour, 2 * hour]) {
      wall += jump
      expect([freshness.isDue(entry), freshness.secondsSince(entry)]).toEqual([false, 0])
    }
    pass(10_000)
    wall -= hour
    expect([freshness.isDue(entry), freshness.secondsSince(entry)]).toEqual([true, 10])
  })

  it('where another process has read it since, by both clocks', () => {
    freshness.note('alpha', 'tx-1', wall - 20_000)
    expect(freshness.isDue(entryReadAt(wall))).toBe(false)
    pass(hour)
    wall -= hour
    expect(freshness.isDue(entryReadAt(start))).toBe(true)
    expect(freshness.secondsSince(entryReadAt(start))).toBe(3_600)
  })

  it('and each provider has ids of its own', () => {
    freshness.note('beta', 'tx-1', start - hour)
    expect(freshness.isDue(entryReadAt(start - hour))).toBe(true)
  })
})

it('an age is never negative', () => {
  expect(freshness.secondsSince(entryReadAt(start + hour))).toBe(0)
})

it('of rows the oldest that is stale counts', () => {
  expect(oldestOf([{}, { stale: 0 }, { stale: 7 }, { stale: undefined }])).toBe(7)
  expect(oldestOf([{}])).toBeUndefined()
})
