/** Sends one call to a provider in its form. */
import type { Amount } from '../domain/amount.ts'
import type { Confidential } from '../domain/confidential.ts'
import { connectFailureOf } from '../domain/connect-failure.ts'
import { attemptOutcomeOf, Fault, noPublicAddress, standardFault } from '../domain/fault.ts'
import type { Observer, Server } from '../domain/observation.ts'
import type { Context, Op, OperationName, Request } from '../domain/service.ts'
import type { StatusWord } from '../domain/status.ts'
import type { Pair, RateType } from '../domain/swap.ts'
import type { Attributes, Span } from '../domain/trace.ts'
import type { Headers, Http, HttpRequest, HttpResponse } from '../wire/http.ts'
import type { Signer } from '../wire/provider-credential.ts'
import type { ProviderForm } from '../wire/provider-form.ts'
import type { ProviderCall, ProviderOperation } from '../wire/provider-operation.ts'
import { refusedStatusIn200 } from '../wire/refusal.ts'
import type { Settings } from '../wire/request.ts'
import type { DecodeContext } from '../wire/response-table.ts'
import { WireError } from '../wire/wire-error.ts'
import { type DecodeOptions, type ResponseDocument, readDocument } from './decode-response.ts'
import { toProviderFault } from './provider-error.ts'

