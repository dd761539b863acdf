/** The client's edge: a `SwapService` in a form, over HTTP. The inverse of `connect`. */
import { Fault } from '../domain/fault.ts'
import { type Admission, type Caller, type Context, type Op, ops, type Request, type SwapService } from '../domain/service.ts'
import type { Form, OperationCodec } from '../wire/form.ts'
import type { HttpRequest, HttpResponse } from '../wire/http.ts'
import { JsonError, type JsonValue, parseJson } from '../wire/json.ts'
import type { StaticPage } from '../wire/static-page.ts'
import { WireError } from '../wire/wire-error.ts'
import { type AdmitOptions, admit } from './admit.ts'
import { type RecordOptions, type RequestRecord, recorded } from './record.ts'
import { type EncodeOptions, encodeResponse, notModifiedIfMatched, optionsResponse, turnToEncode } from './response.ts'
import { pageResponse } from './static-page.ts'

interface ServeOptions extends AdmitOptions, RecordOptions {
  readonly form: Form
  readonly service: SwapService
  /** Limits requests of static pages by the client's address; absent if there are no pages. */
  readonly pageGate?: ((address: string) => Promise<Admission>) | undefined
  /**
   * Seconds for which clients may cache responses: `cache.currencies` (default: 600 seconds) and `cache.rate` (default: 2 seconds).
   * Operations that are not listed are not cached.
   */
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

/** Serves a form. Never throws: every fault becomes a response in the form. */
export function serve(options: ServeOptions): (request: HttpRequest, mountedRequest?: MountedRequest) => Promise<HttpResponse> {
  const { form } = options
  const encodeOptions: EncodeOptions = { maxAgeSeconds: options.maxAgeSeconds, observe: options.observe }
  const server: FormServer = { ...options, match: matcher(form), encodeOptions }
  return (request, mountedRequest = { path: request.path }) =>
    recorded(request, form, mountedRequest.vary, options, (record) => respond(request, mountedRequest, record, server))
}

interface FormServer extends ServeOptions {
  readonly match: Matcher
  readonly encodeOptions: EncodeOptions
}

async function respondWithPage(
  page: StaticPage,
  request: HttpRequest,
  formConflict: Fault | undefined,
  record: RequestRecord,
  { pageGate }: FormServer,
): Promise<HttpResponse> {
  record.route = request.path
  const { quota, refusal } = (await pageGate?.(request.address ?? '')) ?? {}
  record.quota = quota
  if (refusal) throw refusal
  return pageResponse(page, request, formConflict, record)
}

/** Runs the checks in the order of docs/contract.md §6, then the call. */
async function respond(
  request: HttpRequest,
  mountedRequest: MountedRequest,
  record: RequestRecord,
  server: FormServer,
): Promise<HttpResponse> {
  const { formConflict, isKeyMalformed = false, page } = mountedRequest
  const { service, hasPicks, encodeOptions } = server
  if (request.protocolError) throw request.protocolError
  if (page) return respondWithPage(page, request, formConflict, record, server)
  const { operation, path, allow } = findOperation(request, mountedRequest, record, server)
  if (request.method === 'OPTIONS') return optionsResponse(allow, record)
  record.setOperation(operation)
  if (hasPicks && !operation.keyed) record.addVary('X-Swap-Provider')
  if (formConflict) throw formConflict
  const caller = await admit(request, isKeyMalformed, operation.op, record, server)
  const text = operation.method === 'POST' ? await record.readBody(readText(request)) : undefined
  const fields = readFields(operation, path, request.query, text)
  const idempotencyKey = text === undefined ? undefined : readIdempotencyKey(request)
  const response = await service.call(operation.op, fields, contextOf(request, caller, idempotencyKey, record, server))
  if (operation.paged) await turnToEncode(response, server.form)
  return notModifiedIfMatched(encodeResponse(response, fields, operation, record, encodeOptions), request.headers['if-none-match'])
}

/** Throws a `Fault`: 404 for an unknown path, 405 for a method that the path does not have. */
function findOperation(
  { method }: HttpRequest,
  { mount = '', path }: MountedRequest,
  record: RequestRecord,
  { match }: FormServer,
): Omit<Match, 'pattern'> & { readonly operation: OperationCodec } {
  const { pattern, operation, path: parameters, allow } = match(method, path)
  record.route = mount + pattern
  if (!operation) throw new Fault('methodNotAllowed', `This path has ${allow}.`, { allow })
  return { operation, path: parameters, allow }
}

function contextOf(
  { headers }: HttpRequest,
  caller: Caller,
  idempotencyKey: string | undefined,
  { requestId, upstream, span }: RequestRecord,
  { form }: FormServer,
): Context {
  return {
    requestId,
    caller,
    clientCapabilities: form.capabilities,
    deadline: Number.POSITIVE_INFINITY,
    idempotencyKey,
    pick: headers[pickHeader],
    upstreamTimer: upstream,
    span,
  }
}

// Decodes a client's request by the table of its form.

const jsonType = /^application\/json\s*(?:;|$)/i
const otherCharset = /;\s*charset\s*=\s*(?!"?utf-?8"?\s*(?:;|$))/i

/** Decodes the fields of an operation's request. Throws `invalid` with the name of the first invalid parameter. */
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

/** The body as text. Throws a `Fault` if it is not JSON in UTF-8. */
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

// The `Idempotency-Key` header (docs/contract.md §10.1): a string of RFC 9651 with optional quotes.

const keyHeader = 'idempotency-key'
const bareKey = /^[\x21\x23-\x7e][\x21-\x7e]*$/
const quotedKey = /^"((?:[\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

/** The key without quotes. Undefined if there is no header. Throws a `Fault` (400) if it is invalid. */
export function readIdempotencyKey({ headers, repeated }: HttpRequest): string | undefined {
  const value = headers[keyHeader]
  if (value === undefined) return undefined
  const key = quotedKey.exec(value)?.[1]?.replace(/\\(.)/g, '$1') ?? (bareKey.test(value) ? value : '')
  if (key.length >= 1 && key.length <= 255 && !repeated?.includes(keyHeader)) return key
  throw new Fault(
    'invalid',
    'Invalid Idempotency-Key: it must be sent once, as 1 to 255 visible ASCII characters, in quotes or without.',
  )
}

// The operation of a request: path, then method.

interface Match {
  /** The template of the path. */
  readonly pattern: string
  /** Undefined if the path does not have the method. */
  readonly operation: OperationCodec | undefined
  /** The path's parameters, decoded. */
  readonly path: Readonly<Record<string, string>>
  /** The methods of the path, for `Allow`. */
  readonly allow: string
}

export type Matcher = (method: string, path: string) => Match

interface Route {
  readonly pattern: string
  readonly match: OperationCodec['path']['match']
  readonly byMethod: ReadonlyMap<string, OperationCodec>
  readonly allow: string
}

/** Finds the path and the operation of a request. HEAD counts as GET; OPTIONS matches every path. Throws a `Fault` (404). */
export function matcher(form: Form): Matcher {
  const routes = routesOf(form)
  return (method, path) => {
    for (const { pattern, match, byMethod, allow } of routes) {
      const parameters = match(path)
      if (parameters) return { pattern, operation: byMethod.get(method), path: parameters, allow }
    }
    throw new Fault('notFound', 'No such path; please check the base URL and the spelling.', { reason: 'path' })
  }
}

/** One route for each path, with all its methods. */
function routesOf({ operations }: Form): readonly Route[] {
  const byPath = Map.groupBy(
    ops.map((op) => operations[op]),
    ({ path }) => path.pattern,
  )
  return [...byPath.values()].flatMap((sharing) => {
    const [first] = sharing
    if (!first) return []
    const methods = sharing.flatMap((operation) => [[operation.method, operation] as const])
    const get = sharing.find(({ method }) => method === 'GET')
    const all = [...methods, ...(get ? [['HEAD', get] as const] : []), ['OPTIONS', first] as const]
    const allow = all.map(([method]) => method).join(', ')
    return [{ pattern: first.path.pattern, match: first.path.match, byMethod: new Map(all), allow }]
  })
}
