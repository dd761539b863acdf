/**
 * Kysely: the steps of the ledger's schema since the migrations of `migrations.ts`, which are schema 1 and never change: the version of
 * that schema refuses names that it does not know. A released step never changes.
 */
import type { ColumnTypes } from './migrations.ts'

/** The schema of this version. It runs on ledgers of the schema before and of the next one. */
export const schemaNumber = 2

export interface Step {
  /** The schema that it belongs to. */
  readonly schema: number
  /**
   * `expand`: tables, columns that are nullable or have a default, settings: what the version of the schema before does not notice.
   * `contract`: removes what no version of the schema before uses.
   */
  readonly kind: 'expand' | 'contract'
  /** They hold the locks of their tables only for a moment: no rows are filled, and a table that has rows gets no index. */
  readonly statements: (types: ColumnTypes) => readonly string[]
}

export type StepName = keyof typeof known

const known = {
  'room for updates': { schema: 2, kind: 'expand', statements: ({ hasClock }) => (hasClock ? roomForUpdates : []) },
  'create requests': { schema: 2, kind: 'expand', statements: createRequests },
  'unknown reasons': {
    schema: 2,
    kind: 'expand',
    statements: ({ text }) => [`ALTER TABLE transactions ADD COLUMN unknown_reason ${text}`],
  },
  settlements: { schema: 2, kind: 'expand', statements: settlements },
  restores: { schema: 2, kind: 'expand', statements: restores },
  'found order keys': {
    schema: 2,
    kind: 'expand',
    statements: ({ integer, text }) => [
      `CREATE TABLE IF NOT EXISTS found_order_keys (
        provider ${text} NOT NULL,
        provider_id ${text} NOT NULL,
        owner ${text} NOT NULL,
        key ${text} NOT NULL,
        fingerprint ${text} NOT NULL,
        request ${text},
        seen_at ${integer} NOT NULL,
        PRIMARY KEY (provider, provider_id, owner, key)
      )`,
    ],
  },
  'background jobs': {
    schema: 2,
    kind: 'expand',
    statements: ({ integer, text }) => [
      `CREATE TABLE IF NOT EXISTS background_jobs (name ${text} PRIMARY KEY, at ${integer} NOT NULL)`,
    ],
  },
  timeline: { schema: 2, kind: 'expand', statements: timeline },
  'firm quotes': { schema: 2, kind: 'expand', statements: firmQuotes },
  'swap actions': { schema: 2, kind: 'expand', statements: swapActions },
  'key access': { schema: 2, kind: 'expand', statements: keyAccess },
  // A response is four times its key's row.
  'room for responses': {
    schema: 2,
    kind: 'expand',
    statements: ({ hasClock }) => (hasClock ? ['ALTER TABLE claims SET (fillfactor = 20)'] : []),
  },
  'transaction events': { schema: 2, kind: 'expand', statements: transactionEvents },
  watches: { schema: 2, kind: 'expand', statements: watches },
  webhooks: { schema: 2, kind: 'expand', statements: webhooks },
  usage: { schema: 2, kind: 'expand', statements: usage },
  'restore marks': { schema: 2, kind: 'expand', statements: restoreMarks },
  'payable swaps': { schema: 2, kind: 'expand', statements: payableSwaps },
} as const satisfies Readonly<Record<string, Step>>

/** In their order. The ledger has their names, schemas and kinds. */
export const steps: Readonly<Record<StepName, Step>> = known

/** In PostgreSQL a changed row stays in its page, without a change of an index, while the page has room. */
const roomForUpdates: readonly string[] = [
  'ALTER TABLE transactions SET (fillfactor = 80)',
  'ALTER TABLE claims SET (fillfactor = 50)',
]

/** The request that made a create: written once, and found by each column. A digest is the first 64 bits of a SHA-256. */
function createRequests({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE IF NOT EXISTS create_requests (
      intent ${text} PRIMARY KEY REFERENCES transactions (intent) ON DELETE CASCADE,
      at ${integer} NOT NULL,
      request_id ${text},
      key_id ${text},
      idempotency_key ${integer},
      payout ${integer},
      refund ${integer}
    )`,
    ...['request_id', 'idempotency_key', 'payout', 'refund'].map(
      (column) =>
        `CREATE INDEX IF NOT EXISTS create_requests_by_${column} ON create_requests (${column}, at) WHERE ${column} IS NOT NULL`,
    ),
  ]
}

/** What a person was shown to settle at once. */
function settlements({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE settlements (
      id ${text} PRIMARY KEY,
      at ${integer} NOT NULL,
      settlement ${text} NOT NULL,
      planned ${text} NOT NULL,
      position ${integer} NOT NULL
    )`,
  ]
}

