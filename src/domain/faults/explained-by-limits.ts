import { type AmountLimits, reasonByLimits } from './amount-limits.ts'
import { Fault } from './fault.ts'
import { messageWithLimits } from './public-message.ts'

/** The refusal with these limits in its reason and its message, if they explain it; otherwise the same. */
export function explainedByLimits(fault: Fault, limits: AmountLimits): Fault {
  const reason = reasonByLimits(limits.amountIn, limits)
  if (reason === 'refused') return fault
  const { provider, noEffect } = fault
  const details = { ...(provider !== undefined && { provider }), noEffect, reason, limits, cause: fault }
  return new Fault('invalid', messageWithLimits(fault.message, limits), details)
}
