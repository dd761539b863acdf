/** Rate limits of calls to a provider: each call is reserved in its budget before it is sent (docs/contract-operators.md §8). */

import { budgetPart } from '../../domain/call-options.ts'
import { valueIn } from '../../domain/context-values.ts'
import { standardFault } from '../../domain/fault.ts'
import { type BudgetPolicy, budgetPolicies, type Observer, reservedForGatewayReads } from '../../domain/observation.ts'
import { policyOf } from '../../domain/policy.ts'
import { type Caller, type Context, keyed, type Op } from '../../domain/service.ts'
import { clientNetworkOf } from '../access/client-address.ts'
import type { RunningProcesses } from '../access/running-processes.ts'
import type { StoreOutage } from '../access/store-outage.ts'
import type { SteadyClock } from '../clock.ts'
import { aroundAll, type Layer, rejectLocally } from '../layer.ts'
import type { UpstreamScope } from '../provider-scope.ts'

/** The gateway's name as a consumer, for reads beyond its reserve. */
const gatewayConsumer = ''
const windowSeconds = 60

/** Throws `unavailable` if the budget is used up. */
export function budgetLimit(upstream: UpstreamScope, budgets: Budgets): Layer {
  const { tag: provider, configured, usesGatewayKey, callsOf, observe } = upstream
  const budget = configured.rateLimit
  // Reported from the start, even if only the gateway's own reads are sent.
  for (const policy of usesGatewayKey ? budgetPolicies : (['quotes'] as const)) {
    const limit = budget[policy]
    if (limit > 0) observe({ what: 'budget', provider, policy, remaining: limit - reservedForGatewayReads(policy, limit) })
  }
  const spend = budgetSpending(upstream, budgets)
  return aroundAll(function budgetLimit(op, request, context, next) {
    const calls = callsOf(op, request, context)
    if (calls.length > 1) return spendAll(spend, calls, context).then(() => next.call(op, request, context))
    const spent = spend(policyOf[op], keyed.has(op), context)
    return spent ? spent.then(() => next.call(op, request, context)) : next.call(op, request, context)
  })
}

/** All before the first is sent. */
async function spendAll(spend: SpendBudget, calls: readonly Op[], context: Context): Promise<void> {
  for (const op of calls) await spend(policyOf[op], keyed.has(op), context)
}

/** Reserves one call; undefined if there is no bound. Rejects with `unavailable` if the budget is used up. */
export type SpendBudget = (policy: BudgetPolicy, isKeyed: boolean, context: Context) => Promise<void> | undefined

/** It is the budget of the account. Where clients send the provider's keys, each key has its own for keyed operations. */
export function budgetSpending(
  { tag: provider, configured, usesGatewayKey, observe }: UpstreamScope,
  budgets: Budgets,
): SpendBudget {
  const { account, rateLimit: budget } = configured
  const refuse = rejectLocally(provider, 'budget', observe)
  const reserve = async (policy: BudgetPolicy, isKeyed: boolean, context: Context): Promise<Reservation> => {
    const { caller, isGatewayCall: isOwn } = context
    const part = valueIn(context, budgetPart)
    const isPerKey = !usesGatewayKey && isKeyed
    const bucket = isPerKey ? `${account}:${policy}:${caller.identity}` : `${account}:${policy}`
    const reservedForGateway = reservedForGatewayReads(policy, budget[policy])
    if (isOwn && reservedForGateway > 0) {
      const reservation = await budgets.reserve(`${bucket}:own`, reservedForGateway)
      if (reservation.isGranted || part === 'reserve') return reservation
    }
    if (part === 'reserve') return { isGranted: false, remaining: 0, retryAfter: windowSeconds }
    // A bucket of one key has one consumer only; and without a reserve the gateway does not compete.
    const consumer =
      isPerKey || (isOwn && reservedForGateway === 0)
        ? undefined
        : isOwn
          ? gatewayConsumer
          : countedName(isKeyed, caller, usesGatewayKey)
    const shared = budget[policy] - reservedForGateway
    const reservation = await budgets.reserve(bucket, part === 'unrequested' ? Math.floor(shared / 2) : shared, consumer)
    // With one bucket per key there is no single remaining count to report.
    if (!isPerKey && part !== 'unrequested') observe({ what: 'budget', provider, policy, remaining: reservation.remaining })
    return reservation
  }
  return (policy, isKeyed, context) => {
    if (budget[policy] === 0) return undefined
    return reserve(policy, isKeyed, context).then(({ isGranted, retryAfter }) => {
      if (!isGranted) throw refuse(retryAfter * 1000)
    })
  }
}

// Under which name a caller has its share of a budget (docs/contract-operators.md §8).

/** All callers without a valid key, if the gateway issues keys. */
const anonymous = 'anonymous'

