// Takes long: a lock of seven seconds.
/** With issued keys: a ledger that can be read but not written. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { readJson } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, orderedSwap, outcomesOf, requestsOf } from '../support/outcomes.ts'
import { type FormName, formNames } from '../support/pair.ts'
import type { Order } from '../support/swaps.ts'

let directory: string
let managed: Managed
let key: string
let other: DatabaseSync

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'swapgate-unwritable-'))
  const file = join(directory, 'ledger.db')
  managed = await startManaged({
    ledger: `sqlite:${file}`,
    sections: { auth: { mode: 'managed' }, routing: { providers: ['alpha'] }, ledger: { refreshAfter: 0 } },
  })
  key = await managed.issue()
  other = new DatabaseSync(file)
})
afterEach(async () => {
  other.close()
  await managed.close()
  rmSync(directory, { recursive: true })
})

const create = (form: FormName, name = 'order-15'): Promise<ReceivedResponse> =>
  managed.client(form).post('/transactions', orderIn(form), { key, headers: { 'idempotency-key': name } })
const idOf = ({ json }: ReceivedResponse): string => (json as { id: string }).id
const advance = (status: string): void => {
  managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((known) => ({ ...known, status }))
}
/** What is there can be read; no row of it can be changed. */
const freeze = (): void => other.exec(`CREATE TRIGGER frozen BEFORE UPDATE ON transactions BEGIN SELECT RAISE(ABORT, 'no'); END`)
/** What became of a create cannot be written; that it is looked for can. */
const freezeResults = (): void =>
  other.exec(
    `CREATE TRIGGER frozen BEFORE UPDATE ON transactions WHEN NEW.state IN ('done', 'mismatch') BEGIN SELECT RAISE(ABORT, 'no'); END`,
  )
const thaw = (): void => other.exec('DROP TRIGGER frozen')

