/** Filters of a client's list: by status, and by when that changed (docs/contract.md §3.4). */
import { instantsOf, toTimeRange } from '../../domain/instant.ts'
import type { Transaction, TransactionQuery } from '../../domain/swap.ts'
import type { ListFilter, TransactionRecord } from '../ports/ledger.ts'

/** Undefined without a filter. */
export function listFilter({ statuses, updatedSince }: TransactionQuery): ListFilter | undefined {
  if (statuses === undefined && updatedSince === undefined) return undefined
  const range = updatedSince === undefined ? undefined : toTimeRange(updatedSince)
  return { statuses, changedSince: range && Number(range.first / 1_000_000n) }
}

/**
 * Whether a row of a provider's list passes. It counts by the latest of its creation, the change that its provider reports, and the one
 * that was seen here. `timezone`: of the provider's times without a zone.
 */
export function passes(
  { statuses, changedSince }: ListFilter,
  { status, createdAt, updatedAt = '' }: Transaction,
  { changedAt = 0 }: Pick<TransactionRecord, 'changedAt'>,
  timezone: string | undefined,
): boolean {
  if (statuses !== undefined && (status === undefined || !statuses.includes(status))) return false
  if (changedSince === undefined || changedAt >= changedSince) return true
  return [createdAt, updatedAt].some((text) =>
    instantsOf(text, timezone).some((instant) => Number(instant / 1_000_000n) >= changedSince),
  )
}
