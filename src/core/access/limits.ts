/** Limits on clients (docs/contract.md §7). */
import type { Fault } from '../../domain/faults/fault.ts'
import { standardFault } from '../../domain/faults/standard-fault.ts'
import type { Admission, Quota } from '../../domain/swap/gate.ts'
import type { BudgetPolicy, LimitDecision, LimitPolicy, Observer } from '../../domain/telemetry/observation.ts'
import { clientNetworkOf } from './client-network.ts'
import type { RefusedAddresses } from './refused-addresses.ts'

/** A limit's state after a request was charged to it. `isOver`: the request is one too many. */
export interface Charge {
  readonly isOver: boolean
  readonly remaining: number
  /** Whole seconds, rounded up. */
  readonly resetSeconds: number
}

/** Whether a request that is one too many is counted like those that are admitted. */
export type Counting = 'all' | 'admitted'

/** Fixed windows that start with the first request. */
export interface Limiter {
  /** `counting` is `all` unless given. */
  readonly charge: (bucket: string, limit: number, windowSeconds: number, counting?: Counting) => Promise<Charge>
}

export interface Limits {
  readonly quotes: number
  readonly create: number
  readonly read: number
  readonly unproven: number
  /** Seconds. */
  readonly window: number
  /** Counts and tells, and refuses nothing. */
  readonly shadow: boolean
}

const unverifiedPerAddress = 20
const unverifiedWindowSeconds = 60
/** Addresses of which no key was refused lately share so many times the bound for all. */
const unverifiedReserveFactor = 5
/** With at most this share of a limit left, somebody is near it. */
const nearShare = 0.1

export interface LimitsOptions {
  readonly limiter: Limiter
  readonly configured: Limits
  readonly refusedAddresses: RefusedAddresses
  readonly observe: Observer
}

export interface ClientLimits {
  readonly charge: (policy: BudgetPolicy, subject: string) => Promise<Admission>
  /** Charges a missing or unverified key to its address and, where there is a key, to all addresses together. */
  readonly chargeUnverified: (address: string, hasKey: boolean) => Promise<Admission>
}

export function clientLimits({ limiter, configured, refusedAddresses, observe }: LimitsOptions): ClientLimits {
  const decide = createDecide(configured.shadow, observe)
  const charge = (
    policy: LimitPolicy,
    subject: string,
    limit: number,
    windowSeconds: number,
    counting?: Counting,
  ): Promise<ChargedAdmission> =>
    limiter
      .charge(`${policy}:${subject}`, limit, windowSeconds, counting)
      .then((charge) => admissionOf(charge, policy, limit, windowSeconds))
  const chargePolicy = (policy: BudgetPolicy, subject: string): Promise<Admission> =>
    charge(policy, subject, configured[policy], configured.window).then((admission) => decide(policy, admission))
  /** Past the bound for all, addresses of which a key was refused wait; the others go on, up to the reserve. */
  const chargeAllAddresses = async (address: string): Promise<ChargedAdmission> => {
    const all = (limit: number): Promise<ChargedAdmission> => charge('unproven', 'all', limit, unverifiedWindowSeconds, 'admitted')
    const acrossAddresses = await all(configured.unproven)
    if (!acrossAddresses.refusal || (await refusedAddresses.has(address))) return acrossAddresses
    return all(configured.unproven * unverifiedReserveFactor)
  }
  /** Guessing keys is slow for each address, and for all addresses together. */
  const chargeUnverified = async (address: string, hasKey: boolean): Promise<Admission> => {
    const perAddress = await charge(
      'unproven',
      `address:${clientNetworkOf(address)}`,
      unverifiedPerAddress,
      unverifiedWindowSeconds,
    )
    if (perAddress.refusal || !hasKey) return decide('unproven', perAddress)
    const acrossAddresses = await chargeAllAddresses(address)
    return decide('unproven', acrossAddresses.refusal ? acrossAddresses : perAddress)
  }
  return { charge: chargePolicy, chargeUnverified }
}

function admissionOf(
  { isOver, remaining, resetSeconds }: Charge,
  policy: LimitPolicy,
  limit: number,
  windowSeconds: number,
): ChargedAdmission {
  const quota: Quota = { policy, limit, windowSeconds, remaining, resetSeconds }
  return isOver ? { quota, refusal: limitExceeded(quota) } : { quota }
}

type ChargedAdmission = Admission & Required<Pick<Admission, 'quota'>>

/** Counts what is decided. In shadow what would be refused is let in. */
function createDecide(isShadow: boolean, observe: Observer): (policy: LimitPolicy, admission: ChargedAdmission) => Admission {
  return (policy, admission) => {
    const { quota, refusal } = admission
    observe({ what: 'limit', policy, decision: decisionOf(admission, isShadow) })
    return isShadow && refusal ? { quota } : admission
  }
}

function decisionOf({ quota: { remaining, limit }, refusal }: ChargedAdmission, isShadow: boolean): LimitDecision {
  if (refusal) return isShadow ? 'shadowed' : 'refused'
  return remaining <= limit * nearShare ? 'near' : 'admitted'
}

function limitExceeded({ policy, resetSeconds, windowSeconds: window }: Quota): Fault {
  const retryAfter = Math.min(Math.max(resetSeconds, 1), window)
  return standardFault('limited', { retryAfter, ...(policy === 'unproven' && { reason: 'unverified_limited' as const }) })
}
