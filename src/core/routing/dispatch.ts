/** Chooses the provider of a quote or a create (docs/contract.md §12). */
import { Fault } from '../../domain/faults/fault.ts'
import type { Request } from '../../domain/swap/operations.ts'
import type { Context, ServiceResponse } from '../../domain/swap/service.ts'
import type { NewTransaction, RateQuery } from '../../domain/swap/swap.ts'
import { limitDeadline } from '../resilience/deadline.ts'
import type { BestQuote } from './best.ts'
import { type Candidate, callWithFailover, type FailoverOp, type FailoverResult } from './failover.ts'
import type { RoutingStrategy } from './strategy.ts'

export interface DispatchOptions {
  /** Providers that may take quotes and creates, in list order; there may be none. */
  readonly active: readonly Candidate[]
  readonly strategy: RoutingStrategy
  /** Set if the strategy is `best`: chooses by quote instead of by order. */
  readonly best?: BestQuote | undefined
  /** Active providers that a caller may pick, by tag. */
  readonly pickable: ReadonlyMap<string, Candidate>
  /** Bounds a quote or a create over all providers that are tried. */
  readonly timeoutMs: number
}

/** Sends quotes and creates to the chosen provider. */
export interface Dispatch {
  readonly getRate: (query: RateQuery, context: Context) => Promise<ServiceResponse<'getRate'>>
  readonly createTransaction: (request: NewTransaction, context: Context) => Promise<FailoverResult<'createTransaction'>>
}

/** Seconds. A change of the configuration takes effect sooner. */
const retryAfter = 10

/** A pick of the caller has precedence over the strategy. Throws `unavailable` if no provider is active. */
export function dispatcher({ active, strategy, best, pickable, timeoutMs }: DispatchOptions): Dispatch {
  const candidatesFor = (context: Context): readonly Candidate[] => {
    const candidates = strategy.order(active, context)
    if (candidates.length === 0) throw noProvider()
    return candidates
  }
  /** Calls only the provider that the caller picked, within its own timeout; without a pick, by the strategy. */
  const call = <O extends FailoverOp>(op: O, request: Request<O>, context: Context): Promise<FailoverResult<O>> => {
    if (context.pick === undefined)
      return callWithFailover(candidatesFor(context), op, request, limitDeadline(context, timeoutMs), active)
    const picked = pickable.get(context.pick)
    if (!picked) throw noProvider()
    return callWithFailover([picked], op, request, context)
  }
  return {
    async getRate(query, context) {
      if (best && context.pick === undefined) return best.getRate(candidatesFor(context), query, limitDeadline(context, timeoutMs))
      return (await call('getRate', query, context)).response
    },
    async createTransaction(request, context) {
      if (best && context.pick === undefined)
        return best.createTransaction(candidatesFor(context), request, limitDeadline(context, timeoutMs))
      return call('createTransaction', request, context)
    },
  }
}

/** The `Fault` if no provider accepts new swaps. Nothing was sent. */
function noProvider(): Fault {
  const message = 'No new swaps are taken at the moment; please wait as long as Retry-After says.'
  return new Fault('unavailable', message, { retryAfter, noEffect: true })
}
