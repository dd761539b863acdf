/** Until when a swap keeps its deposit address from others (docs/contract.md §3.6). */
import { isFinal } from '../domain/status.ts'
import type { Transaction } from '../domain/swap.ts'
import type { DepositHolder } from './ports/ledger.ts'

const maxAgeMs = 7 * 86_400_000
/** How long after its provider's own expiry a swap may still get a deposit. */
const lateDepositMs = 86_400_000

/**
 * Whether a swap may still get a deposit: it is younger than 7 days, has neither ended nor become overdue, no person has recorded its outcome,
 * and it is not a day past its provider's own expiry.
 */
export function mayGetDeposit({ entry, takenAt, now }: DepositHolder): boolean {
  return now - takenAt < maxAgeMs && entry.settledAt === undefined && !isOver(entry.transaction, now)
}

/** Whether it has ended or become overdue, or is a day past its provider's own expiry. */
export function isOver({ status, validUntil }: Transaction, now: number): boolean {
  const isPast = validUntil !== undefined && now - Date.parse(validUntil) >= lateDepositMs
  return status === 'overdue' || isFinal(status) || isPast
}
