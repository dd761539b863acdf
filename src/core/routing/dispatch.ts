/** Chooses the provider of a quote or a create (docs/contract-operators.md §12). */

import type { AssetTable } from '../../domain/asset.ts'
import { valueIn } from '../../domain/context-values.ts'
import { Fault, quoteExpired } from '../../domain/fault.ts'
import { rendezvousScore } from '../../domain/rendezvous-hash.ts'
import type { Caller, Context, Request, ServiceResponse } from '../../domain/service.ts'
import type { NewTransaction, Pair, RateQuery } from '../../domain/swap.ts'
import type { RoutingReason } from '../../domain/timeline.ts'
import { clientNetworkOf } from '../access/client-address.ts'
import type { OutsideTable } from '../assets/outside-table.ts'
import { limitDeadline } from '../layer.ts'
import { usedFirmQuote } from '../quotes/firm-quotes.ts'
import { quotedAmountOf } from '../quotes/offers.ts'
import type { BestQuote } from './best.ts'
import { type Candidate, callWithFailover, type FailoverOp, type FailoverResult, type OtherProviders } from './failover.ts'
import type { QuoteFailures } from './quote-failures.ts'
import { addressQuoteKeyOf, type QuoteTerms, quoteKeyOf, quoteKeysOf, type Winner, type WinnerStore } from './winners.ts'

