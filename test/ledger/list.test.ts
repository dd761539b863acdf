/** Lists of an owner's transactions: pages, totals and dates are exact, whatever the number (docs/contract-operators.md §12). */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Ledger } from '../../src/core/ports/ledger.ts'
import type { TimeRange } from '../../src/domain/instant.ts'
import { maxSegmentEntries } from '../../src/ledger/page-index.ts'
import { always, eachOf, facts, intent, unique } from './samples.ts'
import { allStores, describeStores } from './stores.ts'

/** What the list is to be: sorted and cut in the plainest way. */
interface Row {
  readonly id: string
  readonly provider: string
  readonly at: bigint
}

function expected(rows: readonly Row[], page: number, size: number, { first, last }: TimeRange) {
  const within = rows.filter(({ at }) => at >= first && at <= last)
  const sorted = within.toSorted((a, b) => compare(b.at, a.at) || compare(a.id, b.id) || compare(a.provider, b.provider))
  return { ids: sorted.slice((page - 1) * size, page * size).map(name), total: sorted.length }
}

function compare<T>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}

const name = ({ id, provider }: Pick<Row, 'id' | 'provider'>) => `${provider}~${id}`

async function listed(ledger: Ledger, owner: string, page: number, size: number, created: TimeRange) {
  const { entries, total } = await ledger.list(owner, { page, size, created })
  return { ids: entries.map(({ transaction, provider }) => name({ id: transaction.id, provider })), total }
}

const base = 1_767_225_600_000_000_000n

function text(at: bigint): string {
  const seconds = new Date(Number(at / 1_000_000_000n) * 1_000).toISOString().slice(0, 19)
  return `${seconds}.${String(at % 1_000_000_000n).padStart(9, '0')}Z`
}

/** Some close together, some far apart, many at one instant. */
const instants = fc.oneof(
  fc.bigInt({ min: 0n, max: 3n }),
  fc.bigInt({ min: 0n, max: 3n }).map((n) => n * 1_000_000_000n),
  fc.bigInt({ min: 0n, max: 400n }).map((n) => n * 86_400_000_000_000n),
)

