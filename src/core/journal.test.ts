import { beforeEach, expect, it } from 'vitest'
import { DepositInUse } from '../domain/fault.ts'
import { Journal } from './journal.ts'
import type { LedgerChanges, LedgerEntry, TransactionRecord } from './ports/ledger.ts'

const record = {
  transaction: { id: 'tx-1', status: 'wait', attention: 'held' },
  derived: [],
  sequence: 7,
} as unknown as TransactionRecord
const entry = record as LedgerEntry

let told: unknown[]
let stored: unknown[]
let result: unknown

/** Its ledger answers each call with `result`. */
function changes(hasAttention = true): LedgerChanges {
  const journal = new Journal()
  for (const name of ['begun', 'ended', 'done', 'unknown', 'found', 'mismatched', 'changed'] as const)
    journal.on(name, (...facts: readonly unknown[]) => void told.push([name, ...facts]))
  const answer = async (...args: readonly unknown[]): Promise<unknown> => {
    stored.push(...args)
    if (result instanceof Error) throw result
    return result
  }
  const ledger = { begin: answer, drop: answer, complete: answer, bindFound: answer, upsert: answer } as unknown as LedgerChanges
  return journal.changesOf(ledger, hasAttention)
}

beforeEach(() => {
  told = []
  stored = []
  result = true
})

it('tells that a create has ended, and then how', async () => {
  await changes().complete('i', record)
  expect(told).toEqual([
    ['ended', 'i'],
    ['done', 'i', record.transaction, []],
  ])
})

it('tells of an id that another create has as of a mismatch', async () => {
  result = false
  await changes().complete('i', record)
  expect(told).toEqual([
    ['ended', 'i'],
    ['mismatched', 'i', ['id'], []],
  ])
})

it('tells that a create has ended where the ledger fails, but not where its deposit address is in use: it is stored again', async () => {
  result = new Error('the disk is full')
  await expect(changes().drop('i')).rejects.toBe(result)
  expect(told).toEqual([['ended', 'i']])
  result = new DepositInUse()
  await expect(changes().bindFound('j', record)).rejects.toBe(result)
  expect(told).toEqual([['ended', 'i']])
})

it('tells of no create whose key is in use, and of no report that is stored first or by another process', async () => {
  result = false
  await changes().begin({ id: 'i' } as never)
  result = entry
  await changes().upsert('owner', 'alpha', record)
  await changes().upsert('owner', 'alpha', { ...record, sequence: 8 }, entry)
  expect(told).toEqual([])
  await changes().upsert('owner', 'alpha', record, entry)
  expect(told).toEqual([['changed', 'alpha', record.transaction, record.transaction]])
})

it('stores a result without what needs a person where nobody is there', async () => {
  await changes(false).complete('i', record)
  expect(stored[1]).toEqual({ ...record, transaction: { id: 'tx-1', status: 'wait' } })
  await changes().complete('i', record)
  expect(stored).toContain(record)
})
