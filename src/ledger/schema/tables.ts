/** The ledger's tables for Kysely. `first-schema.ts` creates them, `docs/ledger.md` has how long each keeps its rows. */
import type { ColumnType, Generated, RawBuilder } from 'kysely'
import type { AuditAction } from '../../core/operations/audit.ts'
import type { OverrideKey } from '../../core/operations/settings.ts'
import type { UnknownReason } from '../../core/ports/ledger.ts'
import type { JudgementKind } from '../../domain/observation.ts'
import type { Attention, Status } from '../../domain/status.ts'

export interface Tables {
  transactions: Transactions
  claims: IdempotencyKeys
  ended: Ended
  refused_creates: RefusedCreates
  create_requests: CreateRequests
  timeline: TimelineTable
  firm_quotes: FirmQuotes
  open_deposits: OpenDeposits
  withheld_candidates: WithheldCandidates
  pruned_ids: PrunedIds
  page_index: PageIndexTable
  providers: Providers
  accounts: Accounts
  keys: Keys
  currency_lists: CurrencyLists
  replica_figures: ReplicaFiguresTable
  overrides: Overrides
  mismatch_streaks: MismatchStreaks
  audit: Audit
  settlements: Settlements
  restored_providers: RestoredProviders
  found_orders: FoundOrders
  background_jobs: BackgroundJobs
  found_order_keys: FoundOrderKeys
  swap_actions: SwapActions
  transaction_events: TransactionEvents
  event_owners: EventOwners
  watched_transactions: WatchedTransactions
  watched_owners: WatchedOwners
  webhooks: Webhooks
  webhook_queues: WebhookQueues
  webhook_deliveries: WebhookDeliveries
  usage_requests: UsageRequests
  usage_writers: UsageWriters
  usage_swaps: UsageSwaps
  usage_amounts: UsageAmounts
  restore_marks: RestoreMarks
}

/** `done`: an entry with its record. The others are creates whose transaction was not returned to the client. */
export type State = 'pending' | 'unknown' | 'done' | 'mismatch'

/** The position of an entry in its owner's list; ascending order is newest first. */
export interface SortPosition {
  /** The negative creation time in nanoseconds. Exceeds a number's precision, so it is written and compared, never read. */
  readonly sort_key: bigint
  readonly provider_id: string
  readonly provider: string
}

type Written<T> = ColumnType<never, T, T>

/** Known swaps, and creates whose client got no result. */
interface Transactions {
  /** Null if the transaction was not created here. */
  intent: string | null
  owner: string
  provider: string
  provider_id: string | null
  state: State
  attempted_at: number | null
  sort_key: Written<bigint | null>
  status: Status | null
  /** Set while a person must settle the transaction. */
  attention: Attention | null
  /** When an operator recorded the outcome. */
  settled_at: number | null
  /** When the provider last reported it. */
  reported_at: number | null
  /** When it was last read by a get. */
  fetched_at: number | null
  changed_at: number | null
  /** Since when the provider does not find the transaction. */
  missing_since: number | null
  /** When it was last not found, once that has lasted an hour. */
  missing_at: number | null
  /** The number of the request whose response this is, over all processes; null for rows from older versions. */
  sequence: number | null
  /** From then on the outcome of a create is checked. */
  next_check_at: number | null
  /** How often a check was scheduled. */
  check_count: ColumnType<number, number | undefined, number>
  /** When a process last took it for a background read, on the ledger's clock; 0: never. */
  polled_at: ColumnType<number, number | undefined, number>
  /** When the create began, on the ledger's clock; null if unknown. */
  begun_at: ColumnType<never, number | null | undefined, never>
  /** 1 while the create gets a quote of its own: nothing was sent. */
  quoting: ColumnType<number | null, number | null | undefined, number | null>
  /** JSON: the request. */
  requested: string | null
  /** JSON: where the create was sent; null for rows from older versions. */
  destination: string | null
  /** JSON: the provider's own words for the assets, as they were sent, and what the asset table had for them; null in rows of older versions. */
  sent: string | null
  /** Until when the process that sent the create may wait for its response, on that process's clock; null in rows of older versions. */
  deadline: number | null
  /** JSON: ids of the provider's transactions that may be the create's, by the last check. */
  candidates: string | null
  /** JSON: what is known of an entry, without what has a column; the response of a mismatch. */
  record: string | null
  /** The key of the deposit address of a create and its memo; null in rows of older versions. */
  deposit: ColumnType<string | null, string | null | undefined, string | null>
  /** The trace of the request that created it, if it was traced. */
  traceparent: string | null
  /** Why the outcome of a create is not known; null in rows of older versions. */
  unknown_reason: ColumnType<UnknownReason | null, UnknownReason | null | undefined, UnknownReason | null>
  /** JSON: the quote that binds the create; null without one. */
  quoted: ColumnType<string | null, string | null | undefined, string | null>
}

