/** Converts entries to rows: fields of queries and comparisons are columns, the rest is JSON. */
import type { LedgerEntry, TransactionRecord } from '../core/ledger.ts'
import { isCreatedAround } from '../core/same-swap.ts'
import type { Amount } from '../domain/amount.ts'
import { instantsOf } from '../domain/instant.ts'
import { type Attention, type Doubt, isFinal, type Status } from '../domain/status.ts'
import type { Transaction } from '../domain/swap.ts'

export const entryColumns = [
  'owner',
  'provider',
  'status',
  'attention',
  'settled_at',
  'seen_at',
  'read_at',
  'changed_at',
  'missing_since',
  'missing_at',
  'sequence',
  'asked',
  'sent',
  'facts',
] as const

/** The columns of `entryColumns` where the state is `done`. */
export interface EntryRow {
  readonly owner: string
  readonly provider: string
  readonly status: Status | null
  readonly attention: Attention | null
  readonly settled_at: number | null
  readonly seen_at: number | null
  readonly read_at: number | null
  readonly changed_at: number | null
  readonly missing_since: number | null
  readonly missing_at: number | null
  readonly sequence: number | null
  readonly asked: string | null
  readonly sent: string | null
  readonly facts: string | null
}

/** All columns but `settled_at`, which only an operator sets. */
export function toRow(facts: TransactionRecord) {
  const { status, attention } = facts.transaction
  return {
    status: status ?? null,
    attention: isFinal(status) ? null : (attention ?? null),
    seen_at: facts.reportedAt,
    read_at: facts.fetchedAt ?? null,
    changed_at: facts.changedAt ?? null,
    missing_since: facts.missingSince ?? null,
    missing_at: facts.missingAt ?? null,
    sequence: facts.sequence ?? null,
    facts: storeEntry(facts),
  }
}

type MutableEntry = { -readonly [Field in keyof LedgerEntry]: LedgerEntry[Field] }

export function toEntry(row: EntryRow): LedgerEntry {
  const { owner, provider, facts, seen_at } = row
  if (facts === null || seen_at === null) throw new Error('The row has no transaction.')
  const { transaction, derived, quotedAmountOut, payoutMissingSince, doubt } = loadEntry(facts)
  const entry: MutableEntry = {
    transaction,
    derived,
    reportedAt: seen_at,
    owner,
    provider,
    isCreated: row.asked !== null,
  }
  // Assigned one by one: spreads are slow, and each get of a managed key reads an entry.
  if (row.status !== null) transaction.status = row.status
  if (row.attention !== null) transaction.attention = row.attention
  if (quotedAmountOut !== undefined) entry.quotedAmountOut = quotedAmountOut
  if (payoutMissingSince !== undefined) entry.payoutMissingSince = payoutMissingSince
  if (doubt !== undefined) entry.doubt = doubt
  if (row.read_at !== null) entry.fetchedAt = row.read_at
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
 * The negative creation time in nanoseconds. Uses the provider's creation time if it is valid and, if the attempt is known,
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

// The JSON in the columns `transactions.facts` and `claims.first`. Existing ledgers contain its keys: they never change.

/** The fields of an entry that have no column. */
interface StoredEntry {
  readonly transaction: Omit<Transaction, 'status' | 'attention'>
  readonly derived: readonly string[]
  readonly promised?: Amount | undefined
  readonly payoutMissingSince?: number | undefined
  readonly doubt?: Doubt | undefined
}

/** The data of a claim's first response. */
interface StoredFirst extends StoredEntry {
  readonly transaction: Transaction
  readonly seenAt: number
  readonly readAt?: number | undefined
  readonly changedAt?: number | undefined
  readonly sequence?: number | undefined
}

export function storeEntry(facts: TransactionRecord): string {
  const { status: _, attention: __, ...transaction } = facts.transaction
  const { derived, quotedAmountOut: promised, payoutMissingSince, doubt } = facts
  const stored: StoredEntry = { transaction, derived, promised, payoutMissingSince, doubt }
  return JSON.stringify(stored)
}

interface LoadedEntry extends Pick<TransactionRecord, 'derived' | 'quotedAmountOut' | 'payoutMissingSince' | 'doubt'> {
  /** Without its status and its attention, which have columns. */
  readonly transaction: Omit<Transaction, 'status' | 'attention'> & { status?: Status; attention?: Attention }
}

export function loadEntry(text: string): LoadedEntry {
  const { transaction, derived, promised, payoutMissingSince, doubt }: StoredEntry = JSON.parse(text)
  return { transaction, derived, quotedAmountOut: promised, payoutMissingSince, doubt }
}

export function storeFirst(facts: TransactionRecord): string {
  const stored: StoredFirst = {
    transaction: facts.transaction,
    derived: facts.derived,
    promised: facts.quotedAmountOut,
    seenAt: facts.reportedAt,
    readAt: facts.fetchedAt,
    changedAt: facts.changedAt,
    sequence: facts.sequence,
  }
  return JSON.stringify(stored)
}

export function loadFirst(text: string): TransactionRecord {
  const stored: StoredFirst = JSON.parse(text)
  return {
    transaction: stored.transaction,
    derived: stored.derived,
    reportedAt: stored.seenAt,
    ...(stored.promised !== undefined && { quotedAmountOut: stored.promised }),
    ...(stored.readAt !== undefined && { fetchedAt: stored.readAt }),
    ...(stored.changedAt !== undefined && { changedAt: stored.changedAt }),
    ...(stored.sequence !== undefined && { sequence: stored.sequence }),
  }
}
