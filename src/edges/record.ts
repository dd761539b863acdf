/** What is known of one request, from its head to its end (`docs/observability.md`). */
import type { PreferredWait } from '../domain/call-options.ts'
import { withSpans } from '../domain/current-span.ts'
import { errorTypeOf, Fault } from '../domain/fault.ts'
import { type KeyRefusal, type Method, methods, type Observer } from '../domain/observation.ts'
import { inPieces } from '../domain/processor-time.ts'
import type { RequestName } from '../domain/question.ts'
import type { Caller, Gate, Identity, Quota } from '../domain/service.ts'
import { Timeline } from '../domain/timeline.ts'
import { readTraceparent, type Span, type Tracing, UpstreamTimer } from '../domain/trace.ts'
import { type Endpoint, type EndpointCodec, type Form, nameOf } from '../wire/form.ts'
import type { Headers, HttpRequest, HttpResponse } from '../wire/http.ts'
import { encodeFault, type ResponseContext } from './encode-response.ts'

const knownMethods: ReadonlyMap<string, Method> = new Map(methods.map((method) => [method, method]))
/** Long enough to distinguish callers, too short to find a key. */
const callerLength = 8

/**
 * `serve` and `admit` set what they find out, in the order of the fields. The headers of the response are made from it as a
 * `ResponseContext`, and the log, the metrics and the span from all of it, once, at the end.
 */
export class RequestRecord implements ResponseContext {
  readonly form: Form
  readonly requestId: string
  readonly span: Span | undefined
  readonly upstream = new UpstreamTimer()
  readonly sandboxTags: ReadonlySet<string>
  readonly helpPath: string | undefined
  /** Header names, separated by commas; undefined: none. */
  vary: string | undefined
  hasAmountsAsText = false
  preferredWait: PreferredWait | undefined
  hasKeyInQuery = false
  /** The template of the path; empty if no path matches. */
  route = ''
  operation: RequestName | undefined
  /** Undefined in the native lane, too. */
  codec: EndpointCodec | undefined
  caller: Caller | undefined
  /** Of a create. */
  timeline: Timeline | undefined
  quota: Quota | undefined
  fault: Fault | undefined
  /** On the clock of `performance.now()`; 0 until it has ended. */
  endedAt = 0
  private readonly startedAt: number
  private bodyWaitMs = 0

  /** `vary`: the headers that chose the form. */
  constructor(
    form: Form,
    requestId: string,
    vary: string | undefined,
    span: Span | undefined,
    sandboxTags: ReadonlySet<string> = new Set(),
    helpPath?: string,
  ) {
    this.form = form
    this.requestId = requestId
    this.vary = vary
    this.span = span
    this.sandboxTags = sandboxTags
    this.helpPath = helpPath
    this.startedAt = span?.startedAt ?? performance.now()
  }

  /** One of the five operations, a question or a stream, with its codec in the client's form. */
  setEndpoint(codec: Endpoint): void {
    this.operation = nameOf(codec)
    this.codec = codec
    if (this.operation === 'createTransaction') this.timeline = new Timeline()
  }

  addVary(header: string): void {
    this.vary = this.vary === undefined ? header : `${this.vary}, ${header}`
  }

  /** Reads the client's body and excludes this time from the gateway's own. */
  async readBody<T>(work: Promise<T>): Promise<T> {
    const startedAt = performance.now()
    try {
      return await work
    } finally {
      this.bodyWaitMs = performance.now() - startedAt
    }
  }

  /** Reports the request. */
  end(request: HttpRequest, { status, headers }: HttpResponse, observe: Observer): void {
    this.endedAt = performance.now()
    const { requestId, fault, route } = this
    const total = this.endedAt - this.startedAt
    const upstream = this.upstream.read(this.endedAt)
    if (fault?.kind === 'unauthorized') observe({ what: 'keyRefused', reason: keyRefusal(fault) })
    observe({
      what: 'request',
      requestId,
      traceId: this.span?.trace.id,
      isTraceKept: this.span?.trace.isKeptFor(status) ?? false,
      operation: this.operation,
      method: knownMethods.get(request.method) ?? '_OTHER',
      route,
      status,
      errorType: errorTypeOf(fault),
      fault,
      isReplay: headers['idempotent-replayed'] !== undefined,
      client: this.form.name,
      // The response to a failure does not have the provider's header.
      provider: headers['x-swap-provider'] ?? (status >= 500 ? this.upstream.provider : undefined),
      caller: this.caller?.identity?.slice(0, callerLength),
      account: this.caller?.account,
      accountId: this.caller?.account === undefined ? undefined : this.caller.identity,
      keyId: this.caller?.keyId,
      address: request.address || undefined,
      intent: this.timeline?.intent,
      seconds: total / 1000,
      providerSeconds: upstream / 1000,
      addedSeconds: Math.max(0, total - upstream - this.bodyWaitMs) / 1000,
    })
  }
}

function keyRefusal({ provider, reason }: Fault): KeyRefusal {
  if (provider !== undefined) return 'providerRefused'
  if (reason === 'key_scope') return 'scope'
  return reason === 'key_missing' ? 'missing' : 'unknown'
}

