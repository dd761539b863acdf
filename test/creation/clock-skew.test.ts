/** docs/contract-operators.md §10.2: the `Date` of a provider's responses widens the time in which a transaction matches, and excludes nothing. */
import { afterEach, describe, expect, test } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { detailedB, listedB } from '../support/form-b.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, loseResponses, outcomesOf } from '../support/outcomes.ts'
import { formNames } from '../support/pair.ts'
import type { Swap } from '../support/swaps.ts'

let managed: Managed
afterEach(() => managed.close())

const minuteMs = 60_000

describe.each(formNames)('a provider of form %s', (form) => {
  const name = form === 'A' ? 'alpha' : 'beta'
  /** The outcome of a create whose response was lost, if the provider's clock is so far ahead, and its `Date` says so. */
  const outcomeAt = async (aheadMs: number, dateMs: number): Promise<string | undefined> => {
    managed = await startManaged({ routing: [name] })
    const key = await managed.issue()
    const ahead = (ms: number): Date => new Date(Date.now() + ms)
    loseResponses(managed[name], { refundAddress: null, createdAt: ahead(aheadMs).toISOString() })
    const headers = { 'idempotency-key': 'order-2' }
    expectRefusal(await managed.client(form).post('/transactions', orderIn(form), { key, headers }), form, 504)
    const [made] = managed[name].holdings.swaps as [Swap]
    const dated = { headers: { date: ahead(dateMs).toUTCString() } }
    const row = form === 'A' ? transactionA(made) : listedB(made)
    managed[name].reply('list', { ...dated, json: { data: [row], count: 1, pagination: { page: 1, size: 100, total: 1 } } })
    managed[name].reply('get', { ...dated, json: form === 'A' ? transactionA(made) : detailedB(made) })
    await lookNow(managed.gateway)
    return outcomesOf(managed.gateway).at(-1)
  }

  test.each<[string, number, number, string]>([
    ['14 minutes ahead, and says so', 14 * minuteMs, 14 * minuteMs, 'found'],
    ['14 minutes behind, and says so', -14 * minuteMs, -14 * minuteMs, 'found'],
    ['14 minutes ahead, and does not say so', 14 * minuteMs, 0, 'notFound'],
    ['two hours ahead, and says so', 120 * minuteMs, 120 * minuteMs, 'notFound'],
    ['right, and says that it is a day off', 0, 1_440 * minuteMs, 'found'],
  ])('whose clock is %s', async (_, aheadMs, dateMs, outcome) => {
    expect(await outcomeAt(aheadMs, dateMs)).toBe(outcome)
  })
})
