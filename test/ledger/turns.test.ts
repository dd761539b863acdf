/** Who waits for a ledger that has more to do than it can (docs/contract-operators.md §10.4). */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Ledger } from '../../src/core/ports/ledger.ts'
import { LedgerBusy } from '../../src/domain/fault.ts'
import type { Observation } from '../../src/domain/observation.ts'
import { Turns } from '../../src/domain/turns.ts'
import { inTurns } from '../../src/ledger/turns.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Work that takes so long, and notes when it begins. */
function timedWork(ms: number) {
  const begun: string[] = []
  const run = (turns: Turns, account: string, name = account) =>
    turns.run(account, async () => {
      begun.push(name)
      await new Promise((resolve) => setTimeout(resolve, ms))
    })
  return { begun, run }
}

test('accounts take turns: one that asks for more waits for itself alone', async () => {
  const turns = new Turns(1)
  const { begun, run } = timedWork(10)
  const noisy = Array.from({ length: 50 }, () => run(turns, 'noisy'))
  const quiet = ['one', 'two'].flatMap((account) => [run(turns, account), run(turns, account)])
  await vi.advanceTimersByTimeAsync(70)
  await Promise.all(quiet)
  expect(begun.slice(0, 7)).toEqual(['noisy', 'noisy', 'one', 'two', 'noisy', 'one', 'two'])
  await vi.advanceTimersByTimeAsync(500)
  await Promise.all(noisy)
  expect(begun).toHaveLength(54)
})

test('what is urgent has the next turn', async () => {
  const turns = new Turns(1)
  const { begun, run } = timedWork(10)
  const others = ['one', 'two', 'three'].map((account) => run(turns, account))
  const urgent = turns.runFirst(async () => void begun.push('urgent'))
  await vi.advanceTimersByTimeAsync(10)
  await urgent
  expect(begun.slice(0, 3)).toEqual(['one', 'urgent', 'two'])
  await vi.advanceTimersByTimeAsync(20)
  await Promise.all(others)
})

test('at most the limit runs at a time, also after failures', async () => {
  const turns = new Turns(2)
  let [running, most] = [0, 0]
  const fail = (account: string) =>
    turns.run(account, async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 10))
      running--
      throw new Error('failed')
    })
  const all = Promise.allSettled(Array.from({ length: 20 }, (_, at) => fail(`account-${at % 3}`)))
  await vi.advanceTimersByTimeAsync(100)
  expect((await all).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 'rejected'))
  expect(most).toBe(2)
  expect(turns.waitMs('account-0')).toBe(0)
})

test('who gets no turn in time is refused, without a change', async () => {
  const turns = new Turns(1, { maxWaitMs: 600 })
  const { begun, run } = timedWork(1_500)
  const first = run(turns, 'noisy')
  const second = run(turns, 'noisy', 'second').catch((reason) => reason)
  await vi.advanceTimersByTimeAsync(599)
  expect([turns.waitMs('noisy'), turns.waitMs('quiet')]).toEqual([599, 0])
  await vi.advanceTimersByTimeAsync(1)
  expect(await second).toBeInstanceOf(LedgerBusy)
  await vi.advanceTimersByTimeAsync(900)
  await first
  expect(begun).toEqual(['noisy'])
  expect(turns.waitMs('noisy')).toBe(0)
})

test('creates leave room for reads, and results never wait here; who gets no turn is counted', async () => {
  const observed: Observation[] = []
  const never = new Promise<never>(() => {})
  const silent = {
    begin: () => never,
    find: () => Promise.resolve(undefined),
    complete: () => Promise.resolve(true),
  } as unknown as Ledger
  const { ledger, ledgerWaits } = inTurns(silent, { creates: 2, reads: 1 }, (observation) => void observed.push(observation))
  const begins = Array.from({ length: 5 }, () => ledger.begin({ owner: 'noisy' } as never).catch((reason) => reason))
  expect(await ledger.find('noisy', 'alpha', 'x')).toBeUndefined()
  expect(await ledger.complete('intent', {} as never)).toBe(true)
  await vi.advanceTimersByTimeAsync(599)
  expect([ledgerWaits('noisy'), ledgerWaits('quiet')]).toEqual([
    { readMs: 0, writeMs: 599 },
    { readMs: 0, writeMs: 0 },
  ])
  await vi.advanceTimersByTimeAsync(1)
  expect(await Promise.all(begins.slice(2))).toEqual([expect.any(LedgerBusy), expect.any(LedgerBusy), expect.any(LedgerBusy)])
  expect(observed).toEqual(Array.from({ length: 3 }, () => ({ what: 'turnRefused', work: 'create' })))
})

test('a row that the ledger does not return within a second is not waited for', async () => {
  const silent = { find: () => new Promise<never>(() => {}) } as unknown as Ledger
  const { ledger } = inTurns(silent, { creates: 1, reads: 1 }, () => {})
  const found = ledger.find('owner', 'alpha', 'x').catch((reason) => reason)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await found).toBeInstanceOf(LedgerBusy)
})
