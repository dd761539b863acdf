/** Limits on clients (docs/contract.md §7): a gate, so it knows the operation and the caller and nothing of the question. */
import type { Fault } from '../domain/fault.ts'
import type { Admission, Gate, Quota } from '../domain/gate.ts'
import type { BudgetPolicy, LimitDecision, LimitPolicy, Observer } from '../domain/observation.ts'
import { type Caller, keyed, type Op } from '../domain/operations.ts'
import { standardFault } from '../domain/standard-fault.ts'
import type { Proofs } from './proof.ts'
import type { RefusedAddresses } from './refused-addresses.ts'
import { subjectOf } from './subject.ts'

/** A limit's state after a request was charged to it. `isOver`: the request is one too many. */
export interface Charge {
  readonly isOver: boolean
  readonly remaining: number
  /** Whole seconds, rounded up. */
  readonly reset: number
}

/** Whether a request that is one too many is counted like those that are admitted. */
export type Counting = 'all' | 'admitted'

/** Fixed windows that start with the first request. */
export interface Limiter {
  /** `counting` is `all` unless given. */
  readonly charge: (bucket: string, limit: number, window: number, counting?: Counting) => Promise<Charge>
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

/** A row of the service's table of limits (docs/service.md §8). */
export type Policy = BudgetPolicy

export const policyOf: Readonly<Record<Op, Policy>> = {
  listCurrencies: 'quotes',
  getRate: 'quotes',
  createTransaction: 'create',
  listTransactions: 'read',
  getTransaction: 'read',
}

const unprovenPerAddress = 20
const unprovenWindow = 60
/** Addresses of which no key was refused lately share so many times the bound for all. */
const unprovenReserve = 5
/** With at most this share of a limit left, somebody is near it. */
const nearShare = 0.1

export interface LimitsOptions {
  readonly limiter: Limiter
  readonly configured: Limits
  readonly refusedAddresses: RefusedAddresses
  readonly observe: Observer
  /** Where keys are the providers' and not issued here: which of them a provider has accepted. */
  readonly proofs?: Proofs | undefined
}

export function limits({ limiter, configured, refusedAddresses, observe, proofs }: LimitsOptions): Gate {
  const decide = deciding(configured.shadow, observe)
  const charge = (policy: LimitPolicy, subject: string, limit: number, window: number, counting?: Counting): Promise<Charged> =>
    limiter.charge(`${policy}:${subject}`, limit, window, counting).then((charge) => admissionOf(charge, policy, limit, window))
  const take = (policy: Policy, subject: string): Promise<Admission> =>
    charge(policy, subject, configured[policy], configured.window).then((admission) => decide(policy, admission))
  /** Past the bound for all, addresses of which a key was refused wait; the others go on, up to the reserve. */
  const takeFromAll = async (address: string): Promise<Charged> => {
    const all = (limit: number): Promise<Charged> => charge('unproven', 'all', limit, unprovenWindow, 'admitted')
    const everywhere = await all(configured.unproven)
    if (!everywhere.refusal || (await refusedAddresses.has(address))) return everywhere
    return all(configured.unproven * unprovenReserve)
  }
  /** Guessing keys is slow for each address, and for all addresses together. */
  const takeUnproven = async (address: string, hasKey: boolean): Promise<Admission> => {
    const here = await charge('unproven', `address:${subjectOf(address)}`, unprovenPerAddress, unprovenWindow)
    if (here.refusal || !hasKey) return decide('unproven', here)
    const everywhere = await takeFromAll(address)
    return decide('unproven', everywhere.refusal ? everywhere : here)
  }
  const takeWithoutKey = async ({ address, isKeyUnknown = false }: Caller): Promise<Admission> => {
    const admission = await takeUnproven(address, isKeyUnknown)
    if (isKeyUnknown) refusedAddresses.add(address)
    return withoutKey(admission)
  }
  return async (op, caller) => {
    const policy = policyOf[op]
    if (!keyed.has(op)) return take(policy, quoteSubject(caller, proofs === undefined))
    if (caller.identity === undefined) return takeWithoutKey(caller)
    if (proofs && !(await proofs.has(caller.identity))) {
      const unproven = await takeUnproven(caller.address, true)
      if (unproven.refusal) return unproven
    }
    return take(policy, `identity:${caller.identity}`)
  }
}

/** Only an issued key is an identity before somebody has accepted it. */
function quoteSubject({ address, identity }: Caller, isIssued: boolean): string {
  return isIssued && identity !== undefined ? `identity:${identity}` : `address:${subjectOf(address)}`
}

function admissionOf({ isOver, remaining, reset }: Charge, policy: LimitPolicy, limit: number, window: number): Charged {
  const quota: Quota = { policy, limit, window, remaining, reset }
  return isOver ? { quota, refusal: tooMany(quota) } : { quota }
}

type Charged = Admission & Required<Pick<Admission, 'quota'>>

/** Counts what is decided. In shadow what would be refused is let in. */
function deciding(isShadow: boolean, observe: Observer): (policy: LimitPolicy, admission: Charged) => Admission {
  return (policy, admission) => {
    const { quota, refusal } = admission
    observe({ what: 'limit', policy, decision: decisionOf(admission, isShadow) })
    return isShadow && refusal ? { quota } : admission
  }
}

function decisionOf({ quota: { remaining, limit }, refusal }: Charged, isShadow: boolean): LimitDecision {
  if (refusal) return isShadow ? 'shadowed' : 'refused'
  return remaining <= limit * nearShare ? 'near' : 'admitted'
}

function withoutKey(admission: Admission): Admission {
  return admission.refusal ? admission : { ...admission, refusal: standardFault('unauthorized') }
}

function tooMany({ policy, reset, window }: Quota): Fault {
  const retryAfter = Math.min(Math.max(reset, 1), window)
  return standardFault('limited', { retryAfter, ...(policy === 'unproven' && { reason: 'unverified_limited' as const }) })
}
