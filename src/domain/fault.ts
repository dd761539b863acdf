/** What went wrong: the only error class that crosses a layer, its kinds, and what follows from each. */
import { type Amount, compareAmounts, isPositive, isZero } from './amount.ts'
import type { Confidential } from './confidential.ts'
import type { FailureCause } from './failure-cause.ts'

// What went wrong, and what follows from it: one row for each kind.

interface Consequences {
  /** The HTTP status of the response to the client (docs/contract.md §6). */
  readonly status: number
  /** `X-Swap-Reason` of a fault without an explicit one. */
  readonly reason: Reason
  /** `error_type` in metrics, logs and traces. `errorTypeOf` has the exceptions. */
  readonly errorType: ErrorType
  /** The outcome of a call to a provider that ended with it. `callOutcomeOf` has the exceptions. */
  readonly outcome: CallOutcome
  readonly health: HealthEffect
  /** Whether the same read is sent once more. A refusal never is. */
  readonly isRetried: boolean
  readonly failover: Failover
  /** Whether a get is answered with the last known state instead. */
  readonly isStaleServed: boolean
}

/** What a call that ended with the fault says to the circuit breaker about the provider's health. */
type HealthEffect =
  | 'unconnected'
  | 'failed'
  | 'failedUnlessRefused' // a refusal shows that it responds
  | 'failedIfInTime' // only if the call had enough time
  | 'responded' // if the fault names the provider; else the call was not sent, and says nothing

/** Which requests another provider gets: `ifUnsent` is a quote, and a create of which nothing was sent. `whoMayTake` has the exceptions. */
type Failover = 'never' | 'quote' | 'ifUnsent'

/** Most faults are about the request, or about the gateway. */
const usual = { outcome: 'failed', health: 'responded', isRetried: false, failover: 'never', isStaleServed: true } as const

/** A failure of the provider. */
const ofProvider = {
  status: 502,
  reason: 'provider_failed',
  health: 'failed',
  isRetried: true,
  failover: 'quote',
  isStaleServed: true,
} as const

const table = {
  /** The request is wrong or not supported here. */
  invalid: { ...usual, status: 400, reason: 'parameter_invalid', errorType: 'caller_invalid', outcome: 'refused' },
  /** The key is missing or not valid. */
  unauthorized: { ...usual, status: 401, reason: 'key_invalid', errorType: 'caller_unauthorized', outcome: 'keyRefused' },
  /** The token of an operator lacks a role. */
  forbidden: { ...usual, status: 403, reason: 'role', errorType: 'caller_unauthorized', outcome: 'refused' },
  notFound: { ...usual, status: 404, reason: 'not_found', errorType: 'caller_not_found', outcome: 'refused' },
  methodNotAllowed: { ...usual, status: 405, reason: 'method', errorType: 'caller_method' },
  /** Another request under the same `Idempotency-Key` has no outcome yet. */
  inProgress: { ...usual, status: 409, reason: 'in_progress', errorType: 'caller_conflict' },
  /** The quote of a create does not hold: nothing was created. */
  quoteExpired: { ...usual, status: 409, reason: 'quote_expired', errorType: 'caller_conflict', outcome: 'refused' },
  /** The swap does not allow it any more. */
  conflict: { ...usual, status: 409, reason: 'conflict', errorType: 'caller_conflict', outcome: 'refused' },
  /** The client's request did not arrive in time. */
  tooSlow: { ...usual, status: 408, reason: 'too_slow', errorType: 'caller_slow', outcome: 'abandoned' },
  tooLarge: { ...usual, status: 413, reason: 'too_large', errorType: 'caller_too_large', outcome: 'abandoned' },
  pathTooLong: { ...usual, status: 414, reason: 'too_large', errorType: 'caller_too_large' },
  unsupportedMediaType: { ...usual, status: 415, reason: 'media_type', errorType: 'caller_media_type' },
  /** The `Idempotency-Key` belongs to another request. */
  reusedKey: { ...usual, status: 422, reason: 'key_reused', errorType: 'caller_key_reused' },
  expectationFailed: { ...usual, status: 417, reason: 'parameter_invalid', errorType: 'caller_expectation' },
  headersTooLarge: { ...usual, status: 431, reason: 'too_large', errorType: 'caller_too_large' },
  limited: { ...usual, status: 429, reason: 'limited', errorType: 'limit_client', outcome: 'limited' },
  /** A bug in the gateway, and only that. */
  internal: { ...usual, status: 500, reason: 'internal', errorType: 'gateway_internal', isStaleServed: false },
  /** No connection to the provider: nothing was sent. */
  unreachable: {
    ...ofProvider,
    errorType: 'provider_unreachable',
    outcome: 'unreachable',
    health: 'unconnected',
    failover: 'ifUnsent',
  },
  /** The provider's response is not of its form. */
  unreadable: { ...ofProvider, errorType: 'provider_unreadable', outcome: 'unreadable' },
  /** The provider failed. */
  failed: { ...ofProvider, errorType: 'provider_failed', outcome: 'failed', health: 'failedUnlessRefused' },
  /** The provider refused the gateway's own key. */
  accessRefused: {
    ...usual,
    status: 502,
    reason: 'provider_failed',
    errorType: 'provider_key_refused',
    failover: 'quote',
    isStaleServed: false,
  },
  /** The provider created something else than requested. */
  contradicted: { ...usual, status: 502, reason: 'mismatch', errorType: 'provider_contradicted' },
  /** Temporarily not possible. */
  unavailable: { ...usual, status: 503, reason: 'provider_busy', errorType: 'provider_failed', failover: 'ifUnsent' },
  /** The provider did not respond in time. */
  timedOut: {
    ...usual,
    status: 504,
    reason: 'timeout',
    errorType: 'provider_timed_out',
    outcome: 'timedOut',
    health: 'failedIfInTime',
    failover: 'quote',
  },
  /** A create may or may not have happened. */
  outcomeUnknown: { ...usual, status: 504, reason: 'outcome_unknown', errorType: 'provider_unknown_outcome' },
} as const satisfies Readonly<Record<string, Consequences>>

