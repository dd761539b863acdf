/** The client's edge: a `SwapService` in a form, over HTTP. The inverse of `connect`. */

import { preferredWait } from '../domain/call-options.ts'
import { withValue } from '../domain/context-values.ts'
import type { EventFeeds } from '../domain/event-stream.ts'
import { Fault } from '../domain/fault.ts'
import { piece } from '../domain/processor-time.ts'
import { type Answer, type Answers, isAction, type Question, type Questions } from '../domain/question.ts'
import type { Admission, Caller, Context, Op, Request, SwapService } from '../domain/service.ts'
import type { Endpoint, Form } from '../wire/form.ts'
import type { HttpRequest, HttpResponse } from '../wire/http.ts'
import type { NetworksOf } from '../wire/request.ts'
import type { StaticPage } from '../wire/static-page.ts'
import { admit, requireKeyStill } from './admit.ts'
import { parseBody, readFields, readText, requireJson } from './decode-request.ts'
import {
  type EncodeOptions,
  encodeAnswer,
  encodeResponse,
  notModifiedIfMatched,
  optionsResponse,
  turnToEncode,
} from './encode-response.ts'
import { streamResponse } from './event-stream.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { isInHeader, keyBeside, withoutKey } from './key-beside-header.ts'
import { type ClientEdge, type RequestRecord, recorded, workFor } from './record.ts'
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
  /** Whether a form that takes its key beside the header takes it in the query too; absent: no. */
  readonly keyInQuery?: boolean
  /** Whether a create must have an `Idempotency-Key`, in a form whose clients know it. */
  readonly requiresIdempotencyKey?: boolean
  /** What it lacks is no path of the form here. */
  readonly answers?: Answers | undefined
  /** The streams that there are; those that it lacks are no paths. */
  readonly feeds?: Partial<EventFeeds> | undefined
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
  const {
    maxAgeSeconds = {},
    pageGate,
    hasPicks = false,
    basePaths,
    networksOf = () => [],
    keyInQuery = false,
    requiresIdempotencyKey = false,
    answers = {},
    feeds = {},
  } = settings
  const encodeOptions = { maxAgeSeconds, observe: edge.observe }
  const route = router(form, basePaths, new Set([...Object.keys(answers), ...Object.keys(feeds)]))
  const server: FormServer = {
    form,
    service,
    edge,
    route,
    pageGate,
    hasPicks,
    networksOf,
    keyInQuery,
    requiresIdempotencyKey: requiresIdempotencyKey && form.hasIdempotencyKey,
    answers,
    feeds,
    encodeOptions,
  }
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
  readonly keyInQuery: boolean
  readonly requiresIdempotencyKey: boolean
  readonly answers: Answers
  readonly feeds: Partial<EventFeeds>
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
  const { form, service, edge, hasPicks, networksOf, keyInQuery, requiresIdempotencyKey, answers, encodeOptions } = server
  if (request.protocolError) throw request.protocolError
  if (page) return respondWithPage(page, request, formConflict, record, server)
  const { endpoint, path, allow } = findEndpoint(request, mountedRequest, record, server)
  if (request.method === 'OPTIONS') return optionsResponse(allow, record)
  record.setEndpoint(endpoint)
  if (hasPicks && 'op' in endpoint && !endpoint.keyed) record.addVary('X-Swap-Provider')
  readPreferences(request, record)
  if (formConflict) throw formConflict
  const isPost = endpoint.method === 'POST'
  const early = isPost && mayHaveKeyInBody(request, form) ? await record.readBody(settled(readText(request))) : undefined
  const beside = keyBeside(request.query, early?.text, request.headers, form, keyInQuery)
  record.hasKeyInQuery = beside.isInQuery
  const isKeyNeeded = needsKey(endpoint, request)
  const purpose = { op: countedAs(endpoint), needsKey: isKeyNeeded, beside, isOperation: 'op' in endpoint }
  const caller = await admit(request, mountedRequest, purpose, record, edge)
  if (early?.reason !== undefined) throw early.reason
  const admittedAt = performance.now()
  const text = isPost ? (early?.text ?? (await record.readBody(bodyOf(request, endpoint)))) : undefined
  if (isPost && isKeyNeeded) await requireKeyStill(caller, countedAs(endpoint), record, edge, admittedAt)
  const body = text === undefined ? undefined : withoutKey(parseBody(text), caller.key, form)
  const fields = readFields(endpoint, path, beside.query, body, networksOf)
  if ('stream' in endpoint)
    return await streamResponse(
      endpoint,
      fields,
      request,
      contextOf(request, caller, undefined, record, server),
      record,
      server.feeds,
      (work) => workFor(caller, edge, work),
    )
  if (!('op' in endpoint)) {
    const answer = await answerTo(endpoint.question, fields, contextOf(request, caller, undefined, record, server), answers)
    return encodeAnswer(answer, fields, endpoint, record, encodeOptions)
  }
  const operation = endpoint
  const operationRequest = fields as Request<Op>
  const idempotencyKeyHeader = text === undefined ? undefined : readIdempotencyKey(request, requiresIdempotencyKey)
  const answer = async (): Promise<HttpResponse> => {
    const context = contextOf(request, caller, idempotencyKeyHeader, record, server)
    const response = await service.call(operation.op, operationRequest, context)
    if (operation.paged) await turnToEncode(response, server.form)
    const encoded = piece(() => encodeResponse(response, operationRequest, operation, record, encodeOptions))
    return notModifiedIfMatched(encoded, request.headers['if-none-match'])
  }
  return await (operation.op === 'listTransactions' ? workFor(caller, edge, answer) : answer())
}