/** With issued keys: the account. Otherwise the key for keyed operations, and the client network for quotes, where a key is not verified. */
function countedName(isKeyed: boolean, { identity, address }: Caller, usesGatewayKey: boolean): string {
  if (usesGatewayKey) return identity ?? anonymous
  return isKeyed && identity !== undefined ? identity : clientNetworkOf(address)
}

// Limits the gateway's own reads to a share of a provider's read budget, so that clients keep the rest (docs/contract-operators.md §10.2).

const windowMs = 60_000

/** Admits half of `limit`, the read budget, per caller in any 60 seconds. Throws `unavailable` above that. 0: unlimited. */
export function ownReadLimit(limit: number, clock: SteadyClock): Layer {
  if (limit === 0) return (next) => next
  const share = Math.ceil(limit / 2)
  const passedTimes = new Map<string, number[]>()
  return aroundAll(function ownReadLimit(op, request, context, next) {
    const now = clock()
    for (const [name, times] of passedTimes) {
      if ((times.at(-1) ?? 0) > now - windowMs) break
      passedTimes.delete(name)
    }
    const name = context.caller.identity ?? ''
    const times = (passedTimes.get(name) ?? []).filter((time) => time > now - windowMs)
    const [oldest = now] = times
    if (times.length >= share) {
      const retryAfter = Math.ceil((oldest + windowMs - now) / 1000)
      return Promise.reject(standardFault('unavailable', { retryAfter, effect: 'refused', unavailableCause: 'budget' }))
    }
    passedTimes.delete(name) // moves the caller to the end of the map
    passedTimes.set(name, [...times, now])
    return next.call(op, request, context)
  })
}

// Port: a provider's budgets for any 60 seconds, shared by all replicas (docs/contract-operators.md §8).

/** The result of a reservation. */
export interface Reservation {
  readonly isGranted: boolean
  /** How many more calls may be granted now to consumers that hold less than their share. */
  readonly remaining: number
  /** If not granted: whole seconds, at least 1, until the next call is free. */
  readonly retryAfter: number
}

/** Sliding windows of 60 seconds. */
export interface Budgets {
  /**
   * Reserves one call of the bucket before it is sent: at most `limit` in any 60 seconds, over all replicas. The last fifth is only
   * for consumers that hold less than an equal share; without `consumer` the whole bucket is granted in order. Never throws.
   */
  readonly reserve: (bucket: string, limit: number, consumer?: string) => Promise<Reservation>
}

// Budgets that continue without the shared store (docs/contract-operators.md §8).

interface BudgetFallbackOptions {
  /** Throws if the store does not respond. */
  readonly shared: Budgets
  /** Of this process alone. */
  readonly local: Budgets
  readonly processes: Pick<RunningProcesses, 'among'>
  readonly outage: StoreOutage
  readonly observe: Observer
}

/** Time within which every replica has noticed the loss. */
const slackMs = 2_000

/**
 * While the store is lost, each process grants its share of each budget, rounded down. A store that comes back with its data is used
 * again at once: it and the shares have granted at most one budget each. A store that comes back empty has lost its counts: until the
 * last minute before the loss is over, the replica's share must grant each call too. So at most two budgets are granted in any 60 s.
 */
export function budgetFallback({ shared, local, processes, outage, observe }: BudgetFallbackOptions): Budgets {
  let guardedUntil = Number.NEGATIVE_INFINITY
  outage.beforeRecovery(async ({ lostAt, isEmptied }) => {
    if (isEmptied) guardedUntil = lostAt + windowMs + slackMs
  })
  const reserveLocally: Budgets['reserve'] = async (bucket, limit, consumer) => {
    const share = Math.floor(limit / processes.among(windowMs))
    const reservation = await local.reserve(bucket, share, consumer)
    if (!reservation.isGranted && share < limit) observe({ what: 'shareRefusal', of: 'rateLimit' })
    return reservation
  }
  const reserveBoth: Budgets['reserve'] = async (bucket, limit, consumer) => {
    const localReservation = await reserveLocally(bucket, limit, consumer)
    if (!localReservation.isGranted) return localReservation
    const sharedReservation = await shared.reserve(bucket, limit, consumer).catch(() => outage.begin())
    if (!sharedReservation) return localReservation
    return { ...sharedReservation, remaining: Math.min(localReservation.remaining, sharedReservation.remaining) }
  }
  return {
    reserve(bucket, limit, consumer) {
      if (outage.state === 'local') return reserveLocally(bucket, limit, consumer)
      if (performance.now() < guardedUntil) return reserveBoth(bucket, limit, consumer)
      return shared.reserve(bucket, limit, consumer).catch(() => {
        outage.begin()
        return reserveLocally(bucket, limit, consumer)
      })
    },
  }
}
