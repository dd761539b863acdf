/** The one error class. Only a `Fault` crosses a layer; what it means on the wire is `wire/http-status.ts`. */
import type { Reason } from './reason.ts'

export const faultKinds = [
  'invalid', // the question is wrong, or cannot be asked here
  'unauthorized', // the key is missing or not valid
  'notFound',
  'methodNotAllowed',
  'inProgress', // another request under the same Idempotency-Key has no outcome yet
  'tooSlow', // the client, not the provider
  'tooLarge',
  'pathTooLong',
  'unsupportedMediaType',
  'reusedKey', // the Idempotency-Key belongs to another request
  'expectationFailed',
  'headersTooLarge',
  'limited',
  'internal', // a fault of ours, and only that
  'unreachable', // no connection to the provider: nothing was sent
  'unreadable', // the provider's answer is not of its form
  'failed', // the provider failed
  'accessRefused', // the provider refused the gateway's own key
  'contradicted', // the provider created something else than was asked for
  'unavailable', // nobody can take it now
  'timedOut', // the provider did not answer in time
  'outcomeUnknown', // a create may or may not have happened
] as const

export type FaultKind = (typeof faultKinds)[number]

/** The reason of a fault that names none. */
export const defaultReasons: Readonly<Record<FaultKind, Reason>> = {
  invalid: 'parameter_invalid',
  unauthorized: 'key_invalid',
  notFound: 'not_found',
  methodNotAllowed: 'method',
  inProgress: 'in_progress',
  tooSlow: 'too_slow',
  tooLarge: 'too_large',
  pathTooLong: 'too_large',
  headersTooLarge: 'too_large',
  unsupportedMediaType: 'media_type',
  reusedKey: 'key_reused',
  expectationFailed: 'parameter_invalid',
  limited: 'limited',
  internal: 'internal',
  unreachable: 'provider_failed',
  unreadable: 'provider_failed',
  failed: 'provider_failed',
  accessRefused: 'provider_failed',
  contradicted: 'mismatch',
  unavailable: 'provider_busy',
  timedOut: 'timeout',
  outcomeUnknown: 'outcome_unknown',
}

/** Why a provider is busy: our own budget there, a breaker or rest, or its own limit. Counted, and no client is told. */
export type UnavailableCause = 'budget' | 'cooldown' | 'limited'

export interface FaultDetails {
  readonly cause?: unknown
  /** The domain field at fault; the edge names it in the client's words. */
  readonly field?: string
  /** Whole seconds. */
  readonly retryAfter?: number
  /** Methods that the path has. */
  readonly allow?: string
  /** Tag of the provider that answered so. */
  readonly provider?: string
  /** True where it is certain that the provider did nothing (docs/contract.md §10). */
  readonly noEffect?: boolean
  /** True where it was told before, to the same question. */
  readonly replayed?: boolean
  /** True where this one provider cannot take it now, and nothing was sent to it: another may. */
  readonly mayFailOver?: boolean
  /** What a client's program is told; without it, that of the kind. */
  readonly reason?: Reason
  readonly unavailableCause?: UnavailableCause
}

/** A refusal or failure, told to the client in `message`: what to do, and no host, address, stack or provider's name. */
export class Fault extends Error {
  readonly kind: FaultKind
  readonly field: string | undefined
  readonly retryAfter: number | undefined
  readonly allow: string | undefined
  readonly provider: string | undefined
  readonly noEffect: boolean
  readonly replayed: boolean
  readonly mayFailOver: boolean
  readonly reason: Reason
  readonly unavailableCause: UnavailableCause | undefined

  constructor(kind: FaultKind, message: string, details: FaultDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'Fault'
    this.kind = kind
    this.field = details.field
    this.retryAfter = details.retryAfter
    this.allow = details.allow
    this.provider = details.provider
    this.noEffect = details.noEffect ?? false
    this.replayed = details.replayed ?? false
    this.mayFailOver = details.mayFailOver ?? false
    this.reason = details.reason ?? defaultReasons[kind]
    this.unavailableCause = details.unavailableCause
  }

  /** Whatever was thrown, as a fault; what is not one is ours, and its text stays inside as the cause. */
  static from(reason: unknown): Fault {
    return reason instanceof Fault
      ? reason
      : new Fault('internal', 'Internal error; please report the X-Request-Id.', { cause: reason })
  }

  /** The same fault with details added. */
  with(details: FaultDetails): Fault {
    const { kind, message, field, retryAfter, allow, provider, noEffect, replayed, mayFailOver, reason, unavailableCause, cause } =
      this
    const known = {
      field,
      retryAfter,
      allow,
      provider,
      noEffect,
      replayed,
      mayFailOver,
      reason,
      unavailableCause,
      cause,
    }
    const present = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined))
    return new Fault(kind, message, { ...present, ...details })
  }
}
