/** Limits on clients (docs/contract.md §7): a gate, so it knows the operation and the caller and nothing of the question. */
import type { Fault } from '../../domain/faults/fault.ts'
import { standardFault } from '../../domain/faults/standard-fault.ts'
import type { Admission, Gate, Quota } from '../../domain/swap/gate.ts'
import { type Caller, keyed } from '../../domain/swap/operations.ts'
import { policyOf } from '../../domain/swap/policy.ts'
import type { BudgetPolicy, LimitDecision, LimitPolicy, Observer } from '../../domain/telemetry/observation.ts'
import { clientNetworkOf } from './client-network.ts'
import type { RefusedAddresses } from './refused-addresses.ts'
import type { VerifiedKeys } from './verified-keys.ts'

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
  /** Where keys are the providers' and not issued here: which of them a provider has accepted. */
  readonly verifiedKeys?: VerifiedKeys | undefined
}

export function limits({ limiter, configured, refusedAddresses, observe, verifiedKeys }: LimitsOptions): Gate {
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
  const takeUnverified = async (address: string, hasKey: boolean): Promise<Admission> => {
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
  const takeWithoutKey = async ({ address, isKeyUnknown = false }: Caller): Promise<Admission> => {
    const admission = await takeUnverified(address, isKeyUnknown)
    if (isKeyUnknown) refusedAddresses.add(address)
    return refuseMissingKey(admission)
  }
  return async (op, caller) => {
    const policy = policyOf[op]
    if (!keyed.has(op)) return chargePolicy(policy, quoteSubject(caller, verifiedKeys === undefined))
    if (caller.identity === undefined) return takeWithoutKey(caller)
    if (verifiedKeys && !(await verifiedKeys.has(caller.identity))) {
      const unverified = await takeUnverified(caller.address, true)
      if (unverified.refusal) return unverified
    }
    return chargePolicy(policy, `identity:${caller.identity}`)
  }
}

/** Only an issued key is an identity before somebody has accepted it. */
function quoteSubject({ address, identity }: Caller, isManaged: boolean): string {
  return isManaged && identity !== undefined ? `identity:${identity}` : `address:${clientNetworkOf(address)}`
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

function refuseMissingKey(admission: Admission): Admission {
  return admission.refusal ? admission : { ...admission, refusal: standardFault('unauthorized') }
}

function limitExceeded({ policy, resetSeconds, windowSeconds: window }: Quota): Fault {
  const retryAfter = Math.min(Math.max(resetSeconds, 1), window)
  return standardFault('limited', { retryAfter, ...(policy === 'unproven' && { reason: 'unverified_limited' as const }) })
}
