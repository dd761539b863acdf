/** Limits on clients (docs/contract.md §7). */

import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import { Fault, inSeconds } from '../../domain/fault.ts'
import type { AccountLimits } from '../../domain/key-access.ts'
import type { BudgetPolicy, LimitDecision, LimitPolicy, Observer } from '../../domain/observation.ts'
import type { Admission, Quota } from '../../domain/service.ts'
import { clientNetworkOf } from './client-address.ts'
import type { RunningProcesses } from './running-processes.ts'
import type { StoreOutage } from './store-outage.ts'
import type { RefusedAddresses } from './verified-keys.ts'

/** A limit's state after a request was counted. `isOver`: the request exceeds the limit. */
export interface LimitState {
  readonly isOver: boolean
  readonly remaining: number
  /** Whole seconds, rounded up. */
  readonly resetSeconds: number
  /** Of a count of this process alone: the requests in the window, with those that were refused. */
  readonly points?: number
}

/** Counts what is admitted in fixed windows that start with the first request: a limit that changes meanwhile holds at once. */
export interface Limiter {
  readonly consume: (bucket: string, limit: number, windowSeconds: number) => Promise<LimitState>
}

/** The configured limits: requests per window. */
export interface Limits {
  /** Per client address: `limits.quotes` (default: 60). */
  readonly quotes: number
  /** Per key: `limits.create` (default: 30). */
  readonly create: number
  /** Per key: `limits.read` (default: 120). */
  readonly read: number
  /** Requests with unverified keys, of all addresses: `limits.unverified` (default: 120 requests per 60 seconds). */
  readonly unverified: number
  /** `limits.window` (default: 60 seconds). */
  readonly window: number
  /** Counts and reports, but rejects nothing: `limits.dryRun` (default: false). */
  readonly dryRun: boolean
}

const unverifiedPerAddress = 20
const verificationsPerAddress = 5
const unverifiedWindowSeconds = 60
/** Addresses without a recently refused key share the bound for all addresses, times this factor. */
const unverifiedReserveFactor = 5
/** A request is `near` a limit if at most this share of it remains. */
const nearShare = 0.1

interface LimitsOptions {
  readonly limiter: Limiter
  readonly configured: Limits
  readonly refusedAddresses: RefusedAddresses
  readonly observe: Observer
}

/** Rate limits of clients. `consume` and `consumeUnverified` return `limited` as `refusal`; they do not throw it. */
export interface ClientLimits {
  /** `own`: limits of the account, in place of the configured ones. */
  readonly consume: (policy: BudgetPolicy, subject: string, own?: AccountLimits) => Promise<Admission>
  /** Counts a missing or unverified key for its address and, if there is a key, for all addresses together. */
  readonly consumeUnverified: (address: string, hasKey: boolean) => Promise<Admission>
  /** Counts the verification of a key by a read for its address and for all addresses together. */
  readonly mayVerify: (address: string) => Promise<boolean>
}

/** Applies the configured limits. In a dry run it never rejects. */
export function clientLimits({ limiter, configured, refusedAddresses, observe }: LimitsOptions): ClientLimits {
  const decide = createDecide(configured.dryRun, observe)
  const consumePolicy = (policy: BudgetPolicy, subject: string, own: AccountLimits = {}): Promise<Admission> => {
    const { window } = configured
    const limit = own[policy] ?? configured[policy]
    return limiter
      .consume(`${policy}:${subject}`, limit, window)
      .then((state) => decide(policy, admissionOf(state, policy, limit, window)))
  }
  const consumeBucket = (subject: string, limit: number): Promise<CountedAdmission> =>
    limiter
      .consume(`unverified:${subject}`, limit, unverifiedWindowSeconds)
      .then((state) => admissionOf(state, 'unverified', limit, unverifiedWindowSeconds))
  /** Above the bound for all addresses, those with a recently refused key are rejected; the others continue up to the reserve. */
  const consumeAllAddresses = async (address: string): Promise<CountedAdmission> => {
    const all = (limit: number): Promise<CountedAdmission> => consumeBucket('all', limit)
    const acrossAddresses = await all(configured.unverified)
    if (!acrossAddresses.refusal || (await refusedAddresses.has(address))) return acrossAddresses
    return all(configured.unverified * unverifiedReserveFactor)
  }
  /** Makes guessing of keys slow for each address and for all addresses together. */
  const consumeUnverified = async (address: string, hasKey: boolean): Promise<Admission> => {
    const perAddress = await consumeBucket(`address:${clientNetworkOf(address)}`, unverifiedPerAddress)
    if (perAddress.refusal || !hasKey) return decide('unverified', perAddress)
    const acrossAddresses = await consumeAllAddresses(address)
    return decide('unverified', acrossAddresses.refusal ? acrossAddresses : perAddress)
  }
  const mayVerify = async (address: string): Promise<boolean> => {
    const perAddress = await consumeBucket(`verification:${clientNetworkOf(address)}`, verificationsPerAddress)
    return !perAddress.refusal && !(await consumeAllAddresses(address)).refusal
  }
  return { consume: consumePolicy, consumeUnverified, mayVerify }
}

