/** docs/contract.md §10.1: `Retry-After` leads a repeat to the end of a look at the provider's list, not to the look after it. */
import { afterEach, expect, test, vi } from 'vitest'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, loseResponses } from '../support/outcomes.ts'

let managed: Managed
afterEach(() => managed.close())

test('while the list is read a repeat is worth while after 2 s; once it was read without the swap, after the next look', async () => {
  managed = await startManaged()
  const { alpha, gateway } = managed
  const key = await managed.issue()
  const create = () => managed.client('A').post('/transactions', orderIn('A'), { key, headers: { 'idempotency-key': 'order' } })
  loseResponses(alpha)
  expectRefusal(await create(), 'A', 504)
  const listed = Promise.withResolvers<void>()
  alpha.reply('list', { after: listed.promise, json: { data: [], pagination: { page: 1, size: 50, total: 0 } } })
  const looking = lookNow(gateway)
  await vi.waitUntil(() => alpha.received('list').length > 0, { timeout: eventTimeoutMs })
  const beside = await create()
  expectRefusal(beside, 'A', 409, 'in_progress')
  expect(beside.headers['retry-after']).toBe('2')
  listed.resolve()
  await looking
  const after = await create()
  expectRefusal(after, 'A', 409, 'in_progress')
  expect(Number(after.headers['retry-after'])).toBeGreaterThan(2)
})
