/** The JSON in the columns `transactions.facts` and `claims.first`. Existing ledgers contain its keys: they never change. */
import type { TransactionRecord } from '../../core/ledger.ts'
import type { Amount } from '../../domain/amount.ts'
import type { Attention, Doubt, Status } from '../../domain/status.ts'
import type { Transaction } from '../../domain/swap.ts'

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