function admissionOf(
  { isOver, remaining, resetSeconds }: LimitState,
  policy: LimitPolicy,
  limit: number,
  windowSeconds: number,
): CountedAdmission {
  const quota = { policy, limit, windowSeconds, remaining, resetSeconds }
  return isOver ? { quota, refusal: limitExceeded(quota) } : { quota }
}

type CountedAdmission = Admission & Required<Pick<Admission, 'quota'>>

/** Reports each decision. In a dry run it admits requests above the limit. */
function createDecide(isDryRun: boolean, observe: Observer): (policy: LimitPolicy, admission: CountedAdmission) => Admission {
  return (policy, admission) => {
    const { quota, refusal } = admission
    observe({ what: 'limit', policy, decision: decisionOf(admission, isDryRun) })
    return isDryRun && refusal ? { quota } : admission
  }
}

function decisionOf({ quota: { remaining, limit }, refusal }: CountedAdmission, isDryRun: boolean): LimitDecision {
  if (refusal) return isDryRun ? 'dry_run' : 'refused'
  return remaining <= limit * nearShare ? 'near' : 'admitted'
}

const limitedRequests: Readonly<Record<LimitPolicy, string>> = {
  quotes: 'quotes',
  create: 'creates',
  read: 'reads of swaps',
  unverified: 'requests without a key that is known to be good',
  pages: 'pages',
  hooks: 'webhooks',
}

/** 429 with the limit and the seconds to wait. */
export function limitExceeded({
  policy,
  limit,
  resetSeconds,
  windowSeconds: window,
}: Quota & { readonly policy: LimitPolicy }): Fault {
  const retryAfter = Math.min(Math.max(resetSeconds, 1), window)
  const limited = `the limit is ${limit} ${limitedRequests[policy]} in ${inSeconds(window)}`
  return new Fault('limited', `Too many requests: ${limited}; please wait ${inSeconds(retryAfter)}.`, {
    retryAfter,
    ...(policy === 'unverified' && { reason: 'unverified_limited' as const }),
  })
}

// Rate limits that continue without the shared store (docs/contract.md §7).

/** Limits that all replicas share. Both methods throw if the store does not respond. */
export interface SharedLimiter extends Limiter {
  /** Adds points that were admitted locally and returns the new sum. A window that this begins lasts `remainingSeconds`. */
  readonly add: (bucket: string, points: number, windowSeconds: number, remainingSeconds: number) => Promise<number>
}

interface LimitFallbackOptions {
  readonly shared: SharedLimiter
  /** Of this process alone. */
  readonly local: Limiter
  readonly processes: Pick<RunningProcesses, 'among'>
  readonly outage: StoreOutage
  readonly observe: Observer
}

/** Points of a bucket's window that were admitted locally and are not counted in the store yet. */
interface BucketPoints {
  points: number
  limit: number
  windowSeconds: number
  /** On the clock of `performance.now()`. */
  expiresAt: number
}

type PendingPoints = BoundedMap<BucketPoints>

/** Points of dropped buckets are not counted in the store. */
const maxPendingBuckets = 100_000
const batchSize = 100
/** New points arrive during a flush, so several rounds may be needed. */
const maxFlushRounds = 10

/**
 * While the store is lost, each process admits its share of each limit (at least 1). Before it uses the store again, it adds
 * its local points to the store. So a loss and a recovery inside one window admit at most twice the limit, even if the store
 * comes back empty: the limit before the loss, and the limit after it, which includes the shares of all replicas.
 */
