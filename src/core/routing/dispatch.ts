/** Chooses the provider of a quote or a create (docs/contract.md §12). */
import { Fault } from '../../domain/fault.ts'
import type { Context, Request, ServiceResponse } from '../../domain/service.ts'
import type { NewTransaction, Pair, RateQuery } from '../../domain/swap.ts'
import type { OutsideTable } from '../assets/outside-table.ts'
import { limitDeadline } from '../deadline.ts'
import type { BestQuote } from './best.ts'
import { type Candidate, callWithFailover, type FailoverOp, type FailoverResult } from './failover.ts'
import type { OtherProviders } from './other-providers.ts'
import type { QuotedProviders } from './quoted-providers.ts'
import type { RoutingStrategy } from './strategy.ts'

export interface DispatchOptions {
  /** Providers that may take quotes and creates, in list order; there may be none. */
  readonly active: readonly Candidate[]
  readonly strategy: RoutingStrategy
  /** Set if the strategy is `best`: chooses by quote instead of by order. */
  readonly best?: BestQuote | undefined
  /** Set if a create goes to the provider of its quote before the order of the strategy. */
  readonly quoted?: QuotedProviders | undefined
  /** Lets another provider take a create that one turns away. */
  readonly others: OtherProviders
  /** Restricts requests for coins that the asset table lacks to one provider. */
  readonly outsideTable: OutsideTable
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
export function dispatcher({
  active,
  strategy,
  best,
  quoted,
  others,
  outsideTable,
  pickable,
  timeoutMs,
}: DispatchOptions): Dispatch {
  /** Only the provider that the caller picked; without a pick, by the strategy. */
  const chosenFor = (context: Context): readonly Candidate[] => {
    const picked = context.pick === undefined ? undefined : pickable.get(context.pick)
    const candidates = context.pick === undefined ? strategy.order(active, context) : picked ? [picked] : []
    if (candidates.length === 0) throw noProvider()
    return candidates
  }
  const candidatesFor = async (pair: Pair, context: Context): Promise<readonly Candidate[]> => {
    const candidates = chosenFor(context)
    if (!outsideTable.concerns(pair)) return candidates
    const eligible = context.pick === undefined ? candidates : active
    const owner = await outsideTable.ownerOf(pair, new Set(eligible.map(({ tag }) => tag)), context)
    const owners = owner === undefined ? candidates : candidates.filter(({ tag }) => tag === owner)
    if (owners.length === 0) throw notOfferedByPick()
    return owners
  }
  const callPicked = async <O extends FailoverOp>(op: O, request: Request<O>, context: Context): Promise<FailoverResult<O>> =>
    callWithFailover(await candidatesFor(request, context), op, request, context)
  return {
    async getRate(query, context) {
      if (context.pick !== undefined) return (await callPicked('getRate', query, context)).response
      const limited = limitDeadline(context, timeoutMs)
      const candidates = await candidatesFor(query, limited)
      if (best) return best.getRate(candidates, query, limited)
      const ordered = quoted ? await quoted.forQuote(candidates, query, limited) : candidates
      const { tag, response } = await callWithFailover(ordered, 'getRate', query, limited, { listOrder: active })
      const quote = { tag, amountOut: response.body.amountOut }
      if (quoted) await quoted.save(query, limited, quote)
      else if (active.length > 1) void others.noteQuote(query, limited, quote) // the response does not wait for it
      return response
    },
    async createTransaction(request, context) {
      if (context.pick !== undefined) return callPicked('createTransaction', request, context)
      const limited = limitDeadline(context, timeoutMs)
      const candidates = await candidatesFor(request, limited)
      if (best) return best.createTransaction(candidates, request, limited)
      const ordered = quoted ? await quoted.forCreate(candidates, request, limited) : candidates
      return callWithFailover(ordered, 'createTransaction', request, limited, {
        listOrder: active,
        offerOf: (candidate) => others.offerOf(candidate, request, limited),
      })
    },
  }
}

/** The coin belongs to another provider than the one that the caller picked. Nothing was sent. */
function notOfferedByPick(): Fault {
  const message = 'The provider that you chose does not offer this pair.'
  return new Fault('invalid', message, { noEffect: true, reason: 'not_offered' })
}

/** The `Fault` if no provider accepts new swaps. Nothing was sent. */
function noProvider(): Fault {
  const message = 'No new swaps are taken at the moment; please wait as long as Retry-After says.'
  return new Fault('unavailable', message, { retryAfter, noEffect: true })
}
