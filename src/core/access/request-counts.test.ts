import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Observation } from '../../domain/observation.ts'
import type { RequestBatch } from '../ports/usage.ts'
import { RequestCounts } from './request-counts.ts'

beforeEach(() => void vi.useFakeTimers({ now: Date.parse('2026-11-27T10:59:58Z') }))
afterEach(() => void vi.useRealTimers())

const hour = Date.parse('2026-11-27T10:00:00Z')

function request(status: number, fields: object = {}): Observation {
  return { what: 'request', accountId: 'one', operation: 'getRate', status, ...fields } as unknown as Observation
}

/** `isTaking`: whether the ledger takes what is written. */
function rig() {
  const written: RequestBatch[] = []
  const state = { isTaking: true }
  const counts = new RequestCounts({
    async recordRequests(batch) {
      written.push(batch)
      if (!state.isTaking) throw new Error('The ledger is away.')
    },
  })
  return { counts, written, state }
}

it('adds what came within five seconds at once, by hour, operation and result', async () => {
  const { counts, written } = rig()
  for (const status of [200, 201, 304, 429, 404, 401, 500, 504]) counts.observe(request(status))
  counts.observe(request(200, { accountId: undefined }))
  counts.observe(request(200, { operation: undefined }))
  await vi.advanceTimersByTimeAsync(3_000)
  counts.observe(request(200, { operation: 'native', accountId: 'two' }))
  expect(written).toEqual([])
  await vi.advanceTimersByTimeAsync(2_000)
  const own = { account: 'one', hour, operation: 'getRate' }
  expect(written.map(({ counts }) => counts)).toEqual([
    [
      { ...own, result: 'ok', count: 3 },
      { ...own, result: 'limited', count: 1 },
      { ...own, result: 'refused', count: 2 },
      { ...own, result: 'failed', count: 2 },
      { account: 'two', hour: hour + 3_600_000, operation: 'native', result: 'ok', count: 1 },
    ],
  ])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(written).toHaveLength(1)
})

it('writes the same batch again until the ledger has it, and then what came meanwhile under the next number', async () => {
  const { counts, written, state } = rig()
  state.isTaking = false
  counts.observe(request(200))
  await vi.advanceTimersByTimeAsync(5_000)
  counts.observe(request(200))
  counts.observe(request(200))
  await vi.advanceTimersByTimeAsync(5_000)
  state.isTaking = true
  await vi.advanceTimersByTimeAsync(5_000)
  expect(written.map(({ number, counts }) => [number, counts.map(({ count }) => count)])).toEqual([
    [1, [1]],
    [1, [1]],
    [1, [1]],
    [2, [2]],
  ])
  expect(new Set(written.map(({ writer }) => writer)).size).toBe(1)
})

it('writes the rest when it is closed, and ends although the ledger is away', async () => {
  const { counts, written, state } = rig()
  counts.observe(request(200))
  state.isTaking = false
  await counts.close()
  expect(written).toHaveLength(1)
})
