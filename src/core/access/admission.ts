/**
 * Admission: load shedding, authentication and rate limits, in this order, before the request is decoded
 * (docs/contract.md §5, §6, §7). It depends only on the operation and the caller.
 */
import { overloaded, standardFault } from '../../domain/fault.ts'
import { policyOf } from '../../domain/policy.ts'
import type { Admission, Caller, Gate } from '../../domain/service.ts'
import { keyed, type Op } from '../../domain/service.ts'
import { clientNetworkOf } from './client-network.ts'
import type { ClientLimits } from './limits.ts'
import type { RefusedAddresses } from './refused-addresses.ts'
import type { VerifiedKeys } from './verified-keys.ts'

export interface AdmissionOptions {
  readonly limits: ClientLimits
  readonly refusedAddresses: RefusedAddresses
  /** Keys that the provider has accepted. Absent in managed mode, where the gateway issues the keys. */
  readonly verifiedKeys?: VerifiedKeys | undefined
  /** `subject`: whom the request counts for. */
  readonly isShed: (op: Op, caller: Caller, subject: string) => boolean
}

/** Returns a gate that never throws for a rejection: it returns the `Fault` as `refusal` (401, 429 or 503). */
export function admission({ limits, refusedAddresses, verifiedKeys, isShed }: AdmissionOptions): Gate {
  return async (op, caller) => {
    const subject = subjectOf(op, caller, verifiedKeys === undefined)
    if (isShed(op, caller, subject)) return { refusal: overloaded() } // 503
    if (!keyed.has(op)) return await limits.charge(policyOf[op], subject) // quotes need no key; 429
    if (caller.identity === undefined) return refuseWithoutKey(caller, limits, refusedAddresses) // missing or unknown key: 401, or 429
    if (verifiedKeys && !(await verifiedKeys.has(caller.identity))) {
      const unverified = await limits.chargeUnverified(caller.address, true) // a key that no provider has accepted yet: 429
      if (unverified.refusal) return unverified
    }
    // Without `await` an async function takes two more turns of the queue to follow a promise.
    return await limits.charge(policyOf[op], subject) // 429
  }
}

/** Missing and unknown keys are rate-limited too, so that guessing is slow: above the limit, 401 becomes 429. */
async function refuseWithoutKey(
  { address, isKeyUnknown = false }: Caller,
  limits: ClientLimits,
  refusedAddresses: RefusedAddresses,
): Promise<Admission> {
  const charged = await limits.chargeUnverified(address, isKeyUnknown)
  if (isKeyUnknown) refusedAddresses.add(address)
  if (charged.refusal) return charged
  return { ...charged, refusal: standardFault('unauthorized', isKeyUnknown ? {} : { reason: 'key_missing' }) }
}

/** Quotes count by identity only in managed mode: a provider's key is not verified by a quote. */
function subjectOf(op: Op, { address, identity }: Caller, isManaged: boolean): string {
  return identity !== undefined && (isManaged || keyed.has(op)) ? `identity:${identity}` : `address:${clientNetworkOf(address)}`
}
