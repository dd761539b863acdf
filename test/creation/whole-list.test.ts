/** docs/contract-operators.md §10.2: what a provider's list must be like for a create of unknown outcome to be bound by it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { memoryBudgets } from '../../src/adapters/memory.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { listedB } from '../support/form-b.ts'
import { digits } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, loseResponses, outcomesOf } from '../support/outcomes.ts'
import { formNames } from '../support/pair.ts'
import { cut, type Swap, swap } from '../support/swaps.ts'

let managed: Managed
let key: string
afterEach(() => managed.close())

const nameOf = { A: 'alpha', B: 'beta' } as const

const create = (): Promise<ReceivedResponse> =>
  managed.client('A').post('/transactions', orderIn('A'), { key, headers: { 'idempotency-key': 'order-2' } })

async function look(): Promise<string | undefined> {
  await lookNow(managed.gateway)
  return outcomesOf(managed.gateway).at(-1)
}

describe.each(formNames)('a provider of form %s', (side) => {
  const provider = () => managed[nameOf[side]]
  const rowOf = (facts: Swap): Record<string, unknown> => (side === 'A' ? transactionA(facts) : listedB(facts))
  const made = (): Swap => provider().holdings.swaps.at(-1) as Swap
  /** `change` may change the rows before the n-th page is read. */
  const listOf = (rows: unknown[], change: (page: number) => void = () => {}): void => {
    let pages = 0
    provider().reply('list', (received) => {
      change(++pages)
      const { page, size, rows: data } = cut(rows, received, 20)
      return { json: { data, count: rows.length, pagination: { page, size, total: rows.length } } }
    })
  }

  beforeEach(async () => {
    managed = await startManaged({ routing: [nameOf[side]] })
    key = await managed.issue()
    loseResponses(provider(), { refundAddress: null })
    expectRefusal(await create(), 'A', 504)
    provider().reply('create', { status: 500, json: {} })
  })

  const others = (count: number): Record<string, unknown>[] =>
    Array.from({ length: count }, (_, at) => rowOf({ ...made(), id: `other-${at}`, amountIn: digits('7') }))

  test('L25: a twin that shows only when the first page is read again is not passed over', async () => {
    const rows: unknown[] = [rowOf(made())]
    listOf(rows, (page) => page === 2 && rows.unshift(rowOf({ ...made(), id: 'twin' })))
    expect(await look()).toBe('ambiguous')
    expectRefusal(await create(), 'A', 409)
  })

  test('L25: a list that becomes shorter between its pages is not whole: the twin may have moved up', async () => {
    const rows = [
      rowOf(made()),
      ...others(99),
      rowOf({ ...made(), id: 'twin' }),
      ...others(3).map((row) => ({ ...row, id: `${row.id}-b` })),
    ]
    listOf(rows, (page) => page === 2 && rows.splice(50, 1))
    expect(await look()).toBe('lookupFailed')
    listOf(rows)
    expect(await look()).toBe('ambiguous')
  })

  test('L25: new transactions that come in while the list is read hold up nothing', async () => {
    const rows = [...others(120), rowOf(made())]
    listOf(rows, (page) => page === 2 && rows.unshift({ ...others(1)[0], id: 'new' }))
    expect(await look()).toBe('found')
  })

  const odd: readonly [string, (row: Record<string, unknown>) => object][] = [
    ['an id of 257 characters', (row) => ({ ...row, id: 'x'.repeat(257) })],
    ['no id', (row) => ({ ...row, id: null })],
    ['an amount that is no number', (row) => ({ ...row, id: 'odd', [side === 'A' ? 'amount' : 'amount_in']: 'much' })],
    ['a creation time that is no time', (row) => ({ ...row, id: 'odd', [side === 'A' ? 'createdAt' : 'created_at']: 'yesterday' })],
    ...(side === 'A'
      ? [
          ['an unknown rate type', (row) => ({ ...row, id: 'odd', rateType: 'semi' })] as const satisfies [
            string,
            (row: Record<string, unknown>) => object,
          ],
        ]
      : []),
  ]

  test.each(odd)('L27: a row with %s that could be it blocks its create', async (_, toOdd) => {
    listOf([rowOf(made()), toOdd(rowOf(made()))])
    expect(await look()).toBe('ambiguous')
  })

  test.each(odd)('L27: a row with %s that is another swap blocks nothing', async (_, toOdd) => {
    const coin = side === 'A' ? { coinFrom: 'ETH' } : { coin_from: 'ETH' }
    listOf([toOdd({ ...rowOf(made()), ...coin }), rowOf(made())])
    expect(await look()).toBe('found')
    expect((await create()).status).toBe(201)
  })

  test('L27: a row that is nothing at all blocks every create', async () => {
    listOf([rowOf(made()), null])
    expect(await look()).toBe('ambiguous')
  })
})

describe('L26: 800 rows, and 5 reads a minute', () => {
  test('are read whole after several looks, and clients have reads of their own meanwhile', async () => {
    let now = 0
    const clock = (): number => now
    const rateLimit = { quotes: 0, create: 0, read: 5 }
    managed = await startManaged({ providers: { alpha: { rateLimit } }, budgets: memoryBudgets(clock), steadyClock: clock })
    const { alpha, gateway } = managed
    key = await managed.issue()
    const created = await managed.client('A').post('/transactions', orderIn('A'), { key })
    const { id } = created.json as { id: string }
    loseResponses(alpha)
    expectRefusal(await create(), 'A', 504)
    const old = Array.from({ length: 798 }, (_, at) => swap({ id: `old-${at}` }))
    alpha.holdings.swaps = [...old, ...alpha.holdings.swaps]
    let looks = 0
    for (; outcomesOf(gateway).at(-1) !== 'found' && looks < 10; looks++) {
      alpha.journal.length = 0
      await lookNow(gateway)
      expect(alpha.received('list').length + alpha.received('get').length).toBeLessThanOrEqual(3)
      const read = await managed.client('A').get(`/transactions/${id}`, { key })
      expect([read.status, read.headers['x-swap-stale']]).toEqual([200, undefined])
      now += 60_000
    }
    expect(looks).toBeLessThanOrEqual(5)
    expect((await create()).json).toMatchObject({ id: 'alpha~lost-2' })
  })
})
