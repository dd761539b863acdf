/** A transaction of the ledger as JSON, for the commands and the operator's API. */
import { toIso } from '../../domain/instant.ts'
import { formatTransactionId } from '../../domain/swap.ts'
import type { FoundTransaction } from '../ports/ledger-admin.ts'

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
  return { ...row, ...shortAddresses(row) }
}

type Addresses = Readonly<Partial<Record<(typeof addressFields)[number], string | undefined>>>

/** Those that are there. */
export function shortAddresses(fields: Addresses): Addresses {
  const shortFields = addressFields.flatMap((field) => (fields[field] ? [[field, shortened(fields[field])] as const] : []))
  return Object.fromEntries(shortFields)
}

/** The first six and the last four characters; a short one loses most of them. */
export function shortened(address: string): string {
  return address.length <= 12 ? `${address.slice(0, 2)}…` : `${address.slice(0, 6)}…${address.slice(-4)}`
}
