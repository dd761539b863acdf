import { describe, expect, test } from 'vitest'
import { contextOf, scripted } from '../../../test/support/service.ts'
import { Fault } from '../../domain/fault.ts'
import type { CurrencyQuery } from '../../domain/swap.ts'
import { CurrencyReading } from './read-currency-list.ts'

const rowOf = (at: number, name = 'Coin') => ({ code: `C${at}`, name, icon: 'i' })
const rowsOf = (count: number) => Array.from({ length: count }, (_, at) => rowOf(at))

/** A list in pages of 100; `fail` may reject the n-th call. */
function listOf(rows: readonly object[], fail: (call: number) => Fault | undefined = () => undefined) {
  return scripted((call, { request }) => {
    const fault = fail(call)
    if (fault) throw fault
    const { page } = request as CurrencyQuery
    return { body: { items: rows.slice((page - 1) * 100, page * 100), total: rows.length } }
  })
}

const busy = new Fault('unavailable', 'the budget is used up', { effect: 'refused', unavailableCause: 'budget' })

describe('the reading of a list of currencies', () => {
  test('M28: continues where an exhausted budget interrupted it, however often', async () => {
    const service = listOf(rowsOf(1_000), (call) => (call % 4 === 3 ? busy : undefined))
    const reading = new CurrencyReading(100)
    const finish = () => reading.finish(service, contextOf()).catch((reason: unknown) => reason)
    for (let call = 0; call < 3; call++) expect(await finish()).toBe(busy)
    expect(await finish()).toMatchObject({ rows: rowsOf(1_000) })
    const pages = service.calls.map(({ request }) => (request as CurrencyQuery).page)
    expect(pages).toEqual([1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10])
  })

  test('V29: a list of more than twenty million bytes is rejected', async () => {
    const service = listOf(Array.from({ length: 1_000 }, (_, at) => rowOf(at, 'x'.repeat(20_000))))
    await expect(new CurrencyReading(100).finish(service, contextOf())).rejects.toMatchObject({ kind: 'unreadable' })
    expect(service.calls.length).toBeLessThanOrEqual(10)
  })
})
