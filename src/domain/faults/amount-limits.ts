/** Derives the reason of a refused amount from the limits in the same response (docs/contract.md §6). */
import { type Amount, compareAmounts, isPositive } from '../amount.ts'
import type { Reason } from './reason.ts'

export interface AmountLimits {
  /** The amount that was refused. */
  readonly amountIn?: Amount | undefined
  readonly minAmount?: Amount | undefined
  readonly maxAmount?: Amount | undefined
}

/** `below_minimum`, `above_maximum`, or `refused` if the limits do not explain the refusal. A maximum of 0 means no maximum. */
export function reasonByLimits(amount: Amount | undefined, { minAmount, maxAmount }: AmountLimits): Reason {
  if (amount === undefined) return 'refused'
  if (minAmount !== undefined && compareAmounts(amount, minAmount) < 0) return 'below_minimum'
  if (maxAmount !== undefined && isPositive(maxAmount) && compareAmounts(amount, maxAmount) > 0) return 'above_maximum'
  return 'refused'
}
