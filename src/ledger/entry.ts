/** Converts entries to rows: fields of queries and comparisons are columns, the rest is JSON. */
import type { LedgerEntry, TransactionRecord } from '../core/ports/ledger.ts'
import { isCreatedAround } from '../core/same-swap.ts'
import { instantsOf } from '../domain/instant.ts'
import { type Attention, isFinal, type Status } from '../domain/status.ts'
import type { Transaction } from '../domain/swap.ts'

export const entryColumns = [
  'owner',
  'provider',
  'status',
  'attention',
  'settled_at',
  'reported_at',
  'fetched_at',
  'changed_at',
  'missing_since',
  'missing_at',
  'sequence',
  'requested',
  'sent',
  'record',
] as const

/** The columns of `entryColumns` where the state is `done`. */
export interface EntryRow {
  readonly owner: string
  readonly provider: string
  readonly status: Status | null
  readonly attention: Attention | null
  readonly settled_at: number | null
  readonly reported_at: number | null
  readonly fetched_at: number | null
  readonly changed_at: number | null
  readonly missing_since: number | null
  readonly missing_at: number | null
  readonly sequence: number | null
  readonly requested: string | null
  readonly sent: string | null
  readonly record: string | null
}

/** A create that has no result yet. */
export interface CreateWithoutEntry {
  readonly intent: string
  readonly owner: string
  readonly provider: string
  readonly attempted_at: number
}

/** All columns but `settled_at`, which only an operator sets. */
export function toRow(record: TransactionRecord) {
  const { status, attention } = record.transaction
  return {
    status: status ?? null,
    attention: isFinal(status) ? null : (attention ?? null),
    reported_at: record.reportedAt,
    fetched_at: record.fetchedAt ?? null,
    changed_at: record.changedAt ?? null,
    missing_since: record.missingSince ?? null,
    missing_at: record.missingAt ?? null,
    sequence: record.sequence ?? null,
    record: storeEntry(record),
  }
}

type MutableEntry = { -readonly [Field in keyof LedgerEntry]: LedgerEntry[Field] }

export function toEntry(row: EntryRow): LedgerEntry {
  const { owner, provider, record, reported_at } = row
  if (record === null || reported_at === null) throw new Error('The row has no transaction.')
  const { transaction, derived, quotedAmountOut, payoutMissingSince, doubt, ownerAttention } = loadEntry(record)
  const entry: MutableEntry = {
    transaction,
    derived,
    reportedAt: reported_at,
    owner,
    provider,
    isCreated: row.requested !== null,
  }
  // Assigned one by one: spreads are slow, and each get of a managed key reads an entry.
  if (row.status !== null) transaction.status = row.status
  if (row.attention !== null) transaction.attention = row.attention
  if (quotedAmountOut !== undefined) entry.quotedAmountOut = quotedAmountOut
  if (payoutMissingSince !== undefined) entry.payoutMissingSince = payoutMissingSince
  if (doubt !== undefined) entry.doubt = doubt
  if (ownerAttention !== undefined) entry.ownerAttention = ownerAttention
  if (row.fetched_at !== null) entry.fetchedAt = row.fetched_at
  if (row.changed_at !== null) entry.changedAt = row.changed_at
  if (row.missing_since !== null) entry.missingSince = row.missing_since
  if (row.missing_at !== null) entry.missingAt = row.missing_at
  if (row.settled_at !== null) entry.settledAt = row.settled_at
  if (row.sequence !== null) entry.sequence = row.sequence
  if (row.sent !== null) entry.sent = JSON.parse(row.sent)
  return entry
}

/** The maximum sort key, one less than 64 bits can store. */
export const maxSortKey = 2n ** 63n - 2n

/**
 * The negative creation time in nanoseconds. Uses the provider's creation time if it is valid and, if `attemptedAt` is known,
 * close to it; else the time at which the gateway first read the transaction.
 */
export function sortKey({ transaction, reportedAt }: TransactionRecord, attemptedAt?: number): bigint {
  const [providerCreatedAt] = instantsOf(transaction.createdAt)
  const gatewayTime = toNanoseconds(attemptedAt ?? reportedAt)
  const isPlausible =
    providerCreatedAt !== undefined && (attemptedAt === undefined || isCreatedAround(providerCreatedAt, attemptedAt))
  return clampSortKey(isPlausible ? -providerCreatedAt : -gatewayTime)
}

/** Limits a sort key to 64 bits, with room for one more. */
export function clampSortKey(key: bigint): bigint {
  return key < -maxSortKey ? -maxSortKey : key > maxSortKey ? maxSortKey : key
}

export function toNanoseconds(milliseconds: number): bigint {
  return BigInt(Math.round(milliseconds)) * 1_000_000n
}

// The JSON in the columns `transactions.record` and `claims.first`. Its keys change only together with a migration.

/** The fields of an entry that have no column. */
interface StoredEntry
  extends Pick<TransactionRecord, 'derived' | 'quotedAmountOut' | 'payoutMissingSince' | 'doubt' | 'ownerAttention'> {
  readonly transaction: Omit<Transaction, 'status' | 'attention'>
}

export function storeEntry(record: TransactionRecord): string {
  const { status: _, attention: __, ...transaction } = record.transaction
  const { derived, quotedAmountOut, payoutMissingSince, doubt, ownerAttention } = record
  const stored: StoredEntry = { transaction, derived, quotedAmountOut, payoutMissingSince, doubt, ownerAttention }
  return JSON.stringify(stored)
}

interface LoadedEntry extends StoredEntry {
  /** Without its status and its attention, which have columns. */
  readonly transaction: StoredEntry['transaction'] & { status?: Status; attention?: Attention }
}

export function loadEntry(text: string): LoadedEntry {
  return JSON.parse(text)
}

/** A first response, whole but for what only later reports say. */
export function storeFirst(record: TransactionRecord): string {
  const { transaction, derived, quotedAmountOut, reportedAt, fetchedAt, changedAt, sequence } = record
  const stored: TransactionRecord = { transaction, derived, quotedAmountOut, reportedAt, fetchedAt, changedAt, sequence }
  return JSON.stringify(stored)
}

export function loadFirst(text: string): TransactionRecord {
  return JSON.parse(text)
}
