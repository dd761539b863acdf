/** PostgreSQL's clock in conditions: a statement reads it once, so that it finds what is due by an index. */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { type OpenLedger, openLedger } from '../../src/ledger/index.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { query } from './raw.ts'

let server: Postgres
beforeAll(async () => {
  server = await startPostgres()
  return server.close
})

async function opened(): Promise<OpenLedger & { readonly url: string }> {
  const url = await server.createDatabase()
  const store = await openLedger(url)
  onTestFinished(store.close)
  return { ...store, url }
}

test('a claim reads what is due, not what waits', async () => {
  const { url, accounts, webhooks, close } = await opened()
  await accounts.addKey({ id: 'key', name: 'acme', createdAt: 1 }, 'digest', 'tester')
  const [id, secret] = ['wh_1', 'sealed']
  const webhook = await webhooks.add({ id, account: 'acme', url: 'https://x.example/', form: 'A', secret, createdAt: 1 }, 'tester')
  if (!webhook) throw new Error('There is no account.')
  const later = Date.now() + 3_600_000
  await query(
    url,
    'SET session_replication_role = replica',
    `INSERT INTO webhook_queues SELECT '${id}', 'alpha', 'x' || n, ${later} + n, NULL FROM generate_series(1, 20000) AS n`,
    'ANALYZE webhook_queues',
  )
  await webhooks.due()
  await webhooks.claim(webhook, () => ({ body: '{}', isPayable: true }))
  await close()
  const read = `SELECT coalesce(sum(idx_tup_read), 0)::int AS by_index, (
    SELECT seq_tup_read::int FROM pg_stat_user_tables WHERE relname = 'webhook_queues'
  ) AS whole FROM pg_stat_user_indexes WHERE relname = 'webhook_queues'`
  await expect
    .poll(async () => (await query(url, 'SELECT numbackends FROM pg_stat_database WHERE datname = current_database()'))[0])
    .toEqual({ numbackends: 1 })
  expect((await query(url, read))[0]).toMatchObject({ by_index: expect.toSatisfy((rows: number) => rows < 100), whole: 0 })
})

test('of two processes that take a turn at once one gets it, also if it has read the clock later', async () => {
  const { url, retention } = await opened()
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  onTestFinished(() => other.end())
  await other.query('BEGIN')
  await other.query(
    `INSERT INTO background_jobs VALUES ('retention', cast(extract(epoch FROM clock_timestamp()) * 1000 + 200 AS bigint))`,
  )
  const turn = retention.takeTurn(3_600_000)
  await delay(50)
  await other.query('COMMIT')
  expect(await turn).toBe(false)
})
