/** The client's edge: a `SwapService` in a form, over HTTP. The inverse of `connect`. */
import { Fault } from '../domain/fault.ts'
import type { Admission, Caller, Context, Op, SwapService } from '../domain/service.ts'
import type { Form, OperationCodec } from '../wire/form.ts'
import type { HttpRequest, HttpResponse } from '../wire/http.ts'
import type { StaticPage } from '../wire/static-page.ts'
import { admit } from './admit.ts'
import { type NetworksOf, readFields, readText } from './decode-request.ts'
import { type EncodeOptions, encodeResponse, notModifiedIfMatched, optionsResponse, turnToEncode } from './encode-response.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { type ClientEdge, type RequestRecord, recorded } from './record.ts'
import { type Match, type Router, router } from './router.ts'
import { pageResponse } from './static-page.ts'

interface FormSettings {
  /**
   * Seconds for which clients may cache responses: `cache.currencies` (default: 600 seconds) and `cache.rate` (default: 2 seconds).
   * Operations that are not listed are not cached; absent: none is.
   */
  readonly maxAgeSeconds?: Readonly<Partial<Record<Op, number>>>
  /** Limits requests of static pages by the client's address; absent if there are no pages. */
  readonly pageGate?: ((address: string) => Promise<Admission>) | undefined
  /** Whether callers may choose a provider, so that quotes vary by that header; absent: no. */
  readonly hasPicks?: boolean
  /** The base paths of all forms, for a request of none of them. */
  readonly basePaths?: readonly string[]
  readonly networksOf?: NetworksOf
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
  /** The header of another form's key, if the request has it. */
  readonly otherKeyHeader?: string | undefined
  /** Headers on which the choice of the form depends. */
  readonly vary?: string | undefined
  /** The static page at this path, if it is not an operation. */
  readonly page?: StaticPage | undefined
}

export type FormHandler = (request: HttpRequest, mountedRequest?: MountedRequest) => Promise<HttpResponse>

const pickHeader = 'x-swap-provider'

/** Serves a form. Never throws: every fault becomes a response in the form. */
export function serve(form: Form, service: SwapService, edge: ClientEdge, settings: FormSettings = {}): FormHandler {
  const { maxAgeSeconds = {}, pageGate, hasPicks = false, basePaths, networksOf = () => [] } = settings
  const encodeOptions = { maxAgeSeconds, observe: edge.observe }
  const server: FormServer = { form, service, edge, route: router(form, basePaths), pageGate, hasPicks, networksOf, encodeOptions }
  return (request, mountedRequest = { path: request.path }) =>
    recorded(request, form, mountedRequest.vary, edge, (record) => respond(request, mountedRequest, record, server))
}

interface FormServer {
  readonly form: Form
  readonly service: SwapService
  readonly edge: ClientEdge
  readonly route: Router
  readonly pageGate: FormSettings['pageGate']
  readonly hasPicks: boolean
  readonly networksOf: NetworksOf
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
  const { formConflict, page } = mountedRequest
  const { service, edge, hasPicks, networksOf, encodeOptions } = server
  if (request.protocolError) throw request.protocolError
  if (page) return respondWithPage(page, request, formConflict, record, server)
  const { operation, path, allow } = findOperation(request, mountedRequest, record, server)
  if (request.method === 'OPTIONS') return optionsResponse(allow, record)
  record.setOperation(operation)
  if (hasPicks && !operation.keyed) record.addVary('X-Swap-Provider')
  readPreference(request, record)
  if (formConflict) throw formConflict
  const caller = await admit(request, mountedRequest, operation.op, record, edge)
  const text = operation.method === 'POST' ? await record.readBody(readText(request)) : undefined
  const fields = readFields(operation, path, request.query, text, networksOf)
  const idempotencyKeyHeader = text === undefined ? undefined : readIdempotencyKey(request)
  const response = await service.call(operation.op, fields, contextOf(request, caller, idempotencyKeyHeader, record, server))
  if (operation.paged) await turnToEncode(response, server.form)
  return notModifiedIfMatched(encodeResponse(response, fields, operation, record, encodeOptions), request.headers['if-none-match'])
}

/** Amounts of the response as texts, for clients whose numbers would lose digits (RFC 7240). */
const prefersText = /(?:^|,)\s*amounts\s*=\s*(?:text|"text")\s*(?:[;,]|$)/i

function readPreference({ headers }: HttpRequest, record: RequestRecord): void {
  if (headers.prefer === undefined || !prefersText.test(headers.prefer)) return
  record.hasAmountsAsText = true
  record.addVary('Prefer')
}

/** Throws a `Fault`: 404 for an unknown path, 405 for a method that the path does not have. */
function findOperation(
  { method }: HttpRequest,
  { mount = '', path }: MountedRequest,
  record: RequestRecord,
  { route }: FormServer,
): Omit<Match, 'pattern'> & { readonly operation: OperationCodec } {
  const { pattern, operation, path: parameters, allow } = route(method, path)
  record.route = mount + pattern
  if (!operation) throw new Fault('methodNotAllowed', `This path has ${allow}.`, { allow })
  return { operation, path: parameters, allow }
}

function contextOf(
  { headers }: HttpRequest,
  caller: Caller,
  idempotencyKeyHeader: string | undefined,
  { requestId, upstream, span }: RequestRecord,
  { form }: FormServer,
): Context {
  return {
    requestId,
    caller,
    clientCapabilities: form.capabilities,
    deadline: Number.POSITIVE_INFINITY,
    idempotencyKeyHeader,
    pick: headers[pickHeader],
    upstreamTimer: upstream,
    span,
  }
}