describeStores(allStores, (shared) => {
  test('L20: pages, totals and dates are what sorting and cutting gives', async () => {
    const { ledger } = shared()
    const rows = fc.array(fc.tuple(instants, fc.constantFrom('p', 'q')), { minLength: 1, maxLength: 25 })
    const queries = fc.array(fc.tuple(fc.nat(6), fc.integer({ min: 1, max: 9 }), instants, instants), {
      minLength: 1,
      maxLength: 6,
    })
    await fc.assert(
      fc.asyncProperty(rows, queries, async (created, sampledQueries) => {
        const [owner, run] = [unique('owner'), unique('')]
        const kept = created.map(([after, tag], n) => ({
          id: `${n % 2 === 0 ? 'b' : 'B'}${(n * 7) % 25}`,
          provider: `${tag}${run}`,
          at: base + after,
        }))
        for (const { id, provider, at } of kept) await ledger.upsert(owner, provider, facts(id, { createdAt: text(at) }))
        for (const [page, size, one, another] of sampledQueries) {
          const span = one < another ? { first: base + one, last: base + another } : always
          expect(await listed(ledger, owner, page + 1, size, span)).toEqual(expected(kept, page + 1, size, span))
        }
      }),
      { numRuns: 25 },
    )
  })

  test('L20: so they are if the entries fill several segments, in any order', async () => {
    const { ledger } = shared()
    const [owner, provider] = [unique('owner'), unique('provider')]
    const count = maxSegmentEntries + 500
    // A stride that has no factor in common with the number of rows visits each once, in no order.
    const rows = Array.from({ length: count }, (_, n) => ({
      id: `${n % 2 === 0 ? 'b' : 'B'}${n}`,
      provider,
      at: base + BigInt(((n * 1_013) % count) >> 2) * 1_000_000_000n,
    }))
    await eachOf(rows, ({ id, at }) => ledger.upsert(owner, provider, facts(id, { createdAt: text(at) })))
    const middle = { first: base + 100_000_000_000n, last: base + 250_000_000_000n }
    for (const span of [always, middle, { first: base, last: base }, { first: always.first, last: middle.last }]) {
      const { total } = expected(rows, 1, 1, span)
      for (const page of [1, 2, 26, 52, Math.ceil(total / 20), Math.ceil(total / 20) + 1]) {
        expect(await listed(ledger, owner, page, 20, span)).toEqual(expected(rows, page, 20, span))
      }
    }
  })

  test('a page past the end is empty, and its total is right', async () => {
    const { ledger } = shared()
    const [owner, provider] = [unique('owner'), unique('provider')]
    expect(await ledger.list(owner, { page: 1, size: 10, created: always })).toEqual({ entries: [], total: 0 })
    await ledger.upsert(owner, provider, facts('x'))
    for (const page of [2, 3, 1_000_000, Number.MAX_SAFE_INTEGER]) {
      expect(await ledger.list(owner, { page, size: 100, created: always })).toEqual({ entries: [], total: 1 })
    }
  })

  test('bounds are exact to the nanosecond, both included, and may lie beyond all time', async () => {
    const { ledger } = shared()
    const [owner, provider] = [unique('owner'), unique('provider')]
    await ledger.upsert(owner, provider, facts('x', { createdAt: '2026-01-01T00:00:00.000000001Z' }))
    await ledger.upsert(owner, provider, facts('y', { createdAt: '9999-12-31T23:59:59Z' }))
    await ledger.upsert(owner, provider, facts('z', { createdAt: '0001-01-01T00:00:00Z' }))
    const at = base + 1n
    const total = async (first: bigint, last: bigint) =>
      (await ledger.list(owner, { page: 1, size: 1, created: { first, last } })).total
    expect(await total(at, at)).toBe(1)
    expect(await total(at + 1n, at + 5n)).toBe(0)
    expect(await total(at - 5n, at - 1n)).toBe(0)
    expect(await total(always.first, at)).toBe(2)
    expect(await total(at, always.last)).toBe(2)
    expect(await total(always.first, always.last)).toBe(3)
    expect(await total(at, at - 1n)).toBe(0)
  })

  test('entries and total are of one moment while others are written', async () => {
    const { ledger } = shared()
    const [owner, provider] = [unique('owner'), unique('provider')]
    const writing = Promise.all(Array.from({ length: 60 }, (_, n) => ledger.upsert(owner, provider, facts(`${n}`))))
    const lists = await Promise.all(Array.from({ length: 60 }, () => ledger.list(owner, { page: 1, size: 100, created: always })))
    await writing
    for (const { entries, total } of lists) expect(entries).toHaveLength(total)
    expect((await ledger.list(owner, { page: 1, size: 100, created: always })).total).toBe(60)
  })

  test.each([
    ['1970', '1970-01-01T00:00:00Z'],
    ['2100', '2100-01-01T00:00:00Z'],
    ['no time at all', 'yesterday'],
    ['just out of reach', new Date(Date.UTC(2026, 6, 1) - 120_001).toISOString()],
  ])('U24: the provider’s clock has %s: the gateway’s own orders the list', async (_, createdAt) => {
    const { ledger } = shared()
    const [owner, provider] = [unique('owner'), unique('provider')]
    const start = Date.UTC(2026, 6, 1)
    for (const [n, timestamp] of [new Date(start).toISOString(), createdAt, new Date(start + 5_000).toISOString()].entries()) {
      const made = intent({ owner, provider, attemptedAt: start + n * 1_000 })
      await ledger.begin(made)
      await ledger.complete(made.id, facts(`${n}`, { createdAt: timestamp }))
    }
    const { entries } = await ledger.list(owner, { page: 1, size: 10, created: always })
    expect(entries.map(({ transaction }) => transaction.id)).toEqual(['2', '1', '0'])
    expect(entries[1]?.transaction.createdAt).toBe(createdAt)
  })

  test('U24: a provider’s clock that is a little off is believed, with or without its zone', async () => {
    const { ledger } = shared()
    const [owner, provider] = [unique('owner'), unique('provider')]
    const start = Date.UTC(2026, 6, 1)
    const offsets = [0, -120_000, 600_000]
    for (const [n, offset] of offsets.entries()) {
      const made = intent({ owner, provider, attemptedAt: start })
      await ledger.begin(made)
      await ledger.complete(
        made.id,
        facts(`${n}`, { createdAt: new Date(start + offset).toISOString().slice(0, n === 2 ? -1 : undefined) }),
      )
    }
    const { entries } = await ledger.list(owner, { page: 1, size: 10, created: always })
    expect(entries.map(({ transaction }) => transaction.id)).toEqual(['2', '0', '1'])
  })
})
