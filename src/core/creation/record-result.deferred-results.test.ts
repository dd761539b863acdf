import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DepositInUse, Fault, LedgerConflict, QuoteNotHeld, TooManyOpenCreates, UncertainChange } from '../../domain/fault.ts'
import type { Observation } from '../../domain/observation.ts'
import type { Intent, LedgerChanges, TransactionRecord } from '../ports/ledger.ts'
import { OtherDeposits } from './other-deposits.ts'
import { DeferredResults } from './record-result.ts'

const record = { derived: [], reportedAt: 1 } as unknown as TransactionRecord
const intent = (id: string) => ({ id }) as Intent
const failure = (cause: unknown) => new Fault('unavailable', 'Later.', { effect: 'refused', reason: 'ledger_unavailable', cause })

let written: string[]
let outcomes: string[]
let refuse: (what: string) => unknown
let results: DeferredResults
let journal: LedgerChanges

function fake(): LedgerChanges {
  const act = (what: string) => async (id: string | Intent) => {
    const name = `${what} ${typeof id === 'string' ? id : id.id}`
    const reason = refuse(name)
    if (reason !== undefined) throw reason
    written.push(name)
    return true
  }
  return {
    begin: act('begin'),
    complete: act('settle'),
    markMismatch: act('contradict'),
    drop: act('drop'),
  } as unknown as LedgerChanges
}

function changesAt(journal: LedgerChanges): LedgerChanges {
  return results.changesAt('alpha', journal, new OtherDeposits({ depositHolder: async () => undefined }, () => undefined))
}

let held: number[]
const observe = (observation: Observation): void => {
  if (observation.what === 'create') outcomes.push(observation.outcome)
  if (observation.what === 'resultsHeld') held.push(observation.count)
}
const fail = (): unknown => failure(new Error('locked'))

beforeEach(() => {
  vi.useFakeTimers()
  written = []
  outcomes = []
  held = []
  refuse = () => undefined
  results = new DeferredResults({ observe, maxResults: 3 })
  journal = changesAt(fake())
})
afterEach(() => void vi.useRealTimers())

