/** Changes of rows that PostgreSQL makes in their page, without a change of an index (HOT), and how long a key is kept. */
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { openLedger } from '../../src/ledger/index.ts'
import { query } from './raw.ts'
import { facts, intent } from './samples.ts'
import { openSite } from './stores.ts'

const postgres = await openSite('PostgreSQL')
afterAll(() => postgres.close())

async function updatesOf(url: string, table: string): Promise<{ readonly all: number; readonly hot: number }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query('SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = $1', [table])
  await client.end()
  return { all: Number(rows[0]?.n_tup_upd), hot: Number(rows[0]?.n_tup_hot_upd) }
}

test('the result of a create changes no index of its key, and a get that finds the same status none of its swap', async () => {
  const url = await postgres.createLedger()
  const { ledger, close } = await openLedger(url)
  const ids = Array.from({ length: 200 }, (_, n) => `tx-${n}`)
  // At a time: their keys fill pages before their responses come.
  const creates = ids.map((id) => intent({ idempotencyKey: { key: id, fingerprint: 'f'.repeat(64) } }))
  await Promise.all(creates.map((create) => ledger.begin(create)))
  await Promise.all(creates.map(({ id }, n) => ledger.complete(id, facts(`tx-${n}`, {}, { sequence: 1 }))))
  for (const id of ids)
    for (let sequence = 2; sequence < 6; sequence++) {
      const known = await ledger.find('owner', 'alpha', id)
      await ledger.upsert('owner', 'alpha', facts(id, {}, { sequence, fetchedAt: Date.now() }), known)
    }
  await close()
  await expect.poll(async () => (await updatesOf(url, 'transactions')).all, { timeout: 20_000 }).toBe(5 * ids.length)
  const [claims, transactions] = [await updatesOf(url, 'claims'), await updatesOf(url, 'transactions')]
  expect(claims.all).toBe(ids.length)
  expect(claims.hot).toBeGreaterThan(0.97 * claims.all)
  // The result of each create enters the indexes of lists.
  expect(transactions.hot).toBeGreaterThan(0.85 * (transactions.all - ids.length))
})

test('a key lives for 24 hours from a late outcome of its create, and from the create itself if that took moments', async () => {
  const url = await postgres.createLedger()
  let now = 1_800_000_000_000
  const { ledger, close } = await openLedger(url, { now: () => now })
  const made = async (id: string, tookMs: number): Promise<number> => {
    const create = intent({ idempotencyKey: { key: id, fingerprint: 'f' } })
    await ledger.begin(create)
    now += tookMs
    await ledger.complete(create.id, facts(id))
    return now
  }
  const outcomes = [await made('soon', 59_000), await made('late', 61_000)]
  const rows = await query(url, 'SELECT key, created_at FROM claims ORDER BY created_at')
  expect(rows.map(({ key, created_at }) => [key, Number(created_at)])).toEqual([
    ['soon', (outcomes[0] as number) - 59_000],
    ['late', outcomes[1]],
  ])
  now = (outcomes[0] as number) + 24 * 3_600_000
  expect(await ledger.findIdempotencyKey('owner', 'soon')).toMatchObject({ state: 'done' })
  await close()
})
