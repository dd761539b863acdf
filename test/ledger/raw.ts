/** Direct access to the database of a store. */
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { maxSegmentEntries } from '../../src/ledger/page-index.ts'
import { steps } from '../../src/ledger/schema/steps.ts'

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

/** Leaves the schema as the version before the last two migrations had it. */
export async function undoLastMigrations(url: string): Promise<void> {
  await query(
    url,
    'ALTER TABLE transactions RENAME COLUMN requested TO asked',
    'ALTER TABLE transactions RENAME COLUMN record TO facts',
    'ALTER TABLE transactions RENAME COLUMN reported_at TO seen_at',
    'ALTER TABLE transactions RENAME COLUMN fetched_at TO read_at',
    'ALTER TABLE transactions RENAME COLUMN check_count TO looks',
    'ALTER TABLE transactions RENAME COLUMN next_check_at TO look_at',
    'ALTER TABLE ended RENAME COLUMN requested TO asked',
    'ALTER TABLE refused_creates RENAME COLUMN requested TO asked',
    'ALTER TABLE refused_creates RENAME COLUMN check_count TO looks',
    'ALTER TABLE refused_creates RENAME COLUMN next_check_at TO look_at',
    'ALTER TABLE page_index RENAME TO tallies',
    'DROP INDEX page_index_by_age',
    'CREATE INDEX tallies_by_age ON tallies (owner, older)',
    'DROP INDEX transactions_by_status',
    'DROP INDEX transactions_by_change',
    "DELETE FROM kysely_migration WHERE name IN ('2026-12-22 words of the port', '2026-12-23 list filters')",
  )
}

/** Leaves the schema as the version before had it. */
export async function undoSteps(url: string): Promise<void> {
  await undoAdditions(url)
  await query(url, 'DROP TABLE schema_steps')
}

/** The same, but for what every create needs: without it none begins. */
export async function undoOptionalSteps(url: string): Promise<void> {
  await undoAdditions(url)
  const isFile = url.startsWith('sqlite:')
  const types = {
    integer: isFile ? 'integer' : 'bigint',
    text: isFile ? 'text' : 'text COLLATE "C"',
    identity: '',
    hasClock: !isFile,
  }
  const added = [...steps['payable swaps'].statements(types), `ALTER TABLE claims ADD COLUMN shown_at ${types.integer}`]
  await query(url, ...added, "DELETE FROM schema_steps WHERE name <> 'payable swaps'")
}

/** The same, but for the record of it. */
export async function undoAdditions(url: string): Promise<void> {
  const fillfactors = ['transactions', 'claims'].map((table) => `ALTER TABLE ${table} RESET (fillfactor)`)
  const found = ['restored_providers', 'found_orders', 'found_order_keys']
  const webhooks = ['webhooks', 'webhook_queues', 'webhook_deliveries']
  const usage = ['requests', 'writers', 'swaps', 'amounts'].map((name) => `usage_${name}`)
  const tables = [
    'open_deposits',
    'withheld_candidates',
    'restore_marks',
    'transaction_events',
    'event_owners',
    'watched_transactions',
    'watched_owners',
    ...webhooks,
    ...usage,
    'swap_actions',
    'firm_quotes',
    'timeline',
    'create_requests',
    'settlements',
    ...found,
    'background_jobs',
  ]
  const columns = [
    'transactions.unknown_reason',
    'transactions.quoted',
    'claims.shown_at',
    'refused_creates.quoted',
    ...['scope', 'networks', 'hint', 'used_at'].map((name) => `keys.${name}`),
    'accounts.limits',
  ]
  const dropped = columns.map((column) => `ALTER TABLE ${column.replace('.', ' DROP COLUMN ')}`)
  const added = [...tables.map((table) => `DROP TABLE ${table}`), ...dropped]
  await query(url, ...added, ...(url.startsWith('sqlite:') ? [] : fillfactors))
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
