import { describe, expect, it, test } from 'vitest'
import { DepositInUse } from '../../domain/fault.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import type { Transaction } from '../../domain/swap.ts'
import type { DepositClaim, DepositHolder, LedgerEntry } from '../ports/ledger.ts'
import { OtherDeposits, takingDeposit } from './other-deposits.ts'

const transaction = {
  id: 'one',
  amountIn: '1',
  depositAddress: 'rShared',
  depositExtraId: '7',
  createdAt: '',
} as unknown as Transaction
const entry = { transaction, provider: 'alpha', owner: 'ann' } as unknown as LedgerEntry
const context = { deadline: performance.now() + 60_000, caller: { address: '', identity: 'bob' } } as unknown as Context

const dayMs = 86_400_000
const now = 10 * dayMs
const hoursAgo = (hours: number): string => new Date(now - hours * 3_600_000).toISOString()
const givenUp: DepositClaim = { givenUpBy: { provider: 'alpha', id: 'one' } }

function claim(facts: Partial<DepositHolder>, report?: Partial<Transaction>): Promise<DepositClaim | undefined> {
  const holder = { entry, takenAt: now - 1, now, ...facts }
  const reader = { call: async () => ({ body: { ...transaction, ...report } }) } as unknown as SwapService
  const deposits = new OtherDeposits({ depositHolder: async () => holder }, () => (report ? reader : undefined))
  return deposits.claimAfter({ ...transaction, id: 'two' }, context)
}

const withFacts = (facts: Partial<Transaction>, more: Partial<LedgerEntry> = {}) => ({
  entry: { ...entry, transaction: { ...transaction, ...facts }, ...more },
})

test.each<[string, Partial<DepositHolder>, DepositClaim | undefined]>([
  ['waits', {}, undefined],
  ['has succeeded', withFacts({ status: 'success' }), givenUp],
  ['was refunded', withFacts({ status: 'refunded' }), givenUp],
  ['is overdue', withFacts({ status: 'overdue' }), givenUp],
  ['was settled by a person', withFacts({}, { settledAt: 1 }), givenUp],
  ['was made 7 days ago', { takenAt: now - 7 * dayMs }, givenUp],
  ['was made less than 7 days ago', { takenAt: now - 7 * dayMs + 1 }, undefined],
  ['is 24 h past its own expiry', withFacts({ validUntil: hoursAgo(24) }), givenUp],
  ['is less than 24 h past its own expiry', withFacts({ validUntil: hoursAgo(24 - 1 / 3_600) }), undefined],
  ['has another address with the same key', withFacts({ depositExtraId: '8' }), { isShared: true }],
])('a swap that cannot be read and %s', async (_, holder, expected) => {
  expect(await claim(holder)).toEqual(expected)
})

test.each<[string, Partial<Transaction>, DepositClaim | undefined]>([
  ['waits', { status: 'wait' }, undefined],
  ['has ended', { status: 'success' }, givenUp],
  ['is overdue', { status: 'overdue' }, givenUp],
  ['has an earlier expiry', { validUntil: hoursAgo(30) }, givenUp],
  ['has a later expiry', { validUntil: hoursAgo(1) }, undefined],
  ['is another transaction', { id: 'three', status: 'success' }, undefined],
])('a swap that waits and %s when it is read once more', async (_, report, expected) => {
  expect(await claim({}, report)).toEqual(expected)
})

it('is free where nobody has it', async () => {
  const deposits = new OtherDeposits({ depositHolder: async () => undefined }, () => undefined)
  expect(await deposits.claimAfter(transaction, context)).toEqual({})
})

describe('a result that takes its deposit address', () => {
  const held = async ({ givenUpBy }: DepositClaim): Promise<string> => {
    if (givenUpBy === undefined) throw new DepositInUse()
    return `from ${givenUpBy.id}`
  }

  it('is stored at once where nobody has it', async () => {
    expect(
      await takingDeposit(
        async () => 'stored',
        () => Promise.reject(new Error('not asked')),
      ),
    ).toBe('stored')
  })

  it('takes it from the swap that gives it up', async () => {
    expect(await takingDeposit(held, async () => givenUp)).toBe('from one')
  })

  it.each([
    ['keeps it', async () => undefined],
    ['cannot be looked up', () => Promise.reject(new Error('the ledger is silent'))],
    ['has given it to a third one meanwhile', async () => ({})],
  ])('does not have it where the other swap %s', async (_, claimAfter) => {
    expect(await takingDeposit(held, claimAfter)).toBe('depositTaken')
  })

  it('fails as the ledger fails', async () => {
    await expect(
      takingDeposit(
        () => Promise.reject(new Error('the disk is full')),
        async () => givenUp,
      ),
    ).rejects.toThrow('disk')
  })
})
