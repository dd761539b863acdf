import { expect, test } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import type { Amount } from '../../domain/amount.ts'
import { Fault } from '../../domain/fault.ts'
import type { Context, Op, SwapService } from '../../domain/service.ts'
import type { NewTransaction, Page, Transaction } from '../../domain/swap.ts'
import { formA } from '../../forms/a.ts'
import { formB } from '../../forms/b.ts'
import { createService } from '../layer.ts'
import { sortedList } from './sorted-list.ts'

const amountIn = '1' as Amount
const query: NewTransaction = { amountIn, rateType: 'float', withdrawalAddress: 'somewhere' }
const context: Context = {
  requestId: 'request',
  caller: { address: '192.0.2.1', identity: 'acme' },
  clientCapabilities: formB.capabilities,
  deadline: Number.POSITIVE_INFINITY,
}

/** A Form A provider that creates a transaction but does not respond. */
function uncachedProvider(): { service: SwapService; fetchCount: () => number } {
  const rows: Transaction[] = []
  let fetchCount = 0
  const notCalled = async (): Promise<never> => {
    throw new Fault('internal', 'not called in this test')
  }
  const service = createService({
    listCurrencies: notCalled,
    getRate: notCalled,
    getTransaction: notCalled,
    async createTransaction() {
      rows.push({ id: `tx-${rows.length}`, amountIn, createdAt: '2026-11-20T08:00:00Z' })
      throw new Fault('outcomeUnknown', 'no response')
    },
    async listTransactions() {
      fetchCount++
      return { body: { items: [...rows], total: rows.length } }
    },
  })
  return { service: sortedList(providerScope())(service), fetchCount: () => fetchCount }
}

test('a create with an unknown outcome is in the list at once', async () => {
  const { service } = uncachedProvider()
  const list = async (): Promise<Page<Transaction>> =>
    (await service.call('listTransactions' satisfies Op, { page: 1, size: 20 }, context)).body
  expect((await list()).total).toBe(0)
  await expect(service.call('createTransaction', query, context)).rejects.toThrow('no response')
  expect((await list()).items.map(({ id }) => id)).toEqual(['tx-0'])
})

test('the next page uses the list that was read for the first', async () => {
  const { service, fetchCount } = uncachedProvider()
  for (const page of [1, 2, 3]) await service.call('listTransactions', { page, size: 20 }, context)
  expect(fetchCount()).toBe(1)
})

test('the first page is read again, and concurrent callers share one read', async () => {
  const { service, fetchCount } = uncachedProvider()
  const first = (): Promise<unknown> => service.call('listTransactions', { page: 1, size: 20 }, context)
  await Promise.all([first(), first(), first()])
  expect(fetchCount()).toBe(1)
  await first()
  expect(fetchCount()).toBe(2)
})

test('V20: a list of more than sixteen million characters is not read completely', async () => {
  const padding = 'x'.repeat(20_000)
  let pages = 0
  const notCalled = async (): Promise<never> => {
    throw new Fault('internal', 'not called in this test')
  }
  const service = createService({
    listCurrencies: notCalled,
    getRate: notCalled,
    getTransaction: notCalled,
    createTransaction: notCalled,
    async listTransactions({ page }) {
      pages++
      const rowOf = (_: unknown, at: number): Transaction => ({
        id: `tx-${page}-${at}`,
        amountIn,
        createdAt: '2026-11-20T08:00:00Z',
        withdrawalAddress: padding,
      })
      return { body: { items: Array.from({ length: 100 }, rowOf), total: 5_000 } }
    },
  })
  const reading = sortedList(providerScope())(service).call('listTransactions', { page: 1, size: 20 }, context)
  await expect(reading).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining('whole') })
  expect(pages).toBe(8)
})

/** A provider with this many transactions, oldest first, whose pages have at most 99 rows and no total. */
function providerWithoutTotal(count: number): { service: SwapService; sizes: number[] } {
  const sizes: number[] = []
  const rows = Array.from({ length: count }, (_, at): Transaction => {
    return { id: `tx-${at}`, amountIn, createdAt: new Date(Date.UTC(2026, 10, 20) + at).toISOString() }
  })
  const { service } = uncachedProvider()
  const provider: SwapService = {
    ...service,
    async call(op, request) {
      if (op !== 'listTransactions' || !('page' in request)) throw new Error('not called in this test')
      const { page, size } = request
      sizes.push(size)
      const items = rows.slice((page - 1) * size, page * size)
      return { body: { items, total: (page - 1) * size + items.length, hasMore: items.length === size } as never }
    },
  }
  return { service: sortedList(providerScope({ capabilities: { ...formA.capabilities, pageSize: 99 } }))(provider), sizes }
}

test.each([0, 1, 98, 99, 100, 198, 199])('a list of %i rows without a total is read to its last page', async (count) => {
  const { service, sizes } = providerWithoutTotal(count)
  const body = (await service.call('listTransactions', { page: 1, size: 100 }, context)).body as Page<Transaction>
  expect(body.total).toBe(count)
  expect(body.items.map(({ id }) => id)).toEqual(Array.from({ length: Math.min(count, 100) }, (_, at) => `tx-${count - 1 - at}`))
  expect(new Set(sizes)).toEqual(new Set([99]))
})

test('a client that needs no order gets a total, too, and never a page that is larger than the provider’s', async () => {
  const inAnyOrder = { ...context, clientCapabilities: formA.capabilities }
  const { service, sizes } = providerWithoutTotal(150)
  for (const [page, size, length] of [
    [1, 20, 20],
    [8, 20, 10],
    [1, 100, 100],
  ] as const) {
    const body = (await service.call('listTransactions', { page, size }, inAnyOrder)).body as Page<Transaction>
    expect(body.total).toBe(150)
    expect(body.items).toHaveLength(length)
  }
  expect(Math.max(...sizes)).toBe(99)
})

test('a sorted list names the fields that the edge of its provider derived', async () => {
  const provider: SwapService = {
    async call(op, request) {
      if (op !== 'listTransactions' || !('page' in request)) throw new Fault('internal', 'not called in this test')
      const row = { id: `tx-${request.page}`, amountIn, createdAt: '2026-11-20T08:00:00Z' }
      return { body: { items: [row], total: 2 }, derived: request.page === 1 ? ['updatedAt'] : ['amountOut'] } as never
    },
  }
  const service = sortedList(providerScope({ capabilities: { ...formA.capabilities, pageSize: 1 } }))(provider)
  const { derived } = await service.call('listTransactions', { page: 1, size: 20 }, context)
  expect(derived).toEqual(['updatedAt', 'amountOut'])
})
