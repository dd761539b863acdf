import { Fault } from '../../../domain/faults/fault.ts'

/** A failed call for the operator, with more of the cause than a client gets. */
export function describeFault(fault: Fault): string {
  const { kind, message, cause } = fault
  switch (kind) {
    case 'unauthorized':
    case 'accessRefused':
      return 'the key is refused'
    case 'unreachable':
      return 'no connection to the provider'
    case 'timedOut':
      return 'no response within the timeout'
    case 'limited':
      return "the provider's limit of requests is reached"
    case 'unreadable':
      return `the response is not of the form${cause instanceof Error ? `: ${cause.message}` : ''}`
    case 'unavailable':
      return fault.unavailableCause === 'budget'
        ? 'the budget for calls to the provider is used up'
        : 'not called, because earlier calls failed'
    case 'failed':
      return cause instanceof Fault ? describeFault(cause) : 'the provider failed'
    default:
      return message
  }
}