/** A quote that is kept for its caller needs a key, too. */
function needsKey({ keyed, requestNames }: Endpoint, { query }: HttpRequest): boolean {
  const name = requestNames.get('isFirm')
  if (keyed || name === undefined || !(query.includes(name) || query.includes('%'))) return keyed
  return new URLSearchParams(query).get(name)?.toLowerCase() === 'true'
}

/** Then it is read before the caller is known. */
function mayHaveKeyInBody({ headers }: HttpRequest, { keyMember, credential }: Form): boolean {
  return keyMember !== undefined && !isInHeader(headers, credential)
}

/** A body that cannot be read has no key: that is refused first. */
async function settled(text: Promise<string>): Promise<{ readonly text?: string; readonly reason?: unknown }> {
  return text.then(
    (read) => ({ text: read }),
    (reason) => ({ reason }),
  )
}

/** A question counts as a quote, an action as a create, a stream as a read. */
function countedAs(endpoint: Endpoint): Op {
  if ('stream' in endpoint) return 'getTransaction'
  if ('op' in endpoint) return endpoint.op
  return isAction(endpoint.question) ? 'createTransaction' : 'getRate'
}

/** An action may come without a body. Clients that send none name a media type all the same, or send an empty body in chunks. */
async function bodyOf(request: HttpRequest, endpoint: Endpoint): Promise<string> {
  const isOfAction = 'question' in endpoint && isAction(endpoint.question)
  if (!isOfAction || Number(request.headers['content-length'] ?? 0) > 0) return readText(request)
  const text = await request.body?.()
  if (!text) return '{}'
  requireJson(request)
  return text
}

async function answerTo<Q extends Question>(
  question: Q,
  fields: object,
  context: Context,
  answers: Answers,
): Promise<Answer<Question>> {
  const answer: ((question: Questions[Q]['request'], context: Context) => Promise<Answer<Q>>) | undefined = answers[question]
  if (!answer) throw new Fault('internal', 'A question was matched that has no answer.')
  return answer(fields as Questions[Q]['request'], context)
}

/** Amounts of the response as texts, for clients whose numbers would lose digits (RFC 7240). */
const prefersText = /(?:^|,)\s*amounts\s*=\s*(?:text|"text")\s*(?:[;,]|$)/i
/** Seconds to wait for the outcome of a create. */
const prefersWait = /(?:^|,)\s*wait\s*=\s*(?:(\d{1,9})|"(\d{1,9})")\s*(?:[;,]|$)/i

function readPreferences({ headers: { prefer }, streams }: HttpRequest, record: RequestRecord): void {
  if (prefer === undefined) return
  if (prefersText.test(prefer)) {
    record.hasAmountsAsText = true
    record.addVary('Prefer')
  }
  const [, bare, quoted] = prefersWait.exec(prefer) ?? []
  const seconds = Number(bare ?? quoted ?? 0)
  if (seconds === 0 || record.operation !== 'createTransaction') return
  record.preferredWait = { seconds, mayWait: () => !(streams?.isGone() || streams?.endsConnection()), isApplied: false }
}

/** Throws a `Fault`: 404 for an unknown path, 405 for a method that the path does not have. */
function findEndpoint(
  { method, mountedAt }: HttpRequest,
  { mount = '', path }: MountedRequest,
  record: RequestRecord,
  { route }: FormServer,
): Omit<Match, 'pattern'> & { readonly endpoint: Endpoint } {
  const { pattern, endpoint, path: parameters, allow } = route(method, path, mountedAt)
  record.route = mount + pattern
  if (!endpoint) throw new Fault('methodNotAllowed', `This path has ${allow}.`, { allow })
  return { endpoint, path: parameters, allow }
}

function contextOf(
  { headers }: HttpRequest,
  caller: Caller,
  idempotencyKeyHeader: string | undefined,
  { requestId, upstream, span, timeline, preferredWait: wait }: RequestRecord,
  { form }: FormServer,
): Context {
  const context: Context = {
    requestId,
    caller,
    clientCapabilities: form.capabilities,
    deadline: Number.POSITIVE_INFINITY,
    idempotencyKeyHeader,
    pick: headers[pickHeader],
    upstreamTimer: upstream,
    span,
    timeline,
  }
  return wait ? withValue(context, preferredWait, wait) : context
}