export function limitFallback({ shared, local, processes, outage, observe }: LimitFallbackOptions): Limiter {
  const pendingPoints: PendingPoints = new BoundedMap({ share: cacheShares.limits, maxEntries: maxPendingBuckets })
  const consumeLocally: Limiter['consume'] = async (bucket, limit, windowSeconds) => {
    const share = shareOf(limit, processes.among(windowSeconds * 1000))
    const state = await local.consume(bucket, share, windowSeconds)
    if (state.isOver && (state.points ?? limit) <= limit && share < limit) observe({ what: 'shareRefusal', of: 'limit' })
    return state
  }
  const consumeWithoutStore: Limiter['consume'] = async (bucket, limit, windowSeconds) => {
    const state = await consumeLocally(bucket, limit, windowSeconds)
    if (!state.isOver)
      addPending(pendingPoints, bucket, {
        points: 1,
        limit,
        windowSeconds,
        expiresAt: performance.now() + state.resetSeconds * 1000,
      })
    return state
  }
  const consumeBoth: Limiter['consume'] = async (bucket, limit, windowSeconds) => {
    const localState = await consumeLocally(bucket, limit, windowSeconds)
    if (localState.isOver) return localState
    const sharedState = await shared.consume(bucket, limit, windowSeconds).catch(() => outage.begin())
    if (sharedState) return sharedState.remaining < localState.remaining || sharedState.isOver ? sharedState : localState
    addPending(pendingPoints, bucket, {
      points: 1,
      limit,
      windowSeconds,
      expiresAt: performance.now() + localState.resetSeconds * 1000,
    })
    return localState
  }
  outage.beforeRecovery(() => flushAll(pendingPoints, shared, observe))
  return {
    consume(bucket, limit, windowSeconds) {
      if (outage.state === 'local') return consumeWithoutStore(bucket, limit, windowSeconds)
      if (outage.state === 'recovering') return consumeBoth(bucket, limit, windowSeconds)
      return shared.consume(bucket, limit, windowSeconds).catch(() => {
        outage.begin()
        return consumeWithoutStore(bucket, limit, windowSeconds)
      })
    },
  }
}

function shareOf(limit: number, processes: number): number {
  return Math.max(1, Math.floor(limit / processes))
}

function addPending(pendingPoints: PendingPoints, bucket: string, bucketPoints: BucketPoints): void {
  const existing = pendingPoints.get(bucket)
  if (existing && existing.expiresAt > performance.now()) existing.points += bucketPoints.points
  else if (existing) Object.assign(existing, bucketPoints)
  else pendingPoints.set(bucket, bucketPoints)
}

async function flushAll(pendingPoints: PendingPoints, shared: SharedLimiter, observe: Observer): Promise<void> {
  for (let round = 0; round < maxFlushRounds && pendingPoints.entries > 0; round++) {
    const due = pendingPoints.all
    pendingPoints.clear()
    for (let at = 0; at < due.length; at += batchSize) {
      const batch = due.slice(at, at + batchSize)
      const results = await Promise.allSettled(batch.map(([bucket, bucketPoints]) => flush(bucket, bucketPoints, shared, observe)))
      const failed = results.find((result) => result.status === 'rejected')
      if (!failed) continue
      for (const [index, [bucket, bucketPoints]] of due.entries()) {
        if (index >= at + batchSize || results[index - at]?.status === 'rejected') addPending(pendingPoints, bucket, bucketPoints)
      }
      throw failed.reason
    }
  }
  if (pendingPoints.entries > 0) throw new Error('Local points arrive faster than the store can count them.')
}

async function flush(
  bucket: string,
  { points, limit, windowSeconds, expiresAt }: BucketPoints,
  shared: SharedLimiter,
  observe: Observer,
): Promise<void> {
  const remainingSeconds = Math.min(Math.ceil((expiresAt - performance.now()) / 1000), windowSeconds)
  if (remainingSeconds <= 0) return
  const sum = await shared.add(bucket, points, windowSeconds, remainingSeconds)
  const over = Math.min(points, sum - limit)
  if (over > 0) observe({ what: 'overAdmission', count: over })
}