export type FaultKind = keyof typeof table

export const faultTable: Readonly<Record<FaultKind, Consequences>> = table

/** `unreachable`: no byte was sent. `abandoned`: the client disconnected, or sent too much or too slowly. */
export type CallOutcome =
  | 'done'
  | 'refused'
  | 'keyRefused'
  | 'limited'
  | 'failed'
  | 'timedOut'
  | 'unreadable'
  | 'unreachable'
  | 'abandoned'

/** The outcome of a call to a provider that ended with this fault. */
export function callOutcomeOf({ kind, effect }: Fault): CallOutcome {
  const outcome = faultTable[kind].outcome
  if (effect === 'maybe') return outcome
  if (outcome === 'timedOut') return 'unreachable'
  return outcome === 'failed' ? 'refused' : outcome
}

/**
 * What a failed call leaves behind at the provider (docs/contract.md §10). Money depends on it: another provider may get a create
 * only if this one has done nothing.
 */
export type Effect =
  /** No byte of it was sent to this provider, and another one may be called. */
  | 'nothingSent'
  /**
   * Certainly nothing was done: the provider refused it, or the quote before it. So also where the gateway refused for every
   * provider, as when the ledger cannot take the intent: nothing was sent, and yet no other provider is called.
   */
  | 'refused'
  /** It may have been carried out. */
  | 'maybe'

/** Whether the gateway itself held the call back, by a breaker, budget or queue, or for want of time. */
export function isHeldBack({ kind, effect }: Fault): boolean {
  return kind === 'unavailable' && effect === 'nothingSent'
}

/**
 * Why a provider is unavailable: the gateway's budget, its breaker, which is open for all or for this caller, its own rest, or the provider's
 * limit, or its price, which is much worse than the caller's quote. Only for metrics and routing, not for clients.
 */
export type UnavailableCause = 'budget' | 'breaker' | 'caller' | 'cooldown' | 'limited' | 'price'

