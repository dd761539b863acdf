/** Converts a provider's error response into a fault that a client may see (docs/contract.md §6). */
import { type Amount, toAmount } from '../domain/amount.ts'
import { type AmountLimits, reasonByLimits } from '../domain/faults/amount-limits.ts'
import type { Confidential } from '../domain/faults/confidential.ts'
import { Fault, type FaultKind } from '../domain/faults/fault.ts'
import { publicMessage, withLimits } from '../domain/faults/public-message.ts'
import { standardMessage } from '../domain/faults/standard-fault.ts'
import type { Form, OperationCodec } from '../wire/form.ts'
import type { HttpResponse } from '../wire/http.ts'
import { JsonError, JsonNumber, JsonObject, type JsonValue, parseJson } from '../wire/json.ts'
import { readRetryAfter } from '../wire/retry-after.ts'

export interface ErrorContext {
  readonly form: Form
  readonly operation: OperationCodec
  /** The amount of the rejected request. */
  readonly amountIn: Amount | undefined
  readonly provider: string
  readonly confidential: Confidential
  /** The credential of this call. A message with it is not shown. */
  readonly secret: string | undefined
}

const defaultRetryAfterSeconds = 60

/** The fault for an error response; `response.status` is not 2xx. */
export function toProviderFault(response: HttpResponse, errorContext: ErrorContext): Fault {
  const { operation, provider, form } = errorContext
  const kind = kindOf(response.status, operation)
  const body = readBody(response.body)
  const messageName = Object.entries(form.error).find(([, part]) => part === 'message')?.[0] ?? ''
  const providerMessage = body?.get(messageName)
  const hasMessage = typeof providerMessage === 'string'
  const noEffect = hasNoEffect(response.status, hasMessage, operation)
  const limits = limitsIn(body, form)
  return new Fault(kind, messageOf(kind, hasMessage ? providerMessage : '', limits, errorContext), {
    provider,
    noEffect,
    ...(kind === 'invalid' && { reason: reasonByLimits(errorContext.amountIn, limits) }),
    ...(kind === 'limited' && { retryAfter: readRetryAfter(response.headers['retry-after']) ?? defaultRetryAfterSeconds }),
  })
}

/** Whether the provider certainly did nothing. A proxy may also reject a key; 409 may mean that the transaction exists. */
function hasNoEffect(status: number, hasMessage: boolean, { method }: OperationCodec): boolean {
  if (status === 401 || status === 403 || status === 429) return true
  if (status < 400 || status >= 500 || status === 408) return false
  return method === 'GET' || (hasMessage && status !== 409)
}

function kindOf(status: number, { op, keyed }: OperationCodec): FaultKind {
  if (status === 400 || status === 422) return 'invalid'
  if (status === 404) return op === 'getRate' || op === 'createTransaction' ? 'invalid' : 'notFound'
  if ((status === 401 || status === 403) && keyed) return 'unauthorized'
  if (status === 429) return 'limited'
  return 'failed'
}

function messageOf(
  kind: FaultKind,
  providerMessage: string,
  { minAmount, maxAmount }: AmountLimits,
  errorContext: ErrorContext,
): string {
  if (kind === 'unauthorized' || kind === 'limited' || kind === 'failed') return standardMessage(kind)
  if (kind === 'notFound' && providerMessage === '') return standardMessage(kind)
  const message = publicMessage(providerMessage, errorContext.confidential, errorContext.secret)
  return minAmount === undefined || maxAmount === undefined ? message : withLimits(message, minAmount, maxAmount)
}

function limitsIn(body: JsonObject | undefined, { operations }: Form): AmountLimits {
  const names = operations.getRate.responseNames
  return {
    minAmount: readAmount(body?.get(names.get('minAmount') ?? '')),
    maxAmount: readAmount(body?.get(names.get('maxAmount') ?? '')),
  }
}

function readAmount(value: JsonValue | undefined): Amount | undefined {
  const text = value instanceof JsonNumber ? value.lexeme : value
  return typeof text === 'string' ? toAmount(text) : undefined
}

function readBody(text: string): JsonObject | undefined {
  try {
    const body = parseJson(text)
    return body instanceof JsonObject ? body : undefined
  } catch (reason) {
    if (reason instanceof JsonError) return undefined
    throw reason
  }
}