// Wraps every request: the request id, the server span, the report at the end, and an error response in the client's form.

/** How the clients' edges, in every form and on the native lane, know and report their callers. */
export interface ClientEdge {
  readonly gate: Gate
  /**
   * The identity behind a key, which does not reveal the key; undefined: unknown key, or none of this address. Throws if the lookup
   * fails. `isQuote`: it may be what was known of the key a minute ago.
   */
  readonly identify: (key: string, isQuote: boolean, address: string) => Promise<Identity | undefined>
  /** Counts what long work for an identity takes of the processor; absent: nobody does. */
  readonly countProcessor?: (identity: string, microseconds: number) => void
  /** Whether a create under this `Idempotency-Key` was sent: to ask again counts as a read; absent: it never does. */
  readonly isAskedAgain?: (identity: string, key: string) => boolean
  readonly observe: Observer
  readonly tracing?: Tracing | undefined
  /** Tags of the providers with `sandbox: true`; absent: none. */
  readonly sandboxTags?: ReadonlySet<string>
  /** The path of the page that explains each reason; absent if there is none. */
  readonly helpPath?: string | undefined
}

type Respond = (record: RequestRecord) => Promise<HttpResponse>

/** Never throws: each fault becomes a response in the form. `vary`: the headers that chose the form. */
export async function recorded(
  request: HttpRequest,
  form: Form,
  vary: string | undefined,
  { observe, tracing, sandboxTags, helpPath }: ClientEdge,
  respond: Respond,
): Promise<HttpResponse> {
  const span = beginRequest(request, tracing)
  const { mountedAt } = request
  const help = mountedAt !== undefined && helpPath !== undefined ? mountedAt + helpPath : helpPath
  const record = new RequestRecord(form, requestIdOf(request.headers), vary, span, sandboxTags, help)
  let response: HttpResponse
  try {
    response = await (span ? withSpans([span], () => respond(record)) : respond(record))
  } catch (reason) {
    record.fault = Fault.from(reason)
    response = encodeFault(record.fault, record)
  }
  record.end(request, response, observe)
  if (span) endRequest(span, request, record, response)
  return response
}

const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/

function requestIdOf(headers: Headers): string {
  const sent = headers['x-request-id']
  return sent !== undefined && requestIdPattern.test(sent) ? sent : crypto.randomUUID()
}

// The span of a client's request, by the stable HTTP conventions of OpenTelemetry.

/** Other methods are recorded as `_OTHER`, so that the attribute is bounded. */
const semanticMethods: ReadonlySet<string> = new Set(methods)

/** Begins a new trace with a link to the client's. Ignores the client's sampling flag and trace state. */
function beginRequest({ headers }: HttpRequest, tracing: Tracing | undefined): Span | undefined {
  if (!tracing) return undefined
  const link = readTraceparent(headers.traceparent)
  return tracing.begin('server', 'HTTP', link ? [link] : [])
}

/** Sets the result and ends the trace. */
function endRequest(span: Span, request: HttpRequest, record: RequestRecord, response: HttpResponse): void {
  if (span.trace.isKeptFor(response.status)) setRequestAttributes(span, request, record, response)
  span.end(record.fault, record.endedAt)
  span.trace.finish(response.status >= 500)
}

/** A separate function for the rare case of a kept trace: V8 inlines the small common path. */
function setRequestAttributes(span: Span, { method }: HttpRequest, record: RequestRecord, response: HttpResponse): void {
  const { route, upstream } = record
  const { status, headers } = response
  const known = semanticMethods.has(method) ? method : undefined
  const provider = headers['x-swap-provider'] ?? upstream.provider
  span.name = known === undefined ? 'HTTP' : route === '' ? known : `${known} ${route}`
  span.setAttributes({
    'http.request.method': known ?? '_OTHER',
    'http.response.status_code': status,
    'url.scheme': 'http',
    'swapgate.form': record.form.name,
    ...(route !== '' && { 'http.route': route, 'url.path': route }),
    ...(record.operation && { 'swapgate.operation': record.operation }),
    ...(provider !== undefined && { 'swapgate.provider': provider }),
    'swapgate.request_id': record.requestId,
    ...(record.caller?.account !== undefined && { 'swapgate.account': record.caller.account }),
    ...(record.timeline?.intent !== undefined && { 'swapgate.intent': record.timeline.intent }),
    ...(record.fault && { 'swapgate.reason': record.fault.reason }),
    ...(headers['idempotent-replayed'] !== undefined && { 'swapgate.replayed': true }),
    ...(headers['x-swap-stale'] !== undefined && { 'swapgate.stale': true }),
  })
}

/** Long work for a caller: what it takes of the processor is counted. */
export function workFor<Result>({ identity }: Caller, { countProcessor }: ClientEdge, work: () => Result): Result {
  if (identity === undefined || !countProcessor) return work()
  return inPieces((microseconds) => countProcessor(identity, microseconds), work)
}
