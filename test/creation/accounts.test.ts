/** docs/contract.md §4, §10, docs/contract-operators.md §8: providers with one account are one for ids, reconciliation, budget and the health of the key. */
import { afterEach, describe, expect, test } from 'vitest'
import { memoryBudgets } from '../../src/adapters/memory.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, loseResponses, outcomesOf } from '../support/outcomes.ts'
import { rateQuery } from '../support/pair.ts'
import { assets, swap } from '../support/swaps.ts'

const routing = ['alpha', 'beta']
const account = 'one'
let managed: Managed
let key: string
afterEach(() => managed.close())

const start = async (
  facts: { alpha?: object; beta?: object },
  settings: Parameters<typeof startManaged>[0] = {},
): Promise<void> => {
  managed = await startManaged({ routing, providers: facts, ...settings })
  key = await managed.issue()
}
const create = (headers: Record<string, string> = {}): Promise<ReceivedResponse> =>
  managed.client('A').post('/transactions', orderIn('A'), { key, headers })
const quote = (): Promise<ReceivedResponse> =>
  managed.client('A').get(rateQuery('A', { from: assets.btc, to: assets.usdtTrx, amount: '1' }))
/** How many calls go up for more quotes than both budgets have. */
const callsOfQuotes = async (): Promise<number> => {
  for (let n = 0; n < 20; n++) await quote()
  return managed.alpha.journal.length + managed.beta.journal.length
}

describe.each([
  ['of one account', { alpha: { account }, beta: { account } }],
  ['of which one has the other’s word', { alpha: {}, beta: { account: 'alpha' } }],
])('two providers %s', (_, facts) => {
  test('L152: an id that the other holds for a create is a mismatch', async () => {
    await start(facts)
    expect((await create()).json).toMatchObject({ id: 'alpha~tx-1' })
    managed.reconfigure({ routing: ['beta'], providers: facts })
    expectRefusal(await create(), 'A', 502)
    expect(outcomesOf(managed.gateway)).toContain('duplicateId')
  })

  test('L152: a lost create is not bound to a swap that the other holds', async () => {
    await start(facts)
    loseResponses(managed.alpha)
    expectRefusal(await create({ 'idempotency-key': 'k' }), 'A', 504)
    const [lost] = managed.alpha.holdings.swaps.slice(-1)
    managed.reconfigure({ routing: ['beta'], providers: facts })
    const other = await managed.issue()
    const made = await managed.client('A').post('/transactions', orderIn('A'), { key: other })
    const { id } = made.json as { id: string }
    managed.alpha.holdings.swaps = [{ ...lost, id: id.slice('beta~'.length) } as never]
    await lookNow(managed.gateway)
    expect(outcomesOf(managed.gateway).at(-1)).toBe('notFound')
    expectRefusal(await create({ 'idempotency-key': 'k' }), 'A', 409)
  })

  test('they share a budget', async () => {
    const rateLimit = { quotes: 6, create: 0, read: 0 }
    const both = { alpha: { ...facts.alpha, rateLimit }, beta: { ...facts.beta, rateLimit } }
    await start(both, { budgets: memoryBudgets(() => 1_000) })
    expect(await callsOfQuotes()).toBeLessThanOrEqual(6)
  })

  test('a 429 of one is a rest for both', async () => {
    await start(facts, { steadyClock: () => 1_000 })
    managed.alpha.reply('rate', { status: 429, headers: { 'retry-after': '60' }, json: { error: 'e', message: 'm', code: 429 } })
    expectRefusal(await quote(), 'A', 503)
    expect(managed.beta.received('rate')).toEqual([])
  })
})

test('two providers of two accounts have their own ids and budgets', async () => {
  const rateLimit = { quotes: 6, create: 0, read: 0 }
  await start({ alpha: { rateLimit }, beta: { rateLimit } }, { budgets: memoryBudgets(() => 1_000) })
  expect(await callsOfQuotes()).toBeGreaterThan(6)
  managed.reconfigure({ routing: ['alpha'] })
  expect((await create()).json).toMatchObject({ id: 'alpha~tx-1' })
  managed.reconfigure({ routing: ['beta'] })
  expect((await create()).json).toMatchObject({ id: 'beta~tx-1' })
})

test('L152: another swap of the same account is still found', async () => {
  await start({ alpha: { account }, beta: { account } })
  loseResponses(managed.alpha)
  expectRefusal(await create({ 'idempotency-key': 'k' }), 'A', 504)
  managed.beta.holdings.swaps = [swap({ id: 'elsewhere' })]
  await lookNow(managed.gateway)
  expect(outcomesOf(managed.gateway).at(-1)).toBe('found')
})
