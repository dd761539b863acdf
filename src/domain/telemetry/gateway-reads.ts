/** A part of each budget is reserved for the gateway's own reads: lists, reconciliation, health checks. */
import type { BudgetPolicy } from './labels.ts'

/** Reserved calls of `budget`. None for creates, because the gateway itself never creates. */
export function reservedForGatewayReads(policy: BudgetPolicy, budget: number): number {
  return policy === 'create' ? 0 : Math.floor(budget / 10)
}
