/** Who waits for a ledger that has more to do than it can (docs/contract-operators.md §10.4). */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LedgerBusy } from '../../src/domain/fault.ts'
import { Turns } from '../../src/domain/turns.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { LedgerTurns } from '../../src/ledger/turns.ts'

const never = new Promise<never>(() => {})

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

test('creates leave room for reads; who gets no turn is counted', async () => {
  const refused: string[] = []
  const turns = new LedgerTurns({ creates: 2, reads: 1 }, (work) => void refused.push(work))
  const begins = Array.from({ length: 5 }, () => turns.begin('noisy', () => never).catch((reason) => reason))
  expect(await turns.readRow('noisy', async () => 'a row')).toBe('a row')
  await vi.advanceTimersByTimeAsync(599)
  expect([turns.waits('noisy'), turns.waits('quiet')]).toEqual([
    { readMs: 0, writeMs: 599 },
    { readMs: 0, writeMs: 0 },
  ])
  await vi.advanceTimersByTimeAsync(1)
  expect(await Promise.all(begins.slice(2))).toEqual([expect.any(LedgerBusy), expect.any(LedgerBusy), expect.any(LedgerBusy)])
  expect(refused).toEqual(['create', 'create', 'create'])
})

test('a row that the ledger does not return within a second is not waited for', async () => {
  const turns = new LedgerTurns({ creates: 1, reads: 1 }, () => {})
  const found = turns.readRow('owner', () => never).catch((reason) => reason)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await found).toBeInstanceOf(LedgerBusy)
})

test('what an account asks before a create is sent, and its reads, take turns; results and background work never wait here', async () => {
  vi.useRealTimers()
  const works = ['begin', 'create', 'read', 'readRow'] as const
  const asked: string[] = []
  for (const work of works)
    vi.spyOn(LedgerTurns.prototype, work).mockImplementation(async () => {
      asked.push(work)
      throw new LedgerBusy('')
    })
  const { ledger, close } = await openLedger('sqlite::memory:')
  const turnOf: Record<string, string> = {}
  for (const [name, method] of Object.entries(ledger).filter(([name]) => name !== 'close')) {
    asked.length = 0
    const [first, ...others] = name === 'begin' || name === 'keepFirmQuote' ? [{ owner: 'owner' }] : ['owner', 'alpha', []]
    await (async () => method(first as never, ...(others as never[])))().catch(() => {})
    turnOf[name] = asked.join()
  }
  await close()
  vi.restoreAllMocks()
  expect(turnOf).toEqual({
    begin: 'begin',
    keepFirmQuote: 'create',
    find: 'readRow',
    ...named('read', 'findIdempotencyKey', 'findFirmQuote', 'findAll', 'list', 'someOpen', 'listElsewhere', 'upsert'),
    ...named('', 'markQuoted', 'drop', 'markUnknown', 'complete', 'bindFound', 'markMismatch', 'noteShown'),
    ...named('', 'depositHolder', 'boundCreate', 'takeDeposit', 'existingIds', 'mismatchedIds', 'swapsNamed', 'knownOwners'),
    ...named('', 'dropUnquoted', 'dueCreates', 'ownersOfUnresolved', 'beginCheck', 'scheduleNextCheck', 'markNotCreated'),
    ...named('', 'dueRefusedCreates', 'scheduleNextRefusedCheck', 'keepRefused', 'keepCandidates'),
    ...named('', 'unresolvedBetween', 'unresolvedElsewhere', 'leaseOpen', 'leaseLost', 'releaseOpen'),
    ...named('', 'expireIdempotencyKeys', 'expireFirmQuotes'),
  })
})

function named(turn: string, ...names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, turn]))
}
