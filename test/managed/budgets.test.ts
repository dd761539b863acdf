/** Contract §8: budgets towards providers, spent before sending, for whatever goes up. The provider's journal is the truth. */
import { afterEach, expect, test } from 'vitest'
import { memoryBudgets } from '../../src/core/allotment.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'

let managed: Managed
afterEach(() => managed.close())

test('a provider is never asked more often than its budget lets, by whatever path', async () => {
  let now = 0
  const budget = { quotes: 5, create: 3, read: 4 }
  managed = await startManaged({
    providers: { alpha: { budget } },
    budgets: memoryBudgets(() => now),
    sections: { ledger: { refresh: 0 }, cache: { currencies: 600, rate: 0, staleFor: 0 } },
  })
  const key = await managed.issue()
  const client = managed.client('A')
  for (let minute = 1; minute <= 2; minute++) {
    const created = await Promise.all(Array.from({ length: 10 }, () => client.post('/transactions', orderIn('A'), { key })))
    const quoted = await Promise.all(
      Array.from({ length: 20 }, (_, at) => client.get(`/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=${at + 1}`)),
    )
    for (let asked = 0; asked < 5; asked++) await client.get('/transactions', { key })
    const ids = created.filter(({ status }) => status === 201).map(({ json }) => (json as { id: string }).id)
    for (let asked = 0; asked < 10; asked++) expect((await client.get(`/transactions/${ids[0]}`, { key })).status).toBe(200)
    expect(ids).toHaveLength(3)
    const refused = [...created, ...quoted].filter(({ status }) => status !== 201 && status !== 200)
    for (const answer of refused) {
      expectRefusal(answer, 'A', 503)
      expect(answer.headers['retry-after']).toMatch(/^(?:[1-9]|[1-5]\d|60|61)$/)
    }
    const { alpha } = managed
    expect(alpha.received('create')).toHaveLength(3 * minute)
    expect(alpha.received('rate').length + alpha.received('currencies').length).toBe(5 * minute)
    expect(alpha.received('get').length + alpha.received('list').length).toBe(4 * minute)
    now += 60_001
  }
})
