/** Budgets that continue without the shared store (docs/contract.md §8). */

import type { StoreOutage } from '../../access/store-outage.ts'
import type { Budgets } from './budgets.ts'
import { budgetWindowMs } from './fair-sliding-window.ts'

export interface BudgetFallbackOptions {
  /** Throws if the store does not respond. */
  readonly shared: Budgets
  /** Of this process alone. */
  readonly local: Budgets
  /** `limits.replicas` (default: 1). */
  readonly replicas: number
  readonly outage: StoreOutage
}

/** Time within which every replica has noticed the loss. */
const slackMs = 2_000

/**
 * While the store is lost, each replica grants its share of each budget, rounded down. A store that comes back with its data is used
 * again at once: it and the shares have granted at most one budget each. A store that comes back empty has lost its counts: until the
 * last minute before the loss is over, the replica's share must grant each call too. So at most two budgets are granted in any 60 s.
 */
export function budgetFallback({ shared, local, replicas, outage }: BudgetFallbackOptions): Budgets {
  let guardedUntil = Number.NEGATIVE_INFINITY
  outage.beforeRecovery(async ({ lostAt, isEmptied }) => {
    if (isEmptied) guardedUntil = lostAt + budgetWindowMs + slackMs
  })
  const reserveLocally: Budgets['reserve'] = (bucket, limit, consumer) =>
    local.reserve(bucket, Math.floor(limit / replicas), consumer)
  return {
    async reserve(bucket, limit, consumer) {
      if (outage.state === 'local') return reserveLocally(bucket, limit, consumer)
      const localReservation = performance.now() < guardedUntil ? await reserveLocally(bucket, limit, consumer) : undefined
      if (localReservation && !localReservation.isGranted) return localReservation
      const sharedReservation = await shared.reserve(bucket, limit, consumer).catch(() => outage.begin())
      if (!sharedReservation) return localReservation ?? reserveLocally(bucket, limit, consumer)
      return localReservation
        ? { ...sharedReservation, remaining: Math.min(localReservation.remaining, sharedReservation.remaining) }
        : sharedReservation
    },
  }
}
