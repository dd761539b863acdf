import { describe, expect, it } from 'vitest'
import { AssetTable } from '../../domain/asset.ts'
import type { Transaction } from '../../domain/swap.ts'
import type { LedgerEntry } from '../ledger.ts'
import { rebase } from './save-observed.ts'

const table = new AssetTable([])

const entry = (facts: Partial<Transaction>, fields: Partial<LedgerEntry>): LedgerEntry => ({
  transaction: { id: 'x', createdAt: '2026-03-01T10:00:00.000Z', ...facts } as Transaction,
  derived: [],
  reportedAt: 1,
  owner: 'acme',
  provider: 'alpha',
  isCreated: true,
  ...fields,
})

describe('rebase', () => {
  const base = entry({ status: 'wait', refundAddress: 'old' }, { sequence: 1, isCreated: false })
  const stored = entry({ status: 'wait', depositAddress: 'made', refundAddress: 'new' }, { sequence: 5 })

  it('has the status, the times and the new fields of the later state, and the other fields and the owner of the stored one', () => {
    const unsaved = entry(
      { status: 'exchanging', refundAddress: 'old', txHashIn: 'hash' },
      { sequence: 7, changedAt: 3, reportedAt: 4, fetchedAt: 4, isCreated: false },
    )
    expect(rebase(unsaved, base, stored, table)).toMatchObject({
      transaction: { status: 'exchanging', depositAddress: 'made', refundAddress: 'new', txHashIn: 'hash' },
      changedAt: 3,
      reportedAt: 4,
      fetchedAt: 4,
      isCreated: true,
      sequence: 7,
    })
  })

  it('keeps a final status although a later one is stored', () => {
    const unsaved = entry({ status: 'success' }, { sequence: 4 })
    expect(rebase(unsaved, base, stored, table)).toMatchObject({ transaction: { status: 'success' }, sequence: 6 })
  })

  it.each([
    ['was stored meanwhile', entry({ status: 'wait' }, { sequence: 5 })],
    ['is overtaken', entry({ status: 'exchanging' }, { sequence: 4 })],
    ['contradicts the create', entry({ status: 'success', depositAddress: 'other' }, { sequence: 7, isCreated: false })],
  ])('has no result for a state that %s', (_, unsaved) => {
    expect(rebase(unsaved, base, stored, table)).toBeUndefined()
  })
})
