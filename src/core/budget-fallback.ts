/** Budgets that outlive the store in which they are shared (docs/contract.md §8). */
import { budgetWindow } from './allotment.ts'
import type { Budgets } from './budget.ts'
import type { Outage } from './outage.ts'

export interface BudgetFallbackParts {
  /** Throws where the store does not answer. */
  readonly shared: Budgets
  /** Of this process alone. */
  readonly local: Budgets
  readonly replicas: number
  readonly outage: Outage
}

/** Milliseconds in which every replica has noticed the loss. */
const slack = 2_000

/**
 * While the store is lost this replica grants its part of each budget, rounded down. A store that comes back with what it held counts
 * again at once: it and the replicas' parts have granted at most a budget each. One that comes back empty has forgotten a budget that
 * may just have been used: until that is a minute ago, the replica's part has to grant too. So any 60 seconds see at most two budgets.
 */
export function budgetFallback({ shared, local, replicas, outage }: BudgetFallbackParts): Budgets {
  let guardedUntil = Number.NEGATIVE_INFINITY
  outage.beforeReturn(async ({ lostAt, isEmptied }) => {
    if (isEmptied) guardedUntil = lostAt + budgetWindow + slack
  })
  const reserveHere: Budgets['reserve'] = (bucket, limit, asker) => local.reserve(bucket, Math.floor(limit / replicas), asker)
  return {
    async reserve(bucket, limit, asker) {
      if (outage.state === 'local') return reserveHere(bucket, limit, asker)
      const here = performance.now() < guardedUntil ? await reserveHere(bucket, limit, asker) : undefined
      if (here && !here.isGranted) return here
      const there = await shared.reserve(bucket, limit, asker).catch(() => outage.begin())
      if (!there) return here ?? reserveHere(bucket, limit, asker)
      return here ? { ...there, remaining: Math.min(here.remaining, there.remaining) } : there
    },
  }
}
