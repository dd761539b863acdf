import type { BudgetPolicy } from '../../domain/telemetry/labels.ts'

/** What is known of an account at a service: providers with one account share it (docs/contract.md §8). On the clock of its callers. */
export class AccountHealth {
  /** The ends of the cooldowns. */
  readonly cooldownUntil: Record<BudgetPolicy, number> = { quotes: 0, create: 0, read: 0 }
  /** Until then the provider counts as one without a list of transactions. */
  listRefusedUntil = Number.NEGATIVE_INFINITY
}
