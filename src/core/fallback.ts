/** Limits that outlive the store in which they are shared (docs/contract.md §7). */
import type { Observer } from '../domain/observation.ts'
import type { Limiter } from './limits.ts'
import type { Outage } from './outage.ts'

/** Limits that all replicas share. Both throw where the store does not answer. */
export interface SharedLimiter extends Limiter {
  /** Counts what was admitted elsewhere, and tells the sum. A window that it begins lasts `rest` seconds. */
  readonly add: (bucket: string, points: number, window: number, rest: number) => Promise<number>
}

export interface FallbackParts {
  readonly shared: SharedLimiter
  /** Of this process alone. */
  readonly local: Limiter
  readonly replicas: number
  readonly outage: Outage
  readonly observe: Observer
}

/** What was admitted here in the window of a bucket and is not counted in the store yet. */
interface Debt {
  points: number
  limit: number
  window: number
  /** On the clock of `performance.now()`. */
  until: number
}

/** A bound on memory: what goes beyond it is not counted in the store. */
const mostDebts = 100_000
const addedAtOnce = 100
/** While debts are counted new ones are made. */
const mostRounds = 10

/**
 * While the store is lost this replica admits its part of each limit, at least 1; before it relies on the store again it counts
 * there what it admitted. So at most twice the limit is admitted over a loss and a recovery inside one window, even where the
 * store comes back empty: the limit before, and the limit after, of which the parts of all replicas are a part.
 */
export function fallback({ shared, local, replicas, outage, observe }: FallbackParts): Limiter {
  const debts = new Map<string, Debt>()
  const chargeHere: Limiter['charge'] = (bucket, limit, window, counting) =>
    local.charge(bucket, partOf(limit, replicas), window, counting)
  const chargeAlone: Limiter['charge'] = async (bucket, limit, window, counting) => {
    const charge = await chargeHere(bucket, limit, window, counting)
    if (!charge.isOver) owe(debts, bucket, { points: 1, limit, window, until: performance.now() + charge.reset * 1000 })
    return charge
  }
  const chargeBoth: Limiter['charge'] = async (bucket, limit, window, counting) => {
    const here = await chargeHere(bucket, limit, window, counting)
    if (here.isOver) return here
    const there = await shared.charge(bucket, limit, window, counting).catch(() => outage.begin())
    if (there) return there.remaining < here.remaining || there.isOver ? there : here
    owe(debts, bucket, { points: 1, limit, window, until: performance.now() + here.reset * 1000 })
    return here
  }
  outage.beforeReturn(() => settle(debts, shared, observe))
  return {
    charge(bucket, limit, window, counting) {
      if (outage.state === 'local') return chargeAlone(bucket, limit, window, counting)
      if (outage.state === 'settling') return chargeBoth(bucket, limit, window, counting)
      return shared.charge(bucket, limit, window, counting).catch(() => {
        outage.begin()
        return chargeAlone(bucket, limit, window, counting)
      })
    },
  }
}

function partOf(limit: number, replicas: number): number {
  return Math.max(1, Math.floor(limit / replicas))
}

function owe(debts: Map<string, Debt>, bucket: string, debt: Debt): void {
  const known = debts.get(bucket)
  if (known && known.until > performance.now()) known.points += debt.points
  else if (known) Object.assign(known, debt)
  else if (debts.size < mostDebts) debts.set(bucket, debt)
}

async function settle(debts: Map<string, Debt>, shared: SharedLimiter, observe: Observer): Promise<void> {
  for (let round = 0; round < mostRounds && debts.size > 0; round++) {
    const due = [...debts]
    debts.clear()
    for (let at = 0; at < due.length; at += addedAtOnce) {
      const batch = due.slice(at, at + addedAtOnce)
      const results = await Promise.allSettled(batch.map(([bucket, debt]) => pay(bucket, debt, shared, observe)))
      const failed = results.find((result) => result.status === 'rejected')
      if (!failed) continue
      for (const [index, [bucket, debt]] of due.entries()) {
        if (index >= at + addedAtOnce || results[index - at]?.status === 'rejected') owe(debts, bucket, debt)
      }
      throw failed.reason
    }
  }
  if (debts.size > 0) throw new Error('More is admitted here than can be counted in the store.')
}

async function pay(
  bucket: string,
  { points, limit, window, until }: Debt,
  shared: SharedLimiter,
  observe: Observer,
): Promise<void> {
  const rest = Math.min(Math.ceil((until - performance.now()) / 1000), window)
  if (rest <= 0) return
  const sum = await shared.add(bucket, points, window, rest)
  const over = Math.min(points, sum - limit)
  if (over > 0) observe({ what: 'overAdmission', count: over })
}
