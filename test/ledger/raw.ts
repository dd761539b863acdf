/** Direct access to the database of a store. */
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { maxSegmentEntries } from '../../src/ledger/page-index.ts'

export type RawRow = Readonly<Record<string, unknown>>

/** The rows of the last statement. */
export async function query(url: string, ...statements: readonly string[]): Promise<readonly RawRow[]> {
  return url.startsWith('sqlite:') ? querySqlite(url.slice('sqlite:'.length), statements) : queryPostgres(url, statements)
}

function querySqlite(file: string, statements: readonly string[]): readonly RawRow[] {
  const database = new DatabaseSync(file, { timeout: 5_000 })
  try {
    return statements.map((statement) => database.prepare(statement).all()).at(-1) ?? []
  } finally {
    database.close()
  }
}

async function queryPostgres(url: string, statements: readonly string[]): Promise<readonly RawRow[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    let rows: readonly RawRow[] = []
    for (const statement of statements) rows = (await client.query<RawRow>(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}

const place = (table: string) => `(${table}.sort_key, ${table}.provider_id, ${table}.provider)`

/** Tallies with a wrong count of covered or older entries, or that cover too many; entries that none covers. */
export function wrongPageIndex(url: string): Promise<readonly RawRow[]> {
  return query(
    url,
    `WITH entries AS (
      SELECT owner, sort_key, provider_id, provider FROM transactions WHERE state = 'done'
    ), counted AS (
      SELECT page_index.*, (
        SELECT count(*) FROM entries WHERE entries.owner = page_index.owner AND ${place('entries')} >= ${place('page_index')}
      ) AS actual FROM page_index
    ), compared AS (
      SELECT *, coalesce(lead(actual) OVER (PARTITION BY owner ORDER BY sort_key, provider_id, provider), 0) AS behind FROM counted
    )
    SELECT owner, entries, older, actual, behind FROM compared
    WHERE older <> behind OR entries <> actual - behind OR entries > ${maxSegmentEntries}
    UNION ALL
    SELECT owner, 0, 0, count(*), 0 FROM entries WHERE owner NOT IN (SELECT owner FROM page_index) GROUP BY owner`,
  )
}
