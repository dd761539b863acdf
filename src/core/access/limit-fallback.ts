/** Rate limits that continue without the shared store (docs/contract.md §7). */
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import type { Observer } from '../../domain/observation.ts'
import type { Limiter } from './limits.ts'
import type { StoreOutage } from './store-outage.ts'

/** Limits that all replicas share. Both methods throw if the store does not respond. */
export interface SharedLimiter extends Limiter {
  /** Adds points that were admitted locally and returns the new sum. A window that this begins lasts `remainingSeconds`. */
  readonly add: (bucket: string, points: number, windowSeconds: number, remainingSeconds: number) => Promise<number>
}

export interface LimitFallbackOptions {
  readonly shared: SharedLimiter
  /** Of this process alone. */
  readonly local: Limiter
  /** `limits.replicas` (default: 1). */
  readonly replicas: number
  readonly outage: StoreOutage
  readonly observe: Observer
}

/** Points of a bucket's window that were admitted locally and are not counted in the store yet. */
interface PendingCharge {
  points: number
  limit: number
  windowSeconds: number
  /** On the clock of `performance.now()`. */
  expiresAt: number
}

type PendingCharges = BoundedMap<PendingCharge>

/** Charges of dropped buckets are not counted in the store. */
const maxPendingCharges = 100_000
const batchSize = 100
/** New charges arrive during a flush, so several rounds may be needed. */
const maxFlushRounds = 10

/**
 * While the store is lost, each replica admits its share of each limit (at least 1). Before it uses the store again, it adds
 * its local charges to the store. So a loss and a recovery inside one window admit at most twice the limit, even if the store
 * comes back empty: the limit before the loss, and the limit after it, which includes the shares of all replicas.
 */
export function limitFallback({ shared, local, replicas, outage, observe }: LimitFallbackOptions): Limiter {
  const pendingCharges: PendingCharges = new BoundedMap({ share: cacheShares.limits, maxEntries: maxPendingCharges })
  const chargeLocally: Limiter['charge'] = (bucket, limit, windowSeconds, counting) =>
    local.charge(bucket, shareOf(limit, replicas), windowSeconds, counting)
  const chargeWithoutStore: Limiter['charge'] = async (bucket, limit, windowSeconds, counting) => {
    const charge = await chargeLocally(bucket, limit, windowSeconds, counting)
    if (!charge.isOver)
      addPending(pendingCharges, bucket, {
        points: 1,
        limit,
        windowSeconds,
        expiresAt: performance.now() + charge.resetSeconds * 1000,
      })
    return charge
  }
  const chargeBoth: Limiter['charge'] = async (bucket, limit, windowSeconds, counting) => {
    const localCharge = await chargeLocally(bucket, limit, windowSeconds, counting)
    if (localCharge.isOver) return localCharge
    const sharedCharge = await shared.charge(bucket, limit, windowSeconds, counting).catch(() => outage.begin())
    if (sharedCharge) return sharedCharge.remaining < localCharge.remaining || sharedCharge.isOver ? sharedCharge : localCharge
    addPending(pendingCharges, bucket, {
      points: 1,
      limit,
      windowSeconds,
      expiresAt: performance.now() + localCharge.resetSeconds * 1000,
    })
    return localCharge
  }
  outage.beforeRecovery(() => flushAll(pendingCharges, shared, observe))
  return {
    charge(bucket, limit, windowSeconds, counting) {
      if (outage.state === 'local') return chargeWithoutStore(bucket, limit, windowSeconds, counting)
      if (outage.state === 'recovering') return chargeBoth(bucket, limit, windowSeconds, counting)
      return shared.charge(bucket, limit, windowSeconds, counting).catch(() => {
        outage.begin()
        return chargeWithoutStore(bucket, limit, windowSeconds, counting)
      })
    },
  }
}

function shareOf(limit: number, replicas: number): number {
  return Math.max(1, Math.floor(limit / replicas))
}

function addPending(pendingCharges: PendingCharges, bucket: string, pendingCharge: PendingCharge): void {
  const existing = pendingCharges.get(bucket)
  if (existing && existing.expiresAt > performance.now()) existing.points += pendingCharge.points
  else if (existing) Object.assign(existing, pendingCharge)
  else pendingCharges.set(bucket, pendingCharge)
}

async function flushAll(pendingCharges: PendingCharges, shared: SharedLimiter, observe: Observer): Promise<void> {
  for (let round = 0; round < maxFlushRounds && pendingCharges.entries > 0; round++) {
    const due = pendingCharges.all
    pendingCharges.clear()
    for (let at = 0; at < due.length; at += batchSize) {
      const batch = due.slice(at, at + batchSize)
      const results = await Promise.allSettled(
        batch.map(([bucket, pendingCharge]) => flush(bucket, pendingCharge, shared, observe)),
      )
      const failed = results.find((result) => result.status === 'rejected')
      if (!failed) continue
      for (const [index, [bucket, pendingCharge]] of due.entries()) {
        if (index >= at + batchSize || results[index - at]?.status === 'rejected') addPending(pendingCharges, bucket, pendingCharge)
      }
      throw failed.reason
    }
  }
  if (pendingCharges.entries > 0) throw new Error('Local charges arrive faster than the store can count them.')
}

async function flush(
  bucket: string,
  { points, limit, windowSeconds, expiresAt }: PendingCharge,
  shared: SharedLimiter,
  observe: Observer,
): Promise<void> {
  const remainingSeconds = Math.min(Math.ceil((expiresAt - performance.now()) / 1000), windowSeconds)
  if (remainingSeconds <= 0) return
  const sum = await shared.add(bucket, points, windowSeconds, remainingSeconds)
  const over = Math.min(points, sum - limit)
  if (over > 0) observe({ what: 'overAdmission', count: over })
}
