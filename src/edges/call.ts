/** Sends calls to a provider in its form, and decodes the responses. */
import type { Amount } from '../domain/amount.ts'
import { forwardedAddress, resends } from '../domain/call-options.ts'
import type { Confidential } from '../domain/confidential.ts'
import { valueIn } from '../domain/context-values.ts'
import { callOutcomeOf, Fault, failureCauseOf, noPublicAddress, standardFault } from '../domain/fault.ts'
import { type Observer, type Server, snakeCase } from '../domain/observation.ts'
import type { Caller, CallName, Context, Op, Request } from '../domain/service.ts'
import type { StatusWord } from '../domain/status.ts'
import type { Pair, RateType } from '../domain/swap.ts'
import type { Attributes, Span } from '../domain/trace.ts'
import type { Headers, Http, HttpRequest, HttpResponse } from '../wire/http.ts'
import type { Signer } from '../wire/provider-credential.ts'
import { hasQuoteIds, type ProviderForm } from '../wire/provider-form.ts'
import type { AmountSide, ProviderCall, ProviderOperation } from '../wire/provider-operation.ts'
import { refusedStatusIn200 } from '../wire/refusal.ts'
import type { Settings } from '../wire/request.ts'
import type { DecodeContext, DecodedRow, Given } from '../wire/response-nodes.ts'
import { memberAt } from '../wire/table.ts'
import { WireError } from '../wire/wire-error.ts'
import { type DecodedRows, type PageQuery, ResponseDecoder, type ResponseDocument } from './decode-response.ts'
import { toProviderFault } from './provider-error.ts'

export interface Connection {
  readonly form: ProviderForm
  readonly http: Http
  /** The provider's tag. */
  readonly provider: string
  readonly server: Server
  /** The key for a call that needs one. */
  readonly keyOf: (context: Context, call: Pick<ProviderCall, 'op'>) => string | undefined
  /** `providers.<name>.settings`, and `accountSettings` in their place. */
  readonly settingsOf: (caller: Caller) => Settings
  readonly signer: Signer
  /** `providers.<name>.secret`. */
  readonly secret: string
  /** The meaning of the provider's own statuses. */
  readonly statuses: ReadonlyMap<string, StatusWord>
  readonly confidential: Confidential
  /** Whether a quote names other assets than were requested, which are `pair` in the names of the table. */
  readonly isOtherPair: (requested: Pair, reported: Pair, pair: Pair | undefined) => boolean
  readonly userAgent: string
  /** `providers.<name>.timeout` in milliseconds (default: 10 seconds). */
  readonly timeoutMs: number
  /** Gets the `Date` header of each response. */
  readonly onServerDate?: (date: string | undefined) => void
  readonly observe: Observer
}

/** A provider needs this time for a create, or half of its timeout: with less left its outcome would be unknown. */
const minCreateMs = 3_000

/** Sends calls to one provider. */
export class Calls {
  readonly connection: Connection
  private readonly context: DecodeContext
  private readonly decoder: ResponseDecoder
  private readonly spans: CallSpans
  private readonly minTimeLeftMs: number

  constructor(connection: Connection) {
    const { provider, server, statuses, confidential, observe } = connection
    this.connection = connection
    this.context = {
      statuses,
      drift: (field, drift, name) => observe({ what: 'drift', provider, field, drift, ...(name !== undefined && { name }) }),
    }
    this.decoder = new ResponseDecoder(provider, confidential, this.context)
    this.spans = new CallSpans(provider, server)
    this.minTimeLeftMs = Math.min(connection.timeoutMs / 2, minCreateMs)
  }