describe('L46: a result that the ledger cannot store at once', () => {
  test('rejects, and is written in order as soon as the ledger recovers, with longer and longer pauses', async () => {
    refuse = fail
    for (const id of ['a', 'b']) await expect(journal.complete(id, record)).rejects.toMatchObject({ reason: 'ledger_unavailable' })
    await expect(journal.drop('c')).rejects.toMatchObject({ reason: 'ledger_unavailable' })
    expect(outcomes).toEqual(['unrecorded', 'unrecorded', 'unrecorded'])
    const attempts = vi.fn((_: string) => fail())
    refuse = attempts
    await vi.advanceTimersByTimeAsync(10_000)
    expect(attempts.mock.calls.length).toBeLessThan(10)
    expect(new Set(attempts.mock.calls.slice(0, 4).map(([what]) => what))).toEqual(new Set(['settle a']))
    refuse = () => undefined
    await vi.advanceTimersByTimeAsync(5_000)
    expect(written.toSorted()).toEqual(['drop c', 'settle a', 'settle b'])
    expect(outcomes.slice(3)).toEqual(['recorded', 'recorded', 'recorded'])
    expect(held).toEqual([1, 2, 3, 2, 1, 0])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(written).toHaveLength(3)
  })

  test('and whose deposit address another open swap has got by then, is a mismatch', async () => {
    const claim = { judgedIfTaken: [] }
    refuse = fail
    await expect(journal.complete('a', record, [], claim)).rejects.toMatchObject({ reason: 'ledger_unavailable' })
    refuse = (what) => (what === 'settle a' ? new DepositInUse() : undefined)
    await vi.advanceTimersByTimeAsync(5_000)
    expect([written, outcomes]).toEqual([['contradict a'], ['unrecorded', 'contradicted', 'recorded']])
  })

  test('is left to its request if only its deposit address is in use', async () => {
    refuse = () => new DepositInUse()
    await expect(journal.complete('a', record)).rejects.toThrow(DepositInUse)
    refuse = () => undefined
    await vi.advanceTimersByTimeAsync(5_000)
    expect([written, outcomes]).toEqual([[], []])
  })

  test('is not reconciled meanwhile, also during its first write', async () => {
    const deferred = () => ['a', 'b', 'c'].filter((intent) => results.isDeferred(intent))
    refuse = fail
    await journal.complete('a', record).catch(() => {})
    refuse = () => undefined
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const slow = changesAt({ ...fake(), complete: () => promise })
    const completing = slow.complete('b', record)
    expect(deferred()).toEqual(['a', 'b'])
    resolve(true)
    await completing
    await vi.advanceTimersByTimeAsync(1_000)
    expect(deferred()).toEqual([])
  })

  test('is kept up to a bound; further results are left to reconciliation', async () => {
    refuse = fail
    for (const id of ['a', 'b', 'c', 'd']) await journal.complete(id, record).catch(() => {})
    expect(outcomes).toEqual(['unrecorded', 'unrecorded', 'unrecorded', 'abandoned'])
    refuse = () => undefined
    await vi.advanceTimersByTimeAsync(1_000)
    expect(written).toEqual(['settle a', 'settle b', 'settle c'])
  })

  test('is abandoned if the ledger has another result by then', async () => {
    refuse = fail
    for (const id of ['a', 'b']) await journal.complete(id, record).catch(() => {})
    refuse = (what) => (what === 'settle a' ? failure(new LedgerConflict('bound by hand')) : undefined)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(written).toEqual(['settle b'])
    expect(outcomes.slice(2)).toEqual(['conflicting', 'recorded'])
    await expect(journal.complete('a', record)).rejects.toBeDefined()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(outcomes.slice(4)).toEqual(['conflicting'])
  })

  test('L71: is counted as a duplicate id if another create has its id by then', async () => {
    const complete = vi.fn(async (): Promise<boolean> => false).mockRejectedValueOnce(fail())
    const repeated = changesAt({ ...fake(), complete })
    await expect(repeated.complete('a', record)).rejects.toBeDefined()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(outcomes).toEqual(['unrecorded', 'duplicateId', 'recorded'])
    expect(complete).toHaveBeenCalledTimes(2)
  })

  test('does not delay the others if it can never be written', async () => {
    refuse = fail
    for (const id of ['a', 'b']) await journal.complete(id, record).catch(() => {})
    refuse = (what) => (what === 'settle a' ? fail() : undefined)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(written).toEqual(['settle b'])
  })

  test('is retried once more when the process ends, and then never', async () => {
    refuse = fail
    for (const id of ['a', 'b']) await journal.complete(id, record).catch(() => {})
    refuse = (what) => (what === 'settle b' ? fail() : undefined)
    await results.close()
    expect(written).toEqual(['settle a'])
    expect(outcomes.slice(2)).toEqual(['recorded', 'abandoned'])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(written).toEqual(['settle a'])
  })

  test('does not delay the end of the process', async () => {
    refuse = fail
    let isFirst = true
    const complete = (): Promise<boolean> => {
      if (!isFirst) return new Promise(() => {})
      isFirst = false
      return Promise.reject(fail())
    }
    const neverResolving = changesAt({ ...fake(), complete })
    await neverResolving.complete('a', record).catch(() => {})
    const closing = results.close()
    await vi.advanceTimersByTimeAsync(2_000)
    await closing
    expect(outcomes).toEqual(['unrecorded', 'abandoned'])
  })
})

describe('L48: a create that may have begun', () => {
  test('is withdrawn as soon as the ledger recovers: nothing was sent, so its key is free', async () => {
    refuse = () => failure(new UncertainChange(new Error('cut')))
    await expect(journal.begin(intent('a'))).rejects.toMatchObject({ reason: 'ledger_unavailable' })
    refuse = () => undefined
    await vi.advanceTimersByTimeAsync(1_000)
    expect(written).toEqual(['begin a', 'drop a'])
  })

  test('is left alone if it has certainly not begun', async () => {
    refuse = fail
    await expect(journal.begin(intent('a'))).rejects.toBeDefined()
    refuse = () => undefined
    await vi.advanceTimersByTimeAsync(60_000)
    expect(written).toEqual([])
  })
})

describe('begins that were not confirmed, while the ledger was away', () => {
  const beginAll = async (): Promise<void> => {
    results = new DeferredResults({ observe })
    journal = changesAt(fake())
    refuse = () => failure(new UncertainChange(new Error('cut')))
    for (let at = 0; at < 20; at++) await journal.begin(intent(`begun-${at}`)).catch(() => {})
    await journal.complete('paid', record).catch(() => {})
    await vi.advanceTimersByTimeAsync(60_000)
  }

  test.each([
    ['their quote is over', new QuoteNotHeld()],
    ['the account has too many', new TooManyOpenCreates()],
  ])('were never stored if %s by now: they end', async (_, reason) => {
    await beginAll()
    refuse = (what) => (what.startsWith('begin') ? reason : undefined)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(written).toEqual(['settle paid'])
    expect(held.at(-1)).toBe(0)
  })

  test('hold up no result, however long they cannot be withdrawn', async () => {
    await beginAll()
    refuse = (what) => (what.startsWith('begin') ? fail() : undefined)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(written).toEqual(['settle paid'])
    expect(held.at(-1)).toBe(20)
  })
})
