/** Answers and faults as HTTP responses in a client's form. */
import type { Fault } from '../domain/fault.ts'
import type { Quota } from '../domain/gate.ts'
import type { Observer } from '../domain/observation.ts'
import type { Answer, Op, Request } from '../domain/operations.ts'
import type { CurrencyQuery, Page, TransactionQuery } from '../domain/swap.ts'
import { entityTag, isNamed } from '../wire/entity-tag.ts'
import { encodePage } from '../wire/envelope.ts'
import type { Form, OperationCodec } from '../wire/form.ts'
import type { HttpResponse } from '../wire/http.ts'
import { printString } from '../wire/json.ts'
import { reasonPhrase, toStatus } from '../wire/status.ts'

type Headers = Record<string, string>
type Row = Readonly<Record<string, unknown>>

/** What the response to one request tells besides its body; more of it is known the further the request comes. */
export interface Telling {
  readonly form: Form
  readonly requestId: string
  readonly vary: string | undefined
  operation?: OperationCodec
  quota?: Quota | undefined
}

export interface Encoding {
  readonly lifetimes: Readonly<Partial<Record<Op, number>>>
  readonly observe: Observer
  /** Pages that are told again and again, ready-made. */
  readonly ready: WeakMap<object, Encoded>
}

interface Encoded {
  readonly text: string
  /** Wire names of the fields that are left out. */
  readonly omitted: readonly string[]
  /** Absent where the answer is never kept. */
  readonly tag: string | undefined
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

/** What may be kept may be asked for again: it has a tag, and a page of it is made once. */
function encodeBody(
  body: Answer<Op>['body'],
  question: Request<Op>,
  operation: OperationCodec,
  form: Form,
  { lifetimes, ready }: Encoding,
): Encoded {
  const isKept = lifetimes[operation.op] !== undefined
  const before = isKept && operation.paged ? ready.get(body) : undefined
  if (before) return before
  const omitted = new Set<string>()
  const text = print(body, question, operation, form, omitted)
  const encoded = { text, omitted: [...omitted], tag: isKept ? entityTag(text) : undefined }
  if (isKept && operation.paged) ready.set(body, encoded)
  return encoded
}

function print(
  body: Answer<Op>['body'],
  question: Request<Op>,
  { paged, answer }: OperationCodec,
  form: Form,
  omitted: Set<string>,
): string {
  if (!paged) return answer.encode(body as unknown as Row, omitted)
  const { items, total } = body as Page<never>
  const { page, size } = question as CurrencyQuery | TransactionQuery
  return encodePage(
    form.page,
    items.map((item) => answer.encode(item as Row, omitted)),
    { page, size, total },
  )
}

/** `X-Swap-Derived` and `X-Swap-Omitted` (`spec/contract.md` §3). */
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
  if (fault.allow !== undefined) headers.allow = fault.allow
  if (fault.retryAfter !== undefined) headers['retry-after'] = String(fault.retryAfter)
  if (fault.replayed) headers['idempotent-replayed'] = 'true'
  if (fault.kind === 'unauthorized') headers['www-authenticate'] = form.credential.challenge
  const name = fault.field === undefined ? undefined : (operation?.asks.get(fault.field) ?? 'request')
  const message = name === undefined ? fault.message : `Invalid ${name}: ${fault.message}.`
  return { status, headers, body: errorBody(form, status, message) }
}

/** The error body of the form for a status (`spec/contract.md` §6). */
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

function baseHeaders({ form, requestId, vary, quota }: Telling, provider: string | undefined): Headers {
  const headers: Headers = {
    'content-type': 'application/json; charset=utf-8',
    'x-swap-form': form.name,
    'x-request-id': requestId,
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