/** Creates that ended as not created, kept to recognize a late result. */
interface Ended {
  intent: string
  owner: string
  provider: string
  requested: string
  sent: string | null
  attempted_at: number
  /** On the ledger's clock. */
  ended_at: Written<number>
}

/** Refused creates that the provider may have carried out all the same, while its list is looked at. */
interface RefusedCreates {
  intent: string
  owner: string
  provider: string
  /** JSON: the request. */
  requested: string
  /** JSON: the provider's own words for its assets. */
  sent: string | null
  /** JSON: where the create was sent; null in rows of older versions. */
  destination: string | null
  attempted_at: number
  /** Null in rows of older versions. */
  deadline: number | null
  next_check_at: number
  check_count: ColumnType<number, number | undefined, number>
  /** JSON: the quote that binds the create; null without one. */
  quoted: string | null
}

/** The request that made a create. Digests are of the `Idempotency-Key` and of the addresses, in any spelling and without their memos. */
interface CreateRequests {
  intent: string
  /** When it was attempted. */
  at: number
  request_id: string | null
  /** The public id of the key that it came with; null for a provider's own key. */
  key_id: string | null
  idempotency_key: Written<bigint | null>
  payout: Written<bigint | null>
  refund: Written<bigint | null>
}

/** What happened to a swap, as it was written at a time. */
interface TimelineTable {
  id: Generated<number>
  intent: string
  /** Of the first event. */
  at: number
  /** JSON: `TimelineEvent`s. */
  events: string
}

/** Quotes that are kept for one create each. */
interface FirmQuotes {
  id: string
  owner: string
  provider: string
  /** The provider's own id. */
  quote_id: string
  /** JSON: what was quoted, in the table's names. */
  terms: string
  /** By the database's clock. */
  valid_until: Written<number>
  /** Of the create that uses it; null again once that is gone. */
  intent: string | null
}

/** Who has a deposit address with its memo: one swap at a time, until another create may have it. */
interface OpenDeposits {
  /** By `paymentAddressKey`. */
  deposit: string
  provider: string
  provider_id: string
  /** By the database's clock. */
  taken_at: Written<number>
}

/** What is found for a create, and may be paid only once a person has decided. */
interface WithheldCandidates {
  provider: string
  provider_id: string
  intent: string
}

/** Ids that creates had whose transactions were pruned. */
interface PrunedIds {
  provider: string
  provider_id: string
  /** On the ledger's clock. */
  pruned_at: Written<number>
}

/** An `Idempotency-Key` of an owner, with the first response. */
interface IdempotencyKeys {
  owner: string
  key: string
  intent: string
  fingerprint: string
  /** JSON: the request in the client's words; null in rows of older versions. */
  request: string | null
  /** JSON: the first response. */
  first: string | null
  /** On the ledger's clock. */
  created_at: number
  /** When a response first showed the deposit address of a swap that a person has bound. */
  shown_at: ColumnType<number | null, number | null | undefined, number | null>
}

/** The number of an owner's entries from one position up to the position of the next segment. */
interface PageIndexTable {
  owner: string
  sort_key: Written<bigint>
  provider_id: string
  provider: string
  entries: number
  /** The number of the owner's entries that are older than this segment. */
  older: number
}

/** Form and URL of each tag. */
interface Providers {
  tag: string
  /** Providers with one account are one for ids; null for rows from older versions. */
  account: string | null
  form: string
  /** Without credentials. */
  url: string
}

interface Accounts {
  id: string
  name: string
  created_at: number
  /** JSON: limits in place of the configured ones. */
  limits: ColumnType<string | null, string | null | undefined, string | null>
}

