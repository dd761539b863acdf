/** Whether a transaction's deposit address may be shown: nothing may be paid for one that is contradicted or has failed (docs/contract.md §10.3). */
import type { Doubt, Status } from '../../../domain/status.ts'
import type { Transaction } from '../../../domain/swap.ts'
import type { TransactionRecord } from '../../ledger.ts'

type Doubtful = Pick<TransactionRecord, 'transaction' | 'doubt' | 'changedAt'>

const ended: ReadonlySet<Status | undefined> = new Set<Status>(['success', 'refunded', 'overdue'])
const unpaid: ReadonlySet<Status | undefined> = new Set<Status | undefined>([undefined, 'wait'])

/** What speaks against the transaction; undefined for one that has ended. */
export function doubtAbout({ transaction, doubt }: Doubtful): Doubt | undefined {
  if (ended.has(transaction.status)) return undefined
  return doubt ?? (transaction.attention === 'failed' ? 'failed' : undefined)
}

/** The transaction without its deposit address, if that may not be paid. */
export function onlyPayable(record: Doubtful): Transaction {
  const { transaction } = record
  const doubt = doubtAbout(record)
  return doubt === undefined || (doubt === 'failed' && hasMoney(record)) ? transaction : withoutDeposit(transaction)
}

/** Whether a deposit was seen. The status of one that was found failed stands for none. */
function hasMoney({ transaction, changedAt }: Doubtful): boolean {
  return Boolean(transaction.txHashIn) || (!unpaid.has(transaction.status) && changedAt !== undefined)
}

export function withoutDeposit(transaction: Transaction): Transaction {
  return { ...transaction, depositAddress: undefined, depositExtraId: undefined }
}
