/**
 * How good a quote is for its request: by the amount received, or, where that is requested, by the amount that must be sent for it.
 */
import {
  type Amount,
  compareAmounts,
  deviationOf,
  divide,
  isPositive,
  isSameButForRounding,
  multiplySubtract,
  plainAmount,
  toAmount,
  zero,
} from '../../domain/amount.ts'
import type { Rate, RateQuery, RequestedAmount } from '../../domain/swap.ts'

/** What a quote or a swap gives for the requested amount. Undefined if it does not say; an amount of 0 that must be sent says nothing. */
export function quotedAmountOf(
  { amountIn, amountOut }: Pick<Rate, 'amountIn' | 'amountOut'>,
  requested: RequestedAmount,
): Amount | undefined {
  if (requested.amountOut === undefined) return amountOut
  return isPositive(amountIn) ? amountIn : undefined
}

/** Positive if `one` is better for the client than `other`, negative if it is worse. */
export function compareOffers(one: Amount, other: Amount, requested: RequestedAmount): number {
  return requested.amountOut === undefined ? compareAmounts(one, other) : compareAmounts(other, one)
}

/** The share by which an offer is better than `reference`, negative if it is worse. Undefined if the reference is 0. */
export function deviationFrom(reference: Amount, offer: Amount, requested: RequestedAmount): number | undefined {
  const deviation = deviationOf(offer, reference)
  return deviation === undefined || requested.amountOut === undefined ? deviation : 0 - deviation
}

/** Whether an offer is worse than `reference` by more than rounding. */
export function isWorseOffer(offer: Amount, reference: Amount, requested: RequestedAmount): boolean {
  return compareOffers(offer, reference, requested) < 0 && !isSameButForRounding(offer, reference)
}

/** An offer that is worse than `quotedAmount` by this share. */
export function worsened(quotedAmount: Amount, share: number, requested: RequestedAmount): Amount {
  const factor = toAmount((requested.amountOut === undefined ? 1 - share : 1 + share).toFixed(6))
  return factor === undefined ? quotedAmount : multiplySubtract(quotedAmount, factor, zero)
}

/**
 * The worst that a create at a fixed rate may promise after its caller saw `quotedAmount`; undefined: any. A floating rate, and a share of 0,
 * bind to nothing.
 */
export function worstAmountOf(
  quotedAmount: Amount | undefined,
  maxDeviation: number,
  requested: Pick<RateQuery, 'rateType'> & RequestedAmount,
): Amount | undefined {
  const binds = requested.rateType === 'fixed' && maxDeviation > 0
  return binds && quotedAmount !== undefined ? worsened(quotedAmount, maxDeviation, requested) : undefined
}

/** Both amounts of a quote. */
export function amountsOf(requested: RequestedAmount, quotedAmount: Amount) {
  const [amountIn, amountOut] =
    requested.amountOut === undefined ? [requested.amountIn, quotedAmount] : [quotedAmount, requested.amountOut]
  return { amountIn, amountOut, rate: divide(amountOut, amountIn) }
}

/** The amount by its value, for a key of a cache: that which is to be received is marked. */
export function amountKeyOf(requested: RequestedAmount): string {
  return requested.amountOut === undefined ? plainAmount(requested.amountIn) : `received ${plainAmount(requested.amountOut)}`
}