  /** The response must be decoded. Throws a `Fault` if the form cannot express the request, the call fails, or it is refused. */
  async send(call: ProviderCall, fields: object, context: Context): Promise<Answer> {
    const { connection, decoder } = this
    const { form, provider, server } = connection
    if (call.op === 'createTransaction' && context.deadline - performance.now() < this.minTimeLeftMs) throw noTimeLeft()
    if (call.addressHeader !== undefined && valueIn(context, forwardedAddress) === undefined) throw noPublicAddress()
    const key = keyFor(call, fields, context, connection)
    const encoded = encodeRequest(call, fields, connection.settingsOf(context.caller))
    const credential = key === undefined ? {} : credentialHeaders(encoded, call, key, connection)
    const span = this.spans.begin(call, context)
    const request = toHttpRequest(encoded, call, credential, context, connection, span)
    const callRecord = new CallRecord({ operation: call.action ?? call.op, method: call.method, provider, server }, context, span)
    try {
      const response = await connection.http(request)
      callRecord.setResponse(response)
      connection.onServerDate?.(response.headers.date)
      if (response.status < 200 || response.status > 299) throw this.faultOf(response, call, fields, key)
      const parsing = decoder.parse(call.action && response.body === '' ? '{}' : response.body)
      const document = parsing instanceof Promise ? await parsing : parsing
      const status = refusedStatusIn200(form.refusal, document.body)
      if (status !== undefined) throw this.faultOf({ ...response, status }, call, fields, key)
      return new Answer(call, document, callRecord, decoder, connection)
    } catch (reason) {
      const fault = this.reportUnreadable(Fault.from(reason))
      callRecord.end(fault, connection.observe)
      throw fault
    }
  }

  private faultOf(response: HttpResponse, call: ProviderCall, fields: object, secret: string | undefined): Fault {
    const { form, provider, confidential } = this.connection
    const { amountIn, amountOut } = fields as { readonly amountIn?: Amount; readonly amountOut?: Amount }
    const hasQuote = 'quoteId' in fields && fields.quoteId !== undefined
    return toProviderFault(response, {
      form,
      call,
      amountIn,
      amountOut,
      hasQuote,
      provider,
      confidential,
      secret,
      drift: this.context.drift,
    })
  }

  /** Counts an incomplete or too large response as drift, and adds the provider to its fault. The decoder has done both for a whole one. */
  private reportUnreadable(fault: Fault): Fault {
    if (fault.kind !== 'unreadable' || fault.provider !== undefined) return fault
    this.context.drift('_other', 'unreadable')
    return fault.with({ provider: this.connection.provider })
  }
}

/** A provider's response to a call. The call is counted, and its span ends, when it is decoded: a wrong form is a failure, too. */
class Answer {
  private readonly call: ProviderCall
  private readonly document: ResponseDocument
  private readonly callRecord: CallRecord
  private readonly decoder: ResponseDecoder
  private readonly observe: Observer
  private readonly provider: string

  constructor(
    call: ProviderCall,
    document: ResponseDocument,
    callRecord: CallRecord,
    decoder: ResponseDecoder,
    { observe, provider }: Connection,
  ) {
    this.call = call
    this.document = document
    this.callRecord = callRecord
    this.decoder = decoder
    this.observe = observe
    this.provider = provider
  }

  decode(given?: Given): DecodedRow {
    try {
      const row = this.decoder.decode(this.call, this.document, given)
      this.callRecord.end(undefined, this.observe)
      return row
    } catch (reason) {
      throw this.failed(reason)
    }
  }

  async decodePage(operation: ProviderOperation, query: PageQuery, acceptsUnreadableRows = false): Promise<DecodedRows> {
    try {
      const rows = await this.decoder.decodePage(operation, this.document, query, acceptsUnreadableRows)
      this.callRecord.end(undefined, this.observe)
      return rows
    } catch (reason) {
      throw this.failed(reason)
    }
  }

  /** Of an action: throws unless one of these members says that it was carried out. Without any, the status does. */
  confirm(paths: readonly string[]): void {
    const isConfirmed = paths.length === 0 || paths.some((path) => memberAt(this.document.body, path.split('.')) === true)
    if (!isConfirmed) throw this.failed(standardFault('unreadable', { provider: this.provider }))
    this.callRecord.end(undefined, this.observe)
  }

  private failed(reason: unknown): Fault {
    const fault = Fault.from(reason)
    this.callRecord.end(fault, this.observe)
    return fault
  }
}

