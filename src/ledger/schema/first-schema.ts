/** Schema 1: the statements that make the ledger's tables, with their indexes. A released schema never changes; `steps.ts` adds to it. */

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

/** When the change of an entry was seen; until one was, its attempt or its creation, whichever is later. Written into an index. */
export const changeTime = `coalesce(changed_at, case when attempted_at > -sort_key / 1000000 then attempted_at else -sort_key / 1000000 end)`

/** Its name in `schema_steps`. */
export const firstSchemaName = 'schema 1'

export function firstSchema(types: ColumnTypes): readonly string[] {
  return [
    ...transactions(types),
    ...claims(types),
    ...createRequests(types),
    ...endedCreates(types),
    ...payableSwaps(types),
    ...firmQuotes(types),
    ...timeline(types),
    ...pageIndex(types),
    ...swapActions(types),
    ...transactionEvents(types),
    ...watches(types),
    ...webhooks(types),
    ...accounts(types),
    ...usage(types),
    ...providers(types),
    ...operations(types),
    ...restores(types),
    ...time(types),
  ]
}

const ofTransaction = 'FOREIGN KEY (provider, provider_id) REFERENCES transactions (provider, provider_id) ON DELETE CASCADE'

/**
 * Creates from their intent on, and swaps that were only observed, which have none. PostgreSQL updates no row of a table in a publication
 * that has no primary key: hence `row_id`. A changed row stays in its page, without a change of an index, while the page has room.
 */
function transactions({ integer, text, identity, hasClock }: ColumnTypes): readonly string[] {
  const isOpen = `state = 'done' AND (status IS NULL OR status NOT IN ('success', 'refunded', 'overdue'))`
  return [
    `CREATE TABLE transactions (
      ${hasClock ? `row_id ${identity},` : ''}
      intent ${text} UNIQUE,
      owner ${text} NOT NULL,
      provider ${text} NOT NULL,
      provider_id ${text},
      state ${text} NOT NULL CHECK (state IN ('pending', 'unknown', 'done', 'mismatch')),
      attempted_at ${integer},
      begun_at ${integer},
      deadline ${integer},
      requested ${text},
      sent ${text},
      quoted ${text},
      quoting ${integer},
      destination ${text},
      traceparent ${text},
      candidates ${text},
      unknown_reason ${text},
      next_check_at ${integer},
      check_count ${integer} NOT NULL DEFAULT 0,
      sort_key ${integer},
      status ${text},
      sequence ${integer},
      record ${text},
      deposit ${text},
      reported_at ${integer},
      fetched_at ${integer},
      changed_at ${integer},
      polled_at ${integer} NOT NULL DEFAULT 0,
      missing_since ${integer},
      missing_at ${integer},
      attention ${text},
      settled_at ${integer},
      UNIQUE (provider, provider_id),
      CHECK (state <> 'done' OR (provider_id IS NOT NULL AND sort_key IS NOT NULL AND record IS NOT NULL)),
      CHECK (state = 'done' OR (intent IS NOT NULL AND requested IS NOT NULL AND attempted_at IS NOT NULL))
    )${hasClock ? ' WITH (fillfactor = 80)' : ''}`,
    `CREATE INDEX transactions_listed ON transactions (owner, sort_key, provider_id, provider) WHERE state = 'done'`,
    `CREATE INDEX transactions_by_status ON transactions (owner, status, sort_key) WHERE state = 'done'`,
    `CREATE INDEX transactions_by_change ON transactions (owner, (${changeTime}), status) WHERE state = 'done'`,
    `CREATE INDEX transactions_newest ON transactions (sort_key, provider_id, provider) WHERE state = 'done'`,
    `CREATE INDEX transactions_undone ON transactions (owner) WHERE state <> 'done'`,
    `CREATE INDEX transactions_undone_at ON transactions (owner, provider) WHERE state <> 'done'`,
    `CREATE INDEX transactions_unresolved ON transactions (attempted_at, intent) WHERE state <> 'done'`,
    `CREATE INDEX transactions_open ON transactions (provider, attempted_at) WHERE state IN ('pending', 'unknown')`,
    'CREATE INDEX transactions_awaited ON transactions (next_check_at) WHERE next_check_at IS NOT NULL',
    `CREATE INDEX transactions_going ON transactions (provider, status, sort_key) WHERE ${isOpen}`,
    `CREATE INDEX transactions_polled ON transactions (provider, polled_at, sort_key DESC) WHERE ${isOpen}`,
    `CREATE INDEX transactions_overdue ON transactions ((coalesce(changed_at, -sort_key / 1000000)), provider)
      WHERE state = 'done' AND status = 'overdue'`,
    `CREATE INDEX transactions_overdue_at ON transactions (provider, (coalesce(changed_at, -sort_key / 1000000)))
      WHERE state = 'done' AND status = 'overdue'`,
    'CREATE INDEX transactions_attention ON transactions (provider, attention, sort_key) WHERE attention IS NOT NULL',
    `CREATE INDEX transactions_deposit ON transactions (deposit) WHERE deposit IS NOT NULL AND state = 'done'`,
  ]
}

