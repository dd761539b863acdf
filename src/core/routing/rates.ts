/**
 * The quotes of all providers that a caller may choose, best first (docs/contract-operators.md §12; `test/routing/rates.test.ts`). No other
 * provider is asked or named; equal quotes are in the order of the list; all have the longest `timeout` of the active ones.
 */
import { forEachConcurrently } from '../../domain/async.ts'
import { Fault } from '../../domain/fault.ts'
import type { Answer, ProviderRate, RateFailure } from '../../domain/question.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import type { Rate, RateQuery } from '../../domain/swap.ts'
import { limitDeadline } from '../layer.ts'
import { compareOffers, quotedAmountOf } from '../quotes/offers.ts'
import { competes } from './winners.ts'

/** Quotes at a time. */
const concurrency = 8

/**
 * Asks each of these providers (tags) as if the caller had chosen it. Without any quote it throws the first `invalid` in their order,
 * else the first `Fault`. `timeoutMs` bounds them all.
 */
export function ratesOf(
  service: SwapService,
  tags: readonly string[],
  timeoutMs: number,
): (query: RateQuery, context: Context) => Promise<Answer<'listRates'>> {
  return async (query, context) => {
    const limited = limitDeadline(context, timeoutMs)
    const results: (Quoted | Fault)[] = []
    await forEachConcurrently(concurrency, tags, async (tag, at) => {
      results[at] = await service.call('getRate', query, { ...limited, pick: tag }).then(
        ({ body, derived = [] }): Quoted => ({ rate: { ...body, provider: tag }, derived }),
        (reason) => Fault.from(reason),
      )
    })
    const quotes = results.filter((result): result is Quoted => !(result instanceof Fault))
    const faults = results.filter((result) => result instanceof Fault)
    if (quotes.length === 0) throw faults.find(({ kind }) => kind === 'invalid') ?? faults[0]
    const rates = quotes.map(({ rate }) => rate).toSorted((one, other) => bestFirst(one, other, query))
    return {
      body: {
        rates,
        failures: results.flatMap((result, at) => (result instanceof Fault ? [failureOf(result, tags[at] ?? '')] : [])),
      },
      sources: tags,
      derived: [...new Set(quotes.flatMap(({ derived }) => derived))],
    }
  }
}

interface Quoted {
  readonly rate: ProviderRate
  readonly derived: readonly string[]
}

/** By the amount received, or by the lowest that must be sent; then those that are none for this request. Equal ones stay in order. */
function bestFirst(one: Rate, other: Rate, query: RateQuery): number {
  const [isUsable, isOtherUsable] = [competes(one, query), competes(other, query)]
  if (isUsable !== isOtherUsable) return isUsable ? -1 : 1
  const [offer, otherOffer] = [quotedAmountOf(one, query), quotedAmountOf(other, query)]
  return offer === undefined || otherOffer === undefined ? 0 : compareOffers(otherOffer, offer, query)
}

function failureOf({ reason, message, field }: Fault, provider: string): RateFailure {
  return { provider, failure: reason, message, field }
}
