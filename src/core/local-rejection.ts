import type { Fault } from '../domain/faults/fault.ts'
import { standardFault } from '../domain/faults/standard-fault.ts'
import type { LocalRejectionCause, Observer } from '../domain/telemetry/observation.ts'

/** Refuses a call before it goes up to the provider; `wait` in milliseconds: when it may be tried again. Counted. */
export type RejectLocally = (waitMs: number) => Fault

/** 503: nothing was sent, and another provider may take it. */
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
