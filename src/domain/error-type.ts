/** The error type of a request in metrics, logs and traces: a closed list, grouped by the party at fault. */

import type { Reason } from './fault.ts'
import { Fault, type FaultKind, type UnavailableCause } from './fault.ts'

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
  'limit_unverified', // keys that no provider has accepted
  'limit_overload', // load shedding
  'limit_budget', // the budget at the provider is used up
  'provider_refused', // an error that is not about the client's request
  'provider_key_refused', // it refused the gateway's own key
  'provider_limited', // the provider's own 429
  'provider_cooldown', // not called: open breaker, cooldown, or full bulkhead
  'provider_unreachable',
  'provider_failed',
  'provider_unreadable',
  'provider_timed_out',
  'provider_contradicted',
  'provider_unknown_outcome', // a create that may or may not have happened
  'gateway_internal', // a bug in the gateway
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

/** The type of a fault; `none` without a fault. */
export function errorTypeOf(fault: Fault | undefined): ErrorType {
  if (!fault) return 'none'
  const { kind, reason, unavailableCause, provider, noEffect, cause } = fault
  const mapped = unavailableCause === undefined ? byReason[reason] : byUnavailableCause[unavailableCause]
  if (mapped !== undefined) return mapped
  if (kind === 'limited') return provider === undefined ? 'limit_client' : 'provider_limited'
  if (kind === 'failed') return noEffect && provider !== undefined ? 'provider_refused' : 'provider_failed'
  if (kind === 'outcomeUnknown' && isOfLedger(cause)) return 'gateway_ledger'
  if (kind !== 'unavailable') return byKind[kind]
  return cause instanceof Fault ? errorTypeOf(cause) : 'provider_failed'
}

/** The provider has responded, but the ledger could not store the result. */
function isOfLedger(cause: unknown): boolean {
  return cause instanceof Fault && cause.reason === 'ledger_unavailable'
}
