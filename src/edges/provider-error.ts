/** Converts a provider's error response into a fault that a client may get (docs/contract.md §6). */
import type { Amount } from '../domain/amount.ts'
import type { Confidential } from '../domain/confidential.ts'
import {
  type AmountRange,
  Fault,
  type FaultKind,
  generalMessage,
  implausibleBound,
  inSeconds,
  messageWithAmountRange,
  publicMessage,
  reasonByAmountRange,
  type SpecialRefusal,
  standardMessage,
} from '../domain/fault.ts'
import {
  defaultRetryAfterSeconds,
  fromStatus,
  type HttpResponse,
  isAboutRequest,
  isReasonPhrase,
  readRetryAfter,
} from '../wire/http.ts'
import { JsonError, JsonObject, type JsonValue, parseJson } from '../wire/json.ts'
import type { ProviderForm } from '../wire/provider-form.ts'
import type { ProviderCall } from '../wire/provider-operation.ts'
import { type Refusal, type RefusalMeaning, readRefusal } from '../wire/refusal.ts'
import { readUnreadable } from '../wire/response.ts'
import type { DecodeContext } from '../wire/response-nodes.ts'

export interface ErrorContext {
  readonly form: ProviderForm
  readonly call: ProviderCall
  /** The amount of the rejected request: one of both. */
  readonly amountIn: Amount | undefined
  readonly amountOut: Amount | undefined
  /** Whether the rejected request has the id of a quote. */
  readonly hasQuote: boolean
  readonly provider: string
  readonly confidential: Confidential
  /** The credential of this call. A message with it is not shown. */
  readonly secret: string | undefined
  readonly drift: DecodeContext['drift']
}

/** The fault for an error response: one with an error status, or one that is a refusal by its form. */
export function toProviderFault(response: HttpResponse, errorContext: ErrorContext): Fault {
  const { call, provider, form, amountIn, hasQuote } = errorContext
  const body = readBody(response.body)
  const refusal = readRefusal(form.refusal, response.status, body)
  const { message, amountRange: knownRange, reportedRange, meaning } = refusal
  const implausible = implausibleBound(knownRange)
  if (implausible !== undefined) errorContext.drift(implausible, 'implausible')
  // A limit beside the amount to be received may be of either coin.
  const isReceived = errorContext.amountOut !== undefined
  const isKnown = implausible === undefined && !isReceived
  const range = isKnown ? knownRange : {}
  const kind = kindOf(response.status, call, meaning)
  const ownReason = kind === 'invalid' ? (meaning?.reason ?? reasonByAmountRange(amountIn, range)) : undefined
  const isOutOfRange = ownReason === 'below_minimum' || ownReason === 'above_maximum'
  const isAboutAmount = meaning?.isAboutAmount || isOutOfRange
  // Only a quote shows that what must be sent for it is outside of its limits.
  const reason = isReceived && isOutOfRange ? 'refused' : ownReason
  const hasExpired = hasQuote && hasExpiredReason(response, form)
  const isRefused = hasExpired || isRefusal(response, body, meaning, call)
  const isQuoteExpired = hasExpired || refusal.isQuoteExpired
  const pause = readRetryAfter(response.headers['retry-after'], response.headers.date)
  const retryAfter = kind === 'limited' ? (pause ?? meaning?.retryAfter ?? defaultRetryAfterSeconds) : undefined
  return new Fault(
    kind,
    retryAfter === undefined ? messageOf(kind, message, isKnown ? reportedRange : {}, errorContext) : limitedByProvider(retryAfter),
    {
      provider,
      effect: isRefused ? 'refused' : 'maybe',
      refusal: specialRefusal(response, call, { ...refusal, isQuoteExpired }, isRefused),
      ...(reason && { reason }),
      ...(isAboutAmount && { amountRange: { amountIn, ...range } }),
      ...(retryAfter !== undefined && { retryAfter }),
    },
  )
}

/** A service like this gateway says it in a header, and has then created nothing. */
function hasExpiredReason({ status, headers }: HttpResponse, { asksForQuoteId }: ProviderForm): boolean {
  return asksForQuoteId && status === 409 && headers['x-swap-reason'] === 'quote_expired'
}

