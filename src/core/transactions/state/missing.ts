/** A transaction that was created here and that its provider does not find any more (docs/contract.md §12). */
import { isFinal } from '../../../domain/status.ts'
import type { LedgerEntry } from '../../ledger.ts'

const hourMs = 3_600_000

/** The entry after the provider's 404: one that lasts an hour needs a person. The entry itself if nothing changes. */
export function withMissing(entry: LedgerEntry, now: number): LedgerEntry {
  const { transaction, missingSince = now, settledAt } = entry
  if (entry.missingSince === undefined) return { ...entry, missingSince }
  if (!isLost(entry, now)) return entry
  const needsPerson = !isFinal(transaction.status) && settledAt === undefined
  const { attention = needsPerson ? 'lost' : undefined } = transaction
  return { ...entry, transaction: { ...transaction, ...(attention && { attention }) }, missingAt: now }
}

/** Whether the provider has not found it for an hour, and was asked within the last hour. */
export function isMissingForNow(entry: LedgerEntry, now: number): boolean {
  const { missingAt } = entry
  return missingAt !== undefined && missingAt <= now && now - missingAt < hourMs && isLost(entry, now)
}

function isLost({ missingSince }: LedgerEntry, now: number): boolean {
  return missingSince !== undefined && now - missingSince >= hourMs
}
