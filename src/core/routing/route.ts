/** Which provider answers, and the tag by which a transaction's id remembers it (docs/contract.md §4, §12). */

import { otherTransaction, standardFault } from '../../domain/faults/standard-fault.ts'
import type { SwapService } from '../../domain/swap/service.ts'
import type { Transaction } from '../../domain/swap/swap.ts'
import { isTransactionId } from '../../domain/swap/transaction-id.ts'
import { createService } from '../layer.ts'
import { limitDeadline } from '../resilience/deadline.ts'
import { formatTransactionId, parseTransactionId } from '../transactions/transaction-id.ts'
import type { BestQuote } from './best.ts'
import { type Candidate, callWithFailover } from './failover.ts'

export interface RouteOptions {
  /** Who may take quotes and creates, in order; at least one. */
  readonly active: readonly Candidate[]
  /** Who holds transactions, by tag. */
  readonly servicesByTag: ReadonlyMap<string, SwapService>
  /** The tag of whom an id without one belongs to. */
  readonly untagged: string | undefined
  /** Bounds a quote or a create over all who are asked, in milliseconds. */
  readonly timeoutMs: number
  /** Where the strategy is `best`: chooses in place of the order. */
  readonly best?: BestQuote | undefined
}

export function route({ active, servicesByTag, untagged, timeoutMs, best }: RouteOptions): SwapService {
  const [first] = active as [Candidate]
  const tagged = (provider: string, transaction: Transaction): Transaction => ({
    ...transaction,
    id: formatTransactionId(provider, transaction.id),
  })
  return createService({
    listCurrencies: (query, context) => first.service.call('listCurrencies', query, context),
    getRate(query, context) {
      const limited = limitDeadline(context, timeoutMs)
      if (best) return best.getRate(active, query, limited)
      return callWithFailover(active, 'getRate', query, limited).then(({ response }) => response)
    },
    async createTransaction(request, context) {
      const limited = limitDeadline(context, timeoutMs)
      const { response, tag } = best
        ? await best.createTransaction(active, request, limited)
        : await callWithFailover(active, 'createTransaction', request, limited)
      return { ...response, body: tagged(tag, response.body) }
    },
    async listTransactions(query, context) {
      const response = await first.service.call('listTransactions', query, context)
      return { ...response, body: { ...response.body, items: response.body.items.map((item) => tagged(first.tag, item)) } }
    },
    async getTransaction({ id: requestedId }, context) {
      const { tag = untagged, id } = parseTransactionId(requestedId)
      const service = tag === undefined ? undefined : servicesByTag.get(tag)
      if (tag === undefined || !service || !isTransactionId(id)) throw standardFault('notFound')
      const response = await service.call('getTransaction', { id }, context)
      if (response.body.id !== id) throw otherTransaction(tag)
      return { ...response, body: { ...response.body, id: requestedId } }
    },
  })
}
