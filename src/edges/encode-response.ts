/** Converts results and faults into HTTP responses in a client's form. */
import type { PreferredWait } from '../domain/call-options.ts'
import {
  type AmountRange,
  Fault,
  faultTable,
  messageWithAmountRange,
  type ParameterError,
  reasonByAmountRange,
} from '../domain/fault.ts'
import { millisecondsOf } from '../domain/instant.ts'
import type { Observer } from '../domain/observation.ts'
import type { Answer, Question } from '../domain/question.ts'
import type { Encoding, Op, Quota, Request, ServiceResponse } from '../domain/service.ts'
import { isFinal, roundDown, type Status } from '../domain/status.ts'
import type { AmountRefusalTable, EndpointCodec, Form, OperationCodec, QuestionCodec } from '../wire/form.ts'
import { entityTag, type HttpResponse, matchesEtag, reasonPhrase } from '../wire/http.ts'
import { printString } from '../wire/json.ts'
import { encodePage } from '../wire/page.ts'
import type { ResponseCodec } from '../wire/response-nodes.ts'

type Headers = Record<string, string>

/** What the headers of every response need of the request. */
export interface ResponseContext {
  readonly form: Form
  readonly requestId: string
  readonly vary: string | undefined
  /** Undefined if no operation matches; then an error names no parameter. */
  readonly codec: EndpointCodec | undefined
  /** Undefined until the request is counted. */
  readonly quota: Quota | undefined
  /** Tags of the providers with `sandbox: true`. */
  readonly sandboxTags: ReadonlySet<string>
  /** Whether the client wants amounts as texts (`Prefer: amounts=text`). */
  readonly hasAmountsAsText: boolean
  /** Whether and how long it prefers to wait for the outcome of a create (`Prefer: wait`). */
  readonly preferredWait: PreferredWait | undefined
  /** Whether its URL is a secret, so that no cache may store the response. */
  readonly hasKeyInQuery: boolean
  /** The path of the page that explains each reason; undefined if there is none. */
  readonly helpPath: string | undefined
}

/** Throws `invalid` for a quote outside of its own limits, if the form refuses such a quote. */
export function encodeResponse(
  serviceResponse: ServiceResponse<Op>,
  request: Request<Op>,
  operation: OperationCodec,
  responseContext: ResponseContext,
  options: EncodeOptions,
): HttpResponse {
  if (responseContext.form.amountRefusal && operation.op === 'getRate')
    refuseByLimits(serviceResponse as ServiceResponse<'getRate'>, request as Request<'getRate'>)
  const maxAge =
    serviceResponse.caching?.isForbidden || responseContext.hasKeyInQuery ? undefined : options.maxAgeSeconds[operation.op]
  const { text, omitted, etag: tag } = encodeBody(serviceResponse, request, operation, responseContext, options)
  const headers = baseHeaders(responseContext, serviceResponse.provider, serviceResponse.sources)
  headers['cache-control'] = maxAge === undefined ? 'no-store' : `private, max-age=${Math.floor(maxAge)}`
  if (maxAge !== undefined) headers.age = String(Math.floor(serviceResponse.caching?.ageSeconds ?? 0))
  if (tag !== undefined) headers.etag = tag
  if (serviceResponse.staleSeconds !== undefined) headers['x-swap-stale'] = String(serviceResponse.staleSeconds)
  const attention = operation.op === 'getTransaction' && 'attention' in serviceResponse.body && serviceResponse.body.attention
  if (attention) headers['x-swap-attention'] = attention
  if (operation.op === 'getTransaction') setPollAfter(serviceResponse as ServiceResponse<'getTransaction'>, headers)
  if (serviceResponse.replay) headers['idempotent-replayed'] = 'true'
  if (serviceResponse.warning) headers['x-swap-warning'] = serviceResponse.warning
  const status = statusIn(responseContext.form, serviceResponse.replay?.latestStatus)
  if (status !== undefined && status !== 'wait') headers['x-swap-status'] = status
  const { derived } = serviceResponse
  if (derived) setFidelityHeaders('derived', wireNames(derived, operation), headers, serviceResponse, responseContext, options)
  setFidelityHeaders('omitted', omitted, headers, serviceResponse, responseContext, options)
  return { status: operation.success, headers, body: text }
}

