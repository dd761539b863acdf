import { type ConnectFailure, connectFailureOf, rootCauseOf } from '../../../domain/connect-failure.ts'
import { Fault } from '../../../domain/fault.ts'

const connectFailures: Readonly<Record<ConnectFailure, string>> = {
  dns_not_found: 'its name does not exist',
  dns_timeout: 'no name server answers about its name',
  dns_failed: 'the look-up of its name fails',
  refused: 'nothing listens at its address and port',
  no_route: 'there is no route to its address',
  timed_out: 'its address does not answer',
  reset: 'it closes the connection',
  certificate: 'its certificate is not valid here',
  tls: 'it does not speak TLS as it should',
  other: 'it cannot be made',
}

/** A failed call for the operator, with more of the cause than a client gets. */
export function describeFault(fault: Fault): string {
  const { kind, message, cause } = fault
  switch (kind) {
    case 'unauthorized':
    case 'accessRefused':
      return 'the key is refused'
    case 'unreachable':
      return `no connection to the provider: ${connectFailures[connectFailureOf(fault)]}${codeOf(fault)}`
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

/** The word of the system or of OpenSSL, which can be searched for. */
function codeOf(fault: Fault): string {
  const cause = rootCauseOf(fault)
  return cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
}