/** Issued keys, as SHA-256. */
interface Keys {
  digest: string
  id: string
  account: string
  created_at: number
  expires_at: number | null
  revoked_at: number | null
  /** Words separated by spaces; null: all. */
  scope: ColumnType<string | null, string | null | undefined, string | null>
  /** Networks separated by spaces; null: all. */
  networks: ColumnType<string | null, string | null | undefined, string | null>
  /** The last four characters of the key. */
  hint: ColumnType<string | null, string | null | undefined, string | null>
  /** To the hour. */
  used_at: ColumnType<number | null, number | null | undefined, number | null>
}

/** The last complete currency list of a provider. */
interface CurrencyLists {
  provider: string
  url: string
  form: string
  /** JSON: its rows. */
  rows: string
  /** By the database's clock. */
  read_at: Written<number>
  /** Milliseconds since the machine started, if store and processes are on one machine. */
  read_at_uptime: number | null
}

/** Settings that override the configuration file. */
export interface Overrides {
  /** `shadow`: the earlier name of `mirror`. */
  key: Exclude<OverrideKey, 'mirror'> | 'shadow'
  /** JSON. */
  value: string
  /** JSON: the value in the file when the override was made. */
  file_value: string
  actor: string
  /** By the database's clock. */
  since: number
  /** 1: a replica has since read a file with another value. */
  ended: number
}

/** Mismatches of one kind in a row, for one asset that is deposited at a provider. */
interface MismatchStreaks {
  /** Of the last one. */
  provider: string
  kind: JudgementKind
  /** JSON: the table's names of then. */
  asset: string
  /** JSON: the provider's own words, as they were sent. */
  sent: string
  /** Of the asset, by the table. */
  network: string | null
  /** JSON: the creates. */
  intents: string
  /** Since when the asset is suspended, by the database's clock. */
  since: number | null
  /** By the database's clock. */
  changed_at: Written<number>
}

/** Manual changes. */
interface Audit {
  id: Generated<number>
  /** By the database's clock. */
  at: number
  actor: string
  /** `routing.shadow`: the earlier name of `routing.mirror`. */
  action: AuditAction | 'routing.shadow'
  subject: string
  /** JSON. */
  before: string | null
  after: string | null
}

/** What a person was shown to settle at once, for a day. */
interface Settlements {
  id: string
  /** By the database's clock. */
  at: number
  /** JSON: the outcome and the note. */
  settlement: string
  /** JSON: the rows, as they were shown. */
  planned: string
  /** How many of them are done. */
  position: number
}

/** Figures of a replica of the last minute. */
interface ReplicaFiguresTable {
  replica: string
  /** On the database's clock. */
  at: Written<number>
  /** JSON. */
  figures: string
}

/** Providers whose swaps since the backup the ledger may lack. Times are of the database's clock. */
interface RestoredProviders {
  provider: string
  restored_at: number
  /** Orders that were created before are not looked for; null: all are. */
  since: number | null
  /** When its list had been read whole. */
  read_at: number | null
  ended_at: number | null
}

/** Orders in providers' lists that the ledger lacked. */
interface FoundOrders {
  provider: string
  provider_id: string
  /** JSON: what the provider says of it. */
  reports: string
  /** 1: the last report is that of a get. */
  details: number
  /** Of the amount that is deposited, for a search. */
  size: number | null
  /** The account that its reference names. */
  owner: string | null
  /** By the database's clock. */
  found_at: Written<number>
  decided_at: number | null
  decision: 'assigned' | 'dismissed' | null
  /** The last number of its changes, if it was taken back from an account: it goes on from there. */
  last_number: ColumnType<number | null, number | null | undefined, number | null>
}

/** Each restore of a backup. */
interface RestoreMarks {
  /** Every number of an event that is given from then on is above it. */
  base: number
  /** By the database's clock. */
  marked_at: Written<number>
  /** When a person said that the actions of before the restore are known. */
  actions_confirmed_at: Written<number | null>
}

/** Work that one process of several does. */
interface BackgroundJobs {
  name: string
  /** When a process began it, or went on, by the database's clock. */
  at: Written<number>
}