/** The answer to a question. What is wrong with its fields has the names of the client's form. */
export function encodeAnswer(
  answer: Answer<Question>,
  request: object,
  codec: QuestionCodec,
  responseContext: ResponseContext,
  options: EncodeOptions,
): HttpResponse {
  const { body, provider, sources, derived = [], omitted: incomplete = [], warning, staleSeconds, replay } = answer
  const { success, responseNames } = codec
  const omitted = new Set<string>()
  const text = printAnswer(body, request, codec, responseContext, omitted)
  const headers = baseHeaders(responseContext, provider, sources)
  headers['cache-control'] = 'no-store'
  if (warning) headers['x-swap-warning'] = warning
  if (staleSeconds !== undefined) headers['x-swap-stale'] = String(staleSeconds)
  if ('attention' in body && body.attention) headers['x-swap-attention'] = body.attention
  if (replay) headers['idempotent-replayed'] = 'true'
  const namesOf = (fields: readonly string[]) => fields.flatMap((field) => responseNames.get(field) ?? [])
  setFidelityHeaders('derived', namesOf(derived), headers, { provider }, responseContext, options)
  setFidelityHeaders('omitted', [...omitted, ...namesOf(incomplete)], headers, { provider }, responseContext, options)
  return { status: success, headers, body: text }
}

function printAnswer(
  body: Answer<Question>['body'],
  request: object,
  { rows, requestNames, responseCodec }: QuestionCodec,
  { form, hasAmountsAsText }: ResponseContext,
  omitted: Set<string>,
): string {
  const encode = hasAmountsAsText ? responseCodec.encodeAmountsAsText : responseCodec.encode
  if (!('items' in body) || (rows !== 'list' && rows !== 'page')) return encode(withNames(body, requestNames), omitted)
  const items = body.items.map((item) => encode(item, omitted))
  if (rows === 'list') return `[${items.join(',')}]`
  const { page, size } = request as { readonly page: number; readonly size: number }
  return encodePage(form.page, items, { page, size, total: body.total })
}

function withNames(body: Answer<Question>['body'], names: ReadonlyMap<string, string>): object {
  const sentence = ({ field, message }: { readonly field?: string | undefined; readonly message: string }): string =>
    field === undefined ? message : `Invalid ${names.get(field) ?? 'request'}: ${message}.`
  if ('complaints' in body) {
    const complaints = body.complaints.map((each) => ({ ...each, field: names.get(each.field) ?? '', message: sentence(each) }))
    return { ...body, complaints }
  }
  return 'failures' in body ? { ...body, failures: body.failures.map((each) => ({ ...each, message: sentence(each) })) } : body
}

/** Seconds between two gets of a swap, by its age in seconds: most end within minutes. */
const pollAfter = [
  { below: 600, seconds: 5 },
  { below: 86_400, seconds: 30 },
] as const
const longestPollAfter = 600

/** When the next get is worth while. A final state does not change. */
function setPollAfter({ body: { status, createdAt } }: ServiceResponse<'getTransaction'>, headers: Headers): void {
  if (isFinal(status)) return
  const ageSeconds = (Date.now() - (millisecondsOf(createdAt ?? '') ?? Number.NaN)) / 1000
  const known = pollAfter.find(({ below }) => ageSeconds < below)
  headers['x-swap-poll-after'] = String(known?.seconds ?? longestPollAfter)
}

function statusIn({ statuses }: Form, status: Status | undefined): Status | undefined {
  return status && roundDown(status, new Set(statuses))
}

function refuseByLimits({ body, provider }: ServiceResponse<'getRate'>, request: Request<'getRate'>): void {
  const { message, minAmount, maxAmount, receivedMin } = body
  const amountIn = request.amountIn ?? body.amountIn
  const amountRange = { amountIn, minAmount, maxAmount, receivedMin }
  const reason = reasonByAmountRange(amountIn, amountRange)
  if (reason === 'refused') return
  const text = message || messageWithAmountRange('The amount is outside of the limits.', amountRange)
  throw new Fault('invalid', text, { reason, amountRange, effect: 'refused', ...(provider && { provider }) })
}

/** Returns 304 if `If-None-Match` has the tag of the response (RFC 9110 §15.4.5). */
export function notModifiedIfMatched(response: HttpResponse, ifNoneMatch: string | undefined): HttpResponse {
  if (ifNoneMatch === undefined) return response
  const { etag, 'content-type': _, ...headers } = response.headers
  if (etag === undefined || !matchesEtag(etag, ifNoneMatch)) return response
  return { status: 304, headers: { ...headers, etag }, body: '' }
}

function wireNames(fields: readonly string[], { responseNames }: OperationCodec): readonly string[] {
  return fields.map((field) => responseNames.get(field)).filter((name) => name !== undefined)
}

const fidelityHeaders = { derived: 'x-swap-derived', omitted: 'x-swap-omitted' } as const

/** `X-Swap-Derived` and `X-Swap-Omitted` (docs/contract.md §3.8). */
function setFidelityHeaders(
  what: keyof typeof fidelityHeaders,
  fields: readonly string[],
  headers: Headers,
  { provider }: { readonly provider?: string | undefined },
  { form }: ResponseContext,
  { observe }: EncodeOptions,
): void {
  if (fields.length === 0) return
  headers[fidelityHeaders[what]] = (fields.length > 1 ? fields.toSorted() : fields).join(',')
  for (const field of fields) observe({ what, client: form.name, provider, field })
}

