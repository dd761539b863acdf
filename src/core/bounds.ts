/** The date bounds of a list (docs/contract.md §3.4). */
import { Fault } from '../domain/fault.ts'
import { type Span, toSpan } from '../domain/instant.ts'
import type { TransactionQuery } from '../domain/swap.ts'

const always: Span = { first: -(2n ** 80n), last: 2n ** 80n }

/** Both ends inclusive; what is not said reaches beyond all times. Throws where they are the wrong way round. */
export function readBounds({ dateFrom, dateTo }: TransactionQuery): Span {
  const first = dateFrom === undefined ? always.first : (toSpan(dateFrom)?.first ?? always.first)
  const last = dateTo === undefined ? always.last : (toSpan(dateTo)?.last ?? always.last)
  if (first > last)
    throw new Fault('invalid', 'it must not be after the last date', { field: 'dateFrom', reason: 'parameter_invalid' })
  return { first, last }
}
