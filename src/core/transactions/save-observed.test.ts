import { describe, expect, it } from 'vitest'
import { AssetTable } from '../../domain/asset.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import type { Transaction } from '../../domain/swap.ts'
import { SequenceClock } from '../clock.ts'
import type { LedgerEntry } from '../ports/ledger.ts'
import { numberRequests, rebase } from './save-observed.ts'

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

const start = Date.parse('2026-03-01T10:00:00Z')
const hour = 3_600_000
let now = start
const clock = (): number => now

it('each sequence is greater than the one before, whatever the wall clock does', () => {
  const sequences = new SequenceClock(clock)
  const sequencesGiven = [0, 0, -hour, 1, hour].map((clockJump) => {
    now += clockJump
    return sequences.next()
  })
  expect(sequencesGiven).toEqual(sequencesGiven.toSorted((a, b) => a - b))
  expect(new Set(sequencesGiven).size).toBe(5)
})

it('L41: a sequence of another process is observed', () => {
  now = start
  const [one, other] = [new SequenceClock(clock), new SequenceClock(() => now + hour)]
  const otherSequence = other.next()
  expect(one.next()).toBeLessThan(otherSequence)
  one.observe(otherSequence)
  one.observe(undefined)
  expect(one.next()).toBeGreaterThan(otherSequence)
})

it('L41: if the clock of another process was wrong by more than seconds, the current response is the later one', () => {
  now = start
  const sequences = new SequenceClock(clock)
  const sent = sequences.next()
  expect(sequences.align(sent, undefined)).toBe(sent)
  expect(sequences.align(sent, sent + 5_000_000)).toBe(sent)
  const far = sent + 5_000_000 + hour * 1_000
  expect(sequences.align(sent, far)).toBeGreaterThan(far)
  expect(sequences.align(undefined, far + 10_000_000)).toBeUndefined()
  expect(sequences.next()).toBeGreaterThan(far + 10_000_000)
})

it('a response has the sequence of the moment at which its request was sent', async () => {
  const sequences = new SequenceClock(clock)
  const resolvers: (() => void)[] = []
  const service = {
    call: () => new Promise((resolve) => void resolvers.push(() => resolve({ body: {} }))),
  } as unknown as SwapService
  const numbered = numberRequests(sequences)(service)
  const responses = [1, 2].map(() => numbered.call('getTransaction', { id: 'x' }, {} as Context))
  for (const reply of resolvers.toReversed()) reply()
  const [first, second] = await Promise.all(responses)
  expect(first?.sequence).toBeLessThan(second?.sequence ?? 0)
})
