import type { Fault } from '../domain/fault.ts'
import { standardFault } from '../domain/fault.ts'
import type { LocalRejectionCause, Observer } from '../domain/observation.ts'

/** Counts a rejection by the gateway itself and returns its `Fault`. `waitMs`: time until a retry makes sense. */
export type RejectLocally = (waitMs: number) => Fault

/** The `Fault` is 503 with `noEffect` and `mayFailOver`: nothing was sent, and another provider may be tried. */
export function rejectLocally(provider: string, by: LocalRejectionCause, observe: Observer): RejectLocally {
  return (waitMs) => {
    observe({ what: 'localRejection', provider, by })
    return standardFault('unavailable', {
      retryAfter: Math.max(1, Math.ceil(waitMs / 1000)),
      noEffect: true,
      mayFailOver: true,
      unavailableCause: by === 'budget' ? 'budget' : 'cooldown',
    })
  }
}
