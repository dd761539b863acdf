/** How a client's request ended, by whose doing: the closed list by which requests are counted, logged and traced. */
import { Fault, type FaultKind, type UnavailableCause } from './fault.ts'
import type { Reason } from './reason.ts'

export const errorTypes = [
  'none',
  'caller_invalid',
  'caller_unauthorized',
  'caller_not_found',
  'caller_method',
  'caller_slow',
  'caller_conflict',
  'caller_too_large',
  'caller_media_type',
  'caller_expectation',
  'caller_key_reused',
  'limit_client', // a limit of this client
  'limit_unverified', // keys that nobody has accepted
  'limit_overload', // more than the process can do in time
  'limit_budget', // what the provider lets us ask is used up
  'provider_refused', // it refused in a way that is not about what the client wrote
  'provider_key_refused', // it refused the gateway's own key
  'provider_limited', // it said that it has had enough
  'provider_cooldown', // it is left alone: breaker, rest, or too many calls at a time
  'provider_unreachable',
  'provider_failed',
  'provider_unreadable',
  'provider_timed_out',
  'provider_contradicted',
  'provider_unknown_outcome', // a create that may or may not have happened
  'gateway_internal', // a fault of ours
  'gateway_ledger', // the ledger cannot be read or written
] as const

export type ErrorType = (typeof errorTypes)[number]

const byKind: Readonly<Record<Exclude<FaultKind, 'limited' | 'failed' | 'unavailable'>, ErrorType>> = {
  invalid: 'caller_invalid',
  unauthorized: 'caller_unauthorized',
  notFound: 'caller_not_found',
  methodNotAllowed: 'caller_method',
  inProgress: 'caller_conflict',
  tooSlow: 'caller_slow',
  tooLarge: 'caller_too_large',
  pathTooLong: 'caller_too_large',
  headersTooLarge: 'caller_too_large',
  unsupportedMediaType: 'caller_media_type',
  reusedKey: 'caller_key_reused',
  expectationFailed: 'caller_expectation',
  internal: 'gateway_internal',
  unreachable: 'provider_unreachable',
  unreadable: 'provider_unreadable',
  accessRefused: 'provider_key_refused',
  contradicted: 'provider_contradicted',
  timedOut: 'provider_timed_out',
  outcomeUnknown: 'provider_unknown_outcome',
}

const byReason: Readonly<Partial<Record<Reason, ErrorType>>> = {
  overloaded: 'limit_overload',
  unverified_limited: 'limit_unverified',
  ledger_unavailable: 'gateway_ledger',
}

const byUnavailableCause: Readonly<Record<UnavailableCause, ErrorType>> = {
  budget: 'limit_budget',
  cooldown: 'provider_cooldown',
  limited: 'provider_limited',
}

/** `none` where there is no fault: it was answered as it was asked. */
export function errorTypeOf(fault: Fault | undefined): ErrorType {
  if (!fault) return 'none'
  const { kind, reason, unavailableCause: busyCause, provider, noEffect: certain, cause } = fault
  const mapped = busyCause === undefined ? byReason[reason] : byUnavailableCause[busyCause]
  if (mapped !== undefined) return mapped
  if (kind === 'limited') return provider === undefined ? 'limit_client' : 'provider_limited'
  if (kind === 'failed') return certain && provider !== undefined ? 'provider_refused' : 'provider_failed'
  if (kind === 'outcomeUnknown' && isOfLedger(cause)) return 'gateway_ledger'
  if (kind !== 'unavailable') return byKind[kind]
  return cause instanceof Fault ? errorTypeOf(cause) : 'provider_failed'
}

/** The provider has answered, and the ledger could not take it. */
function isOfLedger(cause: unknown): boolean {
  return cause instanceof Fault && cause.reason === 'ledger_unavailable'
}
