import { expect, it } from 'vitest'
import { toAmount } from '../domain/amount.ts'
import { loadEntry, loadFirst, storeEntry, storeFirst } from './entry.ts'

/** Exact values of rows in existing ledgers. */
const entry =
  '{"transaction":{"id":"beta-1","amountIn":"0.1","depositAddress":"addr"},"derived":["rate"],"quotedAmountOut":"0.00500000"}'
const first =
  '{"transaction":{"id":"beta-1","amountIn":"0.1","status":"wait"},"derived":[],"quotedAmountOut":"0.005","reportedAt":1700000000000,"fetchedAt":1700000000001,"changedAt":1700000000002,"sequence":7}'

it('reads and writes the JSON of entries of the ledger', () => {
  const loaded = loadEntry(entry)
  expect(Object.values(loaded)).toContain(toAmount('0.00500000'))
  expect(storeEntry({ ...loadFirst(first), ...loaded })).toBe(entry)
})

it('reads and writes the JSON of first responses of the ledger', () => {
  const loaded = loadFirst(first)
  expect(Object.values(loaded)).toEqual(expect.arrayContaining(['0.005', 1700000000000, 1700000000001, 1700000000002, 7]))
  expect(storeFirst(loaded)).toBe(first)
})