/** What a ledger that was restored from a backup lacks: its providers, and the orders that were found there. */
function restores({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE IF NOT EXISTS restored_providers (
      provider ${text} PRIMARY KEY,
      restored_at ${integer} NOT NULL,
      since ${integer},
      read_at ${integer},
      ended_at ${integer}
    )`,
    `CREATE TABLE IF NOT EXISTS found_orders (
      provider ${text} NOT NULL,
      provider_id ${text} NOT NULL,
      reports ${text} NOT NULL,
      details ${integer} NOT NULL,
      size ${integer},
      owner ${text},
      found_at ${integer} NOT NULL,
      decided_at ${integer},
      decision ${text},
      PRIMARY KEY (provider, provider_id)
    )`,
    'CREATE INDEX IF NOT EXISTS found_orders_undecided ON found_orders (size) WHERE decided_at IS NULL',
  ]
}

/** What happened to a swap: a few rows of each. */
function timeline({ integer, text, identity }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE IF NOT EXISTS timeline (
      id ${identity},
      intent ${text} NOT NULL REFERENCES transactions (intent) ON DELETE CASCADE,
      at ${integer} NOT NULL,
      events ${text} NOT NULL
    )`,
    'CREATE INDEX IF NOT EXISTS timeline_by_intent ON timeline (intent, id)',
  ]
}

/** Quotes that are kept for one create each. A create that is gone, since nothing was created, leaves its quote free. */
function firmQuotes({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE IF NOT EXISTS firm_quotes (
      id ${text} PRIMARY KEY,
      owner ${text} NOT NULL,
      provider ${text} NOT NULL,
      quote_id ${text} NOT NULL,
      terms ${text} NOT NULL,
      valid_until ${integer} NOT NULL,
      intent ${text} REFERENCES transactions (intent) ON DELETE SET NULL
    )`,
    'CREATE INDEX IF NOT EXISTS firm_quotes_by_owner ON firm_quotes (owner, valid_until)',
    'CREATE INDEX IF NOT EXISTS firm_quotes_by_time ON firm_quotes (valid_until)',
    'CREATE INDEX IF NOT EXISTS firm_quotes_by_intent ON firm_quotes (intent)',
  ]
}

/** What clients and operators have done about a swap: at most one action of each kind. */
function swapActions({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE IF NOT EXISTS swap_actions (
      provider ${text} NOT NULL,
      provider_id ${text} NOT NULL,
      kind ${text} NOT NULL,
      claim ${text} NOT NULL,
      owner ${text} NOT NULL,
      action ${text} NOT NULL,
      state ${text} NOT NULL,
      refund_address ${text},
      refund_extra_id ${text},
      claimed_at ${integer} NOT NULL,
      check_count ${integer} NOT NULL,
      next_check_at ${integer},
      PRIMARY KEY (provider, provider_id, kind)
    )`,
    'CREATE UNIQUE INDEX IF NOT EXISTS swap_actions_by_claim ON swap_actions (claim)',
    'CREATE INDEX IF NOT EXISTS swap_actions_due ON swap_actions (next_check_at) WHERE next_check_at IS NOT NULL',
  ]
}

/** What a key may do and from where, how it is recognized, and limits of an account. */
function keyAccess({ integer, text }: ColumnTypes): readonly string[] {
  return [
    ...['scope', 'networks', 'hint'].map((column) => `ALTER TABLE keys ADD COLUMN ${column} ${text}`),
    `ALTER TABLE keys ADD COLUMN used_at ${integer}`,
    `ALTER TABLE accounts ADD COLUMN limits ${text}`,
  ]
}

