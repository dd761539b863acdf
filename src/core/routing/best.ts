/** The strategy `best`: a quote is requested from every provider, and the best one wins (docs/contract-operators.md §12). */
import type { Amount } from '../../domain/amount.ts'
import type { AssetTable } from '../../domain/asset.ts'
import type { PromisedAmounts } from '../../domain/call-options.ts'
import { promisedAmounts } from '../../domain/call-options.ts'
import { valueIn, withValue } from '../../domain/context-values.ts'
import { Fault, priceMoved } from '../../domain/fault.ts'
import type { Caller, Context, ServiceResponse } from '../../domain/service.ts'
import type { NewTransaction, RateQuery } from '../../domain/swap.ts'
import type { TimelineFact } from '../../domain/timeline.ts'
import { limitDeadline } from '../layer.ts'
import { compareOffers, isWorseOffer, quotedAmountOf, worstAmountOf } from '../quotes/offers.ts'
import { type Candidate, callInTurn, type FailoverResult, type OtherProviders, rankOf, type Turn } from './failover.ts'
import type { QuoteFailures } from './quote-failures.ts'
import { competes, firstWinner, type QuoteDeviations, quoteKeyOf, quoteKeysOf, quoteQueryOf, type WinnerStore } from './winners.ts'

export interface BestOptions {
  readonly winners: WinnerStore
  readonly table: AssetTable
  /** Lets another provider take a create that one turns away. */
  readonly others: OtherProviders
  /** Creates leave a provider whose quotes have just failed. */
  readonly failures: QuoteFailures
  /** What tells the settings of this caller's quotes, at any of the providers, from those of others. */
  readonly settingsOf: (caller: Caller) => string
  /** How much less creates of a provider have promised than its quotes. */
  readonly deviations: QuoteDeviations
  /** `routing.maxDeviation`: by which share a create at a fixed rate may promise less than the quote that its caller saw; 0: any. */
  readonly maxDeviation: number
  /** Slower providers are then left out, if another's quote competes: `routing.patience` (default: 0.8 seconds). */
  readonly patienceMs: number
}

interface Quote {
  readonly query: RateQuery
  readonly candidate: Candidate
  readonly response: ServiceResponse<'getRate'>
}

/** Largest share of a create's time that is spent on quotes. */
const quoteShareOfCreate = 0.5

/** Chooses the provider of a quote and of the create that follows. */
export class BestQuote {
  private readonly options: BestOptions

  constructor(options: BestOptions) {
    this.options = options
  }

  /**
   * Returns the best quote. Without a quote it throws the first `invalid` in list order, otherwise the first `Fault`, of the
   * providers that offer the pair; if none offers it, of all.
   */
  async getRate(candidates: readonly Candidate[], query: RateQuery, context: Context): Promise<ServiceResponse<'getRate'>> {
    const best = await quoteBest(candidates, query, context, this.options)
    const { winners, table, settingsOf } = this.options
    const winner = competing(best)
    if (winner) {
      const { candidate, quotedAmount } = winner
      const settings = settingsOf(context.caller)
      await winners.save(quoteKeyOf(context.caller, query, table), { tag: candidate.tag, quotedAmount, settings })
    }
    return best.response
  }

  /**
   * Sends the create to the provider that won the caller's quote; without one, or if quotes there have just failed or it was asked for with
   * other settings, quotes are requested first. Another provider follows only if the first has certainly not received the create. At a fixed
   * rate nobody gets it for much less than the caller's quote.
   */
  async createTransaction(
    candidates: readonly Candidate[],
    request: NewTransaction,
    context: Context,
    noteRoute: (chosen: Candidate, because: 'quoted' | 'best_quote') => void = () => {},
  ): Promise<FailoverResult<'createTransaction'>> {
    const { winners, table, others, failures, settingsOf, maxDeviation } = this.options
    const last = await firstWinner(winners, quoteKeysOf(context.caller, request, table))
    // Asked with other settings, another provider may win, at another price.
    const winner = last?.settings === settingsOf(context.caller) ? last : undefined
    const known = candidates.find(({ tag }) => tag === winner?.tag)
    const worstAmount = worstAmountOf(winner?.quotedAmount, maxDeviation, request)
    const agreed = withValue(context, promisedAmounts, { worstAmount })
    const won = known && turnOf(known, { quotedAmount: winner?.quotedAmount, worstAmount }, context)
    const isWinnerFailing = known !== undefined && candidates.length > 1 && failures.isFailing(known.tag, request, context)
    const first =
      won && !isWinnerFailing ? won : await this.quoteFor(candidates, request, agreed).catch((reason) => won ?? rethrow(reason))
    noteRoute(first.candidate, first === won ? 'quoted' : 'best_quote')
    let remaining = candidates
    return callInTurn('createTransaction', request, first, candidates, async (refused, onlyIfAsGood) => {
      remaining = remaining.filter((one) => one !== refused)
      if (remaining.length === 0) return undefined
      const turn = await this.quoteFor(remaining, request, agreed).catch(() => undefined)
      if (!turn || !onlyIfAsGood) return turn
      const offer = await others.offerOf(turn.candidate, request, context)
      return offer && turnOf(turn.candidate, { ...valueIn(turn.context, promisedAmounts), ...offer }, turn.context)
    })
  }

