/** Fills an empty ledger with the rows that its methods would write, but faster. */
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { firstPosition, maxSegmentEntries } from '../../src/ledger/page-index.ts'
import { provider, type Row, recordJson, requestJson, rowsOf } from './rows.ts'

export async function fill(url: string, count: number): Promise<void> {
  await (url.startsWith('sqlite:') ? fillSqlite(url.slice('sqlite:'.length), count) : fillPostgres(url, count))
}

const columns = 'intent, owner, provider, provider_id, state, attempted_at, sort_key, status, reported_at, requested, record'

type Values = readonly (string | bigint)[]

function valuesOf(row: Row): Values {
  const at = row.createdAt / 1_000_000n
  return [row.intent, row.owner, provider, row.id, 'done', at, -row.createdAt, 'sending', at, requestJson, recordJson(row)]
}

/** An owner's segments: each over half of what it may hold, as they are when the newest always comes last. */
function* segmentsOf(count: number): Generator<Values> {
  const owners = Map.groupBy(rowsOf(count), ({ owner }) => owner)
  const half = maxSegmentEntries / 2
  for (const [owner, rows] of owners) {
    const newest = rows.reverse()
    for (let n = 0; n < newest.length; n += half) {
      const { id, createdAt } = newest[n] as Row
      const place = n === 0 ? [firstPosition.sort_key, '', ''] : [-createdAt, id, provider]
      const older = newest.length - n - half
      yield [owner, ...place, BigInt(Math.min(half, newest.length - n)), BigInt(Math.max(older, 0))]
    }
  }
}

function fillSqlite(file: string, count: number): void {
  const database = new DatabaseSync(file)
  const insert = (table: string, width: number) =>
    database.prepare(`INSERT INTO ${table} VALUES (${Array.from({ length: width }, () => '?').join(', ')})`)
  database.exec('BEGIN')
  const transactions = insert(`transactions (${columns})`, 11)
  for (const row of rowsOf(count)) transactions.run(...valuesOf(row))
  const segments = insert('page_index (owner, sort_key, provider_id, provider, entries, older)', 6)
  for (const segment of segmentsOf(count)) segments.run(...segment)
  database.exec('COMMIT')
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
}

async function fillPostgres(url: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const whole = new Set(['attempted_at', 'sort_key', 'reported_at', 'entries', 'older'])
  const insert = async (table: string, names: readonly string[], rows: readonly Values[]) => {
    const lists = names.map((name, n) => `$${n + 1}::${whole.has(name) ? 'bigint' : 'text'}[]`)
    const values = names.map((_, n) => rows.map((row) => String(row[n])))
    await client.query(`INSERT INTO ${table} (${names.join(', ')}) SELECT * FROM unnest(${lists.join(', ')})`, values)
  }
  const tables = [
    ['transactions', columns.split(', '), rowsOf(count).map(valuesOf)],
    ['page_index', ['owner', 'sort_key', 'provider_id', 'provider', 'entries', 'older'], segmentsOf(count)],
  ] as const
  for (const [table, names, rows] of tables) for (const batch of batches(rows)) await insert(table, names, batch)
  await client.query('VACUUM ANALYZE')
  await client.end()
}

function* batches<T>(items: Iterable<T>): Generator<readonly T[]> {
  let batch: T[] = []
  for (const item of items) {
    batch.push(item)
    if (batch.length < 5_000) continue
    yield batch
    batch = []
  }
  yield batch
}
