/** The only error class that crosses a layer. `wire/http-status.ts` maps it to a status. */
import type { AmountLimits } from './amount-limits.ts'
import type { Reason } from './reason.ts'

export const faultKinds = [
  'invalid', // the request is wrong or not supported here
  'unauthorized', // the key is missing or not valid
  'notFound',
  'methodNotAllowed',
  'inProgress', // another request under the same Idempotency-Key has no outcome yet
  'tooSlow', // the client's request did not arrive in time
  'tooLarge',
  'pathTooLong',
  'unsupportedMediaType',
  'reusedKey', // the Idempotency-Key belongs to another request
  'expectationFailed',
  'headersTooLarge',
  'limited',
  'internal', // a bug in the gateway, and only that
  'unreachable', // no connection to the provider: nothing was sent
  'unreadable', // the provider's response is not of its form
  'failed', // the provider failed
  'accessRefused', // the provider refused the gateway's own key
  'contradicted', // the provider created something else than requested
  'unavailable', // temporarily not possible
  'timedOut', // the provider did not respond in time
  'outcomeUnknown', // a create may or may not have happened
] as const

export type FaultKind = (typeof faultKinds)[number]

/** The reason of a fault without an explicit one. */
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

/** Why a provider is unavailable: the gateway's budget, a breaker or cooldown, or the provider's own limit. Only for metrics, not for clients. */
export type UnavailableCause = 'budget' | 'cooldown' | 'limited'

export interface FaultDetails {
  readonly cause?: unknown
  /** The domain field at fault. The edge translates it to the client's name. */
  readonly field?: string
  /** Whole seconds. */
  readonly retryAfter?: number
  /** Methods of the path, for the `Allow` header. */
  readonly allow?: string
  /** Tag of the provider whose response this is. Absent if the gateway itself refused, or no response came. */
  readonly provider?: string
  /** True if the provider certainly did nothing (docs/contract.md §10). */
  readonly noEffect?: boolean
  /** True if the provider, or a firewall in front of it, refused this call with 403: the key itself may be good. */
  readonly isForbidden?: boolean
  /** True for a refusal of a create that is not in the form of the provider's errors: the provider may have carried it out. */
  readonly isForeign?: boolean
  /** True if the gateway's own quote for this create does not hold any more: nothing about the client's request. */
  readonly isQuoteExpired?: boolean
  /** True if an earlier request with the same `Idempotency-Key` got the same fault. */
  readonly replayed?: boolean
  /** True if nothing was sent to this provider and another one may be called. */
  readonly mayFailOver?: boolean
  /** True if the asset table alone decides it: what one provider refuses for that, no other one may take. */
  readonly isForEveryProvider?: boolean
  /** The value of `X-Swap-Reason`. Default: `defaultReasons` of the kind. */
  readonly reason?: Reason
  readonly unavailableCause?: UnavailableCause
  /** The limits of the amount, as far as they are known, if the provider refused it for them. */
  readonly limits?: AmountLimits
}

/** A refusal or failure. The client gets `message`: it explains what to do, and contains no host, address, stack or provider's name. */
export class Fault extends Error {
  readonly kind: FaultKind
  readonly field: string | undefined
  readonly retryAfter: number | undefined
  readonly allow: string | undefined
  readonly provider: string | undefined
  readonly noEffect: boolean
  readonly isForbidden: boolean
  readonly isForeign: boolean
  readonly isQuoteExpired: boolean
  readonly replayed: boolean
  readonly mayFailOver: boolean
  readonly isForEveryProvider: boolean
  readonly reason: Reason
  readonly unavailableCause: UnavailableCause | undefined
  readonly limits: AmountLimits | undefined

  constructor(kind: FaultKind, message: string, details: FaultDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'Fault'
    this.kind = kind
    this.field = details.field
    this.retryAfter = details.retryAfter
    this.allow = details.allow
    this.provider = details.provider
    this.noEffect = details.noEffect ?? false
    this.isForbidden = details.isForbidden ?? false
    this.isForeign = details.isForeign ?? false
    this.isQuoteExpired = details.isQuoteExpired ?? false
    this.replayed = details.replayed ?? false
    this.mayFailOver = details.mayFailOver ?? false
    this.isForEveryProvider = details.isForEveryProvider ?? false
    this.reason = details.reason ?? defaultReasons[kind]
    this.unavailableCause = details.unavailableCause
    this.limits = details.limits
  }

  /** Converts anything thrown. An error that is not a `Fault` becomes `internal`, with the error as its cause. */
  static from(reason: unknown): Fault {
    return reason instanceof Fault
      ? reason
      : new Fault('internal', 'Internal error; please report the X-Request-Id.', { cause: reason })
  }

  /** The same fault with details added. */
  with(details: FaultDetails): Fault {
    const { kind, message, name: _name, ...own } = this
    const known = { ...own, cause: this.cause }
    const present = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined))
    return new Fault(kind, message, { ...present, ...details })
  }
}
