/** The only error class that crosses a layer. `wire/http.ts` maps it to a status. */
import { type Amount, compareAmounts, isPositive, isZero } from './amount.ts'
import type { Confidential } from './confidential.ts'

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
  /** True if an operator's same command with `force` is carried out. */
  readonly canForce?: boolean
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
  readonly canForce: boolean
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
    this.canForce = details.canForce ?? false
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

// Standard messages: one wording per kind of fault, wherever it is thrown.

const messages = {
  unauthorized: 'The API key is missing or not valid.',
  notFound: 'Transaction not found.',
  limited: 'Too many requests; please wait as long as Retry-After says.',
  failed: 'The provider could not answer; please try again later.',
  accessRefused: 'The provider could not answer; please try again later.',
  unreadable: "The provider's answer could not be used; please try again later.",
  unavailable: 'The provider can take no more at the moment; please wait as long as Retry-After says.',
} as const

type StandardKind = keyof typeof messages

/** A `Fault` of this kind with its standard message. */
export function standardFault(kind: StandardKind, details: FaultDetails = {}): Fault {
  return new Fault(kind, messages[kind], details)
}

export function standardMessage(kind: StandardKind): string {
  return messages[kind]
}

/** The provider returned another transaction. It must not be passed on: a payment to its deposit address would be lost. */
export function otherTransaction(provider: string): Fault {
  const message = "The provider's answer was about another transaction; please try again later."
  return new Fault('unreadable', message, { provider })
}

// Machine-readable reasons of a refusal or failure: the closed list of `X-Swap-Reason` (docs/contract.md §6).

export const reasons = [
  'path', // no such path
  'method', // the path has other methods
  'form_conflict', // two choices of the client's form contradict each other
  'parameter_invalid',
  'parameter_unknown',
  'body_invalid', // the body cannot be read as a JSON object
  'unknown_asset',
  'network_required', // the asset is on several networks, and none was named
  'network_unknown', // the asset is not on the network that was named
  'not_offered', // the asset or the pair exists, but no provider takes it now
  'address_invalid',
  'memo_invalid',
  'below_minimum',
  'above_maximum',
  'refused', // the provider refused the request for another reason
  'key_missing',
  'key_invalid',
  'key_scope', // the key may read only
  'not_found', // no such transaction for this key
  'not_open', // nothing is open at this path of the native lane
  'in_progress', // a request with the same Idempotency-Key has no outcome yet
  'outcome_unknown', // a create may or may not have happened
  'key_reused', // the Idempotency-Key belongs to another request
  'limited',
  'unverified_limited', // too many requests without a key that was ever accepted
  'too_large',
  'media_type',
  'too_slow', // the request did not arrive in time
  'provider_failed',
  'provider_busy', // no provider can take it now; nothing was sent
  'mismatch', // the provider's transaction is not the requested one
  'timeout', // the provider did not respond in time
  'overloaded',
  'ledger_unavailable',
  'stopping',
  'internal',
] as const

export type Reason = (typeof reasons)[number]

// Derives the reason of a refused amount from the limits in the same response (docs/contract.md §6).

export interface AmountLimits {
  /** The amount that was refused. */
  readonly amountIn?: Amount | undefined
  readonly minAmount?: Amount | undefined
  readonly maxAmount?: Amount | undefined
}

/** The limit that cannot be right: a negative one, or a minimum above the maximum. A maximum of 0 means no maximum. */
export function implausibleLimit({ minAmount, maxAmount }: AmountLimits): 'minAmount' | 'maxAmount' | undefined {
  if (isNegative(minAmount)) return 'minAmount'
  if (isNegative(maxAmount)) return 'maxAmount'
  if (minAmount === undefined || maxAmount === undefined || isZero(maxAmount)) return undefined
  return compareAmounts(minAmount, maxAmount) > 0 ? 'minAmount' : undefined
}

function isNegative(amount: Amount | undefined): boolean {
  return amount !== undefined && !isPositive(amount) && !isZero(amount)
}

/** `below_minimum`, `above_maximum`, or `refused` if the limits do not explain the refusal, or cannot be right. */
export function reasonByLimits(amount: Amount | undefined, limits: AmountLimits): Reason {
  if (amount === undefined || implausibleLimit(limits) !== undefined) return 'refused'
  const { minAmount, maxAmount } = limits
  if (minAmount !== undefined && compareAmounts(amount, minAmount) < 0) return 'below_minimum'
  if (maxAmount !== undefined && isPositive(maxAmount) && compareAmounts(amount, maxAmount) > 0) return 'above_maximum'
  return 'refused'
}

