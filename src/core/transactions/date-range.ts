/** The date bounds of a list (docs/contract.md §3.4). */
import { Fault } from '../../domain/fault.ts'
import { type TimeRange, toTimeRange } from '../../domain/instant.ts'
import type { TransactionQuery } from '../../domain/swap.ts'

const allTime: TimeRange = { first: -(2n ** 80n), last: 2n ** 80n }

/** Both ends are inclusive; a missing bound is unlimited. Throws `invalid` if `dateFrom` is after `dateTo`. */
export function parseDateRange({ dateFrom, dateTo }: TransactionQuery): TimeRange {
  const first = dateFrom === undefined ? allTime.first : (toTimeRange(dateFrom)?.first ?? allTime.first)
  const last = dateTo === undefined ? allTime.last : (toTimeRange(dateTo)?.last ?? allTime.last)
  if (first > last)
    throw new Fault('invalid', 'it must not be after the last date', { field: 'dateFrom', reason: 'parameter_invalid' })
  return { first, last }
}
