/** Limits on clients (docs/contract.md §7). */
import type { Fault } from '../../domain/fault.ts'
import { standardFault } from '../../domain/fault.ts'
import type { BudgetPolicy, LimitDecision, LimitPolicy, Observer } from '../../domain/observation.ts'
import type { Admission, Quota } from '../../domain/service.ts'
import { clientNetworkOf } from './client-network.ts'
import type { RefusedAddresses } from './refused-addresses.ts'

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
  /** Requests with unverified keys, of all addresses: `limits.unproven` (default: 120 requests per 60 seconds). */
  readonly unproven: number
  /** `limits.window` (default: 60 seconds). */
  readonly window: number
  /** Counts and reports, but rejects nothing: `limits.shadow` (default: false). */
  readonly shadow: boolean
}

const unverifiedPerAddress = 20
const unverifiedWindowSeconds = 60
/** Addresses without a recently refused key share the bound for all addresses, times this factor. */
const unverifiedReserveFactor = 5
/** A request is `near` a limit if at most this share of it remains. */
const nearShare = 0.1

export interface LimitsOptions {
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
}

/** Applies the configured limits. In shadow mode it never rejects. */
export function clientLimits({ limiter, configured, refusedAddresses, observe }: LimitsOptions): ClientLimits {
  const decide = createDecide(configured.shadow, observe)
  const chargePolicy = (policy: BudgetPolicy, subject: string): Promise<Admission> => {
    const { [policy]: limit, window } = configured
    return limiter
      .charge(`${policy}:${subject}`, limit, window)
      .then((charge) => decide(policy, admissionOf(charge, policy, limit, window)))
  }
  const chargeBucket = (subject: string, limit: number, counting?: Counting): Promise<ChargedAdmission> =>
    limiter
      .charge(`unproven:${subject}`, limit, unverifiedWindowSeconds, counting)
      .then((charge) => admissionOf(charge, 'unproven', limit, unverifiedWindowSeconds))
  /** Above the bound for all addresses, those with a recently refused key are rejected; the others continue up to the reserve. */
  const chargeAllAddresses = async (address: string): Promise<ChargedAdmission> => {
    const all = (limit: number): Promise<ChargedAdmission> => chargeBucket('all', limit, 'admitted')
    const acrossAddresses = await all(configured.unproven)
    if (!acrossAddresses.refusal || (await refusedAddresses.has(address))) return acrossAddresses
    return all(configured.unproven * unverifiedReserveFactor)
  }
  /** Makes guessing of keys slow for each address and for all addresses together. */
  const chargeUnverified = async (address: string, hasKey: boolean): Promise<Admission> => {
    const perAddress = await chargeBucket(`address:${clientNetworkOf(address)}`, unverifiedPerAddress)
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

/** Reports each decision. In shadow mode it admits requests above the limit. */
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
