/** The faults of an exchange on the native lane. */
import { Fault, standardFault } from '../../../domain/fault.ts'

/** No byte of the request was sent. */
export function unreachable(cause?: Error): Fault {
  const { message } = standardFault('failed')
  return new Fault('unreachable', message, { noEffect: true, cause })
}

export function failed(cause?: Error): Fault {
  return standardFault('failed', { cause })
}

/** In the body of the response. */
export function brokenOff(cause?: Error): Fault {
  return standardFault('unreadable', { cause })
}

export function timedOut(): Fault {
  return new Fault('timedOut', 'The provider did not answer in time; please try again later.')
}

export function tooSlow(what: 'request' | 'answer'): Fault {
  return new Fault('tooSlow', what === 'request' ? 'The request did not arrive in time.' : 'The answer was not taken in time.')
}

export function hungUp(): Fault {
  return new Fault('tooSlow', 'The client hung up.')
}
