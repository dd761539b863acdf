/** Many rows of each kind in a ledger of one file: copies, by plain SQL, of the rows that a gateway has written of one swap. */
import { DatabaseSync } from 'node:sqlite'

export const rowsEach = 30_000

/** Accounts whose swaps are each in another state. The first one made the swap, and has the webhook. */
export const accounts = { open: 'acme', ended: 'many-ended', attended: 'many-attended', unknown: 'many-unknown' } as const

/** Columns by their name, in SQL: `n` is the number of the copy, and the row that is copied is `one`. */
type Columns = Readonly<Record<string, string>>

export function addRows(file: string): void {
  using ledger = new DatabaseSync(file)
  ledger.exec('PRAGMA synchronous = off; BEGIN')
  const copy = (table: string, columns: Columns, first = 2, last = rowsEach): void => copyRow(ledger, table, columns, first, last)
  addAccounts(copy)
  addSwaps(ledger, copy)
  addChanges(ledger, copy)
  addWebhooks(copy)
  addFoundOrders(ledger)
  addUsage(ledger)
  copy('audit', { id: 'null', at: 'one.at - n' })
  ledger.exec('COMMIT')
}

type Copy = (table: string, columns: Columns, first?: number, last?: number) => void

/** Copies `first` to `last` of the oldest row. */
function copyRow(ledger: DatabaseSync, table: string, columns: Columns, first: number, last: number): void {
  const names = ledger.prepare('select name from pragma_table_info(?)').all(table) as { name: string }[]
  const values = names.map(({ name }) => columns[name] ?? `one."${name}"`)
  ledger.exec(`
    with recursive copies (n) as (select ${first} union all select n + 1 from copies where n < ${last})
    insert into ${table} select ${values.join(', ')} from copies, (select * from ${table} order by rowid limit 1) as one`)
}

/** Each with a key, and as many keys of the first one. */
function addAccounts(copy: Copy): void {
  copy('accounts', { id: `'account-' || n`, name: `'account ' || n` })
  for (const name of Object.values(accounts).slice(1)) copy('accounts', { id: `'${name}'`, name: `'${name}'` }, 1, 1)
  copy('keys', { digest: `'digest-' || n`, id: `'key-' || n`, account: `'account-' || n` })
  copy('keys', { digest: `'own-digest-' || n`, id: `'own-key-' || n` })
}

/** A second lies between two of an account. */
const older = { sort_key: 'one.sort_key + n * 1000000000', attempted_at: 'one.attempted_at - n * 1000' }

function addSwaps(ledger: DatabaseSync, copy: Copy): void {
  const ofAccount = (owner: string, columns: Columns = {}): Columns => ({
    intent: `'${owner}-' || n`,
    provider_id: `'${owner}-' || n`,
    deposit: 'null',
    ...older,
    ...columns,
  })
  const { ended, attended, unknown } = accounts
  copy('transactions', { ...ofAccount('open'), deposit: 'one.deposit' })
  copy(
    'transactions',
    { ...ofAccount(ended, { status: `'success'`, changed_at: 'one.attempted_at - n * 500' }), owner: `'${ended}'` },
    1,
  )
  copy('transactions', { ...ofAccount(attended, { status: `'failed'`, attention: `'failed'` }), owner: `'${attended}'` }, 1)
  const never = {
    provider_id: 'null',
    sort_key: 'null',
    status: 'null',
    record: 'null',
    next_check_at: 'one.attempted_at + 1000000000000',
  }
  copy(
    'transactions',
    { ...ofAccount(unknown, { state: `'unknown'`, unknown_reason: `'timed_out'`, ...never }), owner: `'${unknown}'` },
    1,
  )
  ledger.exec(`
    delete from page_index;
    insert into page_index
    select owner, case when place = 1 then -9223372036854775807 - 1 else sort_key end, case when place = 1 then '' else provider_id end,
      case when place = 1 then '' else provider end, min(500, total - place + 1), max(0, total - place - 499)
    from (
      select owner, sort_key, provider_id, provider, row_number() over swaps as place, count(*) over (partition by owner) as total
      from transactions where state = 'done' window swaps as (partition by owner order by sort_key, provider_id, provider)
    ) where place % 500 = 1`)
  // All to one address, under one Idempotency-Key of as many accounts.
  copy('create_requests', { intent: `'open-' || n`, at: 'one.at - n * 1000' })
  copy('claims', { key: `'other-key-' || n`, intent: `'open-' || n` })
  copy('timeline', { id: 'null' }, 2, 200)
  const columns = 'owner, provider, requested, sent, attempted_at'
  ledger.exec(`
    insert into ended (intent, ${columns}, ended_at) select 'ended-' || intent, ${columns}, attempted_at from transactions where state = 'unknown';
    insert into refused_creates (intent, ${columns}, next_check_at)
      select 'refused-' || intent, ${columns}, attempted_at + 1000000000000 from transactions where state = 'unknown';
    insert into pruned_ids select provider, 'pruned-' || provider_id, attempted_at from transactions where owner = '${ended}';
    insert into firm_quotes (id, owner, provider, quote_id, terms, valid_until)
      select 'quote-' || intent, owner, provider, intent, '{}', attempted_at + 1000000000000 from transactions where state = 'unknown';
    insert into withheld_candidates select provider, 'withheld-' || intent, intent from transactions where state = 'unknown';
    insert into swap_actions (provider, provider_id, kind, claim, owner, action, state, claimed_at, check_count)
      select provider, provider_id, 'refund', intent, owner, 'refundTransaction', 'done', attempted_at, 0 from transactions where owner = '${ended}'`)
  copy('watched_transactions', { provider_id: `'open-' || n`, next_read_at: 'one.next_read_at + 600000' })
}