/** Creates that may have been an undecided order: each is 409 until a person has decided about the order. */
interface FoundOrderKeys {
  provider: string
  provider_id: string
  owner: string
  key: string
  fingerprint: string
  /** JSON: the request in the client's words. */
  request: string | null
  seen_at: Written<number>
}

/** What clients and operators have done about a swap. */
export interface SwapActions {
  provider: string
  provider_id: string
  kind: string
  /** Of this claim alone. */
  claim: string
  owner: string
  action: string
  state: 'sent' | 'done'
  refund_address: string | null
  refund_extra_id: string | null
  claimed_at: number
  check_count: number
  /** Set while its outcome is looked for. */
  next_check_at: number | null
}

/** Changes of transactions that their owners can see. */
interface TransactionEvents {
  /** In the order of the changes of one transaction. */
  id: Generated<number>
  owner: string
  provider: string
  provider_id: string
  /** Of the change, by the database's clock. */
  at: Written<number>
  /** Of the owner; null until a process has given it, after the change was committed. */
  number: number | null
  /** Of the transaction, from 1. */
  transaction_number: number
  /** Equal for two states that the owner cannot tell apart. */
  digest: string
  /** JSON: the entry as it was then. */
  state: string
  /** 1: nothing is expected after it. */
  is_final: number
}

/** The last number that an owner's changes have. */
interface EventOwners {
  owner: string
  last_number: number
}

/** Open transactions that somebody watches. */
export interface WatchedTransactions {
  provider: string
  provider_id: string
  owner: string
  created_at: number
  /** The last read; until the first one, since when it is watched. */
  read_at: number
  next_read_at: number
  /** When a process last took it to read. */
  taken_at: number | null
  /** When the provider last sent a webhook about it. */
  hinted_at: number | null
  /** Null: while its owner is watched. */
  watched_until: number | null
}

/** Accounts that a stream or a webhook watches. */
interface WatchedOwners {
  owner: string
  watched_until: number
}

/** Where accounts are told of their swaps. */
export interface Webhooks {
  id: string
  /** The account. */
  owner: string
  url: string
  form: string
  /** Encrypted with a key of the configuration. */
  secret: string
  /** The one before, that signs too until then. */
  previous_secret: string | null
  previous_until: number | null
  state: 'active' | 'gone' | 'removed'
  created_at: number
  /** When it was switched off or removed. */
  ended_at: number | null
  /** Of a restore after which no person has confirmed it yet: nothing is sent meanwhile. */
  held_at: number | null
}

/** What waits of a transaction for a webhook. */
interface WebhookQueues {
  webhook: string
  provider: string
  provider_id: string
  /** When its oldest delivery is sent next, or until when it is claimed, by the database's clock; null: none waits. */
  due_at: ColumnType<number | null, number | RawBuilder<number> | null, number | RawBuilder<number> | null>
  /** Of who sends it now. */
  claim: string | null
}

/** What is told to a webhook of one change, and each attempt. */
export interface WebhookDeliveries {
  /** The `webhook-id` of each of its attempts. */
  id: string
  webhook: string
  provider: string
  provider_id: string
  /** The id of the event. */
  event: number
  state: 'waiting' | 'delivered' | 'failed'
  /** Without those that an operator made. */
  attempt_count: number
  /** JSON: the attempts. */
  attempts: string
  /** What every attempt sends; null before the first one. */
  body: string | null
  created_at: number
  ended_at: number | null
}

/** Requests of an account in an hour. */
interface UsageRequests {
  /** The id. */
  account: string
  hour: number
  operation: string
  result: string
  count: number
}

/** The last batch of requests that each process has added. */
interface UsageWriters {
  writer: string
  batch: number
  /** By the database's clock. */
  at: Written<number>
}

/** Swaps that were removed, and creates that made nothing. */
interface UsageSwaps {
  account: string
  /** Of the place of a swap in a list, or of the create. */
  hour: number
  /** `observed`: not created here. */
  kind: 'created' | 'observed' | 'refused'
  /** The status; empty for `refused`. */
  name: string
  count: ColumnType<number, number, number>
}

/** Sums of what removed swaps of `success` sent and received. */
interface UsageAmounts {
  account: string
  hour: number
  direction: 'in' | 'out'
  code: string
  /** An exact decimal of any number of digits. */
  amount: string
}
