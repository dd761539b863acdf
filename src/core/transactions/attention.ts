/** A provider's statuses that need a person, in passthrough mode: clients get them, but they are not stored. */
import { isFinal } from '../../domain/status.ts'
import type { Transaction } from '../../domain/swap.ts'
import type { Ledger, TransactionRecord } from '../ledger.ts'
import type { ObservedTransaction } from './state/merge-transaction.ts'

/** The report with the status that may be stored: a failed transaction keeps the last known one. */
export function withoutAttention(observed: ObservedTransaction): ObservedTransaction {
  const { reported } = observed
  if (reported.attention === undefined) return observed
  return { ...observed, reported: storable(reported), hasFailed: reported.attention === 'failed' }
}

/** The transaction with the reported attention, unless it has ended. */
export function withAttention(transaction: Transaction, { attention }: Transaction): Transaction {
  if (attention === undefined || isFinal(transaction.status)) return transaction
  return { ...transaction, status: transaction.status ?? 'exchanging', attention }
}

/** The ledger, where no transaction needs a person. */
export function ledgerWithoutAttention(ledger: Ledger): Ledger {
  const plain = (record: TransactionRecord): TransactionRecord => {
    const { attention: _, ...transaction } = record.transaction
    return { ...record, transaction }
  }
  return {
    ...ledger,
    complete: (intent, record, judged) => ledger.complete(intent, plain(record), judged),
    bindFound: (intent, record) => ledger.bindFound(intent, plain(record)),
  }
}

function storable({ attention, ...transaction }: Transaction): Transaction {
  return attention === 'failed' ? { ...transaction, status: undefined } : transaction
}
