/** The client's edge: a `SwapService` in a form, over HTTP. The inverse of `connect`. */
import { Fault } from '../domain/faults/fault.ts'
import type { Admission } from '../domain/swap/gate.ts'
import type { Op, Request } from '../domain/swap/operations.ts'
import type { Context, ServiceResponse, SwapService } from '../domain/swap/service.ts'
import type { Form, OperationCodec } from '../wire/form.ts'
import type { HttpRequest, HttpResponse } from '../wire/http.ts'
import { JsonError, type JsonValue } from '../wire/json.ts'
import { parseJson } from '../wire/parse-json.ts'
import type { StaticPage } from '../wire/static-page.ts'
import { WireError } from '../wire/wire-error.ts'
import { type AdmitOptions, admit } from './admit.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { type Matcher, matcher } from './match.ts'
import { type RecordOptions, recorded } from './recorded.ts'
import type { RequestRecord } from './request-record.ts'
import { encodeResponse, notModifiedIfMatched, optionsResponse, type ResponseContext } from './response.ts'
import type { EncodeOptions } from './response-body.ts'
import { pageResponse } from './static-page.ts'

export interface ServeOptions extends AdmitOptions, RecordOptions {
  readonly form: Form
  readonly service: SwapService
  /** Limits requests of static pages by the client's address; absent if there are no pages. */
  readonly pageGate?: ((address: string) => Promise<Admission>) | undefined
  /** Seconds for which clients may cache responses; operations that are not listed are not cached. */
  readonly maxAgeSeconds: Readonly<Partial<Record<Op, number>>>
  /** Whether callers may choose a provider, so that quotes vary by that header; absent: no. */
  readonly hasPicks?: boolean
}

/** A request after the choice of its form. */
export interface MountedRequest {
  /** The part before the path. */
  readonly mount?: string
  /** The path below the mount. */
  readonly path: string
  /** A contradiction in the choice of the form. It is returned only after the checks of path and method. */
  readonly formConflict?: Fault | undefined
  /** The key header of another form has a malformed value. */
  readonly isKeyMalformed?: boolean
  /** Headers on which the choice of the form depends. */
  readonly vary?: string | undefined
  /** The static page at this path, if it is not an operation. */
  readonly page?: StaticPage | undefined
}

const pickHeader = 'x-swap-provider'
const jsonType = /^application\/json\s*(?:;|$)/i
const otherCharset = /;\s*charset\s*=\s*(?!"?utf-?8"?\s*(?:;|$))/i

/** Serves a form. Never throws: every fault becomes a response in the form. */
export function serve(options: ServeOptions): (request: HttpRequest, mountedRequest?: MountedRequest) => Promise<HttpResponse> {
  const { form } = options
  const match = matcher(form)
  const encodeOptions: EncodeOptions = {
    maxAgeSeconds: options.maxAgeSeconds,
    observe: options.observe,
    encodedPages: new WeakMap(),
  }
  return (request, mountedRequest = { path: request.path }) =>
    recorded(request, form, mountedRequest.vary, options, (responseContext, record) =>
      respond(request, mountedRequest, responseContext, record, match, options, encodeOptions),
    )
}

/** Runs the checks in the order of docs/contract.md §6, then the call. */
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
  record.operation = operation.op
  if (formConflict) throw formConflict
  const caller = await admit(request, isKeyMalformed, operation.op, responseContext, record, options)
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

/** The parameter's name as the client sent it, if it is printable and short. */
function printableName(field: string): string {
  return field === '' ? 'request' : /^[\x21-\x7e]{1,64}$/.test(field) ? field : 'parameter name'
}
