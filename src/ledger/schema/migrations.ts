/** Kysely: the migrations of the ledger's schema. A released step never changes. The name of a new step sorts after all others. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The names of types in a database. */
export interface ColumnTypes {
  /** An integer of 64 bits. */
  readonly integer: string
  /** Text with binary comparison. */
  readonly text: string
  /** An auto-incremented integer as the primary key. */
  readonly identity: string
  /** Whether the database server has a clock that all processes share. */
  readonly hasClock: boolean
}

/** When the change of an entry was seen; until one was, its attempt or its creation, whichever is later. Written into a released step. */
export const changeTime = `coalesce(changed_at, case when attempted_at > -sort_key / 1000000 then attempted_at else -sort_key / 1000000 end)`

export function migrations(types: ColumnTypes): Record<string, Migration> {
  return {
    '2026-11-20 transactions': step(transactions(types)),
    '2026-11-21 accounts': step(accounts(types)),
    '2026-11-22 going': step(openIndex()),
    '2026-11-23 traces': step([`ALTER TABLE transactions ADD COLUMN traceparent ${types.text}`]),
    '2026-11-24 clock': step(types.hasClock ? [] : clock(types)),
    '2026-11-25 ended': step(ended(types)),
    '2026-11-27 providers': step(providers(types)),
    '2026-11-28 currency lists': step(currencyLists(types)),
    '2026-11-30 sequences': step([`ALTER TABLE transactions ADD COLUMN sequence ${types.integer}`]),
    '2026-12-01 operations': step(operations(types)),
    '2026-12-02 replica figures': step(replicaFigures(types)),
    '2026-12-03 polls': step(polls(types)),
    '2026-12-04 pruned ids': step(prunedIds(types)),
    '2026-12-06 newest': step([
      "CREATE INDEX transactions_newest ON transactions (sort_key, provider_id, provider) WHERE state = 'done'",
    ]),
    '2026-12-07 attention': step(attention(types)),
    '2026-12-09 log position': step(types.hasClock ? logPosition(types) : []),
    '2026-12-11 missing': step([
      `ALTER TABLE transactions ADD COLUMN missing_since ${types.integer}`,
      `ALTER TABLE transactions ADD COLUMN missing_at ${types.integer}`,
    ]),
    '2026-12-12 sent words': step([
      `ALTER TABLE transactions ADD COLUMN sent ${types.text}`,
      `ALTER TABLE transactions ADD COLUMN deadline ${types.integer}`,
      `ALTER TABLE ended ADD COLUMN sent ${types.text}`,
      `ALTER TABLE claims ADD COLUMN request ${types.text}`,
    ]),
    '2026-12-13 refused creates': step(refusedCreates(types)),
    '2026-12-14 candidates': step([`ALTER TABLE transactions ADD COLUMN candidates ${types.text}`]),
    '2026-12-15 provider accounts': step([`ALTER TABLE providers ADD COLUMN account ${types.text}`]),
    '2026-12-16 quoting': step([`ALTER TABLE transactions ADD COLUMN quoting ${types.integer}`]),
    '2026-12-17 destinations': step([`ALTER TABLE transactions ADD COLUMN destination ${types.text}`]),
    '2026-12-18 deposits': step([
      `ALTER TABLE transactions ADD COLUMN deposit ${types.text}`,
      "CREATE INDEX transactions_deposit ON transactions (deposit) WHERE deposit IS NOT NULL AND state = 'done'",
    ]),
    '2026-12-19 unresolved': step([
      "CREATE INDEX transactions_undone_at ON transactions (owner, provider) WHERE state <> 'done'",
      "CREATE INDEX transactions_unresolved ON transactions (attempted_at, intent) WHERE state <> 'done'",
    ]),
    '2026-12-20 mismatch streaks': step(mismatchStreaks(types)),
    '2026-12-21 refused destinations': step([
      `ALTER TABLE refused_creates ADD COLUMN destination ${types.text}`,
      `ALTER TABLE refused_creates ADD COLUMN deadline ${types.integer}`,
    ]),
    '2026-12-22 words of the port': step(wordsOfThePort()),
    '2026-12-23 list filters': step(listFilters()),
  }
}

function step(statements: readonly string[]): Migration {
  return {
    async up(database: Kysely<unknown>) {
      for (const statement of statements) await sql.raw(statement).execute(database)
    },
  }
}