function specialRefusal(
  { status }: HttpResponse,
  { op }: ProviderCall,
  { meaning, isQuoteExpired, isOfForm }: Refusal,
  isRefused: boolean,
): SpecialRefusal | undefined {
  if (op === 'createTransaction' && isRefused && isQuoteExpired) return 'quoteExpired'
  if (op === 'createTransaction' && isRefused && !isOfForm) return 'foreign'
  return status === 403 && meaning === undefined ? 'forbidden' : undefined
}

/** Statuses of the class 4xx that do not say whether the create was carried out. 499: a proxy noted that its client hung up. */
const openStatuses: ReadonlySet<number> = new Set([408, 409, 423, 424, 425, 499])

/**
 * Whether the provider certainly did nothing (docs/contract.md §10): a 4xx refuses, whatever its body, unless that names a transaction
 * or says that it exists already. With a status of success the provider's own word for a refusal must say so.
 */
function isRefusal(
  { status, body: text }: HttpResponse,
  body: JsonValue | undefined,
  meaning: RefusalMeaning | undefined,
  call: ProviderCall,
): boolean {
  const isCreate = call.op === 'createTransaction' && call.method !== 'GET'
  if (status >= 500 || (isCreate ? openStatuses.has(status) : status === 408)) return false
  if (isCreate && (meaning?.mayExist || namesTransaction(body, text, call))) return false
  if (meaning?.kind === 'failed') return isCreate && status >= 400
  return status >= 400 || meaning !== undefined
}

/** Whether an error of a create names the id or the deposit address of a transaction. A body that cannot be read is searched as text. */
function namesTransaction(body: JsonValue | undefined, text: string, { responseCodec, responseNames }: ProviderCall): boolean {
  if (body === undefined) {
    const names = ['id', 'depositAddress'].map((field) => responseNames.get(field)).filter((name) => name !== undefined)
    return names.some((name) => text.includes(`"${name}"`))
  }
  return objectsIn(body).some(({ object, depth }) => {
    const { fields } = readUnreadable(responseCodec, object)
    const { id, depositAddress } = fields
    // Further inside, an id alone may be that of a request or of an error.
    return depositAddress !== undefined || (id !== undefined && (depth < 2 || Object.keys(fields).length > 1))
  })
}

interface NestedObject {
  readonly object: JsonObject
  readonly depth: number
}

const maxDepth = 4

/** The objects in which an error may name a transaction. The items of a list of errors have ids of their own. */
function objectsIn(value: JsonValue, depth = 0): readonly NestedObject[] {
  if (depth > maxDepth) return []
  if (Array.isArray(value)) return value.flatMap((item) => objectsIn(item, depth))
  if (!(value instanceof JsonObject)) return []
  const { keys, values } = value
  const members = values.filter((member, at) => !(Array.isArray(member) && /^errors?$/i.test(keys[at] ?? '')))
  return [{ object: value, depth }, ...members.flatMap((member) => objectsIn(member, depth + 1))]
}

/** By the provider's code, if its form has a meaning for it. A rate limit is recognized by the status alone. */
function kindOf(status: number, call: ProviderCall, meaning: RefusalMeaning | undefined): FaultKind {
  if (status === 429 || !meaning) return fromStatus(status, call)
  return meaning.kind === 'notFound' && isAboutRequest(call.op) ? 'invalid' : meaning.kind
}

function limitedByProvider(retryAfter: number): string {
  return `The provider has too many requests; please wait ${inSeconds(retryAfter)}.`
}

function messageOf(kind: FaultKind, providerMessage: string, range: AmountRange, errorContext: ErrorContext): string {
  if (kind === 'unauthorized' || kind === 'failed') return standardMessage(kind)
  if (kind === 'notFound' && providerMessage === '') return standardMessage(kind)
  const message = isReasonPhrase(providerMessage)
    ? generalMessage
    : publicMessage(providerMessage, errorContext.confidential, errorContext.secret)
  return messageWithAmountRange(message, range)
}

/** Characters of an error that are worth the time that it takes to read them. */
const maxErrorLength = 262_144

function readBody(text: string): JsonValue | undefined {
  if (text.length > maxErrorLength) return undefined
  try {
    return parseJson(text)
  } catch (reason) {
    if (reason instanceof JsonError) return undefined
    throw reason
  }
}
