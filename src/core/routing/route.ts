/** Routes each request to a provider, and adds the provider's tag to transaction ids (docs/contract.md §4, §12). */

import { otherTransaction, standardFault } from '../../domain/fault.ts'
import type { Context, ServiceResponse, SwapService } from '../../domain/service.ts'
import type { Transaction } from '../../domain/swap.ts'
import { isTag, isTransactionId } from '../../domain/swap.ts'
import { createService } from '../layer.ts'
import { formatTransactionId, parseTransactionId } from '../transactions/transaction-id.ts'
import type { Dispatch } from './dispatch.ts'
import type { Candidate } from './failover.ts'

export interface RouteOptions {
  /** Chooses the provider of quotes and creates. */
  readonly dispatch: Dispatch
  /** Serves lists that do not come from the ledger. */
  readonly lists: Candidate
  /** All configured providers, by tag. */
  readonly servicesByTag: ReadonlyMap<string, SwapService>
  /** Gets a transaction of a tag that the configuration lacks. Throws `notFound` if the caller has none. */
  readonly getUnconfigured: (tag: string, id: string, context: Context) => Promise<ServiceResponse<'getTransaction'>>
  /** The tag of the provider that owns ids without a tag. */
  readonly untagged: string | undefined
}

/** The innermost service: dispatches quotes and creates, and sends a get to the provider in the id. Throws `notFound` for no possible id. */
export function route({ dispatch, lists, servicesByTag, getUnconfigured, untagged }: RouteOptions): SwapService {
  const tagged = (provider: string, transaction: Transaction): Transaction => ({
    ...transaction,
    id: formatTransactionId(provider, transaction.id),
  })
  return createService({
    listCurrencies: (query, context) => lists.service.call('listCurrencies', query, context),
    getRate: (query, context) => dispatch.getRate(query, context),
    async createTransaction(request, context) {
      const { response, tag } = await dispatch.createTransaction(request, context)
      return { ...response, body: tagged(tag, response.body) }
    },
    async listTransactions(query, context) {
      const response = await lists.service.call('listTransactions', query, context)
      return { ...response, body: { ...response.body, items: response.body.items.map((item) => tagged(lists.tag, item)) } }
    },
    async getTransaction({ id: requestedId }, context) {
      const { tag = untagged, id } = parseTransactionId(requestedId)
      if (tag === undefined || !isTag(tag) || !isTransactionId(id)) throw standardFault('notFound')
      const service = servicesByTag.get(tag)
      const response = await (service ? service.call('getTransaction', { id }, context) : getUnconfigured(tag, id, context))
      if (response.body.id !== id) throw otherTransaction(tag)
      return { ...response, body: { ...response.body, id: requestedId } }
    },
  })
}