/** A refusal that is not like the others of its kind, for the one layer that treats it differently. */
export type SpecialRefusal =
  /** The gateway's own quote for this create does not hold any more: nothing about the client's request (`renewQuote`). */
  | 'quoteExpired'
  /** Of a create, and not in the form of the provider's errors: the provider may have carried it out (`intent`). */
  | 'foreign'
  /** The provider, or a firewall in front of it, refused this call with 403: the key itself may be good (`ownership`). */
  | 'forbidden'
  /** The asset table alone decides it: what one provider refuses for that, no other one may take (`callInTurn`). */
  | 'forEveryProvider'

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
  /** Default: `maybe`. */
  readonly effect?: Effect
  readonly refusal?: SpecialRefusal | undefined
  /** True if an earlier request with the same `Idempotency-Key` got the same fault. */
  readonly replayed?: boolean
  /** True if an operator's same command with `force` is carried out. */
  readonly canForce?: boolean
  /** The value of `X-Swap-Reason`. Default: that of the kind. */
  readonly reason?: Reason
  readonly unavailableCause?: UnavailableCause
  /** Why the provider could not be reached, or its response not be read. Only for operators, not for clients. */
  readonly failureCause?: FailureCause
  /** The range in which the provider takes the amount, as far as it is known, if it refused the amount for that. */
  readonly amountRange?: AmountRange
  /** What is wrong with each parameter, if the message is about parameters of the request. */
  readonly errors?: readonly ParameterError[]
  /** The provider's page about the swap. */
  readonly supportUrl?: string | undefined
  /** What is wrong with other fields, if `field` is not the only one. */
  readonly others?: readonly Fault[]
}

/** A member of `errors` in the body of an error (docs/contract.md §6). */
export interface ParameterError {
  /** The parameter's name as the client sent it; empty for the request as a whole. */
  readonly field: string
  readonly reason: Reason
  /** A whole sentence. */
  readonly message: string
}

/** A refusal or failure. The client gets `message`: it explains what to do, and contains no host, address, stack or provider's name. */
export class Fault extends Error {
  readonly kind: FaultKind
  readonly field: string | undefined
  readonly retryAfter: number | undefined
  readonly allow: string | undefined
  readonly provider: string | undefined
  readonly effect: Effect
  readonly refusal: SpecialRefusal | undefined
  readonly replayed: boolean
  readonly canForce: boolean
  readonly reason: Reason
  readonly unavailableCause: UnavailableCause | undefined
  readonly failureCause: FailureCause | undefined
  readonly amountRange: AmountRange | undefined
  readonly errors: readonly ParameterError[] | undefined
  readonly supportUrl: string | undefined
  readonly others: readonly Fault[]

