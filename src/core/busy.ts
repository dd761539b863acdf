import type { Fault } from '../domain/fault.ts'
import type { HeldBackBy, Observer } from '../domain/observation.ts'
import { standardFault } from '../domain/standard-fault.ts'

/** Refuses a call before it goes up to the provider; `wait` in milliseconds: when it may be tried again. Counted. */
export type HoldBack = (wait: number) => Fault

/** 503: nothing was sent, and another provider may take it. */
export function holdBack(provider: string, by: HeldBackBy, observe: Observer): HoldBack {
  return (wait) => {
    observe({ what: 'heldBack', provider, by })
    return standardFault('unavailable', {
      retryAfter: Math.max(1, Math.ceil(wait / 1000)),
      certain: true,
      elsewhere: true,
      busyCause: by === 'budget' ? 'budget' : 'resting',
    })
  }
}
