/** Answers and faults as HTTP responses in a client's form. */
import type { Fault } from '../domain/fault.ts'
import type { Quota } from '../domain/gate.ts'
import type { Answer, Op, Request } from '../domain/operations.ts'
import type { Span } from '../domain/span.ts'
import { isNamed } from '../wire/entity-tag.ts'
import type { Form, OperationCodec } from '../wire/form.ts'
import type { HttpResponse } from '../wire/http.ts'
import { printString } from '../wire/json.ts'
import { reasonPhrase, toStatus } from '../wire/status.ts'
import { type Encoding, encodeBody } from './body.ts'

type Headers = Record<string, string>

/** What the response to one request tells besides its body; more of it is known the further the request comes. */
export interface Telling {
  readonly form: Form
  readonly requestId: string
  readonly vary: string | undefined
  operation?: OperationCodec | undefined
  quota?: Quota | undefined
  readonly span?: Span | undefined
}

export function encodeAnswer(
  answer: Answer<Op>,
  question: Request<Op>,
  operation: OperationCodec,
  telling: Telling,
  encoding: Encoding,
): HttpResponse {
  const lifetime = encoding.lifetimes[operation.op]
  const { text, omitted, tag } = encodeBody(answer.body, question, operation, telling.form, encoding)
  const headers = baseHeaders(telling, answer.provider)
  headers['cache-control'] = lifetime === undefined ? 'no-store' : `private, max-age=${Math.floor(lifetime)}`
  if (lifetime !== undefined) headers.age = String(Math.floor(answer.age ?? 0))
  if (tag !== undefined) headers.etag = tag
  if (answer.stale !== undefined) headers['x-swap-stale'] = String(answer.stale)
  if (answer.replayed) headers['idempotent-replayed'] = 'true'
  const derived = (answer.derived ?? []).map((field) => operation.answers.get(field)).filter((name) => name !== undefined)
  tellFidelity('derived', derived, headers, answer, telling, encoding)
  tellFidelity('omitted', omitted, headers, answer, telling, encoding)
  return { status: operation.success, headers, body: text }
}

/** 304 in place of an answer that the client has, by its `If-None-Match` (RFC 9110 §15.4.5). */
export function unlessKnown(response: HttpResponse, ifNoneMatch: string | undefined): HttpResponse {
  const { etag, 'content-type': _, ...headers } = response.headers
  if (etag === undefined || ifNoneMatch === undefined || !isNamed(etag, ifNoneMatch)) return response
  return { status: 304, headers: { ...headers, etag }, body: '' }
}

/** `X-Swap-Derived` and `X-Swap-Omitted` (docs/contract.md §3.8). */
function tellFidelity(
  what: 'derived' | 'omitted',
  fields: readonly string[],
  headers: Headers,
  { provider }: Answer<Op>,
  { form }: Telling,
  { observe }: Encoding,
): void {
  if (fields.length === 0) return
  headers[`x-swap-${what}`] = fields.toSorted().join(',')
  for (const field of fields) observe({ what, client: form.name, provider, field })
}

export function encodeFault(fault: Fault, telling: Telling): HttpResponse {
  const { form, operation } = telling
  const status = toStatus(fault.kind)
  const headers = baseHeaders(telling, fault.provider)
  headers['cache-control'] = 'no-store'
  headers['x-swap-reason'] = fault.reason
  if (fault.allow !== undefined) headers.allow = fault.allow
  if (fault.retryAfter !== undefined) headers['retry-after'] = String(fault.retryAfter)
  if (fault.replayed) headers['idempotent-replayed'] = 'true'
  if (fault.kind === 'unauthorized') headers['www-authenticate'] = form.credential.challenge
  const name = fault.field === undefined ? undefined : (operation?.asks.get(fault.field) ?? 'request')
  const message = name === undefined ? fault.message : `Invalid ${name}: ${fault.message}.`
  return { status, headers, body: errorBody(form, status, message) }
}

/** The error body of the form for a status (docs/contract.md §6). */
export function errorBody(form: Form, status: number, message: string): string {
  const parts = { reason: printString(reasonPhrase(status)), message: printString(message), status: String(status) }
  return `{${Object.entries(form.error)
    .map(([name, part]) => `${printString(name)}:${parts[part]}`)
    .join(',')}}`
}

export function optionsResponse(allow: string, telling: Telling): HttpResponse {
  const headers = baseHeaders(telling, undefined)
  delete headers['content-type']
  return { status: 204, headers: { ...headers, allow, 'cache-control': 'no-store' }, body: '' }
}

/** What every answer tells, JSON or not. */
export function baseHeaders({ form, requestId, vary, quota }: Telling, provider: string | undefined): Headers {
  const headers: Headers = {
    'content-type': 'application/json; charset=utf-8',
    'x-swap-form': form.name,
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
  }
  if (provider !== undefined) headers['x-swap-provider'] = provider
  if (vary !== undefined) headers.vary = vary
  if (quota) {
    const { policy, limit, window, remaining, reset } = quota
    headers['ratelimit-policy'] = `"${policy}";q=${limit};w=${window}`
    headers.ratelimit = `"${policy}";r=${remaining};t=${reset}`
  }
  return headers
}
