/** The client's edge: a `SwapService` in a form, over HTTP. The inverse of `connect`. */
import { Fault } from '../domain/fault.ts'
import type { Admission, Gate } from '../domain/gate.ts'
import type { Observer } from '../domain/observation.ts'
import type { Answer, Caller, Context, Op, Request, SwapService } from '../domain/operations.ts'
import type { Tracing } from '../domain/trace.ts'
import type { Form, OperationCodec } from '../wire/form.ts'
import type { HttpRequest, HttpResponse } from '../wire/http.ts'
import { JsonError, type JsonValue, parseJson } from '../wire/json.ts'
import type { Page } from '../wire/page.ts'
import { WireProblem } from '../wire/problem.ts'
import type { Encoding } from './body.ts'
import { Course } from './course.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { type Matcher, matcher } from './match.ts'
import { tellPage } from './page.ts'
import { beginRequest, endRequest } from './request-span.ts'
import { encodeAnswer, encodeFault, optionsResponse, type Telling, unlessKnown } from './response.ts'

export interface Serving {
  readonly form: Form
  readonly service: SwapService
  readonly gate: Gate
  /** Lets requests of pages in, by the client's address; absent where there are none. */
  readonly pageGate?: ((address: string) => Promise<Admission>) | undefined
  /** Whom a key stands for, without telling the key; undefined: nobody. Throws where that cannot be found out. */
  readonly identify: (key: string) => Promise<string | undefined>
  /** Seconds for which an answer may be kept; an operation that is not here is never kept. */
  readonly lifetimes: Readonly<Partial<Record<Op, number>>>
  readonly observe: Observer
  readonly tracing?: Tracing | undefined
}

/** How a request came to this form. */
export interface Arrival {
  /** What stands before the path. */
  readonly mount?: string
  /** The path below the mount. */
  readonly path: string
  /** A contradiction in the choice of the form: told after the path and the method are known to be right. */
  readonly misfit?: Fault | undefined
  /** A header of another form holds what is no key of any form. */
  readonly isKeyMalformed?: boolean
  /** Headers that the choice of the form went by. */
  readonly vary?: string | undefined
  /** What stands at this path, where it is no operation's. */
  readonly page?: Page | undefined
}

const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/
const jsonType = /^application\/json\s*(?:;|$)/i
const otherCharset = /;\s*charset\s*=\s*(?!"?utf-?8"?\s*(?:;|$))/i

/** Never throws: every fault is an answer in the form. */
export function serve(serving: Serving): (request: HttpRequest, arrival?: Arrival) => Promise<HttpResponse> {
  const { form } = serving
  const match = matcher(form)
  const encoding: Encoding = { lifetimes: serving.lifetimes, observe: serving.observe, ready: new WeakMap() }
  return async (request, arrival = { path: request.path }) => {
    const span = beginRequest(request, serving.tracing)
    const course = new Course(span)
    const sent = request.headers['x-request-id']
    const requestId = sent !== undefined && requestIdPattern.test(sent) ? sent : crypto.randomUUID()
    const telling: Telling = { form, requestId, vary: arrival.vary, span }
    const response = await answer(request, arrival, telling, course, match, serving, encoding).catch((reason) => {
      course.fault = Fault.from(reason)
      return encodeFault(course.fault, telling)
    })
    course.end(request, response, telling, serving.observe)
    if (span) endRequest(span, request, course, telling, response)
    return response
  }
}

/** The checks in the order of docs/contract.md §6, then the call. */
async function answer(
  request: HttpRequest,
  { mount = '', path: below, misfit, isKeyMalformed = false, page }: Arrival,
  telling: Telling,
  course: Course,
  match: Matcher,
  serving: Serving,
  encoding: Encoding,
): Promise<HttpResponse> {
  const { form, service } = serving
  if (request.flaw) throw request.flaw
  if (page) {
    course.route = request.path
    const { quota, refusal } = (await serving.pageGate?.(request.address ?? '')) ?? {}
    telling.quota = quota
    if (refusal) throw refusal
    return tellPage(page, request, misfit, telling)
  }
  const { pattern, operation, path, allow } = match(request.method, below)
  course.route = mount + pattern
  if (!operation) throw new Fault('methodNotAllowed', `This path has ${allow}.`, { allow })
  if (request.method === 'OPTIONS') return optionsResponse(allow, telling)
  telling.operation = operation
  if (misfit) throw misfit
  const caller = await admit(request, isKeyMalformed, operation, telling, course, serving)
  const text = operation.method === 'POST' ? await course.read(readText(request)) : undefined
  const question = readQuestion(operation, path, request.query, text)
  const idempotencyKey = text === undefined ? undefined : readIdempotencyKey(request)
  const context: Context = {
    requestId: telling.requestId,
    caller,
    client: form.vocabulary,
    deadline: Number.POSITIVE_INFINITY,
    idempotencyKey,
    upstream: course.upstream,
    span: telling.span,
  }
  const said: Answer<Op> = await service.call(operation.op, question, context)
  return unlessKnown(encodeAnswer(said, question, operation, telling, encoding), request.headers['if-none-match'])
}

/** Who asks. Throws where he is not let in. */
async function admit(
  request: HttpRequest,
  isKeyMalformed: boolean,
  operation: OperationCodec,
  telling: Telling,
  course: Course,
  serving: Serving,
): Promise<Caller> {
  const span = telling.span?.begin('admission')
  try {
    const caller = await callerOf(request, isKeyMalformed, operation, serving)
    course.caller = caller
    const { quota, refusal } = await serving.gate(operation.op, caller)
    telling.quota = quota
    if (refusal) throw isKeyMissing(refusal, caller) ? refusal.with({ reason: 'key_missing' }) : refusal
    span?.end()
    return caller
  } catch (reason) {
    span?.end(Fault.from(reason))
    throw reason
  }
}

function isKeyMissing({ kind }: Fault, { key, isKeyUnknown = false }: Caller): boolean {
  return kind === 'unauthorized' && key === undefined && !isKeyUnknown
}

/** Where a key is not needed, one that cannot be looked up is as good as none. */
async function callerOf(
  { headers, address = '' }: HttpRequest,
  isKeyMalformed: boolean,
  { keyed }: OperationCodec,
  serving: Serving,
): Promise<Caller> {
  const { credential } = serving.form
  const key = credential.decode(headers)
  if (key === undefined) return { address, isKeyUnknown: isKeyMalformed || headers[credential.header] !== undefined }
  const finding = serving.identify(key)
  const identity = await (keyed ? finding : finding.catch(() => undefined))
  return identity === undefined ? { address, isKeyUnknown: true } : { address, key, identity }
}

function readQuestion(
  { question }: OperationCodec,
  path: Readonly<Record<string, string>>,
  query: string,
  text: string | undefined,
): Request<Op> {
  try {
    const body: JsonValue | undefined = text === undefined ? undefined : parseJson(text)
    return question.decode({ path, query, body }) as unknown as Request<Op>
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
  if (!(reason instanceof WireProblem)) return reason
  return new Fault('invalid', `Invalid ${nameable(reason.field)}: ${reason.message}.`, { reason: reason.reason, cause: reason })
}

/** A parameter's name as the client sent it, unless it is nothing to repeat. */
function nameable(field: string): string {
  return field === '' ? 'request' : /^[\x21-\x7e]{1,64}$/.test(field) ? field : 'parameter name'
}
