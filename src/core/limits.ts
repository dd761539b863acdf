/** Limits on clients (`spec/contract.md` §7): a gate, so it knows the operation and the caller and nothing of the question. */
import type { Fault } from '../domain/fault.ts'
import type { Admission, Gate, Quota } from '../domain/gate.ts'
import type { Observer } from '../domain/observation.ts'
import { type Caller, keyed, type Op } from '../domain/operations.ts'
import { standardFault } from '../domain/standard-fault.ts'
import type { Proofs } from './proof.ts'
import { subjectOf } from './subject.ts'

/** A limit's state after a request was charged to it. `isOver`: the request is one too many. */
export interface Charge {
  readonly isOver: boolean
  readonly remaining: number
  /** Whole seconds, rounded up. */
  readonly reset: number
}

/** Fixed windows that start with the first request. */
export interface Limiter {
  readonly charge: (bucket: string, limit: number, window: number) => Promise<Charge>
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

/** A row of the service's table of limits (`spec/service.md`, Limits). */
export type Policy = 'quotes' | 'create' | 'read'

export const policyOf: Readonly<Record<Op, Policy>> = {
  listCurrencies: 'quotes',
  getRate: 'quotes',
  createTransaction: 'create',
  listTransactions: 'read',
  getTransaction: 'read',
}

const unprovenPerAddress = 20
const unprovenWindow = 60

/** `proofs`: where keys are the providers' and not issued here, which of them somebody has accepted. */
export function limits(limiter: Limiter, configured: Limits, observe: Observer, proofs?: Proofs): Gate {
  const allowed = configured.shadow ? shadowed(observe) : (admission: Admission): Admission => admission
  const take = (policy: string, subject: string, limit: number, window: number): Promise<Admission> =>
    limiter.charge(`${policy}:${subject}`, limit, window).then((charge) => allowed(admissionOf(charge, policy, limit, window)))
  /** Guessing keys is slow for each address, and for all addresses together. */
  const takeUnproven = async (address: string): Promise<Admission> => {
    const here = await take('unproven', `address:${subjectOf(address)}`, unprovenPerAddress, unprovenWindow)
    if (here.refusal) return here
    const everywhere = await take('unproven', 'all', configured.unproven, unprovenWindow)
    return everywhere.refusal ? everywhere : here
  }
  return async (op, caller) => {
    const policy = policyOf[op]
    if (!keyed.has(op)) return take(policy, quoteSubject(caller, proofs === undefined), configured[policy], configured.window)
    if (caller.identity === undefined) return withoutKey(await takeUnproven(caller.address))
    if (proofs && !(await proofs.has(caller.identity))) {
      const unproven = await takeUnproven(caller.address)
      if (unproven.refusal) return unproven
    }
    return take(policy, `identity:${caller.identity}`, configured[policy], configured.window)
  }
}

/** Only an issued key is an identity before somebody has accepted it. */
function quoteSubject({ address, identity }: Caller, isIssued: boolean): string {
  return isIssued && identity !== undefined ? `identity:${identity}` : `address:${subjectOf(address)}`
}

function admissionOf({ isOver, remaining, reset }: Charge, policy: string, limit: number, window: number): Admission {
  const quota: Quota = { policy, limit, window, remaining, reset }
  return isOver ? { quota, refusal: tooMany(quota) } : { quota }
}

/** What would be refused is counted and let in. */
function shadowed(observe: Observer): (admission: Admission) => Admission {
  return ({ quota, refusal }) => {
    if (refusal && quota) observe({ what: 'shadowed', policy: quota.policy })
    return quota ? { quota } : {}
  }
}

function withoutKey(admission: Admission): Admission {
  return admission.refusal ? admission : { ...admission, refusal: standardFault('unauthorized') }
}

function tooMany({ reset, window }: Quota): Fault {
  const retryAfter = Math.min(Math.max(reset, 1), window)
  return standardFault('limited', { retryAfter })
}