const retryAfter = 2

/** The `Fault` of a shed request: 503 `overloaded`. */
export function overloaded(details: FaultDetails = {}): Fault {
  return new Fault('unavailable', 'The service is overloaded; please wait as long as Retry-After says.', {
    ...details,
    retryAfter,
    reason: 'overloaded',
  })
}

/** For a provider that serves only users whose address it gets. Nothing was sent. */
export function noPublicAddress(): Fault {
  const message = 'This swap is offered only to clients with a public network address, and this request has none.'
  return new Fault('invalid', message, { reason: 'refused', noEffect: true })
}

/** The refusal with these limits in its reason and its message, if they explain it; otherwise the same. */
export function explainedByLimits(fault: Fault, limits: AmountLimits): Fault {
  const reason = reasonByLimits(limits.amountIn, limits)
  if (reason === 'refused') return fault
  const { provider, noEffect } = fault
  const details = { ...(provider !== undefined && { provider }), noEffect, reason, limits, cause: fault }
  return new Fault('invalid', messageWithLimits(fault.message, limits), details)
}

// Failures of the ledger that do not mean "nothing was changed".

/** The change may or may not have been made: the connection was lost during the commit. */
export class UncertainChange extends Error {
  constructor(cause: unknown) {
    super('The ledger broke off before it confirmed a change.', { cause })
  }
}

/** The account has as many creates without an outcome at this provider as it may have. Nothing was changed. */
export class TooManyOpenCreates extends Error {}

/** The ledger is silent, or does the work of others. Nothing was changed. */
export class LedgerBusy extends Error {}

/** An existing row contradicts the change. A retry is useless. */
export class LedgerConflict extends Error {}

// Sanitises a provider's message for clients (docs/contract.md §6).

export const generalMessage = 'The request was refused; please check its parameters.'
const maxLength = 300
/** The cost of the patterns is quadratic in the length: the rest of a text is cut off. */
const maxInspectedLength = 1_000

const url = /[a-z][a-z0-9+.-]*:\/\//i
/** The end of a sentence without a space, as in `TRC20.Please`, is not a host. */
const host = /(?:^|[^\w.-])(?:[Ll]ocalhost|[A-Za-z][A-Za-z0-9-]*:\d{2,5}|(?:[A-Za-z0-9-]+\.)+(?:[a-z]{2,}|[A-Z]{2,}))(?![\w-])/
const mixedHost = /(?:[a-z0-9-]+\.){2,}[a-z]{2,}|[a-z0-9-]\.(?:com|net|org|io|dev|app|xyz|info|local|internal|lan)\b/i
const networkAddress = /(?:\d{1,3}\.){3}\d{1,3}|(?:[0-9a-f]{1,4}:){3,}|[0-9a-f]{0,4}::[0-9a-f]{0,4}/i
/** A crypto address, a key, a token: longer than any word, and with digits in it. */
const longRun = /(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{24,}/
const credential = /\b(?:bearer|api[-_ ]?key|authorization)\b\s*[:=]?\s*\S*\d/i
const sensitivePatterns = [url, host, mixedHost, networkAddress, longRun, credential]

/**
 * Returns at most 300 printable characters, or a general message if the text contains an address, a host, a URL, a credential, a
 * confidential word or the `secret`.
 */
export function publicMessage(text: string, confidential: Confidential, secret = ''): string {
  const printable = text
    .slice(0, maxInspectedLength)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
  if (printable === '' || sensitivePatterns.some((pattern) => pattern.test(printable))) return generalMessage
  if (secret !== '' && text.toLowerCase().includes(secret.toLowerCase())) return generalMessage
  if (confidential.containsWord(printable) || confidential.containsWord(text)) return generalMessage
  return [...printable].slice(0, maxLength).join('')
}

/** Appends the limits of the amount to the message: both, or the one that there is where a provider may have only one. */
export function messageWithLimits(message: string, { minAmount, maxAmount }: AmountLimits): string {
  const parts = [minAmount && `minimum ${minAmount}`, maxAmount && `maximum ${maxAmount}`].filter(Boolean).join(', ')
  if (parts === '') return message
  return `${/[.!?]$/.test(message) ? message : `${message}.`} ${parts[0]?.toUpperCase()}${parts.slice(1)}.`
}
