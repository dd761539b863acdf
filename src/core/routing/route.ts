/** Which provider answers, and the tag by which a transaction's id remembers it (docs/contract.md §4, §12). */

import { Fault } from '../../domain/faults/fault.ts'
import { otherTransaction, standardFault } from '../../domain/faults/standard-fault.ts'
import type { Context, SwapService } from '../../domain/swap/service.ts'
import type { Transaction } from '../../domain/swap/swap.ts'
import { isTransactionId } from '../../domain/swap/transaction-id.ts'
import { createService } from '../layer.ts'
import { limitDeadline } from '../resilience/deadline.ts'
import { formatTransactionId, parseTransactionId } from '../transactions/transaction-id.ts'
import type { BestQuote } from './best.ts'
import { type Candidate, callWithFailover } from './failover.ts'
import type { RoutingStrategy } from './strategy.ts'

export interface RouteOptions {
  /** Providers that may take quotes and creates, in list order; there may be none. */
  readonly active: readonly Candidate[]
  readonly strategy: RoutingStrategy
  /** Answers lists that do not come from the ledger. */
  readonly lists: Candidate
  /** Who holds transactions, by tag. */
  readonly servicesByTag: ReadonlyMap<string, SwapService>
  /** The tag of whom an id without one belongs to. */
  readonly untagged: string | undefined
  /** Bounds a quote or a create over all who are asked, in milliseconds. */
  readonly timeoutMs: number
  /** Where the strategy is `best`: chooses in place of the order. */
  readonly best?: BestQuote | undefined
}

export function route({ active, strategy, lists, servicesByTag, untagged, timeoutMs, best }: RouteOptions): SwapService {
  const tagged = (provider: string, transaction: Transaction): Transaction => ({
    ...transaction,
    id: formatTransactionId(provider, transaction.id),
  })
  const candidatesFor = (context: Context): readonly Candidate[] => {
    const candidates = strategy.order(active, context)
    if (candidates.length === 0) throw noProvider()
    return candidates
  }
  return createService({
    listCurrencies: (query, context) => lists.service.call('listCurrencies', query, context),
    async getRate(query, context) {
      const candidates = candidatesFor(context)
      const limited = limitDeadline(context, timeoutMs)
      if (best) return best.getRate(candidates, query, limited)
      return callWithFailover(candidates, 'getRate', query, limited).then(({ response }) => response)
    },
    async createTransaction(request, context) {
      const candidates = candidatesFor(context)
      const limited = limitDeadline(context, timeoutMs)
      const { response, tag } = best
        ? await best.createTransaction(candidates, request, limited)
        : await callWithFailover(candidates, 'createTransaction', request, limited)
      return { ...response, body: tagged(tag, response.body) }
    },
    async listTransactions(query, context) {
      const response = await lists.service.call('listTransactions', query, context)
      return { ...response, body: { ...response.body, items: response.body.items.map((item) => tagged(lists.tag, item)) } }
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

/** In seconds: a change of the configuration is in force sooner. */
const retryAfter = 10

/** No provider may take anything new: nothing was sent. */
export function noProvider(): Fault {
  const message = 'No new swaps are taken at the moment; please wait as long as Retry-After says.'
  return new Fault('unavailable', message, { retryAfter, noEffect: true })
}
