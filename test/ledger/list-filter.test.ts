/** Lists of an owner's transactions by status and by when that changed: pages and totals are exact (docs/contract.md §3.4). */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LedgerEntry, ListFilter } from '../../src/core/ports/ledger.ts'
import { type Status, statuses } from '../../src/domain/status.ts'
import { always, facts, intent, unique } from './samples.ts'
import { allStores, describeStores } from './stores.ts'

const base = Date.UTC(2026, 0, 1)

interface Row {
  readonly id: string
  readonly status: Status | undefined
  readonly createdAt: number
  readonly changedAt: number | undefined
}

function passes({ status, createdAt, changedAt }: Row, filter: ListFilter): boolean {
  const isWanted = filter.statuses === undefined || (status !== undefined && filter.statuses.includes(status))
  return isWanted && (filter.changedSince === undefined || (changedAt ?? createdAt) >= filter.changedSince)
}

const moment = fc.integer({ min: 0, max: 6 }).map((step) => base + step * 1_000)
const rowsOf = fc.array(
  fc.record({
    status: fc.option(fc.constantFrom(...statuses), { nil: undefined }),
    createdAt: moment,
    changedAt: fc.option(moment, { nil: undefined }),
  }),
  { minLength: 1, maxLength: 25 },
)
const filters = fc
  .record(
    { statuses: fc.uniqueArray(fc.constantFrom(...statuses), { minLength: 1, maxLength: 2 }), changedSince: moment },
    { requiredKeys: [] },
  )
  .filter(({ statuses: wanted, changedSince }) => wanted !== undefined || changedSince !== undefined)
const spans = fc.option(fc.tuple(moment, moment), { nil: undefined })
const queries = fc.array(fc.tuple(filters, fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 9 }), spans), {
  minLength: 1,
  maxLength: 8,
})

const idsOf = (entries: readonly LedgerEntry[]): readonly string[] => entries.map(({ transaction }) => transaction.id)
const nanoseconds = (at: number): bigint => BigInt(at) * 1_000_000n

describeStores(allStores, (shared) => {
  test('are what filtering, sorting and cutting gives', async () => {
    const { ledger } = shared()
    await fc.assert(
      fc.asyncProperty(rowsOf, queries, async (samples, sampledQueries) => {
        const [owner, provider] = [unique('owner'), unique('provider')]
        const rows = samples.map((row, at): Row => ({ ...row, id: `t${String(at).padStart(2, '0')}` }))
        for (const { id, status, createdAt, changedAt } of rows)
          await ledger.upsert(owner, provider, {
            ...facts(id, { status, createdAt: new Date(createdAt).toISOString() }),
            changedAt,
          })
        for (const [filter, page, size, span] of sampledQueries) {
          const [first, last] = span ? [Math.min(...span), Math.max(...span)] : [0, Number.MAX_SAFE_INTEGER]
          const found = rows
            .filter((row) => passes(row, filter) && row.createdAt >= first && row.createdAt <= last)
            .toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1))
          const created = span ? { first: nanoseconds(first), last: nanoseconds(last) } : always
          const { entries, total } = await ledger.list(owner, { page, size, created, filter })
          expect([idsOf(entries), total]).toEqual([found.slice((page - 1) * size, page * size).map(({ id }) => id), found.length])
        }
      }),
      { numRuns: 25 },
    )
  })

  test('a create counts by its attempt where the clock of the provider is behind', async () => {
    const { ledger } = shared()
    const [owner, provider] = [unique('owner'), unique('provider')]
    const attempt = intent({ owner, provider, attemptedAt: base + 60_000 })
    await ledger.begin(attempt)
    await ledger.complete(attempt.id, facts(unique('id'), { createdAt: new Date(base).toISOString() }))
    const totalSince = async (changedSince: number) =>
      (await ledger.list(owner, { page: 1, size: 1, created: always, filter: { changedSince } })).total
    expect(await totalSince(base + 60_000)).toBe(1)
    expect(await totalSince(base + 60_001)).toBe(0)
  })

  test('some of the open ones are those that have neither ended nor become overdue, at these providers', async () => {
    const { ledger } = shared()
    const [owner, provider, other] = [unique('owner'), unique('provider'), unique('provider')]
    const kept = [...statuses, undefined].map((status) => ({ id: unique('t'), status }))
    for (const { id, status } of kept) await ledger.upsert(owner, provider, facts(id, { status }))
    await ledger.upsert(owner, other, facts(unique('t'), { status: 'wait' }))
    await ledger.upsert(unique('owner'), provider, facts(unique('t'), { status: 'wait' }))
    const ended: ReadonlySet<Status | undefined> = new Set<Status>(['success', 'overdue', 'refunded'])
    const open = kept.filter(({ status }) => !ended.has(status)).map(({ id }) => id)
    expect(new Set(idsOf(await ledger.someOpen(owner, [provider], 100)))).toEqual(new Set(open))
    expect(await ledger.someOpen(owner, [provider], 2)).toHaveLength(2)
    expect(await ledger.someOpen(owner, [], 100)).toEqual([])
  })
})
