/** A store as its database holds it, past the ledger. */
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { fullTally } from '../../src/adapters/ledger/tallies.ts'

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

/** Tallies that do not say how many entries they cover, or cover too many, and entries that none covers. */
export function wrongTallies(url: string): Promise<readonly RawRow[]> {
  return query(
    url,
    `WITH covered AS (
      SELECT owner, (
        SELECT CAST(max(tallies.sort_key) AS text) || ' ' || max(tallies.provider_id) FROM tallies
        WHERE tallies.owner = entries.owner AND ${place('tallies')} = (
          SELECT sort_key, provider_id, provider FROM tallies AS nearest
          WHERE nearest.owner = entries.owner AND ${place('nearest')} <= ${place('entries')}
          ORDER BY sort_key DESC, provider_id DESC, provider DESC LIMIT 1
        )
      ) AS tally FROM transactions AS entries WHERE state = 'done'
    ), counted AS (
      SELECT owner, tally, count(*) AS entries FROM covered GROUP BY owner, tally
    ), told AS (
      SELECT owner, CAST(sort_key AS text) || ' ' || provider_id AS tally, entries FROM tallies
    )
    SELECT told.owner, told.tally, told.entries, counted.entries AS counted
    FROM told LEFT JOIN counted ON told.owner = counted.owner AND told.tally = counted.tally
    WHERE told.entries <> coalesce(counted.entries, 0) OR told.entries > ${fullTally}
    UNION ALL
    SELECT owner, tally, 0, entries FROM counted WHERE tally IS NULL`,
  )
}
