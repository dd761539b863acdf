/** The client's edge: a `SwapService` in a form, over HTTP. The inverse of `connect`. */
import { Fault } from '../domain/faults/fault.ts'
import type { Admission, Gate } from '../domain/swap/gate.ts'
import type { Op, Request } from '../domain/swap/operations.ts'
import type { Caller, Context, ServiceResponse, SwapService } from '../domain/swap/service.ts'
import type { Observer } from '../domain/telemetry/observation.ts'
import type { Tracing } from '../domain/tracing/trace.ts'
import type { Form, OperationCodec } from '../wire/form.ts'
import type { HttpRequest, HttpResponse } from '../wire/http.ts'
import { JsonError, type JsonValue, parseJson } from '../wire/json.ts'
import type { StaticPage } from '../wire/static-page.ts'
import { WireError } from '../wire/wire-error.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { type Matcher, matcher } from './match.ts'
import { RequestRecord } from './request-record.ts'
import { beginRequest, endRequest } from './request-span.ts'
import { encodeFault, encodeResponse, notModifiedIfMatched, optionsResponse, type ResponseContext } from './response.ts'
import type { EncodeOptions } from './response-body.ts'
import { pageResponse } from './static-page.ts'

export interface ServeOptions {
  readonly form: Form
  readonly service: SwapService
  readonly gate: Gate
  /** Lets requests of pages in, by the client's address; absent where there are none. */
  readonly pageGate?: ((address: string) => Promise<Admission>) | undefined
  /** Whom a key stands for, without telling the key; undefined: nobody. Throws where that cannot be found out. */
  readonly identify: (key: string) => Promise<string | undefined>
  /** Seconds for which an answer may be kept; an operation that is not here is never kept. */
  readonly maxAgeSeconds: Readonly<Partial<Record<Op, number>>>
  /** Whether callers may choose a provider, so that quotes differ by the header in which they do; absent: no. */
  readonly hasPicks?: boolean
  readonly observe: Observer
  readonly tracing?: Tracing | undefined
}

/** How a request came to this form. */
export interface MountedRequest {
  /** What stands before the path. */
  readonly mount?: string
  /** The path below the mount. */
  readonly path: string
  /** A contradiction in the choice of the form: told after the path and the method are known to be right. */
  readonly formConflict?: Fault | undefined
  /** A header of another form holds what is no key of any form. */
  readonly isKeyMalformed?: boolean
  /** Headers that the choice of the form went by. */
  readonly vary?: string | undefined
  /** What stands at this path, where it is no operation's. */
  readonly page?: StaticPage | undefined
}

const pickHeader = 'x-swap-provider'
const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/
const jsonType = /^application\/json\s*(?:;|$)/i
const otherCharset = /;\s*charset\s*=\s*(?!"?utf-?8"?\s*(?:;|$))/i

/** Never throws: every fault is an answer in the form. */
export function serve(options: ServeOptions): (request: HttpRequest, mountedRequest?: MountedRequest) => Promise<HttpResponse> {
  const { form } = options
  const match = matcher(form)
  const encodeOptions: EncodeOptions = {
    maxAgeSeconds: options.maxAgeSeconds,
    observe: options.observe,
    encodedPages: new WeakMap(),
  }
  return async (request, mountedRequest = { path: request.path }) => {
    const span = beginRequest(request, options.tracing)
    const record = new RequestRecord(span)
    const sent = request.headers['x-request-id']
    const requestId = sent !== undefined && requestIdPattern.test(sent) ? sent : crypto.randomUUID()
    const responseContext: ResponseContext = { form, requestId, vary: mountedRequest.vary, span }
    const response = await respond(request, mountedRequest, responseContext, record, match, options, encodeOptions).catch(
      (reason) => {
        record.fault = Fault.from(reason)
        return encodeFault(record.fault, responseContext)
      },
    )
    record.end(request, response, responseContext, options.observe)
    if (span) endRequest(span, request, record, responseContext, response)
    return response
  }
}

