/** The size of a stored provider response is bounded. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { transactionA } from '../support/form-a.ts'
import { readJson } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { orderedSwap } from '../support/outcomes.ts'
import type { Order } from '../support/swaps.ts'

let managed: Managed
let key: string

beforeEach(async () => {
  managed = await startManaged()
  key = await managed.issue()
})
afterEach(() => managed.close())

test.each([
  [4_096, 201],
  [4_097, 504],
  [2_000_000, 504],
])('L54: a field of %i characters is %i', async (length, status) => {
  managed.alpha.reply('create', ({ body }) => {
    const made = orderedSwap(readJson(body) as Order, { id: 'made', depositAddress: 'a'.repeat(length) })
    return { status: 201, json: transactionA(made) }
  })
  const response = await managed.client('A').post('/transactions', orderIn('A'), { key })
  expect(response.status).toBe(status)
  const { json } = await managed.client('A').get('/transactions', { key })
  expect((json as { data: readonly unknown[] }).data).toHaveLength(status === 201 ? 1 : 0)
})

test('L54: a get whose response has such a field is the last known state', async () => {
  const response = await managed.client('A').post('/transactions', orderIn('A'), { key })
  const { id } = response.json as { id: string }
  managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((swap) => ({ ...swap, withdrawalAddress: 'a'.repeat(5_000) }))
  const { status, headers, text } = await managed.client('A').get(`/transactions/${id}`, { key })
  expect([status, text.length < 1_000]).toEqual([200, true])
  expect(headers).toHaveProperty('x-swap-stale')
})
