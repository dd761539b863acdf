/** A part of each budget is kept for what the gateway reads of its own accord: lists, looks for unknown creates, probes. */
import type { BudgetPolicy } from './observation.ts'

/** Of `budget` calls; of creates nothing, since the gateway makes none. */
export function reservedForGatewayReads(policy: BudgetPolicy, budget: number): number {
  return policy === 'create' ? 0 : Math.floor(budget / 10)
}