export interface Connection {
  readonly form: ProviderForm
  readonly http: Http
  /** The provider's tag. */
  readonly provider: string
  readonly server: Server
  /** The key for a call that needs one. */
  readonly keyOf: (context: Context, call: Pick<ProviderCall, 'op'>) => string | undefined
  /** `providers.<name>.settings`. */
  readonly settings: Settings
  readonly signer: Signer
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

type Decode<T> = (document: ResponseDocument) => T | Promise<T>

export interface Sender {
  readonly options: DecodeOptions
  /** Throws a `Fault` if the form cannot express the request, the call fails, it is refused, or the response is not of the form. */
  readonly send: <T>(call: ProviderCall, fields: object, context: Context, decode: Decode<T>) => Promise<T>
}

export function sender(connection: Connection): Sender {
  const { form, http, provider, server, confidential, observe } = connection
  const decodeContext: DecodeContext = {
    statuses: connection.statuses,
    drift: (field, drift, name) => observe({ what: 'drift', provider, field, drift, ...(name !== undefined && { name }) }),
  }
  const options: DecodeOptions = { provider, confidential, decodeContext }
  const reportUnreadable = unreadableReporter(decodeContext, provider)
  const beginCall = callSpans(provider, server)
  const minTimeLeftMs = Math.min(connection.timeoutMs / 2, minCreateMs)
  const faultOf = (response: HttpResponse, call: ProviderCall, fields: object, secret: string | undefined): Fault =>
    toProviderFault(response, {
      form,
      call,
      amountIn: amountOf(fields),
      provider,
      confidential,
      secret,
      drift: decodeContext.drift,
    })
  return {
    options,
    async send(call, fields, context, decode) {
      if (call.op === 'createTransaction' && context.deadline - performance.now() < minTimeLeftMs) throw noTimeLeft()
      if (call.addressHeader !== undefined && context.forwardedAddress === undefined) throw noPublicAddress()
      const key = call.keyed ? connection.keyOf(context, call) : undefined
      const encoded = encodeRequest(call, fields, connection.settings)
      const credential = key === undefined ? {} : credentialHeaders(encoded, call, key, connection)
      const span = beginCall(call, context)
      const request = toHttpRequest(encoded, call, credential, context, connection, span)
      const attempt = new Attempt({ operation: call.op, method: call.method, provider, server }, context, span)
      try {
        const response = await http(request)
        attempt.setResponse(response)
        connection.onServerDate?.(response.headers.date)
        if (response.status < 200 || response.status > 299) throw faultOf(response, call, fields, key)
        const reading = readDocument(response.body, options)
        const document = reading instanceof Promise ? await reading : reading
        const status = refusedStatusIn200(form.refusal, document.body)
        if (status !== undefined) throw faultOf({ ...response, status }, call, fields, key)
        const decoding = decode(document)
        // Most are decoded at once, and each `await` is a turn of the queue.
        const decoded = decoding instanceof Promise ? await decoding : decoding
        attempt.end(undefined, observe)
        return decoded
      } catch (reason) {
        const fault = reportUnreadable(Fault.from(reason))
        attempt.end(fault, observe)
        throw fault
      }
    },
  }
}

/** Nothing was sent: another provider may take it. */
function noTimeLeft(): Fault {
  return standardFault('unavailable', { retryAfter: 1, effect: 'nothingSent' })
}

function amountOf(fields: object): Amount | undefined {
  return 'amountIn' in fields ? (fields.amountIn as Amount) : undefined
}

/** Counts an incomplete or too large response as drift, and adds the provider to its fault. Decoding has done both for a whole one. */
function unreadableReporter({ drift }: DecodeContext, provider: string): (fault: Fault) => Fault {
  return (fault) => {
    if (fault.kind !== 'unreadable' || fault.provider !== undefined) return fault
    drift('_other', 'unreadable')
    return fault.with({ provider })
  }
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
  { form, signer }: Connection,
): Headers {
  return form.credential.encode(key, { method, path, query, body }, signer)
}

function toHttpRequest(
  { path, query, body }: EncodedRequest,
  { method, maxResponseBytes, addressHeader }: ProviderCall,
  credential: Headers,
  { requestId, deadline, forwardedAddress }: Context,
  { userAgent }: Connection,
  span: Span | undefined,
): HttpRequest {
  const headers: Record<string, string> = {
    ...{ accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': userAgent, 'x-request-id': requestId },
    ...credential,
  }
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (addressHeader !== undefined && forwardedAddress !== undefined) headers[addressHeader] = forwardedAddress
  if (span) headers.traceparent = span.traceparent
  const request = { method, path, query, headers, deadline, ...(maxResponseBytes !== undefined && { maxResponseBytes }) }
  return body === undefined ? request : { ...request, body: async () => body }
}

// One call to a provider, from its first byte to its end.

interface AttemptTarget {
  readonly operation: OperationName
  readonly method: string
  readonly provider: string
  readonly server: Server
}

export class Attempt {
  private readonly target: AttemptTarget
  private readonly context: Context
  readonly span: Span | undefined
  private readonly startedAt: number
  /** When the response arrived or the call failed. */
  private endedAt: number | undefined
  private status: number | undefined
  private headAt: number | undefined

  /** `span` ends with the attempt; undefined if the request is not traced. */
  constructor(target: AttemptTarget, context: Context, span: Span | undefined) {
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
    const outcome = fault ? attemptOutcomeOf(fault) : 'done'
    const connectFailure = fault && outcome === 'unreachable' ? connectFailureOf(fault) : undefined
    observe({ what: 'attempt', operation, method, provider, server, status: this.status, outcome, connectFailure, seconds })
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

type BeginCall = (call: ProviderCall, context: Context) => Span | undefined

/** Prepares the attributes that the calls of an operation share. */
function callSpans(provider: string, server: Server): BeginCall {
  const at = { 'server.address': server.address, 'server.port': server.port }
  const attributesOf = new WeakMap<ProviderCall, Attributes>()
  return (call, { span, resends }) => {
    if (!span) return undefined
    const { op, method } = call
    const attributes = attributesOf.getOrInsertComputed(call, () => {
      return { 'http.request.method': method, 'swapgate.operation': op, 'swapgate.provider': provider, ...at }
    })
    const begun = span.begin(method, attributes, 'client')
    if (resends !== undefined) begun.setAttributes({ 'http.request.resend_count': resends })
    return begun
  }
}

// What the provider has of an operation.

export function rateTypeOf(request: Request<Op>): RateType | undefined {
  return 'rateType' in request ? request.rateType : undefined
}

/** The form's operation for this request; undefined if the provider has none. */
export function operationOf(form: ProviderForm, op: Op, request: Request<Op>): ProviderOperation | undefined {
  return form.operation(op, rateTypeOf(request))
}

/** Whether the provider has an operation for this request. */
export function isOffered(form: ProviderForm, op: Op, request: Request<Op>): boolean {
  return operationOf(form, op, request) !== undefined
}

/** The `Fault` of a request that the provider can never express. */
export function notOffered(form: ProviderForm, op: Op, request: Request<Op>): Fault {
  const details = { reason: 'not_offered', effect: 'nothingSent' } as const
  if (!form.operation(op)) return new Fault('invalid', 'The provider does not have this.', details)
  const offered = rateTypeOf(request) === 'float' ? 'fixed' : 'float'
  return new Fault('invalid', `this swap is offered only with ${offered}`, { ...details, field: 'rateType' })
}