  constructor(kind: FaultKind, message: string, details: FaultDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'Fault'
    this.kind = kind
    this.field = details.field
    this.retryAfter = details.retryAfter
    this.allow = details.allow
    this.provider = details.provider
    this.effect = details.effect ?? 'maybe'
    this.refusal = details.refusal
    this.replayed = details.replayed ?? false
    this.canForce = details.canForce ?? false
    this.reason = details.reason ?? faultTable[kind].reason
    this.unavailableCause = details.unavailableCause
    this.failureCause = details.failureCause
    this.amountRange = details.amountRange
    this.errors = details.errors
    this.supportUrl = details.supportUrl
    this.others = details.others ?? []
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

/** Why the provider could not be reached, or its response not be read: of the fault, or of the fault that caused it. */
export function failureCauseOf({ failureCause, cause }: Fault): FailureCause | undefined {
  return failureCause ?? (cause instanceof Fault ? failureCauseOf(cause) : undefined)
}

/** The first cause that is no fault, else the innermost fault. */
export function rootCauseOf(fault: Fault): unknown {
  const { cause } = fault
  if (cause === undefined) return fault
  return cause instanceof Fault ? rootCauseOf(cause) : cause
}

/** The first fault, with the others beside it that are about a field too. There is at least one. */
export function joinedFaults([first, ...others]: readonly Fault[]): Fault {
  if (!first) throw new Error('There is no fault.')
  const alike = others.filter(({ kind, field }) => kind === first.kind && field !== undefined)
  return first.field === undefined || alike.length === 0 ? first : first.with({ others: alike })
}

// Standard messages: one wording per kind of fault, wherever it is thrown.

const messages = {
  timedOut: 'The provider did not answer in time; please try again later.',
  unauthorized: 'The API key is not valid.',
  notFound: 'Transaction not found.',
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

/** For a sentence. */
export function inSeconds(count: number): string {
  return count === 1 ? '1 second' : `${count} seconds`
}

/** The provider returned another transaction. It must not be passed on: a payment to its deposit address would be lost. */
export function otherTransaction(provider: string): Fault {
  const message = "The provider's answer was about another transaction; please try again later."
  return new Fault('unreadable', message, { provider })
}

/** It reported facts that contradict what was created: nothing of them counts. */
export function contradictedReport(provider: string): Fault {
  return new Fault('contradicted', "The provider's report is about another swap: please ask your operator.", { provider })
}

/** The `Fault` of a shed request: 503 `overloaded`. */
export function overloaded(details: FaultDetails = {}): Fault {
  return new Fault('unavailable', 'The service is overloaded; please wait as long as Retry-After says.', {
    ...details,
    retryAfter: 2,
    reason: 'overloaded',
  })
}

/** The firm quote of a create is over, was used, or is not the caller's: nobody learns which, so that no other account's quote shows. */
export function quoteExpired(details: FaultDetails = {}): Fault {
  const message =
    'The quote does not hold: its time is over, it was used, or it is not yours. This request has created nothing; if an earlier one may have used the quote, look for its swap before you request a new quote.'
  return new Fault('quoteExpired', message, { effect: 'refused', ...details })
}

/** No provider gives a fixed rate near the quote that the caller saw, or this one does not. Nothing was sent, and another one may take it. */
export function priceMoved(): Fault {
  const message = 'The price has moved since your quote, and nothing was created; please request a new quote.'
  return new Fault('unavailable', message, { effect: 'nothingSent', retryAfter: 1, unavailableCause: 'price' })
}

/** For a provider that serves only users whose address it gets. Nothing was sent. */
export function noPublicAddress(): Fault {
  const message = 'This swap is offered only to clients with a public network address, and this request has none.'
  return new Fault('invalid', message, { reason: 'refused', effect: 'nothingSent' })
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
  'idempotency_key_missing', // the operator requires one
  'key_missing',
  'key_invalid',
  'key_scope', // the key is valid, and may not do this
  'role', // the token of an operator is valid, and may not do this
  'not_found', // no such transaction for this key
  'not_open', // nothing is open at this path of the native lane
  'in_progress', // a request with the same Idempotency-Key has no outcome yet
  'outcome_unknown', // a create may or may not have happened
  'quote_expired', // the firm quote of a create is over, used, or not the caller's
  'needs_person', // only a person can find out what became of a create
  'conflict', // the swap does not allow this action any more
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
  'ledger_restored', // the ledger may lack the swap, since it was restored from a backup
  'stopping',
  'internal',
] as const

export type Reason = (typeof reasons)[number]

// The error type of a request in metrics, logs and traces: a closed list, grouped by the party at fault.

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
  'gateway_ledger', // the ledger cannot be read or written, or lacks what was made after its backup
] as const

export type ErrorType = (typeof errorTypes)[number]

const byReason: Readonly<Partial<Record<Reason, ErrorType>>> = {
  overloaded: 'limit_overload',
  unverified_limited: 'limit_unverified',
  ledger_unavailable: 'gateway_ledger',
}

const byUnavailableCause: Readonly<Record<UnavailableCause, ErrorType>> = {
  budget: 'limit_budget',
  breaker: 'provider_cooldown',
  caller: 'provider_cooldown',
  cooldown: 'provider_cooldown',
  limited: 'provider_limited',
  price: 'provider_refused',
}

/** The type of a fault; `none` without a fault. */
export function errorTypeOf(fault: Fault | undefined): ErrorType {
  if (!fault) return 'none'
  const { kind, reason, unavailableCause, provider, effect, cause } = fault
  const mapped = unavailableCause === undefined ? byReason[reason] : byUnavailableCause[unavailableCause]
  if (mapped !== undefined) return mapped
  if (kind === 'unavailable' && reason === 'ledger_restored') return 'gateway_ledger'
  if (kind === 'limited' && provider !== undefined) return 'provider_limited'
  if (kind === 'failed' && provider !== undefined && effect !== 'maybe') return 'provider_refused'
  if (kind === 'outcomeUnknown' && isOfLedger(cause)) return 'gateway_ledger'
  return kind === 'unavailable' && cause instanceof Fault ? errorTypeOf(cause) : faultTable[kind].errorType
}

/** The provider has responded, but the ledger could not store the result. */
function isOfLedger(cause: unknown): boolean {
  return cause instanceof Fault && cause.reason === 'ledger_unavailable'
}

// The range of amounts that a provider takes: it gives a refused one its reason and its message (docs/contract.md §6).

export interface AmountRange {
  /** The amount that was refused. */
  readonly amountIn?: Amount | undefined
  readonly minAmount?: Amount | undefined
  readonly maxAmount?: Amount | undefined
  /** The least that can be received. It explains no refusal. */
  readonly receivedMin?: Amount | undefined
}

/** The bound that cannot be right: a negative one, or a minimum above the maximum. A maximum of 0 means no maximum. */
export function implausibleBound({ minAmount, maxAmount }: AmountRange): 'minAmount' | 'maxAmount' | undefined {
  if (isNegative(minAmount)) return 'minAmount'
  if (isNegative(maxAmount)) return 'maxAmount'
  if (minAmount === undefined || maxAmount === undefined || isZero(maxAmount)) return undefined
  return compareAmounts(minAmount, maxAmount) > 0 ? 'minAmount' : undefined
}

function isNegative(amount: Amount | undefined): boolean {
  return amount !== undefined && !isPositive(amount) && !isZero(amount)
}

/** `below_minimum`, `above_maximum`, or `refused` if the range does not explain the refusal, or cannot be right. */
export function reasonByAmountRange(amount: Amount | undefined, range: AmountRange): Reason {
  if (amount === undefined || implausibleBound(range) !== undefined) return 'refused'
  const { minAmount, maxAmount } = range
  if (minAmount !== undefined && compareAmounts(amount, minAmount) < 0) return 'below_minimum'
  if (maxAmount !== undefined && isPositive(maxAmount) && compareAmounts(amount, maxAmount) > 0) return 'above_maximum'
  return 'refused'
}

/** The refusal with this range in its reason and its message, if they explain it; otherwise the same. */
export function explainedByAmountRange(fault: Fault, amountRange: AmountRange): Fault {
  const reason = reasonByAmountRange(amountRange.amountIn, amountRange)
  if (reason === 'refused') return fault
  const { provider, effect, refusal } = fault
  const details = { ...(provider !== undefined && { provider }), effect, refusal, reason, amountRange, cause: fault }
  return new Fault('invalid', messageWithAmountRange(fault.message, amountRange), details)
}

/** Appends the range of the amount to a message that does not end with it: both, or the one that there is where a provider may have only one. */
export function messageWithAmountRange(message: string, { minAmount, maxAmount }: AmountRange): string {
  const parts = [minAmount && `minimum ${minAmount}`, maxAmount && `maximum ${maxAmount}`].filter(Boolean).join(', ')
  if (parts === '') return message
  const range = `${parts[0]?.toUpperCase()}${parts.slice(1)}.`
  if (message.endsWith(range)) return message
  return `${/[.!?]$/.test(message) ? message : `${message}.`} ${range}`
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

/** The firm quote of a create is over, or another create has it. Nothing was changed. */
export class QuoteNotHeld extends Error {}

/** Another swap has the deposit address of a create, with its memo. Nothing was changed. */
export class DepositInUse extends Error {}

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

/** Whether the reason or one of its causes has this type. */
export function isCausedBy(reason: unknown, type: abstract new (...parts: never[]) => Error): boolean {
  return reason instanceof type || (reason instanceof Error && isCausedBy(reason.cause, type))
}
