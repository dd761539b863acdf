import { Fault, type FaultDetails } from './fault.ts'

const retryAfter = 2

/** The `Fault` of a shed request: 503 `overloaded`. */
export function overloaded(details: FaultDetails = {}): Fault {
  return new Fault('unavailable', 'The service is overloaded; please wait as long as Retry-After says.', {
    ...details,
    retryAfter,
    reason: 'overloaded',
  })
}
