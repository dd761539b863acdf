/** Derives the reason of a refused amount from the limits in the same response (docs/contract.md §6). */
import { type Amount, compareAmounts, isPositive, isZero } from '../amount.ts'
import type { Reason } from './reason.ts'

export interface AmountLimits {
  /** The amount that was refused. */
  readonly amountIn?: Amount | undefined
  readonly minAmount?: Amount | undefined
  readonly maxAmount?: Amount | undefined
}

/** The limit that cannot be right: a negative one, or a minimum above the maximum. A maximum of 0 means no maximum. */
export function implausibleLimit({ minAmount, maxAmount }: AmountLimits): 'minAmount' | 'maxAmount' | undefined {
  if (isNegative(minAmount)) return 'minAmount'
  if (isNegative(maxAmount)) return 'maxAmount'
  if (minAmount === undefined || maxAmount === undefined || isZero(maxAmount)) return undefined
  return compareAmounts(minAmount, maxAmount) > 0 ? 'minAmount' : undefined
}

function isNegative(amount: Amount | undefined): boolean {
  return amount !== undefined && !isPositive(amount) && !isZero(amount)
}

/** `below_minimum`, `above_maximum`, or `refused` if the limits do not explain the refusal, or cannot be right. */
export function reasonByLimits(amount: Amount | undefined, limits: AmountLimits): Reason {
  if (amount === undefined || implausibleLimit(limits) !== undefined) return 'refused'
  const { minAmount, maxAmount } = limits
  if (minAmount !== undefined && compareAmounts(amount, minAmount) < 0) return 'below_minimum'
  if (maxAmount !== undefined && isPositive(maxAmount) && compareAmounts(amount, maxAmount) > 0) return 'above_maximum'
  return 'refused'
}
