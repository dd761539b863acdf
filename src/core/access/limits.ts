/** Limits on clients (docs/contract.md §7). */

import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import { Fault, inSeconds } from '../../domain/fault.ts'
import type { BudgetPolicy, LimitDecision, LimitPolicy, Observer } from '../../domain/observation.ts'
import type { Admission, Quota } from '../../domain/service.ts'
import { clientNetworkOf } from './client-address.ts'
import type { StoreOutage } from './store-outage.ts'
import type { RefusedAddresses } from './verified-keys.ts'

/** A limit's state after a request was charged to it. `isOver`: the request exceeds the limit. */
export interface Charge {
  readonly isOver: boolean
  readonly remaining: number
  /** Whole seconds, rounded up. */
  readonly resetSeconds: number
}

/** Whether requests above the limit count too (`all`), or only those that are admitted. */
export type Counting = 'all' | 'admitted'

/** Counts requests in fixed windows that start with the first request. */
export interface Limiter {
  /** `counting` is `all` by default. */
  readonly charge: (bucket: string, limit: number, windowSeconds: number, counting?: Counting) => Promise<Charge>
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

/** Rate limits of clients. `charge` and `chargeUnverified` return `limited` as `refusal`; they do not throw it. */
export interface ClientLimits {
  readonly charge: (policy: BudgetPolicy, subject: string) => Promise<Admission>
  /** Charges a missing or unverified key to its address and, if there is a key, to all addresses together. */
  readonly chargeUnverified: (address: string, hasKey: boolean) => Promise<Admission>
  /** Charges the verification of a key by a read to its address and to all addresses together. */
  readonly mayVerify: (address: string) => Promise<boolean>
}

/** Applies the configured limits. In a dry run it never rejects. */
export function clientLimits({ limiter, configured, refusedAddresses, observe }: LimitsOptions): ClientLimits {
  const decide = createDecide(configured.dryRun, observe)
  const chargePolicy = (policy: BudgetPolicy, subject: string): Promise<Admission> => {
    const { [policy]: limit, window } = configured
    return limiter
      .charge(`${policy}:${subject}`, limit, window)
      .then((charge) => decide(policy, admissionOf(charge, policy, limit, window)))
  }
  const chargeBucket = (subject: string, limit: number, counting?: Counting): Promise<ChargedAdmission> =>
    limiter
      .charge(`unverified:${subject}`, limit, unverifiedWindowSeconds, counting)
      .then((charge) => admissionOf(charge, 'unverified', limit, unverifiedWindowSeconds))
  /** Above the bound for all addresses, those with a recently refused key are rejected; the others continue up to the reserve. */
  const chargeAllAddresses = async (address: string): Promise<ChargedAdmission> => {
    const all = (limit: number): Promise<ChargedAdmission> => chargeBucket('all', limit, 'admitted')
    const acrossAddresses = await all(configured.unverified)
    if (!acrossAddresses.refusal || (await refusedAddresses.has(address))) return acrossAddresses
    return all(configured.unverified * unverifiedReserveFactor)
  }
  /** Makes guessing of keys slow for each address and for all addresses together. */
  const chargeUnverified = async (address: string, hasKey: boolean): Promise<Admission> => {
    const perAddress = await chargeBucket(`address:${clientNetworkOf(address)}`, unverifiedPerAddress)
    if (perAddress.refusal || !hasKey) return decide('unverified', perAddress)
    const acrossAddresses = await chargeAllAddresses(address)
    return decide('unverified', acrossAddresses.refusal ? acrossAddresses : perAddress)
  }
  const mayVerify = async (address: string): Promise<boolean> => {
    const perAddress = await chargeBucket(`verification:${clientNetworkOf(address)}`, verificationsPerAddress)
    return !perAddress.refusal && !(await chargeAllAddresses(address)).refusal
  }
  return { charge: chargePolicy, chargeUnverified, mayVerify }
}

function admissionOf(
  { isOver, remaining, resetSeconds }: Charge,
  policy: LimitPolicy,
  limit: number,
  windowSeconds: number,
): ChargedAdmission {
  const quota = { policy, limit, windowSeconds, remaining, resetSeconds }
  return isOver ? { quota, refusal: limitExceeded(quota) } : { quota }
}

type ChargedAdmission = Admission & Required<Pick<Admission, 'quota'>>

/** Reports each decision. In a dry run it admits requests above the limit. */
function createDecide(isDryRun: boolean, observe: Observer): (policy: LimitPolicy, admission: ChargedAdmission) => Admission {
  return (policy, admission) => {
    const { quota, refusal } = admission
    observe({ what: 'limit', policy, decision: decisionOf(admission, isDryRun) })
    return isDryRun && refusal ? { quota } : admission
  }
}

function decisionOf({ quota: { remaining, limit }, refusal }: ChargedAdmission, isDryRun: boolean): LimitDecision {
  if (refusal) return isDryRun ? 'shadowed' : 'refused'
  return remaining <= limit * nearShare ? 'near' : 'admitted'
}

const limitedRequests: Readonly<Record<LimitPolicy, string>> = {
  quotes: 'quotes',
  create: 'creates',
  read: 'reads of swaps',
  unverified: 'requests without a key that is known to be good',
  pages: 'pages',
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
  /** `replicas` (default: 1). */
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