/** The checks in the order of docs/contract.md §6, then the call. */
async function respond(
  request: HttpRequest,
  { mount = '', path: below, formConflict, isKeyMalformed = false, page }: MountedRequest,
  responseContext: ResponseContext,
  record: RequestRecord,
  match: Matcher,
  options: ServeOptions,
  encodeOptions: EncodeOptions,
): Promise<HttpResponse> {
  const { form, service } = options
  if (request.protocolError) throw request.protocolError
  if (page) {
    record.route = request.path
    const { quota, refusal } = (await options.pageGate?.(request.address ?? '')) ?? {}
    responseContext.quota = quota
    if (refusal) throw refusal
    return pageResponse(page, request, formConflict, responseContext)
  }
  const { pattern, operation, path, allow } = match(request.method, below)
  record.route = mount + pattern
  if (!operation) throw new Fault('methodNotAllowed', `This path has ${allow}.`, { allow })
  if (request.method === 'OPTIONS') return optionsResponse(allow, responseContext)
  responseContext.operation = operation
  if (options.hasPicks && !operation.keyed) responseContext.vary = withPick(responseContext.vary)
  if (formConflict) throw formConflict
  const caller = await admit(request, isKeyMalformed, operation, responseContext, record, options)
  const text = operation.method === 'POST' ? await record.readBody(readText(request)) : undefined
  const serviceRequest = readFields(operation, path, request.query, text)
  const idempotencyKey = text === undefined ? undefined : readIdempotencyKey(request)
  const context: Context = {
    requestId: responseContext.requestId,
    caller,
    clientCapabilities: form.capabilities,
    deadline: Number.POSITIVE_INFINITY,
    idempotencyKey,
    pick: request.headers[pickHeader],
    upstreamTimer: record.upstream,
    span: responseContext.span,
  }
  const serviceResponse: ServiceResponse<Op> = await service.call(operation.op, serviceRequest, context)
  return notModifiedIfMatched(
    encodeResponse(serviceResponse, serviceRequest, operation, responseContext, encodeOptions),
    request.headers['if-none-match'],
  )
}

function withPick(vary: string | undefined): string {
  return vary === undefined ? 'X-Swap-Provider' : `${vary}, X-Swap-Provider`
}

/** Identifies the caller and asks the gate. Throws the `Fault` that the gate refuses with. */
async function admit(
  request: HttpRequest,
  isKeyMalformed: boolean,
  operation: OperationCodec,
  responseContext: ResponseContext,
  record: RequestRecord,
  options: ServeOptions,
): Promise<Caller> {
  const span = responseContext.span?.begin('admission')
  try {
    const caller = await callerOf(request, isKeyMalformed, operation, options)
    record.caller = caller
    const { quota, refusal } = await options.gate(operation.op, caller)
    responseContext.quota = quota
    if (refusal) throw refusal
    span?.end()
    return caller
  } catch (reason) {
    span?.end(Fault.from(reason))
    throw reason
  }
}

/** Where a key is not needed, one that cannot be looked up is as good as none. */
async function callerOf(
  { headers, address = '' }: HttpRequest,
  isKeyMalformed: boolean,
  { keyed }: OperationCodec,
  options: ServeOptions,
): Promise<Caller> {
  const { credential } = options.form
  const key = credential.decode(headers)
  if (key === undefined) return { address, isKeyUnknown: isKeyMalformed || headers[credential.header] !== undefined }
  const lookup = options.identify(key)
  const identity = await (keyed ? lookup : lookup.catch(() => undefined))
  return identity === undefined ? { address, isKeyUnknown: true } : { address, key, identity }
}

function readFields(
  { requestCodec }: OperationCodec,
  path: Readonly<Record<string, string>>,
  query: string,
  text: string | undefined,
): Request<Op> {
  try {
    const body: JsonValue | undefined = text === undefined ? undefined : parseJson(text)
    const fields: object = requestCodec.decode({ path, query, body })
    return fields as Request<Op>
  } catch (reason) {
    throw toInvalid(reason)
  }
}

async function readText({ headers, repeated, body }: HttpRequest): Promise<string> {
  const type = headers['content-type'] ?? ''
  if (!jsonType.test(type) || otherCharset.test(type) || repeated?.includes('content-type')) {
    throw new Fault('unsupportedMediaType', 'The body must be sent once as content-type application/json in UTF-8.')
  }
  return body ? await body() : ''
}

function toInvalid(reason: unknown): unknown {
  if (reason instanceof JsonError)
    return new Fault('invalid', `The body must be a JSON object: ${reason.message}.`, { reason: 'body_invalid', cause: reason })
  if (!(reason instanceof WireError)) return reason
  return new Fault('invalid', `Invalid ${printableName(reason.field)}: ${reason.message}.`, {
    reason: reason.reason,
    cause: reason,
  })
}

/** A parameter's name as the client sent it, unless it is nothing to repeat. */
function printableName(field: string): string {
  return field === '' ? 'request' : /^[\x21-\x7e]{1,64}$/.test(field) ? field : 'parameter name'
}
