/** Which limit of an amount a refusal is about, where the same answer tells the limits (docs/contract.md §6). */
import { type Amount, compareAmounts, isPositive } from '../amount.ts'
import type { Reason } from './reason.ts'

export interface AmountLimits {
  readonly minAmount?: Amount | undefined
  readonly maxAmount?: Amount | undefined
}

/** `refused` where the limits do not explain it; a maximum of 0 is none. */
export function reasonByLimits(amount: Amount | undefined, { minAmount, maxAmount }: AmountLimits): Reason {
  if (amount === undefined) return 'refused'
  if (minAmount !== undefined && compareAmounts(amount, minAmount) < 0) return 'below_minimum'
  if (maxAmount !== undefined && isPositive(maxAmount) && compareAmounts(amount, maxAmount) > 0) return 'above_maximum'
  return 'refused'
}
