/** Routes each request to a provider, and adds the provider's tag to transaction ids (docs/contract.md §4, docs/contract-operators.md §12). */
import { Fault, otherTransaction, standardFault } from '../../domain/fault.ts'
import type { Context, ServiceResponse, SwapService } from '../../domain/service.ts'
import { formatTransactionId, isTag, isTransactionId, parseTransactionId, type Transaction } from '../../domain/swap.ts'
import { aroundAll, createService, type Layer, onOperations } from '../layer.ts'
import type { Dispatch } from './dispatch.ts'
import type { Candidate } from './failover.ts'

export interface RouteTargets {
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
export function route({ dispatch, lists, servicesByTag, getUnconfigured, untagged }: RouteTargets): SwapService {
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

/** Records the provider of a request, so that rejected and unanswered requests are counted for it too. */
export function recordProvider(provider: string): Layer {
  return aroundAll(function recordProvider(op, request, context, next) {
    if (context.upstreamTimer) context.upstreamTimer.provider = provider
    return next.call(op, request, context)
  })
}

// A provider that the caller chooses with `X-Swap-Provider` (docs/contract-operators.md §12).

/** Throws `invalid` for a pick that is not in `tags` or comes without a valid key. Only quotes and creates have a pick. */
export function checkPick(tags: ReadonlySet<string>): Layer {
  const check = ({ pick, caller }: Context): void => {
    if (pick !== undefined && (caller.identity === undefined || !tags.has(pick))) throw invalidPick()
  }
  return onOperations({
    async getRate(query, context, next) {
      check(context)
      return await next.call('getRate', query, context)
    },
    async createTransaction(request, context, next) {
      check(context)
      return await next.call('createTransaction', request, context)
    },
  })
}

function invalidPick(): Fault {
  const message = 'Invalid X-Swap-Provider: it must be a provider that you may choose, in a request with your API key.'
  return new Fault('invalid', message, { effect: 'nothingSent', reason: 'parameter_invalid' })
}
