import { expect, test } from 'vitest'
import type { Amount } from '../domain/amount.ts'
import { Fault } from '../domain/fault.ts'
import type { Context, Op, SwapService } from '../domain/operations.ts'
import type { NewTransaction, Page, Transaction } from '../domain/swap.ts'
import { formA } from '../forms/a.ts'
import { formB } from '../forms/b.ts'
import { chronology } from './chronology.ts'
import { answers } from './layer.ts'

const amountIn = '1' as Amount
const question: NewTransaction = { amountIn, rateType: 'float', withdrawalAddress: 'somewhere' }
const context: Context = {
  requestId: 'request',
  caller: { address: '192.0.2.1', identity: 'somebody' },
  client: formB.vocabulary,
  deadline: Number.POSITIVE_INFINITY,
}

/** A Form A provider that creates and then says nothing of it. */
function forgetful(): { service: SwapService; readings: () => number } {
  const rows: Transaction[] = []
  let readings = 0
  const unasked = async (): Promise<never> => {
    throw new Fault('internal', 'not asked in this test')
  }
  const service = answers({
    listCurrencies: unasked,
    getRate: unasked,
    getTransaction: unasked,
    async createTransaction() {
      rows.push({ id: `tx-${rows.length}`, amountIn, createdAt: '2026-11-20T08:00:00Z' })
      throw new Fault('outcomeUnknown', 'nobody knows')
    },
    async listTransactions() {
      readings++
      return { body: { items: [...rows], total: rows.length } }
    },
  })
  return { service: chronology(formA.vocabulary)(service), readings: () => readings }
}

test('a create whose outcome is unknown can be looked for in the list at once', async () => {
  const { service } = forgetful()
  const list = async (): Promise<Page<Transaction>> =>
    (await service.call('listTransactions' satisfies Op, { page: 1, size: 20 }, context)).body
  expect((await list()).total).toBe(0)
  await expect(service.call('createTransaction', question, context)).rejects.toThrow('nobody knows')
  expect((await list()).items.map(({ id }) => id)).toEqual(['tx-0'])
})

test('the next page is cut from what was read for the first', async () => {
  const { service, readings } = forgetful()
  for (const page of [1, 2, 3]) await service.call('listTransactions', { page, size: 20 }, context)
  expect(readings()).toBe(1)
})

test('the first page is read anew, and many who ask for it at once share one reading', async () => {
  const { service, readings } = forgetful()
  const first = (): Promise<unknown> => service.call('listTransactions', { page: 1, size: 20 }, context)
  await Promise.all([first(), first(), first()])
  expect(readings()).toBe(1)
  await first()
  expect(readings()).toBe(2)
})

test('V20: a list of more than sixteen million characters is not read to its end', async () => {
  const padding = 'x'.repeat(20_000)
  let pages = 0
  const unasked = async (): Promise<never> => {
    throw new Fault('internal', 'not asked in this test')
  }
  const service = answers({
    listCurrencies: unasked,
    getRate: unasked,
    getTransaction: unasked,
    createTransaction: unasked,
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
  const reading = chronology(formA.vocabulary)(service).call('listTransactions', { page: 1, size: 20 }, context)
  await expect(reading).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining('whole') })
  expect(pages).toBe(8)
})
