/** Converts a provider's error response into a fault that a client may get (docs/contract.md §6). */
import type { Amount } from '../domain/amount.ts'
import { type AmountLimits, reasonByLimits } from '../domain/faults/amount-limits.ts'
import type { Confidential } from '../domain/faults/confidential.ts'
import { Fault, type FaultKind } from '../domain/faults/fault.ts'
import { messageWithLimits, publicMessage } from '../domain/faults/public-message.ts'
import { standardMessage } from '../domain/faults/standard-fault.ts'
import type { HttpResponse } from '../wire/http.ts'
import { fromStatus, isAboutRequest } from '../wire/http-status.ts'
import { JsonError, type JsonValue } from '../wire/json.ts'
import { parseJson } from '../wire/parse-json.ts'
import type { ProviderForm } from '../wire/provider/form.ts'
import type { ProviderCall } from '../wire/provider/operation.ts'
import { type RefusalMeaning, readRefusal } from '../wire/provider/refusal.ts'
import { readRetryAfter } from '../wire/retry-after.ts'

export interface ErrorContext {
  readonly form: ProviderForm
  readonly call: ProviderCall
  /** The amount of the rejected request. */
  readonly amountIn: Amount | undefined
  readonly provider: string
  readonly confidential: Confidential
  /** The credential of this call. A message with it is not shown. */
  readonly secret: string | undefined
}

const defaultRetryAfterSeconds = 60

/** The fault for an error response: one with an error status, or one that is a refusal by its form. */
export function toProviderFault(response: HttpResponse, errorContext: ErrorContext): Fault {
  const { call, provider, form, amountIn } = errorContext
  const { message, limits, reportedLimits, meaning } = readRefusal(form.refusal, readBody(response.body))
  const kind = kindOf(response.status, call, meaning)
  const reason = kind === 'invalid' ? (meaning?.reason ?? reasonByLimits(amountIn, limits)) : undefined
  const isAboutAmount = meaning?.isAboutAmount || reason === 'below_minimum' || reason === 'above_maximum'
  return new Fault(kind, messageOf(kind, message, reportedLimits, errorContext), {
    provider,
    noEffect: hasNoEffect(response.status, message, meaning, call),
    isForbidden: response.status === 403 && meaning === undefined,
    ...(reason && { reason }),
    ...(isAboutAmount && { limits: { amountIn, ...limits } }),
    ...(kind === 'limited' && { retryAfter: readRetryAfter(response.headers['retry-after']) ?? defaultRetryAfterSeconds }),
  })
}

/**
 * Whether the provider certainly did nothing. Its word for a refusal proves that only where it responds with 200 or 4xx. A proxy may
 * also reject a key; 409 may mean that the transaction exists.
 */
function hasNoEffect(status: number, message: string, meaning: RefusalMeaning | undefined, { method, op }: ProviderCall): boolean {
  if (status === 401 || status === 403 || status === 429) return true
  const isRead = method === 'GET' || op !== 'createTransaction'
  const isOpen = status >= 500 || status === 408 || (status === 409 && !isRead)
  if (isOpen || meaning) return !isOpen && meaning?.kind !== 'failed'
  return status >= 400 && (isRead || message !== '')
}

/** By the provider's code, if its form has a meaning for it. A rate limit is recognized by the status alone. */
function kindOf(status: number, call: ProviderCall, meaning: RefusalMeaning | undefined): FaultKind {
  if (status === 429 || !meaning) return fromStatus(status, call)
  return meaning.kind === 'notFound' && isAboutRequest(call.op) ? 'invalid' : meaning.kind
}

function messageOf(kind: FaultKind, providerMessage: string, limits: AmountLimits, errorContext: ErrorContext): string {
  if (kind === 'unauthorized' || kind === 'limited' || kind === 'failed') return standardMessage(kind)
  if (kind === 'notFound' && providerMessage === '') return standardMessage(kind)
  const message = publicMessage(providerMessage, errorContext.confidential, errorContext.secret)
  return messageWithLimits(message, limits)
}

function readBody(text: string): JsonValue | undefined {
  try {
    return parseJson(text)
  } catch (reason) {
    if (reason instanceof JsonError) return undefined
    throw reason
  }
}
