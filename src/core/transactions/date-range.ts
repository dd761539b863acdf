/** The date bounds of a list (docs/contract.md §3.4). */
import { Fault } from '../../domain/faults/fault.ts'
import { type TimeRange, toTimeRange } from '../../domain/instant.ts'
import type { TransactionQuery } from '../../domain/swap/swap.ts'

const allTime: TimeRange = { first: -(2n ** 80n), last: 2n ** 80n }

/** Both ends inclusive; what is not said reaches beyond all times. Throws where they are the wrong way round. */
export function parseDateRange({ dateFrom, dateTo }: TransactionQuery): TimeRange {
  const first = dateFrom === undefined ? allTime.first : (toTimeRange(dateFrom)?.first ?? allTime.first)
  const last = dateTo === undefined ? allTime.last : (toTimeRange(dateTo)?.last ?? allTime.last)
  if (first > last)
    throw new Fault('invalid', 'it must not be after the last date', { field: 'dateFrom', reason: 'parameter_invalid' })
  return { first, last }
}
