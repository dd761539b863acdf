/** docs/contract-operators.md §15: an operator's search among many transactions. */
import { expect, test } from 'vitest'
import type { TransactionSearch } from '../../src/core/ports/ledger-admin.ts'
import { query } from './raw.ts'
import { describeStores, durableStores } from './stores.ts'

const rows = 25_000

describeStores(durableStores, (shared) => {
  test('W19: finds every row once over all pages, with the exact count, though it looks at them in slices', async () => {
    const { url, ledgerAdmin, accounts } = await shared().openNew()
    await accounts.addKey({ id: 'k', name: 'acme', createdAt: 1 }, 'd', 'tester')
    const [{ id } = { id: '' }] = (await query(url, 'SELECT id FROM accounts')) as readonly { id: string }[]
    const facts = JSON.stringify({ transaction: { pad: 'x'.repeat(300) }, derived: [] })
    await query(
      url,
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
       INSERT INTO transactions (owner, provider, provider_id, state, sort_key, status, record, reported_at)
       SELECT CASE WHEN i % 5 = 0 THEN '${id}' ELSE 'o' END, CASE WHEN i % 2 = 0 THEN 'alpha' ELSE 'beta' END,
         'tx-' || i, 'done', -(i / 3), CASE WHEN i % 1000 = 0 THEN 'refunded' ELSE 'success' END, '${facts}', i FROM n`,
    )
    const find = (search: Partial<TransactionSearch>) => ledgerAdmin.search({ page: 1, size: 100, ...search })
    const times = async (search: Partial<TransactionSearch>): Promise<readonly number[]> => {
      const { count } = await find(search)
      const pages = Array.from({ length: Math.ceil(count / 100) + 1 }, (_, at) => at + 1)
      const all: number[] = []
      for (const page of pages) all.push(...(await find({ ...search, page })).found.map(({ entry }) => entry.reportedAt))
      expect(all).toHaveLength(count)
      return all
    }
    const numbers = Array.from({ length: rows }, (_, at) => rows - at)
    const refunded = numbers.filter((i) => i % 1000 === 0)
    expect(await times({ status: 'refunded' })).toEqual(refunded)
    expect(await times({ status: 'refunded', account: 'acme', provider: 'alpha' })).toEqual(refunded)
    expect(await times({ status: 'refunded', provider: 'beta' })).toEqual([])
    expect(await times({ account: 'unknown' })).toEqual([])
    for (const page of [1, 100, 101, 200, 250]) {
      const { found, count } = await find({ page })
      const expected = numbers.slice((page - 1) * 100, page * 100)
      expect([count, found.map(({ entry }) => Math.floor(entry.reportedAt / 3))]).toEqual([
        rows,
        expected.map((i) => Math.floor(i / 3)),
      ])
    }
    expect(new Set((await times({ account: 'acme', provider: 'beta' })).map(String)).size).toBe(rows / 10)
    const { count } = await find({ account: 'acme', provider: 'alpha' })
    expect(count).toBe(rows / 10)
  }, 60_000)
})
