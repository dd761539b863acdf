/** docs/contract.md §18.1: which changes of a transaction its owner is told of. */
import { describe, expect, it } from 'vitest'
import type { TransactionRecord } from '../../src/core/ports/ledger.ts'
import { differsVisibly, visibleState } from '../../src/core/visible-state.ts'
import type { Amount } from '../../src/domain/amount.ts'
import type { Transaction } from '../../src/domain/swap.ts'
import { forms } from '../../src/forms/index.ts'
import { changedFields } from '../support/changed-fields.ts'

const transaction: Transaction = {
  ...{ id: 'tx-1', status: 'wait', amountIn: '0.1' as Amount, rateType: 'float', createdAt: '2026-01-01T00:00:00Z' },
  ...{ codeFrom: 'BTC', coinFrom: 'BTC', networkFrom: 'BTC', codeTo: 'USDTTRC20', coinTo: 'USDT', networkTo: 'TRX' },
  ...{ depositAddress: 'bc1q-deposit', withdrawalAddress: 'TWithdraw1', refundAddress: 'bc1q-refund' },
}
const record = (change: Partial<Transaction> = {}): TransactionRecord => ({
  transaction: { ...transaction, ...change },
  derived: [],
  reportedAt: 0,
})

/** As a get returns it in each form of clients. */
function responses(change: Partial<Transaction>): readonly string[] {
  return forms.map(({ operations }) => operations.getTransaction.responseCodec.encode({ ...transaction, ...change }, new Set()))
}

/** What a get shows, though no change of it is told: the id, times, what follows from the coins, and what is of the moment of a get. */
const untold: readonly string[] = ['id', 'createdAt', 'updatedAt', 'coinNameFrom', 'coinNameTo', 'capabilities']

describe.each(Object.entries(changedFields))('a change of %s alone', (field, { to, isEvent }) => {
  const changed = record({ [field]: to })

  it(`is ${isEvent ? 'an' : 'no'} event`, () => {
    expect(visibleState(changed) !== visibleState(record())).toBe(isEvent)
    expect([differsVisibly(changed, record()), differsVisibly(record(), changed)]).toEqual([isEvent, isEvent])
  })

  it('is an event if a get shows it in any form', () => {
    const isShown = responses({ [field]: to }).join() !== responses({}).join()
    expect(isEvent).toBe(isShown && !untold.includes(field))
  })
})

it('a field that becomes empty, null or absent is as unknown as before', () => {
  for (const unknown of ['', null, undefined]) {
    const emptied = record({ supportUrl: unknown } as Partial<Transaction>)
    expect([visibleState(emptied) === visibleState(record()), differsVisibly(emptied, record())]).toEqual([true, false])
  }
})

it('the amount quoted at the create, and what only the owner is told of, are seen', () => {
  for (const change of [{ quotedAmountOut: '2' as Amount }, { ownerAttention: 'held' }] as const) {
    const changed = { ...record(), ...change }
    expect([visibleState(changed) !== visibleState(record()), differsVisibly(changed, record())]).toEqual([true, true])
  }
})
