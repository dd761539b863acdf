/** docs/contract-operators.md §10.2: looks come sooner while the provider's list is whole and short, and one reading is for all creates. */
import { afterEach, expect, test } from 'vitest'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, loseResponses, outcomesOf } from '../support/outcomes.ts'

let managed: Managed
afterEach(() => managed.close())

const names = Array.from({ length: 6 }, (_, at) => `order-${at}`)

/** Creates of two accounts that their provider has broken off, and does not list yet. */
async function start(): Promise<(name: string) => Promise<number>> {
  managed = await startManaged()
  const keys = [await managed.issue(), await managed.issue()] as const
  loseResponses(managed.alpha)
  managed.alpha.reply('list', { json: { data: [], pagination: { page: 1, size: 50, total: 0 } } })
  const create = async (name: string): Promise<number> => {
    const number = Number(name.slice('order-'.length))
    const body = orderIn('A', { amount: 1 + number, refundAddress: 'bc1q-refund-9' })
    const key = keys[number % 2] ?? ''
    return (await managed.client('A').post('/transactions', body, { key, headers: { 'idempotency-key': name } })).status
  }
  for (const name of names) expect(await create(name)).toBe(504)
  return create
}

/** When the creates are looked for next, in milliseconds from now. */
const nextLooks = async (): Promise<readonly number[]> => {
  const due = await managed.gateway.ledger.dueCreates(Date.now() + 86_400_000, 100, undefined)
  return due.map(({ nextCheckAt = 0 }) => nextCheckAt - Date.now())
}

test('all are looked for again at one time within 20 s, by one reading, and nothing ends by it', async () => {
  const create = await start()
  await lookNow(managed.gateway)
  expect(managed.alpha.received('list')).toHaveLength(2)
  expect(outcomesOf(managed.gateway).slice(-names.length)).toEqual(names.map(() => 'notFound'))
  const looks = await nextLooks()
  expect(looks).toHaveLength(names.length)
  expect(Math.max(...looks)).toBeLessThanOrEqual(20_000)
  expect(Math.max(...looks) - Math.min(...looks)).toBeLessThan(1_000)
  expect(await create('order-0')).toBe(409)
  managed.alpha.reply('list', () => undefined)
  await lookNow(managed.gateway)
  for (const name of names) expect(await create(name)).toBe(201)
  expect(managed.alpha.received('create')).toHaveLength(names.length)
})

test('a list that is cut off brings no sooner look, and proves nothing', async () => {
  const create = await start()
  managed.alpha.reply('list', { json: { data: [], pagination: { page: 1, size: 50, total: 3 } } })
  await lookNow(managed.gateway)
  expect(outcomesOf(managed.gateway).slice(-names.length)).toEqual(names.map(() => 'lookupFailed'))
  expect(Math.min(...(await nextLooks()))).toBeGreaterThan(20_000)
  expect(await create('order-0')).toBe(409)
})
