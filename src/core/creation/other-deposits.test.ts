import { expect, it, test, vi } from 'vitest'
import { memoryLimiter } from '../../adapters/memory.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import type { Transaction } from '../../domain/swap.ts'
import type { LedgerEntry } from '../ledger.ts'
import { OtherDeposits } from './other-deposits.ts'

const transaction = {
  id: 'one',
  amountIn: '1',
  depositAddress: 'rShared',
  depositExtraId: '7',
  createdAt: '',
} as unknown as Transaction
const held = { transaction, provider: 'alpha', owner: 'ann' } as unknown as LedgerEntry
const context = { deadline: performance.now() + 60_000, caller: { address: '', identity: 'bob' } } as unknown as Context

const now = 10 * 86_400_000
const hoursAgo = (hours: number): string => new Date(now - hours * 3_600_000).toISOString()

function look(entries: readonly LedgerEntry[], report?: Partial<Transaction>, limiter = memoryLimiter()) {
  const openDeposits = vi.fn(async (_key: string, _since: number) => entries)
  const call = async () => ({ body: { ...transaction, ...report } }) as never
  const reader: SwapService | undefined = report && { call }
  const clock = (): number => now
  const deposits = new OtherDeposits({ openDeposits }, limiter, () => reader, clock, clock)
  const isAnothers = async (created: Transaction, of: Context): Promise<boolean> => {
    const claim = await deposits.claim(created, 'beta')
    return claim === 'anothers' || (await deposits.have(created, 'beta', of, claim))
  }
  return { isAnothers, openDeposits }
}

test.each<[string, Partial<Transaction>, boolean]>([
  ['the same address and memo', { id: 'two' }, true],
  ['another memo', { id: 'two', depositExtraId: '8' }, false],
  ['no memo', { id: 'two', depositExtraId: undefined }, false],
  ['another address', { id: 'two', depositAddress: 'rOther' }, false],
])('%s, while the other swap cannot be read', async (_, facts, isTaken) => {
  const { isAnothers, openDeposits } = look([held])
  expect(await isAnothers({ ...transaction, ...facts }, context)).toBe(isTaken)
  expect(openDeposits.mock.calls[0]?.[1]).toBe(3 * 86_400_000)
})

test.each<[string, Partial<Transaction>, boolean]>([
  ['waits', { status: 'wait' }, true],
  ['has ended', { status: 'success' }, false],
  ['is overdue', { status: 'overdue' }, false],
  ['is another transaction', { id: 'three', status: 'success' }, true],
])('the other swap %s when it is read once more', async (_, report, isTaken) => {
  expect(await look([held], report).isAnothers({ ...transaction, id: 'two' }, context)).toBe(isTaken)
})

test.each<[string, number, Partial<Transaction> | undefined, boolean]>([
  ['a day over', 24, undefined, false],
  ['not a day over', 24 - 1 / 3_600, undefined, true],
  ['not a day over, and it is read with an earlier one', 23, { validUntil: hoursAgo(30) }, false],
  ['not a day over, and it is read with a later one', 23, { validUntil: hoursAgo(1) }, true],
])('the other swap’s own expiry is %s', async (_, hours, report, isTaken) => {
  const entry = { ...held, transaction: { ...transaction, validUntil: hoursAgo(hours) } }
  expect(await look([entry], report).isAnothers({ ...transaction, id: 'two' }, context)).toBe(isTaken)
})

it('is not its own', async () => {
  const own = { ...held, provider: 'beta' } as LedgerEntry
  expect(await look([own]).isAnothers(transaction, context)).toBe(false)
})

it('is known of a create that the ledger does not have yet', async () => {
  const { isAnothers } = look([])
  expect(await Promise.all([isAnothers(transaction, context), isAnothers({ ...transaction, id: 'two' }, context)])).toEqual([
    false,
    true,
  ])
})

it('is known of a create of another process, as soon as the ledger has it', async () => {
  const limiter = memoryLimiter()
  const [one, other] = [look([], undefined, limiter), look([], undefined, limiter)]
  expect(await one.isAnothers(transaction, context)).toBe(false)
  other.openDeposits.mockResolvedValueOnce([]).mockResolvedValueOnce([]).mockResolvedValueOnce([held])
  expect(await other.isAnothers({ ...transaction, id: 'two' }, context)).toBe(true)
  expect(one.openDeposits).toHaveBeenCalledTimes(1)
})

it('is the same swap, if another process got its id', async () => {
  const limiter = memoryLimiter()
  const own = { ...held, provider: 'beta' } as LedgerEntry
  await look([], undefined, limiter).isAnothers(transaction, context)
  expect(await look([own], undefined, limiter).isAnothers(transaction, context)).toBe(false)
})

it('is not looked for any longer if the ledger fails: the result goes first', async () => {
  const { isAnothers, openDeposits } = look([held])
  openDeposits.mockRejectedValueOnce(new Error('lost'))
  expect(await isAnothers({ ...transaction, id: 'two' }, context)).toBe(false)
})