/** A service that asks for the id of a quote keeps it for the key that makes its creates. */
function keyFor(call: ProviderCall, fields: object, context: Context, { keyOf }: Connection): string | undefined {
  if ('isFirm' in fields && fields.isFirm) return keyOf(context, { op: 'createTransaction' })
  return call.keyed ? keyOf(context, call) : undefined
}

/** Nothing was sent: another provider may take it. */
function noTimeLeft(): Fault {
  return standardFault('unavailable', { retryAfter: 1, effect: 'nothingSent' })
}

/** A call in the provider's form, with the parameters in its path. */
interface EncodedRequest {
  readonly path: string
  readonly query: string
  readonly body: string | undefined
}

function encodeRequest({ requestCodec, path: pattern }: ProviderCall, fields: object, settings: Settings): EncodedRequest {
  try {
    const { path, query, body } = requestCodec.encode(fields, settings)
    return { path: pattern.fill(path), query, body }
  } catch (reason) {
    if (!(reason instanceof WireError)) throw reason
    throw new Fault('invalid', reason.message, {
      field: reason.field,
      effect: 'nothingSent',
      reason: reason.reason,
      cause: reason,
    })
  }
}

function credentialHeaders(
  { path, query, body = '' }: EncodedRequest,
  { method }: ProviderCall,
  key: string,
  { form, signer, secret }: Connection,
): Headers {
  return form.credential.encode({ key, secret }, { method, path, query, body }, signer)
}