describe.each(formNames)('form %s', (form) => {
  test("the provider's report is returned, and is not stale", async () => {
    const { id } = (await create(form)).json as { id: string }
    advance('exchanging')
    freeze()
    const response = await managed.client(form).get(`/transactions/${id}`, { key })
    expect(response.json).toMatchObject({ id, status: 'exchanging' })
    expect(response.headers).not.toHaveProperty('x-swap-stale')
    expect((await managed.client(form).get('/transactions', { key })).json).toMatchObject({ data: [{ id, status: 'exchanging' }] })
  })

  test('no read waits for a lock', async () => {
    const { id } = (await create(form)).json as { id: string }
    advance('exchanging')
    other.exec('BEGIN IMMEDIATE')
    const before = performance.now()
    const [got, listed] = await Promise.all([
      managed.client(form).get(`/transactions/${id}`, { key }),
      managed.client(form).get('/transactions', { key }),
    ])
    expect(performance.now() - before).toBeLessThan(2_000)
    expect(got.json).toMatchObject({ status: 'exchanging' })
    expect(listed.json).toMatchObject({ data: [{ status: 'exchanging' }] })
    other.exec('ROLLBACK')
  })

  test('L46: a result that the ledger cannot take is returned to no client, kept, and returned as soon as the ledger has it', async () => {
    managed.alpha.reply('create', ({ body }) => {
      const made = orderedSwap(readJson(body) as Order, { id: 'kept-later' })
      managed.alpha.holdings.swaps = [made]
      return { status: 201, json: transactionA(made) }
    })
    freezeResults()
    const response = await create(form)
    expectRefusal(response, form, 504)
    expect(response.text).not.toContain('deposit')
    expect(outcomesOf(managed.gateway)).toEqual(['unrecorded'])
    expect(requestsOf(managed.gateway).at(-1)).toMatchObject({ status: 504, errorType: 'gateway_ledger' })
    expect(response.headers['x-swap-reason']).toBe('outcome_unknown')
    expectRefusal(await create(form), form, 409)
    await lookNow(managed.gateway)
    expect(managed.alpha.received('list')).toHaveLength(0)
    expectRefusal(await create(form), form, 409)
    thaw()
    await vi.waitFor(() => expect(outcomesOf(managed.gateway).at(-1)).toBe('recorded'), eventTimeoutMs)
    expect((await create(form)).json).toMatchObject({ id: 'alpha~kept-later' })
    expect(managed.alpha.received('create')).toHaveLength(1)
  })

  test('L46: of two equal creates each has its own result, whatever the list shows meanwhile', async () => {
    let made = 0
    managed.alpha.reply('create', ({ body }) => {
      const swap = orderedSwap(readJson(body) as Order, { id: `twin-${++made}`, depositAddress: `to-twin-${made}` })
      managed.alpha.holdings.swaps = [...managed.alpha.holdings.swaps, swap]
      return { status: 201, json: transactionA(swap) }
    })
    freezeResults()
    const twin = (name: string) =>
      managed.client(form).post('/transactions', orderIn(form), { key, headers: { 'idempotency-key': name } })
    const responses = [await twin('one'), await twin('two')]
    for (const response of responses) expectRefusal(response, form, 504)
    await lookNow(managed.gateway)
    thaw()
    await lookNow(managed.gateway)
    await vi.waitFor(
      () => expect(outcomesOf(managed.gateway)).toEqual(['unrecorded', 'unrecorded', 'recorded', 'recorded']),
      eventTimeoutMs,
    )
    expect((await twin('one')).json).toMatchObject({ id: 'alpha~twin-1' })
    expect((await twin('two')).json).toMatchObject({ id: 'alpha~twin-2' })
    expect(await managed.gateway.ledgerAdmin.unresolved()).toEqual([])
    expect(made).toBe(2)
  })

  test('L47: a certain refusal is returned unchanged, and its key is free as soon as the ledger can drop it', async () => {
    managed.alpha.reply('create', () => {
      other.exec(`CREATE TRIGGER kept BEFORE DELETE ON transactions BEGIN SELECT RAISE(ABORT, 'no'); END`)
      return { status: 400, json: { error: 'Bad Request', message: 'The amount is too small.', code: 400 } }
    })
    const response = await create(form)
    expectRefusal(response, form, 400)
    expect(response.text).toContain('The amount is too small.')
    expectRefusal(await create(form), form, 409)
    await lookNow(managed.gateway)
    expect(managed.alpha.received('list')).toHaveLength(0)
    other.exec('DROP TRIGGER kept')
    managed.alpha.reset()
    await vi.waitFor(() => expect(outcomesOf(managed.gateway).at(-1)).toBe('recorded'), eventTimeoutMs)
    expect([200, 201]).toContain((await create(form)).status)
    expect(managed.alpha.received('create')).toHaveLength(1)
  })

  test('L71: a repeated id that the ledger takes after its first transaction was pruned belongs to no other client: 502, and you resolve it', async () => {
    managed.alpha.reply('create', ({ body }) => {
      const made = orderedSwap(readJson(body) as Order, { id: 'repeated' })
      managed.alpha.holdings.swaps = [made]
      return { status: 201, json: transactionA(made) }
    })
    const { id } = (await managed.client(form).post('/transactions', orderIn(form), { key })).json as { id: string }
    advance('success')
    expect((await managed.client(form).get(`/transactions/${id}`, { key })).json).toMatchObject({ status: 'success' })
    managed.witness.excuse('I2', 'The ledger has pruned what was created.')
    const first = key
    key = await managed.issue()
    freezeResults()
    expectRefusal(await create(form), form, 504)
    const { ledgerAdmin } = managed.gateway
    const [{ intent = '' } = {}] = await ledgerAdmin.unresolved()
    expect(await ledgerAdmin.markNotCreated(intent, 'tester')).toBe(true)
    expect(await ledgerAdmin.prune(Date.now() + 86_400_000, 'tester')).toMatchObject({ pruned: 1 })
    thaw()
    await vi.waitFor(() => expect(outcomesOf(managed.gateway)).toEqual(['unrecorded', 'duplicateId', 'recorded']), eventTimeoutMs)
    expect(await ledgerAdmin.unresolved()).toMatchObject([
      { intent, state: 'mismatch', reported: { id: 'repeated', fields: ['id'] } },
    ])
    for (const each of [first, key]) {
      expectRefusal(await managed.client(form).get(`/transactions/${id}`, { key: each }), form, 404)
      expect((await managed.client(form).get('/transactions', { key: each })).json).toMatchObject({ data: [] })
    }
    // Also if its response comes in time.
    const third = await create(form, 'order-16')
    expectRefusal(third, form, 502)
    expect(third.headers['x-swap-reason']).toBe('mismatch')
    expect(third.text).not.toContain('deposit-')
    expectRefusal(await create(form, 'order-16'), form, 502)
    expect(managed.alpha.received('create')).toHaveLength(3)
  })

  test('L46: a response that contradicts the request stays 502 and no deposit address, also if the ledger takes it later', async () => {
    managed.alpha.reply('create', ({ body }) => {
      const made = orderedSwap(readJson(body) as Order, { id: 'other', withdrawalAddress: 'TSomebodyElse' })
      return { status: 201, json: transactionA(made) }
    })
    freezeResults()
    expectRefusal(await create(form), form, 502)
    expectRefusal(await create(form), form, 409)
    thaw()
    await vi.waitFor(() => expect(outcomesOf(managed.gateway).at(-1)).toBe('recorded'), eventTimeoutMs)
    expectRefusal(await create(form), form, 502)
    expect(managed.alpha.received('create')).toHaveLength(1)
  })
})

test('L46: another process locks the file for seven seconds while two equal creates get their responses: both are bound', {
  timeout: 30_000,
}, async () => {
  let made = 0
  const responded = Promise.withResolvers<void>()
  managed.alpha.reply('create', ({ body }) => {
    if (++made === 2) {
      other.exec('BEGIN IMMEDIATE')
      responded.resolve()
    }
    const swap = orderedSwap(readJson(body) as Order, { id: `twin-${made}`, depositAddress: `to-twin-${made}` })
    managed.alpha.holdings.swaps = [...managed.alpha.holdings.swaps, swap]
    // The first gets its response while the file is locked, too.
    return { status: 201, json: transactionA(swap), delay: made === 1 ? 300 : 0 }
  })
  const twin = (name: string) =>
    managed.client('A').post('/transactions', orderIn('A'), { key, headers: { 'idempotency-key': name } })
  const first = twin('one')
  await vi.waitFor(() => expect(made).toBe(1), { interval: 5, timeout: eventTimeoutMs })
  const second = twin('two')
  await responded.promise
  const looking = setInterval(() => void managed.gateway.reconcile().catch(() => {}), 500)
  setTimeout(() => other.exec('ROLLBACK'), 7_000)
  for (const response of await Promise.all([first, second])) expectRefusal(response, 'A', 504)
  await vi.waitFor(
    () => expect(outcomesOf(managed.gateway).filter((outcome) => outcome === 'recorded')).toHaveLength(2),
    eventTimeoutMs,
  )
  clearInterval(looking)
  expect(idOf(await twin('one'))).toBe('alpha~twin-1')
  expect(idOf(await twin('two'))).toBe('alpha~twin-2')
  expect(await managed.gateway.ledgerAdmin.unresolved()).toEqual([])
})
