/** Budgets that outlive the store in which they are shared (`spec/contract.md` §8). */
import { budgetWindow } from './allotment.ts'
import type { Budgets, Reservation } from './budget.ts'
import type { Outage } from './outage.ts'

export interface BudgetFallbackParts {
  /** Throws where the store does not answer. */
  readonly shared: Budgets
  /** Of this process alone. */
  readonly local: Budgets
  readonly replicas: number
  readonly outage: Outage
}

/** Milliseconds in which every replica has noticed that the store is there again. */
const slack = 2_000

/**
 * While the store is lost this replica reserves its part of each budget, rounded down, and in the first 60 seconds nothing: others
 * may just have used it all. When the store is back, both have to grant until it holds everything that the replicas
 * reserved alone; where nobody can have reserved anything alone and nothing was lost, it counts again at once.
 */
export function budgetFallback({ shared, local, replicas, outage }: BudgetFallbackParts): Budgets {
  let guardedUntil = Number.NEGATIVE_INFINITY
  let closedUntil = Number.NEGATIVE_INFINITY
  outage.beforeReturn(async ({ lostAt, isEmptied }) => {
    const now = performance.now()
    if (isEmptied) closedUntil = lostAt + budgetWindow
    if (isEmptied || now - lostAt > budgetWindow) guardedUntil = now + budgetWindow + slack
  })
  const reserveHere = async (bucket: string, limit: number, asker?: string): Promise<Reservation> => {
    const opensAt = outage.state === 'local' ? outage.since + budgetWindow : closedUntil
    const wait = opensAt - performance.now()
    const part = Math.floor(limit / replicas)
    if (wait > 0 || part === 0) return refusal(wait > 0 ? wait : budgetWindow)
    return local.reserve(bucket, part, asker)
  }
  const reserveThere = (bucket: string, limit: number, asker?: string): Promise<Reservation> =>
    shared.reserve(bucket, limit, asker).catch(() => {
      outage.begin()
      return refusal(budgetWindow)
    })
  return {
    async reserve(bucket, limit, asker) {
      const isAlone = outage.state === 'local'
      if (!isAlone && performance.now() >= guardedUntil) return reserveThere(bucket, limit, asker)
      const here = await reserveHere(bucket, limit, asker)
      if (isAlone || !here.isGranted) return here
      const there = await reserveThere(bucket, limit, asker)
      return { ...there, remaining: Math.min(here.remaining, there.remaining) }
    },
  }
}

function refusal(milliseconds: number): Reservation {
  return { isGranted: false, remaining: 0, retryAfter: Math.max(1, Math.ceil(milliseconds / 1000)) }
}
