import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { standardFault } from '../domain/fault.ts'
import { FailedReads, type FailedReadsRow } from './failed-reads.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const timedOut = standardFault('timedOut')
const heldBack = standardFault('unavailable', { retryAfter: 1, effect: 'nothingSent', unavailableCause: 'breaker' })

function noting() {
  const written: (readonly FailedReadsRow[])[] = []
  const failedReads = new FailedReads({ note: async (rows) => void written.push(rows) })
  return { written, failedReads }
}

it('a swap is written after its first failure, then once a minute with what came since', async () => {
  const { written, failedReads } = noting()
  const began = Date.now()
  for (let second = 0; second < 120; second++) {
    failedReads.note('alpha', 'x', timedOut)
    await vi.advanceTimersByTimeAsync(1_000)
  }
  const rows = written.flat()
  expect(rows.length).toBeLessThanOrEqual(3)
  expect(rows[0]).toMatchObject({ provider: 'alpha', id: 'x', since: began, tries: 1, outcome: 'timed_out', owner: 'last_known' })
  for (const { since } of rows) expect(since).toBe(began)
  await failedReads.close()
  expect(written.flat().reduce((sum, { tries }) => sum + tries, 0)).toBe(120)
})

it('ten thousand swaps of a silent provider are at most a hundred rows a second, and each comes', async () => {
  const { written, failedReads } = noting()
  for (let second = 0; second < 100; second++) {
    for (let number = 0; number < 10_000; number++) if (second % 10 === 0) failedReads.note('alpha', `tx-${number}`, timedOut)
    const before = written.flat().length
    await vi.advanceTimersByTimeAsync(1_000)
    expect(written.flat().length - before).toBeLessThanOrEqual(100)
  }
  await vi.advanceTimersByTimeAsync(20_000)
  expect(new Set(written.flat().map(({ id }) => id)).size).toBe(10_000)
})

it('what the gateway holds back is no try', async () => {
  const { written, failedReads } = noting()
  failedReads.note('alpha', 'x', heldBack)
  await failedReads.close()
  expect(written.flat()).toMatchObject([{ tries: 0, outcome: 'held_back', cause: 'breaker' }])
})

it('a read ends it, and the next failure begins anew', async () => {
  const { written, failedReads } = noting()
  failedReads.note('alpha', 'x', timedOut)
  expect(failedReads.end('alpha', 'x')).toBe(true)
  expect(failedReads.end('alpha', 'x')).toBe(false)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(written).toEqual([])
  const began = Date.now()
  failedReads.note('alpha', 'x', timedOut)
  await failedReads.close()
  expect(written.flat()).toMatchObject([{ since: began, tries: 1 }])
})

it('while the ledger fails it is tried again, and nothing is lost', async () => {
  const rows: FailedReadsRow[] = []
  let isAway = true
  const failedReads = new FailedReads({
    async note(more) {
      if (isAway) throw new Error('away')
      rows.push(...more)
    },
  })
  failedReads.note('alpha', 'x', timedOut)
  await vi.advanceTimersByTimeAsync(30_000)
  failedReads.note('alpha', 'x', timedOut)
  isAway = false
  await vi.advanceTimersByTimeAsync(20_000)
  expect(rows).toMatchObject([{ tries: 2 }])
})
