/** A client's list of transactions at one provider, read to its end: a list is sorted, merged and filtered whole or not at all. */

import { textLength } from '../../domain/bounded-map.ts'
import { Fault } from '../../domain/fault.ts'
import type { Context, Op, ServiceResponse, SwapService } from '../../domain/service.ts'
import type { Transaction } from '../../domain/swap.ts'
import { readWhole } from '../paging.ts'
import { oldestOf } from './state/freshness.ts'

/** Bounds on memory for one list. */
export const maxWholeRows = 5_000
const maxCharacters = 16_000_000

type ListPage = ServiceResponse<'listTransactions'>

/** `sequence`: of the request for the first page. */
export interface WholeTransactions extends Pick<ListPage, 'provider' | 'derived' | 'staleSeconds' | 'sequence'> {
  readonly rows: readonly Transaction[]
  /** Over all texts. */
  readonly characters: number
}

/**
 * Throws the provider's fault if the first page fails, `unavailable` if a later one does or the list ends before its total, and
 * `invalid` (`too_large`) for a list that is too long.
 */
export async function readWholeList(service: SwapService, context: Context, pageSize: number): Promise<WholeTransactions> {
  let sequence: number | undefined
  let staleSeconds: number | undefined
  let characters = 0
  const derived = new Set<string>()
  const note = (response: ServiceResponse<Op>): void => {
    sequence ??= response.sequence
    staleSeconds = oldestOf([{ staleSeconds }, response])
    for (const field of response.derived ?? []) derived.add(field)
    characters += lengthOf(response)
    if (characters > maxCharacters) throw new Fault('unreadable', 'The list has too much text.')
  }
  const pages: SwapService = {
    async call(op, request, callContext) {
      try {
        const response = await service.call(op, request, callContext)
        note(response)
        return response
      } catch (reason) {
        throw 'page' in request && request.page === 1 ? reason : listIncomplete(reason)
      }
    },
  }
  const { rows, isComplete, provider } = await readWhole<'listTransactions', Transaction>(pages, 'listTransactions', context, {
    pageSize,
    keyOf: ({ id }) => id,
    maxRows: maxWholeRows,
    tooManyRows,
  })
  if (!isComplete) throw listIncomplete()
  const response = { ...(provider !== undefined && { provider }), ...(derived.size > 0 && { derived: [...derived] }) }
  return { rows, characters, sequence, staleSeconds, ...response }
}

function listIncomplete(cause?: unknown): Fault {
  const retryAfter = cause instanceof Fault ? (cause.retryAfter ?? 1) : 1
  const isUnavailable = cause instanceof Fault && cause.kind === 'unavailable'
  const reason = isUnavailable ? cause.reason : 'provider_failed'
  return new Fault('unavailable', 'The list could not be read whole; please try again.', { retryAfter, reason, cause })
}

function lengthOf({ body }: ServiceResponse<Op>): number {
  const items: readonly object[] = 'items' in body ? body.items : []
  return items.reduce<number>((sum, row) => sum + textLength(row), 0)
}

function tooManyRows(): Fault {
  const message = `This key has more than ${maxWholeRows} transactions, too many to sort for each page; managed keys list any number.`
  return new Fault('invalid', message, { reason: 'too_large' })
}
