/** Row L15 with issued keys: a ledger that can be read, and not written, at the worst moment. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Answered } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { readJson } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, orderedSwap, outcomesOf } from '../support/outcomes.ts'
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
    sections: { auth: { mode: 'managed' }, routing: { providers: ['alpha'] }, ledger: { refresh: 0 } },
  })
  key = await managed.issue()
  other = new DatabaseSync(file)
})
afterEach(async () => {
  other.close()
  await managed.close()
  rmSync(directory, { recursive: true })
})

const create = (form: FormName): Promise<Answered> =>
  managed.client(form).post('/transactions', orderIn(form), { key, headers: { 'idempotency-key': 'order-15' } })
const advance = (status: string): void => {
  managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((known) => ({ ...known, status }))
}
/** What is there can be read; no row of it can be changed. */
const freeze = (): void => other.exec(`CREATE TRIGGER frozen BEFORE UPDATE ON transactions BEGIN SELECT RAISE(ABORT, 'no'); END`)
const thaw = (): void => other.exec('DROP TRIGGER frozen')

describe.each(formNames)('form %s', (form) => {
  test('what the provider tells is told, and is not stale', async () => {
    const { id } = (await create(form)).json as { id: string }
    advance('exchanging')
    freeze()
    const answer = await managed.client(form).get(`/transactions/${id}`, { key })
    expect(answer.json).toMatchObject({ id, status: 'exchanging' })
    expect(answer.headers).not.toHaveProperty('x-swap-stale')
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

  test('a result that cannot be kept is told to nobody, and found later', async () => {
    managed.alpha.reply('create', ({ body }) => {
      const made = orderedSwap(readJson(body) as Order, { id: 'kept-later' })
      managed.alpha.holdings.swaps = [made]
      return { status: 201, json: transactionA(made) }
    })
    freeze()
    const answer = await create(form)
    expectRefusal(answer, form, 504)
    expect(answer.text).not.toContain('deposit')
    expect(outcomesOf(managed.gateway)).toEqual(['unknown'])
    expectRefusal(await create(form), form, 409)
    thaw()
    await lookNow(managed.gateway)
    expect((await create(form)).json).toMatchObject({ id: 'alpha~kept-later' })
    expect(managed.alpha.received('create')).toHaveLength(1)
  })
})
