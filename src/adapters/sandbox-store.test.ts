import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { decimal } from '../sandbox/decimal.ts'
import type { Swap } from '../sandbox/store.ts'
import { sandboxStore } from './sandbox.ts'

function swap(id: string, createdAt = 0, owner = 'owner'): Swap {
  const pair = { codeFrom: 'BTC', coinFrom: 'BTC', networkFrom: 'BTC', codeTo: 'XRP', coinTo: 'XRP', networkTo: 'XRP' }
  const terms = { rate: decimal('2.50'), fee: decimal('0.1'), minAmount: decimal('1e-8'), maxAmount: decimal('9') }
  const addresses = { depositAddress: `to ${id}`, withdrawalAddress: 'w' }
  return { ...pair, ...terms, ...addresses, id, owner, amountIn: decimal('1.10'), rateType: 'float', createdAt }
}

function temporaryFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return join(directory, 'not', 'yet', 'there', 'sandbox.db')
}

test('inserted and updated swaps survive a restart, with their digits', () => {
  const file = temporaryFile()
  const before = sandboxStore(file)
  before.insert(swap('one'))
  const paid = { ...swap('one'), deposit: { amount: decimal('1.100'), at: 5 } }
  before.update(paid)
  before.close()
  const after = sandboxStore(file)
  expect(after.find('one')).toEqual(paid)
  expect(after.findByDepositAddress('to one')).toEqual(paid)
  after.close()
})

test('a missing swap is undefined', () => {
  const store = sandboxStore(':memory:')
  store.insert(swap('one'))
  expect(store.find('to one')).toBeUndefined()
  expect(store.findByDepositAddress('one')).toBeUndefined()
})

test('no two swaps share a deposit address', () => {
  const store = sandboxStore(':memory:')
  store.insert(swap('one'))
  expect(() => store.insert({ ...swap('two'), depositAddress: 'to one' })).toThrow(/UNIQUE/)
})

test("an owner's swaps come newest first, in pages, between two times", () => {
  const store = sandboxStore(':memory:')
  for (const [id, createdAt] of [
    ['a', 1],
    ['b', 3],
    ['c', 2],
    ['d', 3],
  ] as const)
    store.insert(swap(id, createdAt))
  store.insert(swap('e', 2, 'another'))
  const ids = (from: number, to: number, page = 1, size = 10) =>
    store.list({ owner: 'owner', from, to }, { page, size }).map(({ id }) => id)
  expect(ids(0, 9)).toEqual(['d', 'b', 'c', 'a'])
  expect(ids(0, 9, 2, 3)).toEqual(['a'])
  expect(ids(2, 3)).toEqual(['d', 'b', 'c'])
  expect(ids(2, 2)).toEqual(['c'])
  expect(ids(0, 9, Number.MAX_SAFE_INTEGER, 100)).toEqual([])
  expect(store.count({ owner: 'owner', from: 2, to: 3 })).toBe(3)
})
