/** A transaction of the ledger as JSON, for the commands and the operator's API. */
import { toIso } from '../../domain/instant.ts'
import { formatTransactionId } from '../../domain/swap.ts'
import type { FoundTransaction } from '../ledger-admin.ts'

export function wholeRow({ entry, account }: FoundTransaction) {
  const { provider, transaction, reportedAt, fetchedAt, changedAt, settledAt, isCreated } = entry
  return {
    ...transaction,
    id: formatTransactionId(provider, transaction.id),
    account: account ?? null,
    provider,
    status: transaction.status ?? null,
    attention: transaction.attention ?? null,
    isCreated,
    reportedAt: toIso(reportedAt),
    fetchedAt: toIso(fetchedAt),
    changedAt: toIso(changedAt),
    settledAt: toIso(settledAt),
  }
}

const addressFields = ['depositAddress', 'withdrawalAddress', 'refundAddress'] as const

/** With shortened addresses. */
export function shortRow(found: FoundTransaction) {
  const row = wholeRow(found)
  const addresses = addressFields.flatMap((field) => (row[field] === undefined ? [] : [[field, shortened(row[field])] as const]))
  return { ...row, ...Object.fromEntries(addresses) }
}

/** The first six and the last four characters; a short one loses most of them. */
export function shortened(address: string): string {
  return address.length <= 12 ? `${address.slice(0, 2)}…` : `${address.slice(0, 6)}…${address.slice(-4)}`
}