function transactions({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE transactions (
      intent ${text} UNIQUE,
      owner ${text} NOT NULL,
      provider ${text} NOT NULL,
      provider_id ${text},
      state ${text} NOT NULL CHECK (state IN ('pending', 'unknown', 'done', 'mismatch')),
      attempted_at ${integer},
      sort_key ${integer},
      status ${text},
      seen_at ${integer},
      read_at ${integer},
      changed_at ${integer},
      look_at ${integer},
      looks ${integer} NOT NULL DEFAULT 0,
      asked ${text},
      facts ${text},
      UNIQUE (provider, provider_id),
      CHECK (state <> 'done' OR (provider_id IS NOT NULL AND sort_key IS NOT NULL AND facts IS NOT NULL)),
      CHECK (state = 'done' OR (intent IS NOT NULL AND asked IS NOT NULL AND attempted_at IS NOT NULL))
    )`,
    `CREATE INDEX transactions_listed ON transactions (owner, sort_key, provider_id, provider) WHERE state = 'done'`,
    `CREATE INDEX transactions_undone ON transactions (owner) WHERE state <> 'done'`,
    `CREATE INDEX transactions_open ON transactions (provider, attempted_at) WHERE state IN ('pending', 'unknown')`,
    `CREATE INDEX transactions_awaited ON transactions (look_at) WHERE look_at IS NOT NULL`,
    `CREATE TABLE claims (
      owner ${text} NOT NULL,
      key ${text} NOT NULL,
      intent ${text} NOT NULL REFERENCES transactions (intent) ON DELETE CASCADE,
      fingerprint ${text} NOT NULL,
      first ${text},
      created_at ${integer} NOT NULL,
      PRIMARY KEY (owner, key)
    )`,
    'CREATE INDEX claims_by_intent ON claims (intent)',
    'CREATE INDEX claims_by_age ON claims (created_at)',
    `CREATE TABLE tallies (
      owner ${text} NOT NULL,
      sort_key ${integer} NOT NULL,
      provider_id ${text} NOT NULL,
      provider ${text} NOT NULL,
      entries ${integer} NOT NULL CHECK (entries >= 0),
      older ${integer} NOT NULL CHECK (older >= 0),
      PRIMARY KEY (owner, sort_key, provider_id, provider)
    )`,
    'CREATE INDEX tallies_by_age ON tallies (owner, older)',
  ]
}

/** Open transactions are few, and are counted all the time. */
function openIndex(): readonly string[] {
  return [
    `CREATE INDEX transactions_going ON transactions (provider, status, sort_key)
      WHERE state = 'done' AND (status IS NULL OR status NOT IN ('success', 'refunded', 'overdue'))`,
  ]
}

/** The last configuration of each tag. */
function providers({ text }: ColumnTypes): readonly string[] {
  return [`CREATE TABLE providers (tag ${text} PRIMARY KEY, form ${text} NOT NULL, url ${text} NOT NULL)`]
}

/** The total uptime of processes. It starts after all existing claims. */
function clock({ integer }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE clock (time ${integer} NOT NULL)`,
    'INSERT INTO clock SELECT max(coalesce(max(created_at), 0), unixepoch() * 1000) FROM claims',
  ]
}

/** Creates that ended as not created leave the transactions and are kept here for a while. */
function ended({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `ALTER TABLE transactions ADD COLUMN begun_at ${integer}`,
    `CREATE TABLE ended (
      intent ${text} PRIMARY KEY,
      owner ${text} NOT NULL,
      provider ${text} NOT NULL,
      asked ${text} NOT NULL,
      attempted_at ${integer} NOT NULL,
      ended_at ${integer} NOT NULL
    )`,
  ]
}

/** An id stays one create's after its transaction was pruned. */
function prunedIds({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE pruned_ids (
      provider ${text} NOT NULL,
      provider_id ${text} NOT NULL,
      pruned_at ${integer} NOT NULL,
      PRIMARY KEY (provider, provider_id)
    )`,
    'CREATE INDEX pruned_ids_by_age ON pruned_ids (pruned_at)',
  ]
}

function accounts({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE accounts (id ${text} PRIMARY KEY, name ${text} NOT NULL UNIQUE, created_at ${integer} NOT NULL)`,
    `CREATE TABLE keys (
      digest ${text} PRIMARY KEY,
      id ${text} NOT NULL UNIQUE,
      account ${text} NOT NULL REFERENCES accounts (id),
      created_at ${integer} NOT NULL,
      expires_at ${integer},
      revoked_at ${integer}
    )`,
  ]
}

function currencyLists({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE currency_lists (
      provider ${text} PRIMARY KEY,
      url ${text} NOT NULL,
      form ${text} NOT NULL,
      rows ${text} NOT NULL,
      read_at ${integer} NOT NULL,
      read_at_uptime ${integer}
    )`,
  ]
}

/** The audit log, and the overrides of the configuration file. */
function operations({ integer, text, identity }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE overrides (
      key ${text} PRIMARY KEY,
      value ${text} NOT NULL,
      file_value ${text} NOT NULL,
      actor ${text} NOT NULL,
      since ${integer} NOT NULL,
      ended ${integer} NOT NULL CHECK (ended IN (0, 1))
    )`,
    `CREATE TABLE audit (
      id ${identity},
      at ${integer} NOT NULL,
      actor ${text} NOT NULL,
      action ${text} NOT NULL,
      subject ${text} NOT NULL,
      "before" ${text},
      "after" ${text}
    )`,
    'CREATE INDEX audit_by_age ON audit (at, id)',
    `CREATE INDEX transactions_overdue ON transactions ((coalesce(changed_at, -sort_key / 1000000)), provider)
      WHERE state = 'done' AND status = 'overdue'`,
  ]
}