  /** The provider with the best quote for this create. Throws if that is much less than the caller's quote. */
  private async quoteFor(candidates: readonly Candidate[], request: NewTransaction, context: Context): Promise<Turn> {
    const [only, ...others] = candidates
    if (only && others.length === 0) return { candidate: only, context }
    const limited = limitDeadline(context, quoteShareOfCreate * (context.deadline - performance.now()))
    const quoting = quoteBest(candidates, quoteQueryOf(request), limited, this.options)
    const { candidate, response } = await quoting.catch(refuseCreate)
    const quotedAmount = quotedAmountOf(response.body, request)
    const promised = valueIn(context, promisedAmounts)
    const { worstAmount = worstAmountOf(quotedAmount, this.options.maxDeviation, request) } = promised
    if (quotedAmount && worstAmount && isWorseOffer(quotedAmount, worstAmount, request)) throw priceMoved()
    return turnOf(candidate, { quotedAmount, worstAmount }, context)
  }
}

function turnOf(candidate: Candidate, promised: PromisedAmounts, context: Context): Turn {
  return { candidate, context: withValue(context, promisedAmounts, promised) }
}

function rethrow(reason: unknown): never {
  throw reason
}

/** Nothing was created: a failure of the quotes is not an unknown outcome of the create. */
function refuseCreate(reason: unknown): never {
  const fault = Fault.from(reason)
  if (fault.kind === 'invalid') throw fault
  const message = 'No provider can take this swap at the moment; please try again soon.'
  throw new Fault('unavailable', message, { retryAfter: fault.retryAfter ?? 1, effect: 'refused', cause: fault })
}

type Result = Quote | Fault

/** A quote that may win, and what it gives for the requested amount. */
interface CompetingQuote extends Quote {
  readonly quotedAmount: Amount
}

/**
 * The quote with the highest amount received, or with the lowest that must be sent; the first in list order of equal ones. That of a
 * provider whose creates were worse than its quotes counts as so much worse.
 */
async function quoteBest(
  candidates: readonly Candidate[],
  query: RateQuery,
  context: Context,
  { patienceMs, deviations }: BestOptions,
): Promise<Quote> {
  const results = await collect(
    candidates.map((candidate) =>
      candidate.service.call('getRate', query, context).then(
        (response): Result => ({ query, candidate, response }),
        (reason): Result => Fault.from(reason),
      ),
    ),
    patienceMs,
  )
  for (const [at, { tag: provider }] of candidates.entries())
    context.timeline?.add({ event: 'compared', provider, ...comparedAs(results[at]) })
  const quotes = results.filter((result): result is Quote => result !== undefined && !(result instanceof Fault))
  const winner =
    quotes
      .flatMap((quote) => competing(quote) ?? [])
      .reduce<CompetingQuote | undefined>(
        (best, quote) =>
          best && compareOffers(expected(quote, deviations), expected(best, deviations), query) <= 0 ? best : quote,
        undefined,
      ) ?? quotes[0]
  if (winner) return winner
  const allFaults = results.filter((result) => result instanceof Fault)
  const highestRank = Math.max(...allFaults.map(rankOf))
  const faults = allFaults.filter((fault) => rankOf(fault) === highestRank)
  throw faults.find(({ kind }) => kind === 'invalid') ?? faults[0]
}

/** Undefined: it was too slow. */
function comparedAs(result: Result | undefined): Omit<Extract<TimelineFact, { event: 'compared' }>, 'event' | 'provider'> {
  if (result === undefined) return { reason: 'too_slow' }
  if (result instanceof Fault) return { reason: result.reason }
  const { query, response } = result
  const amount = quotedAmountOf(response.body, query)
  if (amount === undefined) return {}
  return query.amountOut === undefined ? { amountOut: amount } : { amountIn: amount }
}

/** All results in list order, or after `patienceMs` the available ones as soon as one of them competes. */
function collect(pending: readonly Promise<Result>[], patienceMs: number): Promise<readonly (Result | undefined)[]> {
  const results: (Result | undefined)[] = pending.map(() => undefined)
  return new Promise((resolve) => {
    let isWaitingForAll = true
    let missing = pending.length
    const finishIfDecided = (): void => {
      const hasWinner = results.some(
        (result) => result !== undefined && !(result instanceof Fault) && competing(result) !== undefined,
      )
      if (missing > 0 && (isWaitingForAll || !hasWinner)) return
      clearTimeout(timer)
      resolve([...results])
    }
    const timer = setTimeout(() => {
      isWaitingForAll = false
      finishIfDecided()
    }, patienceMs)
    for (const [at, result] of pending.entries()) {
      void result.then((reply) => {
        results[at] = reply
        missing--
        finishIfDecided()
      })
    }
  })
}

function competing(quote: Quote): CompetingQuote | undefined {
  const { query, response } = quote
  const quotedAmount = quotedAmountOf(response.body, query)
  return quotedAmount !== undefined && competes(response.body, query) ? { ...quote, quotedAmount } : undefined
}

/** What a create is expected to promise. */
function expected({ candidate, query, quotedAmount }: CompetingQuote, deviations: QuoteDeviations): Amount {
  return deviations.discounted(candidate.tag, quotedAmount, query)
}