/** Idempotency keys. A response, which comes later, is four times its key's row. */
function claims({ integer, text, hasClock }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE claims (
      owner ${text} NOT NULL,
      key ${text} NOT NULL,
      intent ${text} NOT NULL REFERENCES transactions (intent) ON DELETE CASCADE,
      fingerprint ${text} NOT NULL,
      request ${text},
      first ${text},
      created_at ${integer} NOT NULL,
      shown_at ${integer},
      PRIMARY KEY (owner, key)
    )${hasClock ? ' WITH (fillfactor = 20)' : ''}`,
    'CREATE INDEX claims_by_intent ON claims (intent)',
    'CREATE INDEX claims_by_age ON claims (created_at)',
  ]
}

/** The request that made a create: written once, and found by each column. A digest is the first 64 bits of a SHA-256. */
function createRequests({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE create_requests (
      intent ${text} PRIMARY KEY REFERENCES transactions (intent) ON DELETE CASCADE,
      at ${integer} NOT NULL,
      request_id ${text},
      key_id ${text},
      idempotency_key ${integer},
      payout ${integer},
      refund ${integer}
    )`,
    ...['request_id', 'idempotency_key', 'payout', 'refund'].map(
      (column) => `CREATE INDEX create_requests_by_${column} ON create_requests (${column}, at) WHERE ${column} IS NOT NULL`,
    ),
  ]
}

/** Creates that ended as not created leave the transactions and are kept here for a while; refused ones that may exist, for minutes. */
function endedCreates({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE ended (
      intent ${text} PRIMARY KEY,
      owner ${text} NOT NULL,
      provider ${text} NOT NULL,
      requested ${text} NOT NULL,
      sent ${text},
      attempted_at ${integer} NOT NULL,
      ended_at ${integer} NOT NULL
    )`,
    `CREATE TABLE refused_creates (
      intent ${text} PRIMARY KEY,
      owner ${text} NOT NULL,
      provider ${text} NOT NULL,
      requested ${text} NOT NULL,
      sent ${text},
      quoted ${text},
      destination ${text},
      attempted_at ${integer} NOT NULL,
      deadline ${integer},
      next_check_at ${integer} NOT NULL,
      check_count ${integer} NOT NULL DEFAULT 0
    )`,
  ]
}

/** Who has which deposit address with its memo, what is found and not payable before a person has decided, and ids of swaps that are gone. */
function payableSwaps({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE open_deposits (
      deposit ${text} PRIMARY KEY,
      provider ${text} NOT NULL,
      provider_id ${text} NOT NULL,
      taken_at ${integer} NOT NULL,
      ${ofTransaction}
    )`,
    'CREATE INDEX open_deposits_by_transaction ON open_deposits (provider, provider_id)',
    `CREATE TABLE withheld_candidates (
      provider ${text} NOT NULL,
      provider_id ${text} NOT NULL,
      intent ${text} NOT NULL REFERENCES transactions (intent) ON DELETE CASCADE,
      PRIMARY KEY (provider, provider_id, intent)
    )`,
    'CREATE INDEX withheld_candidates_by_intent ON withheld_candidates (intent)',
    `CREATE TABLE pruned_ids (
      provider ${text} NOT NULL,
      provider_id ${text} NOT NULL,
      pruned_at ${integer} NOT NULL,
      PRIMARY KEY (provider, provider_id)
    )`,
    'CREATE INDEX pruned_ids_by_age ON pruned_ids (pruned_at)',
  ]
}

/** Quotes that are kept for one create each. A create that is gone, since nothing was created, leaves its quote free. */
function firmQuotes({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE firm_quotes (
      id ${text} PRIMARY KEY,
      owner ${text} NOT NULL,
      provider ${text} NOT NULL,
      quote_id ${text} NOT NULL,
      terms ${text} NOT NULL,
      valid_until ${integer} NOT NULL,
      intent ${text} REFERENCES transactions (intent) ON DELETE SET NULL
    )`,
    'CREATE INDEX firm_quotes_by_owner ON firm_quotes (owner, valid_until)',
    'CREATE INDEX firm_quotes_by_time ON firm_quotes (valid_until)',
    'CREATE INDEX firm_quotes_by_intent ON firm_quotes (intent)',
  ]
}

/** What happened to a swap: a few rows of each. */
function timeline({ integer, text, identity }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE timeline (
      id ${identity},
      intent ${text} NOT NULL REFERENCES transactions (intent) ON DELETE CASCADE,
      at ${integer} NOT NULL,
      events ${text} NOT NULL
    )`,
    'CREATE INDEX timeline_by_intent ON timeline (intent, id)',
  ]
}

