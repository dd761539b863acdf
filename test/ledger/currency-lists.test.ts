/** The port of kept currency lists, in every store. */
import { expect, test } from 'vitest'
import type { ListSource } from '../../src/core/quotes/read-currency-list.ts'
import type { Amount } from '../../src/domain/amount.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { query } from './raw.ts'
import { allStores, describeStores, durableStores, openSite } from './stores.ts'

const source = (provider: string): ListSource => ({ provider, url: 'https://swap.example/api/v2', form: 'A' })
const rows = [
  { code: 'USDTTRC20', network: 'TRX', name: 'Tether ₮', icon: 'i', depositMin: '0.10' as Amount },
  { code: 'FOO', name: 'Foo', icon: 'i' },
]
const minute = 60_000

describeStores(allStores, (shared) => {
  test('a list is as it was saved, and as old as it is', async () => {
    const { currencyLists } = shared()
    await currencyLists.saveCurrencies(source('alpha'), { rows, ageMs: 5 * minute })
    const kept = await currencyLists.loadCurrencies(source('alpha'))
    expect(kept?.rows).toEqual(rows)
    expect(kept?.ageMs).toBeGreaterThanOrEqual(5 * minute - 1_000)
    expect(kept?.ageMs).toBeLessThan(5 * minute + 30_000)
  })

  test('the last one that was saved replaces the one before', async () => {
    const { currencyLists } = shared()
    await currencyLists.saveCurrencies(source('replaced'), { rows, ageMs: 0 })
    await currencyLists.saveCurrencies(source('replaced'), { rows: [], ageMs: minute })
    expect(await currencyLists.loadCurrencies(source('replaced'))).toMatchObject({ rows: [] })
  })

  test.each<[string, Partial<ListSource>]>([
    ['provider', { provider: 'other' }],
    ['URL', { url: 'https://swap.example/api/v3' }],
    ['form', { form: 'B' }],
  ])('another %s has another list', async (_, change) => {
    const { currencyLists } = shared()
    await currencyLists.saveCurrencies(source('own'), { rows, ageMs: 0 })
    expect(await currencyLists.loadCurrencies({ ...source('own'), ...change })).toBeUndefined()
  })

  test('a list that is very long is not kept, nor is the one before', async () => {
    const { currencyLists } = shared()
    await currencyLists.saveCurrencies(source('long'), { rows, ageMs: 0 })
    const long = [{ code: 'X', name: 'x'.repeat(9_000_000), icon: '' }]
    await currencyLists.saveCurrencies(source('long'), { rows: long, ageMs: 0 })
    expect(await currencyLists.loadCurrencies(source('long'))).toBeUndefined()
  })
})

describeStores(durableStores, (shared) => {
  test('another process finds it', async () => {
    const { currencyLists, url } = await shared().openNew()
    await currencyLists.saveCurrencies(source('alpha'), { rows, ageMs: 0 })
    const other = await openLedger(url)
    expect((await other.currencyLists.loadCurrencies(source('alpha')))?.rows).toEqual(rows)
    await other.close()
  })

  test('a clock that was set back makes no list younger', async () => {
    const { currencyLists, url } = await shared().openNew()
    await currencyLists.saveCurrencies(source('alpha'), { rows, ageMs: 0 })
    await query(url, 'UPDATE currency_lists SET read_at = read_at + 3600000')
    expect((await currencyLists.loadCurrencies(source('alpha')))?.ageMs).toBe(Number.POSITIVE_INFINITY)
  })
})

test('on one machine a clock that was set back within the age of a list makes it no younger', async () => {
  await using stack = new AsyncDisposableStack()
  const site = await openSite('SQLite in a file')
  stack.defer(site.close)
  const url = await site.createLedger()
  const { currencyLists, close } = await openLedger(url)
  stack.defer(close)
  await currencyLists.saveCurrencies(source('alpha'), { rows, ageMs: 0 })
  await query(url, 'UPDATE currency_lists SET read_at_uptime = read_at_uptime - 7200000, read_at = read_at - 3600000')
  expect((await currencyLists.loadCurrencies(source('alpha')))?.ageMs).toBeGreaterThan(7_100_000)
})