export function encodeFault(fault: Fault, responseContext: ResponseContext): HttpResponse {
  const { form, codec } = responseContext
  const { status } = faultTable[fault.kind]
  const headers = baseHeaders(responseContext, fault.provider)
  headers['cache-control'] = 'no-store'
  headers['x-swap-reason'] = fault.reason
  if (responseContext.helpPath !== undefined) headers.link = `<${responseContext.helpPath}#${fault.reason}>; rel="help"`
  if (fault.allow !== undefined) headers.allow = fault.allow
  if (fault.retryAfter !== undefined) headers['retry-after'] = String(fault.retryAfter)
  if (fault.replayed) headers['idempotent-replayed'] = 'true'
  if (fault.kind === 'unauthorized') headers['www-authenticate'] = form.credential.challenge
  const errors = fault.errors ?? [fault, ...fault.others].flatMap((each) => fieldError(each, codec) ?? [])
  const message = errors.length === 0 ? fault.message : errors.map((error) => error.message).join(' ')
  const { amountRefusal } = form
  const range = isAboutAmount(fault) ? printRange(fault.amountRange, responseContext.hasAmountsAsText) : undefined
  if (!amountRefusal || !range)
    return { status, headers, body: errorBody(form, status, message, { ...range, errors, support: supportOf(fault, codec) }) }
  return { status: amountRefusal.status, headers, body: amountRefusalBody(amountRefusal, range, message) }
}

/** The provider's page about the swap, with its name in the form. */
function supportOf({ supportUrl }: Fault, codec: EndpointCodec | undefined): MoreOfError['support'] {
  const name = codec?.responseNames.get('supportUrl')
  return supportUrl === undefined || name === undefined ? undefined : { [name]: supportUrl }
}

/** Undefined if the fault is not about a field. */
function fieldError({ field, reason, message }: Fault, codec: EndpointCodec | undefined): ParameterError | undefined {
  if (field === undefined) return undefined
  const name = codec?.requestNames.get(field)
  return { field: name ?? '', reason, message: `Invalid ${name ?? 'request'}: ${message}.` }
}

function isAboutAmount({ reason, amountRange }: Fault): boolean {
  return amountRange?.amountIn !== undefined && (reason === 'below_minimum' || reason === 'above_maximum')
}

/** As JSON. */
type PrintedRange = Readonly<Partial<Record<keyof AmountRange, string>>>

/** Limits that are not known are left out. */
function printRange(range: AmountRange = {}, asText: boolean): PrintedRange {
  const known = Object.entries(range).filter(([, amount]) => amount !== undefined)
  return Object.fromEntries(known.map(([name, amount]) => [name, asText ? printString(amount) : amount]))
}

function amountRefusalBody({ body }: AmountRefusalTable, range: PrintedRange, message: string): string {
  const parts = { ...range, zero: '0', message: printString(message) }
  return `{${Object.entries(body)
    .filter(([, part]) => parts[part] !== undefined)
    .map(([name, part]) => `${printString(name)}:${parts[part]}`)
    .join(',')}}`
}

/** What an error says beside the members of its form. */
interface MoreOfError extends PrintedRange {
  /** What is wrong with each parameter. */
  readonly errors?: readonly ParameterError[]
  readonly support?: Readonly<Record<string, string>> | undefined
}

/** The error body of the form for a status (docs/contract.md §6). `more`: only in a form that has no members of its own for it. */
export function errorBody(form: Form, status: number, message: string, more: MoreOfError = {}): string {
  const reason = printString(reasonPhrase(status))
  const { minAmount, maxAmount, errors = [], support = {} } = more
  const parts = { reason, message: printString(message), status: String(status), byField: printByField(errors) }
  const own = Object.entries(form.error).map(([name, part]) => `${printString(name)}:${parts[part]}`)
  const known = Object.entries({ minAmount, maxAmount }).flatMap(([name, amount]) =>
    amount === undefined ? [] : [`"${name}":${amount}`],
  )
  const listed = errors.length > 0 && !('errors' in form.error) ? [`"errors":${JSON.stringify(errors)}`] : []
  const pages = Object.entries(support).map(([name, url]) => `${printString(name)}:${printString(url)}`)
  return `{${[...own, ...known, ...pages, ...listed].join(',')}}`
}

/** What is wrong with the request as a whole has no name, and stands in the message alone. */
function printByField(errors: readonly ParameterError[]): string {
  const named = Map.groupBy(
    errors.filter(({ field }) => field !== ''),
    ({ field }) => field,
  )
  const members = [...named].map(([field, faults]) => [field, faults.map(({ message }) => message).join(' ')] as const)
  return JSON.stringify(Object.fromEntries(members))
}

