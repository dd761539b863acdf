/**
 * How many changes of rows in PostgreSQL stay in their page and touch no index (HOT): creates under an `Idempotency-Key`, then gets that
 * refresh them, and the changes of their status. Then the same without the indices that stand on what such a change changes: what that
 * would save. The figures of docs/ledger.md.
 */
import pg from 'pg'
import { openLedger } from '../src/ledger/index.ts'
import { facts, intent } from '../test/ledger/samples.ts'
import { startPostgres } from '../test/support/postgres.ts'

const creates = 2_000
const atOnce = 16
/** What a client's gets find, one after the other: it polls three times in each status. */
const statuses = ['wait', 'confirmation', 'confirmed', 'exchanging', 'sending', 'success'] as const
const getsPerStatus = 3
/** On the status, or on when it changed. */
const onStatus = ['by_status', 'by_change', 'going', 'polled', 'overdue', 'overdue_at'].map((name) => `transactions_${name}`)

const server = await startPostgres(process.pid)

async function inBatches(work: (n: number) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < creates; first += atOnce)
    await Promise.all(Array.from({ length: Math.min(atOnce, creates - first) }, (_, n) => work(first + n)))
}

const owner = (n: number): string => `owner-${n % 50}`

interface Written {
  /** Of PostgreSQL's log. */
  bytes: number
  changes: number
}

async function report(title: string, dropped: readonly string[]): Promise<void> {
  const url = await server.createDatabase()
  const { ledger, close } = await openLedger(url)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const name of dropped) await client.query(`DROP INDEX ${name}`)
  const logBytes = async (): Promise<number> =>
    Number((await client.query("SELECT pg_current_wal_insert_lsn() - '0/0' AS bytes")).rows[0].bytes)
  await inBatches(async (n) => {
    const create = intent({ owner: owner(n), provider: 'alpha', idempotencyKey: { key: `key-${n}`, fingerprint: 'f'.repeat(64) } })
    await ledger.begin(create)
    await ledger.complete(create.id, facts(`tx-${n}`, {}, { sequence: 1 }))
  })
  const ofStatus: Written = { bytes: 0, changes: 0 }
  const ofTime: Written = { bytes: 0, changes: 0 }
  let sequence = 1
  for (const status of statuses) {
    for (let get = 0; get < getsPerStatus; get++) {
      sequence++
      const before = await logBytes()
      await inBatches(async (n) => {
        const known = await ledger.find(owner(n), 'alpha', `tx-${n}`)
        const isChange = known?.transaction.status !== status
        const now = Date.now()
        await ledger.upsert(
          owner(n),
          'alpha',
          facts(`tx-${n}`, { status }, { sequence, fetchedAt: now, changedAt: isChange ? now : known?.changedAt }),
          known,
        )
      })
      const written = get === 0 && status !== 'wait' ? ofStatus : ofTime
      written.bytes += (await logBytes()) - before
      written.changes += creates
    }
  }
  await close()
  await client.query('SELECT pg_stat_force_next_flush()')
  const { rows } = await client.query<Record<'relname' | 'n_tup_upd' | 'n_tup_hot_upd' | 'bytes', string>>(
    `SELECT relname, n_tup_upd, n_tup_hot_upd, pg_total_relation_size(relid) AS bytes FROM pg_stat_user_tables
     WHERE relname IN ('transactions', 'claims') ORDER BY relname`,
  )
  await client.end()
  console.log(title)
  for (const { relname, n_tup_upd: changes, n_tup_hot_upd: hot, bytes } of rows)
    console.log(
      `  ${relname}: ${changes} changes, ${hot} of them HOT (${((100 * Number(hot)) / Number(changes)).toFixed(0)} %), ${(Number(bytes) / creates / 1000).toFixed(1)} kB for each create`,
    )
  for (const [name, { bytes, changes }] of [
    ['a change of status', ofStatus],
    ['a get that refreshes', ofTime],
  ] as const)
    console.log(`  ${name}: ${(bytes / changes).toFixed(0)} bytes of log`)
}

await report('all indices', [])
await report(`without ${onStatus.join(', ')}`, onStatus)
await server.close()
