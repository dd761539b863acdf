/** What a swap costs at a moment: drifting prices, a spread for each rate type, a fee for the payout, limits. */
import { type Amount, compareAmounts, divide } from '../../domain/amount.ts'
import type { Asset } from '../../domain/asset.ts'
import type { RateType } from '../../domain/swap.ts'
import { cut, decimal, difference, product, significant, zero } from './decimal.ts'
import { networkOf } from './network.ts'
import { priceOf } from './prices.ts'
import { randomWalk } from './random-walk.ts'

export interface Terms {
  /** Of the coin that is received, for one of the coin that is given. */
  readonly rate: Amount
  /** In the coin that is received. */
  readonly fee: Amount
  /** In the coin that is given, inclusive. */
  readonly minAmount: Amount
  readonly maxAmount: Amount
}

export interface Market {
  /** `at` is in milliseconds since 1970. */
  readonly terms: (from: Asset, to: Asset, rateType: RateType, at: number) => Terms
}

/** The share of the market's rate that remains. A fixed rate costs more, for its risk. */
const keptShare: Readonly<Record<RateType, Amount>> = { float: decimal('0.995'), fixed: decimal('0.985') }
const minDollars = decimal('10')
const maxDollars = decimal('50000')
const rateDigits = 10
const limitDigits = 3
/** Milliseconds between two prices, so that the same request gets the same response for a while. */
const tickMs = 10_000

/** The same seed gives the same prices at the same moment. */
export function market(seed: number): Market {
  return {
    terms(from, to, rateType, at) {
      const given = dollars(from.coin, seed, at)
      const received = dollars(to.coin, seed, at)
      const rate = quotient(product(given, keptShare[rateType]), received)
      const min = significant(quotient(minDollars, given), limitDigits)
      const max = significant(quotient(maxDollars, given), limitDigits)
      return {
        rate: significant(rate, rateDigits),
        fee: cut(quotient(networkOf(to.network).fee, received), priceOf(to.coin).decimals),
        minAmount: larger(min, from.depositMin),
        maxAmount: smaller(max, from.depositMax),
      }
    },
  }
}

/** What is paid out for an amount on these terms; 0 where the fee takes it all. */
export function received(amountIn: Amount, { rate, fee }: Pick<Terms, 'rate' | 'fee'>, coinTo: string): Amount {
  const gross = cut(product(amountIn, rate), priceOf(coinTo).decimals)
  return compareAmounts(gross, fee) > 0 ? difference(gross, fee) : zero
}

export function isWithin(amount: Amount, { minAmount, maxAmount }: Pick<Terms, 'minAmount' | 'maxAmount'>): boolean {
  return compareAmounts(amount, minAmount) >= 0 && compareAmounts(amount, maxAmount) <= 0
}

/** The price of one coin. The walk is a float, so it only gives the millionths of the base price. */
function dollars(coin: string, seed: number, at: number): Amount {
  const { base, swing } = priceOf(coin)
  const millionths = Math.round(1_000_000 * (1 + swing * randomWalk(seed, coin, at - (at % tickMs))))
  return product(base, decimal(`${millionths}e-6`))
}

function quotient(a: Amount, b: Amount): Amount {
  return divide(a, b) ?? zero
}

function larger(a: Amount, b: Amount | undefined): Amount {
  return b !== undefined && compareAmounts(b, a) > 0 ? b : a
}

function smaller(a: Amount, b: Amount | undefined): Amount {
  return b !== undefined && compareAmounts(b, a) < 0 ? b : a
}