/** Each change of a transaction that its owner can see, in their order, and the last number that each owner has. They go with the transaction, whichever version removes it. */
function transactionEvents({ integer, text, identity }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE IF NOT EXISTS transaction_events (
      id ${identity},
      owner ${text} NOT NULL,
      provider ${text} NOT NULL,
      provider_id ${text} NOT NULL,
      at ${integer} NOT NULL,
      number ${integer},
      transaction_number ${integer} NOT NULL,
      digest ${text} NOT NULL,
      state ${text} NOT NULL,
      is_final ${integer} NOT NULL,
      FOREIGN KEY (provider, provider_id) REFERENCES transactions (provider, provider_id) ON DELETE CASCADE
    )`,
    'CREATE INDEX IF NOT EXISTS transaction_events_waiting ON transaction_events (id) WHERE number IS NULL',
    'CREATE UNIQUE INDEX IF NOT EXISTS transaction_events_of_owner ON transaction_events (owner, number) WHERE number IS NOT NULL',
    `CREATE INDEX IF NOT EXISTS transaction_events_of_transaction
      ON transaction_events (provider, provider_id, transaction_number)`,
    `CREATE TABLE IF NOT EXISTS event_owners (owner ${text} PRIMARY KEY, last_number ${integer} NOT NULL)`,
  ]
}

/** Who watches which open transactions, and when each is read next. `watched_until`: null for one that is watched with its owner. */
function watches({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE IF NOT EXISTS watched_transactions (
      provider ${text} NOT NULL,
      provider_id ${text} NOT NULL,
      owner ${text} NOT NULL,
      created_at ${integer} NOT NULL,
      read_at ${integer} NOT NULL,
      next_read_at ${integer} NOT NULL,
      taken_at ${integer},
      hinted_at ${integer},
      watched_until ${integer},
      PRIMARY KEY (provider, provider_id)
    )`,
    'CREATE INDEX IF NOT EXISTS watched_transactions_due ON watched_transactions (provider, next_read_at)',
    `CREATE TABLE IF NOT EXISTS watched_owners (owner ${text} PRIMARY KEY, watched_until ${integer} NOT NULL)`,
  ]
}

/**
 * Where accounts are told of their swaps, and what they are told. A queue is what waits of one transaction for one webhook: it is due while
 * something waits, and not due again before the lease of who sends it has ended. All of it goes with the transaction, whichever version removes it.
 */