/** How many entries each owner's list has, in segments. */
function pageIndex({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE page_index (
      owner ${text} NOT NULL,
      sort_key ${integer} NOT NULL,
      provider_id ${text} NOT NULL,
      provider ${text} NOT NULL,
      entries ${integer} NOT NULL CHECK (entries >= 0),
      older ${integer} NOT NULL CHECK (older >= 0),
      PRIMARY KEY (owner, sort_key, provider_id, provider)
    )`,
    'CREATE INDEX page_index_by_age ON page_index (owner, older)',
  ]
}

/** What clients and operators have done about a swap: at most one action of each kind. */
function swapActions({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE swap_actions (
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
    'CREATE UNIQUE INDEX swap_actions_by_claim ON swap_actions (claim)',
    'CREATE INDEX swap_actions_due ON swap_actions (next_check_at) WHERE next_check_at IS NOT NULL',
  ]
}

/** Each change of a transaction that its owner can see, in their order, and the last number that each owner has. They go with the transaction. */
function transactionEvents({ integer, text, identity }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE transaction_events (
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
      ${ofTransaction}
    )`,
    'CREATE INDEX transaction_events_waiting ON transaction_events (id) WHERE number IS NULL',
    'CREATE UNIQUE INDEX transaction_events_of_owner ON transaction_events (owner, number) WHERE number IS NOT NULL',
    'CREATE INDEX transaction_events_of_transaction ON transaction_events (provider, provider_id, transaction_number)',
    `CREATE TABLE event_owners (owner ${text} PRIMARY KEY, last_number ${integer} NOT NULL)`,
  ]
}

/** Who watches which open transactions, and when each is read next. `watched_until`: null for one that is watched with its owner. */
function watches({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE watched_transactions (
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
    'CREATE INDEX watched_transactions_due ON watched_transactions (provider, next_read_at)',
    `CREATE TABLE watched_owners (owner ${text} PRIMARY KEY, watched_until ${integer} NOT NULL)`,
  ]
}

/**
 * Where accounts are told of their swaps, and what they are told. A queue is what waits of one transaction for one webhook: it is due while
 * something waits, and not due again before the lease of who sends it has ended. All of it goes with the transaction.
 */
function webhooks({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE webhooks (
      id ${text} PRIMARY KEY,
      owner ${text} NOT NULL,
      url ${text} NOT NULL,
      form ${text} NOT NULL,
      secret ${text} NOT NULL,
      previous_secret ${text},
      previous_until ${integer},
      state ${text} NOT NULL,
      created_at ${integer} NOT NULL,
      ended_at ${integer},
      held_at ${integer}
    )`,
    'CREATE INDEX webhooks_by_owner ON webhooks (owner)',
    `CREATE TABLE webhook_queues (
      webhook ${text} NOT NULL,
      provider ${text} NOT NULL,
      provider_id ${text} NOT NULL,
      due_at ${integer},
      claim ${text},
      PRIMARY KEY (webhook, provider, provider_id),
      ${ofTransaction}
    )`,
    'CREATE INDEX webhook_queues_due ON webhook_queues (webhook, due_at) WHERE due_at IS NOT NULL',
    'CREATE INDEX webhook_queues_by_transaction ON webhook_queues (provider, provider_id)',
    'CREATE INDEX webhook_queues_claimed ON webhook_queues (webhook) WHERE claim IS NOT NULL',
    `CREATE TABLE webhook_deliveries (
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
      ${ofTransaction}
    )`,
    'CREATE UNIQUE INDEX webhook_deliveries_by_event ON webhook_deliveries (webhook, event)',
    `CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (webhook, provider, provider_id, event) WHERE state = 'waiting'`,
    `CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (webhook, event) WHERE state = 'failed'`,
    `CREATE INDEX webhook_deliveries_of_event ON webhook_deliveries (event) WHERE state = 'waiting'`,
    'CREATE INDEX webhook_deliveries_by_transaction ON webhook_deliveries (provider, provider_id)',
    'CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (created_at)',
    `CREATE INDEX webhook_deliveries_waiting_by_time ON webhook_deliveries (created_at) WHERE state = 'waiting'`,
  ]
}

/** Who may call, what each key may do and from where, how it is recognized, and limits of an account. */
function accounts({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE accounts (id ${text} PRIMARY KEY, name ${text} NOT NULL UNIQUE, created_at ${integer} NOT NULL, limits ${text})`,
    `CREATE TABLE keys (
      digest ${text} PRIMARY KEY,
      id ${text} NOT NULL UNIQUE,
      account ${text} NOT NULL REFERENCES accounts (id),
      scope ${text},
      networks ${text},
      hint ${text},
      created_at ${integer} NOT NULL,
      expires_at ${integer},
      revoked_at ${integer},
      used_at ${integer}
    )`,
  ]
}

/** What accounts use, as far as no row of another table has it: requests, creates that made nothing, and swaps that were removed. */
function usage({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE usage_requests (
      account ${text} NOT NULL,
      hour ${integer} NOT NULL,
      operation ${text} NOT NULL,
      result ${text} NOT NULL,
      count ${integer} NOT NULL,
      PRIMARY KEY (account, hour, operation, result)
    )`,
    'CREATE INDEX usage_requests_by_hour ON usage_requests (hour)',
    `CREATE TABLE usage_writers (writer ${text} PRIMARY KEY, batch ${integer} NOT NULL, at ${integer} NOT NULL)`,
    `CREATE TABLE usage_swaps (
      account ${text} NOT NULL,
      hour ${integer} NOT NULL,
      kind ${text} NOT NULL,
      name ${text} NOT NULL,
      count ${integer} NOT NULL,
      PRIMARY KEY (account, hour, kind, name)
    )`,
    'CREATE INDEX usage_swaps_by_hour ON usage_swaps (hour)',
    `CREATE TABLE usage_amounts (
      account ${text} NOT NULL,
      hour ${integer} NOT NULL,
      direction ${text} NOT NULL,
      code ${text} NOT NULL,
      amount ${text} NOT NULL,
      PRIMARY KEY (account, hour, direction, code)
    )`,
    'CREATE INDEX usage_amounts_by_hour ON usage_amounts (hour)',
  ]
}

/** The last configuration of each tag, the last list of each provider, and its mismatches in a row, which are few. */
function providers({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE providers (tag ${text} PRIMARY KEY, form ${text} NOT NULL, url ${text} NOT NULL, account ${text})`,
    `CREATE TABLE currency_lists (
      provider ${text} PRIMARY KEY,
      url ${text} NOT NULL,
      form ${text} NOT NULL,
      rows ${text} NOT NULL,
      read_at ${integer} NOT NULL,
      read_at_uptime ${integer}
    )`,
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
  ]
}

/**
 * The audit log, the overrides of the configuration file, what a person was shown to settle at once, when background jobs last ran, and the
 * figures of each process for its last minute: no history.
 */
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
    `CREATE TABLE settlements (
      id ${text} PRIMARY KEY,
      at ${integer} NOT NULL,
      settlement ${text} NOT NULL,
      planned ${text} NOT NULL,
      position ${integer} NOT NULL
    )`,
    `CREATE TABLE background_jobs (name ${text} PRIMARY KEY, at ${integer} NOT NULL)`,
    `CREATE TABLE replica_figures (replica ${text} PRIMARY KEY, at ${integer} NOT NULL, figures ${text} NOT NULL)`,
  ]
}

