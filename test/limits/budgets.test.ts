/**
 * docs/contract-operators.md §8: budgets towards providers, counted before sending, for every call. The checks use the provider's journal.
 */
import { afterEach, expect, test } from 'vitest'
import { memoryBudgets } from '../../src/adapters/memory.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'

let managed: Managed
afterEach(() => managed.close())

test('a provider never gets more calls than its budget, by any path', async () => {
  let now = 0
  const rateLimit = { quotes: 5, create: 3, read: 4 }
  managed = await startManaged({
    providers: { alpha: { rateLimit } },
    budgets: memoryBudgets(() => now),
    sections: { ledger: { refreshAfter: 0 }, cache: { currencies: 600, rate: 0, staleFor: 0 } },
  })
  const key = await managed.issue()
  const client = managed.client('A')
  for (let minute = 1; minute <= 2; minute++) {
    const created = await Promise.all(Array.from({ length: 10 }, () => client.post('/transactions', orderIn('A'), { key })))
    const quoted = await Promise.all(
      Array.from({ length: 20 }, (_, at) => client.get(`/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=${at + 1}`)),
    )
    for (let callCount = 0; callCount < 5; callCount++) await client.get('/transactions', { key })
    const ids = created.filter(({ status }) => status === 201).map(({ json }) => (json as { id: string }).id)
    for (let callCount = 0; callCount < 10; callCount++)
      expect((await client.get(`/transactions/${ids[0]}`, { key })).status).toBe(200)
    expect(ids).toHaveLength(3)
    const refused = [...created, ...quoted].filter(({ status }) => status !== 201 && status !== 200)
    for (const response of refused) {
      expectRefusal(response, 'A', 503)
      expect(response.headers['retry-after']).toMatch(/^(?:[1-9]|[1-5]\d|60|61)$/)
    }
    const { alpha } = managed
    expect(alpha.received('create')).toHaveLength(3 * minute)
    expect(alpha.received('rate').length + alpha.received('currencies').length).toBe(5 * minute)
    expect(alpha.received('get').length + alpha.received('list').length).toBe(4 * minute)
    now += 60_001
  }
})

const defaults = { quotes: 60, create: 30, read: 120 }
const startAtDefaults = async (): Promise<void> => {
  managed = await startManaged({
    providers: { alpha: { budget: defaults } },
    budgets: memoryBudgets(() => 0),
    sections: { cache: { currencies: 600, rate: 0, staleFor: 0 } },
  })
}
const quote = async (amount: number, key: string | null): Promise<number> =>
  (await managed.client('A').get(`/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=${amount}`, { key })).status

test("R16: at the default numbers one account's creates do not stop another's", async () => {
  await startAtDefaults()
  const [greedy, modest] = [await managed.issue(), await managed.issue()]
  const create = async (key: string): Promise<number> =>
    (await managed.client('A').post('/transactions', orderIn('A'), { key })).status
  const burst: number[] = []
  for (let call = 0; call < 30; call++) burst.push(await create(greedy))
  expect(burst.filter((status) => status === 201)).toHaveLength(24)
  for (let call = 0; call < 6; call++) expect(await create(modest)).toBe(201)
  expect(managed.alpha.received('create')).toHaveLength(30)
})

test('R16: any number of callers without a key cannot use up the quotes of one with a key', async () => {
  await startAtDefaults()
  const key = await managed.issue()
  for (let call = 0; call < 100; call++) await quote(call + 1, null)
  for (let call = 0; call < 10; call++) expect(await quote(call + 1_000, key)).toBe(200)
  expect(managed.alpha.received('rate')).toHaveLength(54)
})

test('R18: when the clients have used up their quotes the gateway still reads the list', async () => {
  await startAtDefaults()
  const keys = [await managed.issue(), await managed.issue()]
  for (let call = 0; call < 120; call++) await quote(call + 1, keys[call % 2] as string)
  expect(managed.alpha.received('rate')).toHaveLength(54)
  expect(managed.alpha.received('currencies')).toHaveLength(1)
})
