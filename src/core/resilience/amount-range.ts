/**
 * The limits of an amount that a provider refuses without naming them (docs/contract.md §6, §16). The provider's refusal stays what
 * refuses: a limit only says why, and only one that a quote of the last minute has shown.
 */
import { type Amount, multiplySubtract, toAmount, zero } from '../../domain/amount.ts'
import { withDefault } from '../../domain/async.ts'
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import { needsAmountRangeOnly } from '../../domain/call-options.ts'
import { withValue } from '../../domain/context-values.ts'
import { type AmountRange, explainedByAmountRange, Fault } from '../../domain/fault.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import { type NewTransaction, type RateQuery, requestedAmountOf, withRequestedAmount } from '../../domain/swap.ts'
import type { SteadyClock } from '../clock.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { UpstreamScope } from '../provider-scope.ts'

interface Known {
  readonly range: Promise<AmountRange>
  readonly at: number
}

const lifetimeMs = 60_000
const maxPairs = 10_000
/** The refusal is certain, so it must reach the client before its deadline, whatever these calls do. */
const maxWaitMs = 2_000
/**
 * A quote is asked for so many times the refused amount, if there is none for that: it is more often too small. At most once a minute for
 * a pair in each process (`amount-range.test.ts`, `test/forms/refused-amounts.test.ts`).
 */
const factors = ['1000', '0.001'].map((factor) => toAmount(factor) as Amount)

/**
 * Inside of the retries, so that a call is made once, and outside of the budget, so that it is spent. Most forms have a word
 * for a refusal for the amount: then only the limits of a create are asked for.
 */
export function explainRefusedAmounts({ mayHideAmountRange, steadyClock }: UpstreamScope): Layer {
  return mayHideAmountRange ? rememberAmountRanges(steadyClock) : fetchAmountRange()
}

function fetchAmountRange(): Layer {
  return onOperations({
    createTransaction: (request, context, next) =>
      next.call('createTransaction', request, context).catch(async (reason) => {
        const fault = Fault.from(reason)
        if (fault.amountRange === undefined || !lacksAmountRange(fault)) throw fault
        const query = queryOf(request)
        const range = await withDefault(rangeOf(query, rangeOnly(context), next), waitMsOf(context), undefined)
        throw explainedByAmountRange(fault, { ...range, amountIn: query.amountIn ?? range?.amountIn })
      }),
  })
}

function rememberAmountRanges(clock: SteadyClock): Layer {
  const known = new BoundedMap<Known>({ share: cacheShares.quotes, maxEntries: maxPairs, lifetimeMs })
  const remember = (key: string, range: Promise<AmountRange>): Promise<AmountRange> =>
    known.set(key, { range, at: clock() }, clock()).range
  const recall = (key: string): Promise<AmountRange> | undefined => {
    const found = known.get(key, clock())
    return found && clock() - found.at < lifetimeMs ? found.range : undefined
  }
  const explained = async (reason: unknown, query: RateQuery, context: Context, next: SwapService, isQuote: boolean) => {
    const fault = Fault.from(reason)
    if (!lacksAmountRange(fault)) return fault
    const key = keyOf(query)
    // Of many refusals at a time one asks. Also if it finds none: the next refusal of this minute asks no more.
    const asked =
      recall(key) ?? remember(key, withDefault(findRange(query, rangeOnly(context), next, isQuote), waitMsOf(context), {}))
    const range = await withDefault(asked, waitMsOf(context), {})
    return explainedByAmountRange(fault, { ...range, amountIn: query.amountIn })
  }
  return onOperations({
    getRate: (query, context, next) =>
      next.call('getRate', query, context).then(
        (response) => {
          const { minAmount, maxAmount } = response.body
          if (minAmount !== undefined || maxAmount !== undefined)
            void remember(keyOf(query), Promise.resolve({ minAmount, maxAmount }))
          return response
        },
        async (reason) => {
          throw await explained(reason, query, context, next, true)
        },
      ),
    createTransaction: (request, context, next) =>
      next.call('createTransaction', request, context).catch(async (reason) => {
        throw await explained(reason, queryOf(request), context, next, false)
      }),
  })
}

function rangeOnly(context: Context): Context {
  return withValue(context, needsAmountRangeOnly, true)
}

function waitMsOf({ deadline }: Context): number {
  return Math.min(maxWaitMs, (deadline - performance.now()) / 2)
}

/** A refusal of the request that may be about its amount, and names no limit. */
function lacksAmountRange({ kind, reason, effect, amountRange }: Fault): boolean {
  if (kind !== 'invalid' || effect === 'maybe') return false
  return amountRange === undefined ? reason === 'refused' && effect === 'refused' : !amountRange.minAmount && !amountRange.maxAmount
}

export function queryOf(request: NewTransaction): RateQuery {
  const { withdrawalAddress, withdrawalExtraId, refundAddress, refundExtraId, quoteId, reference, ...query } = request
  return query
}

function keyOf({
  codeFrom,
  coinFrom,
  networkFrom,
  codeTo,
  coinTo,
  networkTo,
  rateType,
}: Omit<RateQuery, 'amountIn' | 'amountOut'>): string {
  return JSON.stringify([codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo, rateType])
}

/** Those of a quote for this amount or another one, or of its refusal. `isRefused`: the quote for this amount is. */
async function findRange(query: RateQuery, context: Context, next: SwapService, isRefused: boolean): Promise<AmountRange> {
  const own = isRefused ? undefined : await rangeOf(query, context, next)
  if (own) return own
  for (const factor of factors) {
    const range = await rangeOf(withRequestedAmount(query, multiplySubtract(requestedAmountOf(query), factor, zero)), context, next)
    if (range) return range
  }
  return {}
}

async function rangeOf(query: RateQuery, context: Context, next: SwapService): Promise<AmountRange | undefined> {
  try {
    const { body } = await next.call('getRate', { ...query, isFirm: undefined }, context)
    return { amountIn: body.amountIn, minAmount: body.minAmount, maxAmount: body.maxAmount }
  } catch (reason) {
    const { kind, amountRange } = Fault.from(reason)
    if (kind !== 'invalid') throw reason
    return amountRange
  }
}