export function optionsResponse(allow: string, responseContext: ResponseContext): HttpResponse {
  const headers = baseHeaders(responseContext, undefined)
  delete headers['content-type']
  return { status: 204, headers: { ...headers, allow, 'cache-control': 'no-store' }, body: '' }
}

/**
 * The headers of every response, JSON or not. `sources`: the providers of a union. `X-Swap-Sandbox` is on all that is about a sandbox, also
 * out of the ledger, in a mixed list and in the native lane.
 */
export function baseHeaders(
  { form, requestId, vary, quota, sandboxTags, hasAmountsAsText, preferredWait }: ResponseContext,
  provider: string | undefined,
  sources: readonly string[] = [],
): Headers {
  const headers: Headers = {
    'content-type': 'application/json; charset=utf-8',
    'x-swap-form': form.name,
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
  }
  if (provider !== undefined) headers['x-swap-provider'] = provider
  if (sandboxTags.size > 0 && [provider, ...sources].some((tag) => tag !== undefined && sandboxTags.has(tag)))
    headers['x-swap-sandbox'] = 'true'
  const applied = [
    ...(hasAmountsAsText ? ['amounts=text'] : []),
    ...(preferredWait?.isApplied ? [`wait=${preferredWait.seconds}`] : []),
  ]
  if (applied.length > 0) headers['preference-applied'] = applied.join(', ')
  if (vary !== undefined) headers.vary = vary
  if (quota) {
    const { policy, limit, windowSeconds: window, remaining, resetSeconds: reset } = quota
    headers['ratelimit-policy'] = `"${policy}";q=${limit};w=${window}`
    headers.ratelimit = `"${policy}";r=${remaining};t=${reset}`
  }
  return headers
}

// Encodes the body of a response in a client's form.

export interface EncodeOptions {
  readonly maxAgeSeconds: Readonly<Partial<Record<Op, number>>>
  readonly observe: Observer
}

/** Characters of pages. Requests that waited for one list get their pages at once, and of more than these only one in each turn. */
const maxPerTurn = 2 * 1_048_576
/** In this turn of the event loop. */
let encodedCharacters = 0
let isTurnScheduled = false
const waiting: { readonly isEncoded: () => boolean; readonly resume: () => void }[] = []

/** Waits until the pages that were encoded before can have been written: they would take the memory, all at once. */
export async function turnToEncode({ caching: { encodings } = {} }: ServiceResponse<Op>, form: Form): Promise<void> {
  const isEncoded = (): boolean => encodings?.get(form.name) !== undefined
  if (isEncoded() || (encodedCharacters < maxPerTurn && waiting.length === 0)) return
  await new Promise<void>((resume) => waiting.push({ isEncoded, resume }))
}

function count(characters: number): void {
  encodedCharacters += characters
  if (isTurnScheduled) return
  isTurnScheduled = true
  setImmediate(endTurn)
}

function endTurn(): void {
  encodedCharacters = 0
  while (waiting[0]?.isEncoded()) waiting.shift()?.resume()
  const next = waiting.shift()
  isTurnScheduled = next !== undefined
  if (!next) return
  setImmediate(endTurn)
  next.resume()
}

/** Encodes a response; a cached page only once. If clients may cache it, adds an ETag. */
function encodeBody(
  { body, caching: { encodings } = {} }: ServiceResponse<Op>,
  request: Request<Op>,
  operation: OperationCodec,
  { form, hasAmountsAsText }: ResponseContext,
  { maxAgeSeconds }: EncodeOptions,
): Encoding {
  const name = hasAmountsAsText ? `${form.name}, amounts as texts` : form.name
  const cached = encodings?.get(name)
  if (cached) return cached
  const omitted = new Set<string>()
  const { encode, encodeAmountsAsText } = operation.responseCodec
  const text = print(body, request, operation.paged, form, hasAmountsAsText ? encodeAmountsAsText : encode, omitted)
  const isCacheable = maxAgeSeconds[operation.op] !== undefined
  const encoding = { text, omitted: [...omitted], etag: isCacheable ? entityTag(text) : undefined }
  encodings?.set(name, encoding)
  if (operation.paged) count(text.length)
  return encoding
}

function print(
  body: ServiceResponse<Op>['body'],
  request: Request<Op>,
  paged: boolean,
  form: Form,
  encode: ResponseCodec['encode'],
  omitted: Set<string>,
): string {
  if (!(paged && 'items' in body && 'page' in request)) return encode(body, omitted)
  const { items, total } = body
  const { page, size } = request
  return encodePage(
    form.page,
    items.map((item) => encode(item, omitted)),
    { page, size, total },
  )
}