function toHttpRequest(
  { path, query, body }: EncodedRequest,
  { method, maxResponseBytes, addressHeader }: ProviderCall,
  credential: Headers,
  context: Context,
  { userAgent }: Connection,
  span: Span | undefined,
): HttpRequest {
  const { requestId, deadline } = context
  const address = valueIn(context, forwardedAddress)
  const headers: Record<string, string> = {
    ...{ accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': userAgent, 'x-request-id': requestId },
    ...credential,
  }
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (addressHeader !== undefined && address !== undefined) headers[addressHeader] = address
  if (span) headers.traceparent = span.traceparent
  const request = { method, path, query, headers, deadline, ...(maxResponseBytes !== undefined && { maxResponseBytes }) }
  return body === undefined ? request : { ...request, body: async () => body }
}

// One call to a provider, from its first byte to its end.

interface CallTarget {
  readonly operation: CallName
  readonly method: string
  readonly provider: string
  readonly server: Server
}

export class CallRecord {
  private readonly target: CallTarget
  private readonly context: Context
  readonly span: Span | undefined
  private readonly startedAt: number
  /** When the response arrived or the call failed. */
  private endedAt: number | undefined
  private status: number | undefined
  private headAt: number | undefined

  /** `span` ends with the call; undefined if the request is not traced. */
  constructor(target: CallTarget, context: Context, span: Span | undefined) {
    this.target = target
    this.context = context
    this.span = span
    this.startedAt = span?.startedAt ?? performance.now()
    if (!context.upstreamTimer) return
    context.upstreamTimer.provider = target.provider
    context.upstreamTimer.start(this.startedAt)
  }

  setResponse({ status }: HttpResponse): void {
    this.setStatus(status)
    this.stop()
  }

  /** The head of a streamed response. The time of the rest depends on the client too, so it is not counted as the provider's latency. */
  setHead(status: number): void {
    this.setStatus(status)
    this.headAt = performance.now()
  }

  end(fault: Fault | undefined, observe: Observer): void {
    const { operation, method, provider, server } = this.target
    const endedAt = this.endedAt ?? this.stop()
    const seconds = ((this.headAt ?? endedAt) - this.startedAt) / 1000
    this.span?.end(fault, endedAt)
    const outcome = fault ? callOutcomeOf(fault) : 'done'
    const failureCause = fault && failureCauseOf(fault)
    observe({ what: 'call', operation, method, provider, server, status: this.status, outcome, failureCause, seconds })
    this.context.timeline?.add({
      event: 'call',
      provider,
      operation: snakeCase(operation),
      ...(this.status !== undefined && { status: this.status }),
      outcome: snakeCase(outcome),
      ...(failureCause !== undefined && { cause: snakeCase(failureCause) }),
      milliseconds: Math.round(seconds * 1000),
    })
  }

  private setStatus(status: number): void {
    this.status = status
    this.span?.setAttributes({ 'http.response.status_code': status })
  }

  private stop(): number {
    const now = performance.now()
    this.context.upstreamTimer?.stop(now)
    this.endedAt = now
    return now
  }
}

// Spans of calls to a provider, by the stable HTTP conventions of OpenTelemetry.

class CallSpans {
  private readonly provider: string
  private readonly server: Server
  /** What the calls of an operation share. */
  private readonly attributes = new WeakMap<ProviderCall, Attributes>()

  constructor(provider: string, server: Server) {
    this.provider = provider
    this.server = server
  }

  /** Undefined if the request is not traced. */
  begin(call: ProviderCall, context: Context): Span | undefined {
    const { span } = context
    if (!span) return undefined
    const resendCount = valueIn(context, resends)
    const begun = span.begin(call.method, this.attributesOf(call), 'client')
    if (resendCount > 0) begun.setAttributes({ 'http.request.resend_count': resendCount })
    return begun
  }

  private attributesOf(call: ProviderCall): Attributes {
    const known = this.attributes.get(call)
    if (known) return known
    const attributes = {
      'http.request.method': call.method,
      'swapgate.operation': call.action ?? call.op,
      'swapgate.provider': this.provider,
      'server.address': this.server.address,
      'server.port': this.server.port,
    }
    this.attributes.set(call, attributes)
    return attributes
  }
}

// What the provider has of an operation.

export function rateTypeOf(request: Request<Op>): RateType | undefined {
  return 'rateType' in request ? request.rateType : undefined
}

/** By which amount the request is made. */
export function amountSideOf(request: Request<Op>): AmountSide {
  return 'amountOut' in request && request.amountOut !== undefined ? 'received' : 'sent'
}

/** The form's operation for this request; undefined if the provider has none. */
export function operationOf(form: ProviderForm, op: Op, request: Request<Op>): ProviderOperation | undefined {
  return form.operation(op, rateTypeOf(request), amountSideOf(request))
}

/** The `Fault` of a firm quote at a provider whose quotes have no id: another one may have it. */
export function noQuoteId(cause?: unknown): Fault {
  const message = 'no provider keeps quotes of this swap'
  return new Fault('invalid', message, { field: 'isFirm', reason: 'not_offered', effect: 'nothingSent', cause })
}

/** Whether the provider has an operation for this request. */
export function isOffered(form: ProviderForm, op: Op, request: Request<Op>): boolean {
  if (operationOf(form, op, request) === undefined) return false
  return op !== 'getRate' || !isFirmQuery(request) || hasQuoteIds(form, request.rateType, amountSideOf(request))
}

function isFirmQuery(request: Request<Op>): request is Request<'getRate'> {
  return 'isFirm' in request && request.isFirm === true
}

/** The `Fault` of a request that the provider can never express. */
export function notOffered(form: ProviderForm, op: Op, request: Request<Op>): Fault {
  const details = { reason: 'not_offered', effect: 'nothingSent' } as const
  if (isFirmQuery(request) && operationOf(form, op, request)) return noQuoteId()
  if (!form.operation(op)) return new Fault('invalid', 'The provider does not have this.', details)
  const rateType = rateTypeOf(request)
  const other = rateType === 'float' ? 'fixed' : 'float'
  const isOther = form.operation(op, other, amountSideOf(request)) !== undefined
  if (amountSideOf(request) === 'sent' || isOther) {
    const isAsked = amountSideOf(request) === 'sent' ? '' : ' by the amount that is received'
    return new Fault('invalid', `this swap is offered${isAsked} only with ${other}`, { ...details, field: 'rateType' })
  }
  return new Fault('invalid', 'this swap is offered only by the amount that is sent', { ...details, field: 'amountOut' })
}