/** All of the one swap. */
function addChanges(ledger: DatabaseSync, copy: Copy): void {
  copy('transaction_events', { id: 'null', number: 'n', transaction_number: 'n', digest: `'digest ' || n` }, 10)
  ledger.exec(`update event_owners set last_number = ${rowsEach}`)
}

/** One of each account; the first has as many failed deliveries, and as many that wait, with some attempts each. */
function addWebhooks(copy: Copy): void {
  const body = 'An error of a receiver, at line 12 of server.js. '.repeat(4)
  const attempts = JSON.stringify(Array.from({ length: 4 }, () => ({ at: 0, status: 500, ms: 12, body })))
  copy('webhooks', { id: `'webhook-' || n`, owner: `'account-' || n` })
  const ofSwap = { id: `one.webhook || '-' || n`, provider_id: `'open-' || n`, attempts: `'${attempts}'`, attempt_count: '4' }
  const failed = { state: `'failed'`, body: 'null', ended_at: 'one.created_at' }
  copy('webhook_deliveries', { ...ofSwap, ...failed, event: 'n' }, 10)
  copy('webhook_deliveries', { ...ofSwap, id: `one.webhook || '-waiting-' || n`, event: 'n + 1000000' }, 10)
  copy('webhook_queues', { provider_id: `'open-' || n`, due_at: 'one.due_at + 1000000000000', claim: 'null' }, 10)
}

/** Orders that wait, that are dismissed, and that are assigned. */
function addFoundOrders(ledger: DatabaseSync): void {
  const report = `json_array(json_set(json_extract(record, '$.transaction'), '$.id', 'found-' || intent))`
  const columns = 'provider, provider_id, reports, details, size, owner, found_at, decided_at, decision'
  const order = (id: string, decision: string): string =>
    `select provider, ${id}, ${report}, 1, 1000, owner, attempted_at, case when ${decision} is null then null else attempted_at end, ${decision} from transactions`
  const { ended, attended } = accounts
  ledger.exec(`
    insert into found_orders (${columns}) ${order(`'found-' || intent`, 'null')} where owner = '${ended}';
    insert into found_orders (${columns}) ${order(`'dismissed-' || intent`, `'dismissed'`)} where owner = '${ended}';
    insert into found_orders (${columns}) ${order('provider_id', `'assigned'`)} where owner = '${attended}';
    insert into found_order_keys select provider, provider_id, owner, 'key-' || provider_id, '', null, found_at from found_orders
      where decided_at is null`)
}

/** In as many hours of the first account, and one of each other. */
function addUsage(ledger: DatabaseSync): void {
  const hours = `(
    with recursive copies (n) as (select 1 union all select n + 1 from copies where n < ${rowsEach}), own as (select id from accounts order by rowid limit 1)
    select own.id as account, n * 3600000 as hour, n from copies, own union all select 'account-' || n, n * 3600000, n from copies where n > 1
  )`
  ledger.exec(`
    insert into usage_requests select account, hour, 'getRate', 'refused', 1 from ${hours};
    insert into usage_swaps select account, hour, 'created', 'success', 1 from ${hours};
    insert into usage_amounts select account, hour, 'in', 'CODE' || n % 50, '1.' || n from ${hours}`)
}