/**
 * What a ledger that was restored from a backup lacks: its providers, and the orders that were found there; each `mark-restored`, and what
 * waits since then until a person has confirmed it.
 */
function restores({ integer, text }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE restored_providers (
      provider ${text} PRIMARY KEY,
      restored_at ${integer} NOT NULL,
      since ${integer},
      read_at ${integer},
      ended_at ${integer}
    )`,
    `CREATE TABLE restore_marks (base ${integer} PRIMARY KEY, marked_at ${integer} NOT NULL, actions_confirmed_at ${integer})`,
    `CREATE TABLE found_orders (
      provider ${text} NOT NULL,
      provider_id ${text} NOT NULL,
      reports ${text} NOT NULL,
      details ${integer} NOT NULL,
      size ${integer},
      owner ${text},
      last_number ${integer},
      found_at ${integer} NOT NULL,
      decided_at ${integer},
      decision ${text},
      PRIMARY KEY (provider, provider_id)
    )`,
    'CREATE INDEX found_orders_undecided ON found_orders (size) WHERE decided_at IS NULL',
    `CREATE TABLE found_order_keys (
      provider ${text} NOT NULL,
      provider_id ${text} NOT NULL,
      owner ${text} NOT NULL,
      key ${text} NOT NULL,
      fingerprint ${text} NOT NULL,
      request ${text},
      seen_at ${integer} NOT NULL,
      PRIMARY KEY (provider, provider_id, owner, key)
    )`,
  ]
}

/** Of a server, the last known position of its log; of a file, the total uptime of processes. */
function time({ integer, text, hasClock }: ColumnTypes): readonly string[] {
  if (hasClock) {
    return [
      `CREATE TABLE log_position (only_row boolean PRIMARY KEY CHECK (only_row), system ${text} NOT NULL, position ${integer} NOT NULL)`,
    ]
  }
  return [`CREATE TABLE clock (time ${integer} NOT NULL)`, 'INSERT INTO clock VALUES (unixepoch() * 1000)']
}
