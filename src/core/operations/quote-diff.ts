/** Compares the quotes of two providers for one pair (docs/contract.md §12). */
import {
  type Amount,
  compareAmounts,
  divide,
  isPositive,
  isZero,
  multiplySubtract,
  one,
  toAmount,
  two,
  zero,
} from '../../domain/amount.ts'
import type { AmountLimits, Reason } from '../../domain/fault.ts'
import { Fault } from '../../domain/fault.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import type { RateType } from '../../domain/swap.ts'

export interface QuoteDiff {
  readonly from: string
  readonly to: string
  readonly amount: Amount
  /** `notOffered`: one of them does not offer the pair. `notCompared`: no amount was found that both quote, or one of them failed. */
  readonly outcome: 'compared' | 'notOffered' | 'notCompared'
  /** The amount received; null without a quote. */
  readonly first: Amount | null
  readonly second: Amount | null
  /** (second − first) ÷ first. */
  readonly deviation: number | null
  /** Reasons of missing quotes. */
  readonly errors: readonly string[]
}

export interface QuotedPair {
  /** Codes of the asset table. */
  readonly from: string
  readonly to: string
  /** The largest minimum in the lists of both. */
  readonly listedMinimum: Amount | undefined
}

export interface QuoteSources {
  readonly services: readonly SwapService[]
  readonly rateType: RateType
  readonly contextOf: () => Context
}

/** What one provider responses for an amount. */
export interface Quote extends AmountLimits {
  readonly received?: Amount | undefined
  readonly quoteId?: string | undefined
  readonly fault?: Fault | undefined
}

export interface QuotesOfAmount {
  readonly amount: Amount
  /** In the order of the services. */
  readonly quotes: readonly Quote[]
}

export const notOfferedReasons: ReadonlySet<Reason> = new Set<Reason>([
  'not_offered',
  'unknown_asset',
  'network_required',
  'network_unknown',
])

/** `services`: of two providers. */
export async function compareQuotes(pair: QuotedPair, sources: QuoteSources): Promise<QuoteDiff> {
  const { amount, quotes } = await quoteSuitableAmount(pair, sources)
  return diffOf(pair, amount, quotes)
}

/** Requests quotes for twice the listed minimum, or 1. If a provider rejects the amount, repeats with an amount within all reported limits. */
export async function quoteSuitableAmount(pair: QuotedPair, sources: QuoteSources): Promise<QuotesOfAmount> {
  const { listedMinimum: listed } = pair
  const guess = listed === undefined || isZero(listed) ? one : twice(listed)
  const quotes = await quoteAmount(pair, guess, sources)
  const better = quotes.every((quote) => suits(guess, quote)) ? undefined : amountWithin(quotes)
  if (better === undefined || compareAmounts(better, guess) === 0) return { amount: guess, quotes }
  return { amount: better, quotes: await quoteAmount(pair, better, sources) }
}

function quoteAmount(
  { from, to }: QuotedPair,
  amountIn: Amount,
  { services, rateType, contextOf }: QuoteSources,
): Promise<readonly Quote[]> {
  const quote = async (service: SwapService): Promise<Quote> => {
    try {
      const query = { codeFrom: from, codeTo: to, amountIn, rateType }
      const { amountOut, minAmount, maxAmount, quoteId } = (await service.call('getRate', query, contextOf())).body
      return { received: amountOut, minAmount, maxAmount, quoteId }
    } catch (reason) {
      const fault = Fault.from(reason)
      return { ...limitsIn(fault.message), ...fault.limits, fault }
    }
  }
  return Promise.all(services.map(quote))
}

/** A refusal ends with its limits (docs/contract.md §6), also that of a provider which is a gateway or a sandbox itself. */
function limitsIn(message: string): AmountLimits {
  const [, minimum = '', maximum = ''] = /\bMinimum (\d[\d.]{0,63}), maximum (\d[\d.]{0,63})\.$/.exec(message) ?? []
  return { minAmount: toAmount(minimum), maxAmount: toAmount(maximum) }
}

function suits(amount: Amount, { received, minAmount, maxAmount }: Quote): boolean {
  if (received === undefined || (minAmount !== undefined && compareAmounts(amount, minAmount) < 0)) return false
  return maxAmount === undefined || !isPositive(maxAmount) || compareAmounts(amount, maxAmount) <= 0
}

/** Twice the larger minimum, or the smaller maximum if that is less. Undefined if no amount suits both, or no limit is known. */
function amountWithin(quotes: readonly Quote[]): Amount | undefined {
  const known = (limit: keyof AmountLimits) => quotes.flatMap((quote) => quote[limit] ?? []).filter(isPositive)
  const [minimum] = known('minAmount').toSorted((a, b) => compareAmounts(b, a))
  const [maximum] = known('maxAmount').toSorted(compareAmounts)
  if (minimum === undefined) return maximum
  if (maximum === undefined || compareAmounts(twice(minimum), maximum) <= 0) return twice(minimum)
  return compareAmounts(minimum, maximum) <= 0 ? maximum : undefined
}

function diffOf({ from, to }: QuotedPair, amount: Amount, quotes: readonly Quote[]): QuoteDiff {
  const [first = null, second = null] = quotes.map(({ received }) => received ?? null)
  const deviation =
    first === null || second === null || isZero(first) ? undefined : divide(multiplySubtract(second, one, first), first)
  const isCompared = deviation !== undefined && quotes.every((quote) => suits(amount, quote))
  const isOffered = quotes.every(({ fault }) => fault === undefined || !notOfferedReasons.has(fault.reason))
  return {
    from,
    to,
    amount,
    outcome: isCompared ? 'compared' : isOffered ? 'notCompared' : 'notOffered',
    first,
    second,
    deviation: isCompared ? Number(deviation) : null,
    errors: quotes.flatMap(({ fault }) => fault?.message ?? []),
  }
}

function twice(amount: Amount): Amount {
  return multiplySubtract(amount, two, zero)
}