function webhooks({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE IF NOT EXISTS webhooks (
      id ${text} PRIMARY KEY,
      owner ${text} NOT NULL,
      url ${text} NOT NULL,
      form ${text} NOT NULL,
      secret ${text} NOT NULL,
      previous_secret ${text},
      previous_until ${integer},
      state ${text} NOT NULL,
      created_at ${integer} NOT NULL,
      ended_at ${integer}
    )`,
    'CREATE INDEX IF NOT EXISTS webhooks_by_owner ON webhooks (owner)',
    `CREATE TABLE IF NOT EXISTS webhook_queues (
      webhook ${text} NOT NULL,
      provider ${text} NOT NULL,
      provider_id ${text} NOT NULL,
      due_at ${integer},
      claim ${text},
      PRIMARY KEY (webhook, provider, provider_id),
      FOREIGN KEY (provider, provider_id) REFERENCES transactions (provider, provider_id) ON DELETE CASCADE
    )`,
    'CREATE INDEX IF NOT EXISTS webhook_queues_due ON webhook_queues (webhook, due_at) WHERE due_at IS NOT NULL',
    'CREATE INDEX IF NOT EXISTS webhook_queues_by_transaction ON webhook_queues (provider, provider_id)',
    'CREATE INDEX IF NOT EXISTS webhook_queues_claimed ON webhook_queues (webhook) WHERE claim IS NOT NULL',
    `CREATE TABLE IF NOT EXISTS webhook_deliveries (
      id ${text} PRIMARY KEY,
      webhook ${text} NOT NULL,
      provider ${text} NOT NULL,
      provider_id ${text} NOT NULL,
      event ${integer} NOT NULL,
      state ${text} NOT NULL,
      attempt_count ${integer} NOT NULL,
      attempts ${text} NOT NULL,
      body ${text},
      created_at ${integer} NOT NULL,
      ended_at ${integer},
      FOREIGN KEY (provider, provider_id) REFERENCES transactions (provider, provider_id) ON DELETE CASCADE
    )`,
    'CREATE UNIQUE INDEX IF NOT EXISTS webhook_deliveries_by_event ON webhook_deliveries (webhook, event)',
    `CREATE INDEX IF NOT EXISTS webhook_deliveries_waiting ON webhook_deliveries (webhook, provider, provider_id, event) WHERE state = 'waiting'`,
    `CREATE INDEX IF NOT EXISTS webhook_deliveries_failed ON webhook_deliveries (webhook, event) WHERE state = 'failed'`,
    `CREATE INDEX IF NOT EXISTS webhook_deliveries_of_event ON webhook_deliveries (event) WHERE state = 'waiting'`,
    'CREATE INDEX IF NOT EXISTS webhook_deliveries_by_transaction ON webhook_deliveries (provider, provider_id)',
    'CREATE INDEX IF NOT EXISTS webhook_deliveries_by_time ON webhook_deliveries (created_at)',
    `CREATE INDEX IF NOT EXISTS webhook_deliveries_waiting_by_time ON webhook_deliveries (created_at) WHERE state = 'waiting'`,
  ]
}

/** What accounts use, as far as no row of another table has it: requests, creates that made nothing, and swaps that were removed. */
function usage({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE IF NOT EXISTS usage_requests (
      account ${text} NOT NULL,
      hour ${integer} NOT NULL,
      operation ${text} NOT NULL,
      result ${text} NOT NULL,
      count ${integer} NOT NULL,
      PRIMARY KEY (account, hour, operation, result)
    )`,
    'CREATE INDEX IF NOT EXISTS usage_requests_by_hour ON usage_requests (hour)',
    `CREATE TABLE IF NOT EXISTS usage_writers (writer ${text} PRIMARY KEY, batch ${integer} NOT NULL, at ${integer} NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS usage_swaps (
      account ${text} NOT NULL,
      hour ${integer} NOT NULL,
      kind ${text} NOT NULL,
      name ${text} NOT NULL,
      count ${integer} NOT NULL,
      PRIMARY KEY (account, hour, kind, name)
    )`,
    'CREATE INDEX IF NOT EXISTS usage_swaps_by_hour ON usage_swaps (hour)',
    `CREATE TABLE IF NOT EXISTS usage_amounts (
      account ${text} NOT NULL,
      hour ${integer} NOT NULL,
      direction ${text} NOT NULL,
      code ${text} NOT NULL,
      amount ${text} NOT NULL,
      PRIMARY KEY (account, hour, direction, code)
    )`,
    'CREATE INDEX IF NOT EXISTS usage_amounts_by_hour ON usage_amounts (hour)',
  ]
}

/** Each `mark-restored`, and what waits since then until a person has confirmed it. */
function restoreMarks({ integer }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE IF NOT EXISTS restore_marks (
      base ${integer} PRIMARY KEY,
      marked_at ${integer} NOT NULL,
      actions_confirmed_at ${integer}
    )`,
    `ALTER TABLE webhooks ADD COLUMN held_at ${integer}`,
    `ALTER TABLE claims ADD COLUMN shown_at ${integer}`,
    `ALTER TABLE found_orders ADD COLUMN last_number ${integer}`,
  ]
}

/**
 * What a swap is judged by before it becomes payable: the quote that bound, who has which deposit address with its memo, and what is found
 * and not payable before a person has decided.
 */
function payableSwaps({ integer, text }: ColumnTypes): readonly string[] {
  return [
    ...['transactions', 'refused_creates'].map((table) => `ALTER TABLE ${table} ADD COLUMN quoted ${text}`),
    `CREATE TABLE IF NOT EXISTS open_deposits (
      deposit ${text} PRIMARY KEY,
      provider ${text} NOT NULL,
      provider_id ${text} NOT NULL,
      taken_at ${integer} NOT NULL,
      FOREIGN KEY (provider, provider_id) REFERENCES transactions (provider, provider_id) ON DELETE CASCADE
    )`,
    'CREATE INDEX IF NOT EXISTS open_deposits_by_transaction ON open_deposits (provider, provider_id)',
    `CREATE TABLE IF NOT EXISTS withheld_candidates (
      provider ${text} NOT NULL,
      provider_id ${text} NOT NULL,
      intent ${text} NOT NULL REFERENCES transactions (intent) ON DELETE CASCADE,
      PRIMARY KEY (provider, provider_id, intent)
    )`,
    'CREATE INDEX IF NOT EXISTS withheld_candidates_by_intent ON withheld_candidates (intent)',
  ]
}