interface DispatchOptions {
  /** Providers that may take quotes and creates, in list order; there may be none. Their quotes are watched by `failures`. */
  readonly active: readonly Candidate[]
  /** Creates leave a provider whose quotes have just failed. */
  readonly failures: QuoteFailures
  /** Routed providers that take none, by tag. */
  readonly inactive: ReadonlyMap<string, 'draining' | 'off'>
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
  /** Active providers that take creates with firm quotes of theirs, by tag. */
  readonly firm: ReadonlyMap<string, Candidate>
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

/** A firm quote has precedence over a pick of the caller, and that over the strategy. Throws `unavailable` if no provider is active. */
export function dispatcher({
  active,
  failures,
  inactive,
  strategy,
  best,
  quoted,
  others,
  outsideTable,
  pickable,
  firm,
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
  /** `failing`: whose turn it was, if its quotes had not failed. */
  const noteRoute = (
    ordered: readonly Pick<Candidate, 'tag'>[],
    because: RoutingReason,
    { timeline }: Context,
    failing: readonly Candidate[] = [],
  ): void => {
    const [first] = ordered
    if (!timeline || !first) return
    const isByWeight = strategy.name === 'weighted' && because !== 'picked'
    const unweighted = isByWeight ? active.filter(({ tag }) => !ordered.some((one) => one.tag === tag)) : []
    const omitted = [
      ...[...inactive].map(([provider, state]) => ({ provider, because: state })),
      ...unweighted.map(({ tag }) => ({ provider: tag, because: 'weight_0' as const })),
      ...failing.map(({ tag }) => ({ provider: tag, because: 'failing_quotes' as const })),
    ]
    timeline.add({ event: 'routed', provider: first.tag, strategy: best ? 'best' : strategy.name, because, omitted })
  }
  const callPicked = async <O extends FailoverOp>(op: O, request: Request<O>, context: Context): Promise<FailoverResult<O>> =>
    callWithFailover(op, request, context, await candidatesFor(request, context))
  return {
    async getRate(query, context) {
      if (context.pick !== undefined) return (await callPicked('getRate', query, context)).response
      const limited = limitDeadline(context, timeoutMs)
      const candidates = await candidatesFor(query, limited)
      if (best) return best.getRate(candidates, query, limited)
      const ordered = quoted ? await quoted.forQuote(candidates, query, limited) : candidates
      const { tag, response } = await callWithFailover('getRate', query, limited, ordered, active)
      const quote = { tag, quotedAmount: quotedAmountOf(response.body, query) }
      if (quoted) await quoted.save(query, limited, quote)
      else if (active.length > 1) void others.noteQuote(query, limited, quote) // the response does not wait for it
      return response
    },
    async createTransaction(request, context) {
      const firmQuote = valueIn(context, usedFirmQuote)
      if (firmQuote) {
        const quoted = firm.get(firmQuote.provider)
        if (!quoted) throw quoteExpired() // its provider takes no new swaps any more
        noteRoute([quoted], 'quoted', context)
        return callWithFailover('createTransaction', request, limitDeadline(context, timeoutMs), [quoted], active)
      }
      if (context.pick !== undefined) {
        noteRoute([...(pickable.has(context.pick) ? [{ tag: context.pick }] : [])], 'picked', context)
        return callPicked('createTransaction', request, context)
      }
      const limited = limitDeadline(context, timeoutMs)
      const candidates = await candidatesFor(request, limited)
      if (best)
        return best.createTransaction(candidates, request, limited, (chosen, because) => noteRoute([chosen], because, context))
      const ordered = quoted ? await quoted.forCreate(candidates, request, limited) : candidates
      const working = failures.failingLast(ordered, request, limited)
      noteRoute(
        working,
        ordered === candidates ? strategy.reason : 'quoted',
        context,
        working[0] === ordered[0] ? [] : ordered.slice(0, 1),
      )
      return callWithFailover('createTransaction', request, limited, working, active, others)
    },
  }
}

/** The coin belongs to another provider than the one that the caller picked. Nothing was sent. */
function notOfferedByPick(): Fault {
  const message = 'The provider that you chose does not offer this pair.'
  return new Fault('invalid', message, { effect: 'nothingSent', reason: 'not_offered' })
}

/** The `Fault` if no provider accepts new swaps. Nothing was sent. */
function noProvider(): Fault {
  const message = 'No new swaps are taken at the moment; please wait as long as Retry-After says.'
  return new Fault('unavailable', message, { retryAfter, effect: 'refused' })
}

/** Orders the providers for a quote or a create. An omitted provider gets nothing (docs/contract-operators.md §12). */
interface RoutingStrategy {
  readonly name: 'priority' | 'weighted'
  /** Why the first one is the first. */
  readonly reason: 'order' | 'weight'
  readonly order: (candidates: readonly Candidate[], context: Context) => readonly Candidate[]
}

/** The configured order. */
export const priority: RoutingStrategy = { name: 'priority', reason: 'order', order: (candidates) => candidates }

/**
 * Orders providers by a rendezvous hash of the caller: a client stays with its provider while the weights are unchanged, and fails
 * over to the next one of its own order. A provider with weight 0, or without a weight, is omitted. `weights`: by tag.
 */
export function weighted(weights: ReadonlyMap<string, number>): RoutingStrategy {
  return {
    name: 'weighted',
    reason: 'weight',
    order(candidates, { caller }) {
      const subject = subjectOf(caller)
      return candidates
        .flatMap((candidate) => {
          const weight = weights.get(candidate.tag) ?? 0
          return weight > 0 ? [{ candidate, score: rendezvousScore(subject, candidate.tag, weight) }] : []
        })
        .toSorted((one, other) => other.score - one.score)
        .map(({ candidate }): Candidate => candidate)
    },
  }
}

/** The identity; without one the client network. */
function subjectOf({ identity, address }: Caller): string {
  return identity === undefined ? `address:${clientNetworkOf(address)}` : `identity:${identity}`
}

// Under `weighted`, the provider that quoted a request gets its create, too (docs/contract-operators.md §12).

type WithCaller = Pick<Context, 'caller'>

export class QuotedProviders {
  private readonly winners: WinnerStore
  private readonly table: AssetTable

  constructor(winners: WinnerStore, table: AssetTable) {
    this.winners = winners
    this.table = table
  }

  save(terms: QuoteTerms, { caller }: WithCaller, winner: Winner): Promise<void> {
    return this.winners.save(quoteKeyOf(caller, terms, this.table), winner)
  }

  /** The candidates for a create: first the one that quoted this request to the account, else to its address. */
  forCreate(candidates: readonly Candidate[], terms: QuoteTerms, { caller }: WithCaller): Promise<readonly Candidate[]> {
    return this.firstQuoted(candidates, quoteKeysOf(caller, terms, this.table))
  }

  /**
   * The candidates for a quote. An account's quotes follow those without a key from its address, but not its own: it would never move
   * to another provider while it goes on asking.
   */
  forQuote(candidates: readonly Candidate[], terms: QuoteTerms, { caller }: WithCaller): Promise<readonly Candidate[]> {
    const isOfAddress = caller.identity === undefined
    return this.firstQuoted(candidates, isOfAddress ? [] : [addressQuoteKeyOf(caller.address, terms, this.table)])
  }

  /** A provider that is no candidate any more is passed over. */
  private async firstQuoted(candidates: readonly Candidate[], keys: readonly string[]): Promise<readonly Candidate[]> {
    if (candidates.length < 2) return candidates
    for (const key of keys) {
      const winner = await this.winners.find(key)
      const quoted = winner && candidates.find(({ tag }) => tag === winner.tag)
      if (quoted) return [quoted, ...candidates.filter((candidate) => candidate !== quoted)]
    }
    return candidates
  }
}
