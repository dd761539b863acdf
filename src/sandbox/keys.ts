/** The sandbox's keys are public, so that everyone can start. Any other key is unknown. */
import { admission } from '../core/access/admission.ts'
import { clientLimits, type Limiter } from '../core/access/limits.ts'
import { standardFault } from '../domain/fault.ts'
import type { Gate } from '../domain/service.ts'
import { keyed } from '../domain/service.ts'
import type { Digest } from './market/network.ts'

export const publicKeys: readonly string[] = ['sandbox-key-1', 'sandbox-key-2']

/** Per minute (docs/service.md §8). */
const serviceLimits = { quotes: 60, create: 30, read: 120, unproven: 120, window: 60, shadow: false }

/** The limits of the service, then the key. `digest` is what makes a key's identity. */
export function sandboxGate(limiter: Limiter, digest: Digest): Gate {
  const known = new Set(publicKeys.map(digest))
  const verifiedKeys = { has: async (identity: string) => known.has(identity), add: async () => {} }
  const refusedAddresses = { has: async () => true, add: () => {} }
  const limits = clientLimits({ limiter, configured: serviceLimits, refusedAddresses, observe: () => {} })
  const gate = admission({ limits, refusedAddresses, verifiedKeys, isShed: () => false })
  return async (op, caller) => {
    const admitted = await gate(op, caller)
    const isUnknownKey = keyed.has(op) && !known.has(caller.identity ?? '')
    if (admitted.refusal || !isUnknownKey) return admitted
    return { ...admitted, refusal: standardFault('unauthorized') }
  }
}
