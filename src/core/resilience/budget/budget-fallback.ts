/** Budgets that outlive the store in which they are shared (docs/contract.md §8). */

import type { StoreOutage } from '../../access/store-outage.ts'
import type { Budgets } from './budgets.ts'
import { budgetWindowMs } from './fair-sliding-window.ts'

export interface BudgetFallbackOptions {
  /** Throws where the store does not answer. */
  readonly shared: Budgets
  /** Of this process alone. */
  readonly local: Budgets
  readonly replicas: number
  readonly outage: StoreOutage
}

/** Milliseconds in which every replica has noticed the loss. */
const slackMs = 2_000

/**
 * While the store is lost this replica grants its part of each budget, rounded down. A store that comes back with what it held counts
 * again at once: it and the replicas' parts have granted at most a budget each. One that comes back empty has forgotten a budget that
 * may just have been used: until that is a minute ago, the replica's part has to grant too. So any 60 seconds see at most two budgets.
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