/** The figures of each process for its last minute: a few rows, no history. */
function replicaFigures({ integer, text }: ColumnTypes): readonly string[] {
  return [`CREATE TABLE replica_figures (replica ${text} PRIMARY KEY, at ${integer} NOT NULL, figures ${text} NOT NULL)`]
}

/** Indexes of open transactions by their last background read. */
function polls({ integer }: ColumnTypes): readonly string[] {
  return [
    `ALTER TABLE transactions ADD COLUMN polled_at ${integer} NOT NULL DEFAULT 0`,
    `CREATE INDEX transactions_polled ON transactions (provider, polled_at, sort_key DESC)
      WHERE state = 'done' AND (status IS NULL OR status NOT IN ('success', 'refunded', 'overdue'))`,
    `CREATE INDEX transactions_overdue_at ON transactions (provider, (coalesce(changed_at, -sort_key / 1000000)))
      WHERE state = 'done' AND status = 'overdue'`,
  ]
}

/** Transactions that need a person are few, and are counted all the time. */
function attention({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `ALTER TABLE transactions ADD COLUMN attention ${text}`,
    `ALTER TABLE transactions ADD COLUMN settled_at ${integer}`,
    'CREATE INDEX transactions_attention ON transactions (provider, attention, sort_key) WHERE attention IS NOT NULL',
  ]
}

/** Refused creates that may exist are few, and stay for minutes. */
function refusedCreates({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE refused_creates (
      intent ${text} PRIMARY KEY,
      owner ${text} NOT NULL,
      provider ${text} NOT NULL,
      asked ${text} NOT NULL,
      sent ${text},
      attempted_at ${integer} NOT NULL,
      look_at ${integer} NOT NULL,
      looks ${integer} NOT NULL DEFAULT 0
    )`,
  ]
}

/** Mismatches in a row are few. A row of `overrides` that was none told when a person last ended suspensions. */
function mismatchStreaks({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE mismatch_streaks (
      provider ${text} NOT NULL,
      kind ${text} NOT NULL,
      asset ${text} NOT NULL,
      sent ${text} NOT NULL,
      network ${text},
      intents ${text} NOT NULL,
      since ${integer},
      changed_at ${integer} NOT NULL,
      PRIMARY KEY (provider, kind, asset)
    )`,
    "DELETE FROM overrides WHERE key = 'resumed'",
  ]
}

/** The last known position of the log of a database server. */
function logPosition({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE log_position (only_row boolean PRIMARY KEY CHECK (only_row), system ${text} NOT NULL, position ${integer} NOT NULL)`,
  ]
}

/** The names of columns and of keys in stored JSON become those of the port. Only a key is followed by `":` in JSON. */
function wordsOfThePort(): readonly string[] {
  return [
    'ALTER TABLE transactions RENAME COLUMN asked TO requested',
    'ALTER TABLE transactions RENAME COLUMN facts TO record',
    'ALTER TABLE transactions RENAME COLUMN seen_at TO reported_at',
    'ALTER TABLE transactions RENAME COLUMN read_at TO fetched_at',
    'ALTER TABLE transactions RENAME COLUMN looks TO check_count',
    'ALTER TABLE transactions RENAME COLUMN look_at TO next_check_at',
    'ALTER TABLE ended RENAME COLUMN asked TO requested',
    'ALTER TABLE refused_creates RENAME COLUMN asked TO requested',
    'ALTER TABLE refused_creates RENAME COLUMN looks TO check_count',
    'ALTER TABLE refused_creates RENAME COLUMN look_at TO next_check_at',
    'ALTER TABLE tallies RENAME TO page_index',
    'DROP INDEX tallies_by_age',
    'CREATE INDEX page_index_by_age ON page_index (owner, older)',
    `UPDATE transactions SET record = replace(record, ',"promised":', ',"quotedAmountOut":')
      WHERE state = 'done' AND record LIKE '%,"promised":%'`,
    `UPDATE transactions SET record = '{"reported":' || substr(record, length('{"told":') + 1)
      WHERE state = 'mismatch' AND record LIKE '{"told":%'`,
    `UPDATE claims SET first = replace(replace(replace(
        first, ',"promised":', ',"quotedAmountOut":'), ',"seenAt":', ',"reportedAt":'), ',"readAt":', ',"fetchedAt":')
      WHERE first IS NOT NULL`,
  ]
}

/** Of an owner's list: by status, and by when that changed. Queries repeat the expression. */
function listFilters(): readonly string[] {
  return [
    `CREATE INDEX transactions_by_status ON transactions (owner, status, sort_key) WHERE state = 'done'`,
    `CREATE INDEX transactions_by_change ON transactions (owner, (${changeTime}), status) WHERE state = 'done'`,
  ]
}
