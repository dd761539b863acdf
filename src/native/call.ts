/** One native call: the request to the provider, the head to the client, and the reports. */
import { Fault, faultTable, standardFault } from '../domain/fault.ts'
import type { OpenPath, ReportHead } from '../domain/native.ts'
import type { Observer } from '../domain/observation.ts'
import type { Caller, Context } from '../domain/service.ts'
import { CallRecord } from '../edges/call.ts'
import { baseHeaders, type ResponseContext } from '../edges/encode-response.ts'
import type { RequestRecord } from '../edges/record.ts'
import { type Headers, type HttpRequest, type HttpResponse, readRetryAfter } from '../wire/http.ts'
import type { NativeHead, NativeRequest } from '../wire/native.ts'
import type { NativeLane } from './lane.ts'

interface ClientRequest {
  readonly request: HttpRequest
  readonly caller: Caller
  readonly record: RequestRecord
}

/** `path`: below the provider's base URL. Throws a `Fault` if the client got no head; after the head a fault is only recorded. */
export async function callNative(
  lane: NativeLane,
  openPath: OpenPath,
  path: string,
  client: ClientRequest,
  observe: Observer,
): Promise<HttpResponse> {
  const { record } = client
  const context = contextOf(lane, client)
  const result: { head?: NativeHead; fault?: Fault | undefined } = {}
  const call = async (reportHead: ReportHead, signal: AbortSignal): Promise<void> => {
    const callRecord = beginCall(lane, openPath, context)
    const toClient = (status: number, received: Headers): NativeHead => {
      callRecord.setHead(status)
      result.head = headDown(status, received, lane, client)
      result.fault = faultOfStatus(status, received, lane.tag)
      reportHead(result.fault)
      return result.head
    }
    try {
      await lane.send({ ...requestUp(lane, openPath, path, client, callRecord), signal, toClient })
      callRecord.end(result.fault, observe)
    } catch (reason) {
      callRecord.end(Fault.from(reason), observe)
      throw reason
    }
  }
  try {
    await lane.guard.call(openPath, context, call)
    record.fault = result.fault?.kind === 'invalid' ? undefined : result.fault
  } catch (reason) {
    record.fault = translateKeyRefusal(Fault.from(reason))
  }
  if (!result.head) throw record.fault
  // For the log: a response that was cut off for what was in it is no success.
  const { fault } = record
  const status = fault?.kind === 'failed' && result.head.status < 400 ? faultTable.failed.status : result.head.status
  return { ...result.head, status, body: '', isSent: true }
}

/** A rejection of the gateway's own key is a failure of the provider (docs/contract.md §5). */
function translateKeyRefusal(fault: Fault): Fault {
  if (fault.kind !== 'unauthorized' || fault.provider === undefined) return fault
  return standardFault('accessRefused', { effect: 'refused', cause: fault, provider: fault.provider })
}

function contextOf({ timeoutMs }: NativeLane, { caller, record }: ClientRequest): Context {
  return {
    requestId: record.requestId,
    caller,
    clientCapabilities: record.form.capabilities,
    deadline: performance.now() + timeoutMs,
    upstreamTimer: record.upstream,
    span: record.span,
  }
}

function beginCall({ tag, server }: NativeLane, { method }: OpenPath, context: Context): CallRecord {
  const attributes = {
    'http.request.method': method,
    'swapgate.operation': 'native',
    'swapgate.provider': tag,
    'server.address': server.address,
    'server.port': server.port,
  }
  const span = context.span?.begin(method, attributes, 'client')
  return new CallRecord({ operation: 'native', method, provider: tag, server }, context, span)
}

function requestUp(
  { credential, userAgent, confidential, maxBytes, timeoutMs, idleTimeoutMs, totalTimeoutMs }: NativeLane,
  { method }: OpenPath,
  path: string,
  { request, record }: ClientRequest,
  { span }: CallRecord,
): Omit<NativeRequest, 'signal' | 'toClient'> {
  const { streams, query, headers } = request
  if (!streams) throw Fault.from(new Error('a native call without streams'))
  const own = {
    'user-agent': userAgent,
    'x-request-id': record.requestId,
    ...(span && { traceparent: span.traceparent }),
    ...credential,
  }
  return {
    streams,
    method,
    path: query === '' ? path : `${path}?${query}`,
    headers: headersUp(method, headers, own),
    keys: confidential,
    maxBytes,
    timeoutMs,
    idleTimeoutMs,
    totalTimeoutMs,
  }
}

function headDown(status: number, received: Headers, { tag, confidential }: NativeLane, { record }: ClientRequest): NativeHead {
  const refusal = refusedHead(status, received, tag)
  if (refusal) throw refusal
  const hasSecret = (text: string): boolean => confidential.containsKey(text)
  return { status, headers: headersDown(status, received, hasSecret, record, tag) }
}

// The meaning of a provider's status on the native lane: whether it is passed on, and how it is counted.

/** Why the client gets a 502 instead of the response: a redirect, a rejection of the gateway's own key, or no final HTTP response. */
function refusedHead(status: number, headers: Headers, provider: string): Fault | undefined {
  const coding = headers['transfer-encoding']
  if (status < 200 || status > 599 || (coding !== undefined && coding.toLowerCase() !== 'chunked'))
    return standardFault('unreadable', { provider })
  if (status < 400 && status > 299) return standardFault('failed', { provider, effect: 'refused' })
  return status === 401 ? standardFault('unauthorized', { provider, effect: 'refused' }) : undefined
}

/** The fault as which a forwarded response is counted; undefined if it is no error. */
function faultOfStatus(status: number, headers: Headers, provider: string): Fault | undefined {
  if (status < 400) return undefined
  if (status === 429) {
    const retryAfter = readRetryAfter(headers['retry-after'], headers.date)
    return new Fault('limited', 'Refused.', { provider, ...(retryAfter !== undefined && { retryAfter }) })
  }
  return status >= 500 ? standardFault('failed', { provider }) : new Fault('invalid', 'Refused.', { provider, reason: 'refused' })
}

// The allow-lists of headers of the native lane, and the headers that it sets itself (docs/contract.md §11, docs/contract-operators.md §8).

const passedUp = ['accept', 'accept-language', 'content-encoding', 'content-type']
const passedDown = ['cache-control', 'content-encoding', 'content-length', 'content-type', 'etag', 'last-modified', 'retry-after']
const methodsWithoutBody: ReadonlySet<string> = new Set(['GET', 'HEAD'])

function headersUp(method: string, sent: Headers, own: Headers): Headers {
  // Compressed, a body could not be searched for keys as it streams by.
  return { ...pick(sent, passedUp), 'accept-encoding': 'identity', ...framing(method, sent), ...own }
}

/** `hasSecret`: whether a text contains a configured key. */
function headersDown(
  status: number,
  received: Headers,
  hasSecret: (text: string) => boolean,
  responseContext: ResponseContext,
  provider: string,
): Headers {
  const { 'content-type': _, 'x-swap-form': __, ...own } = baseHeaders(responseContext, provider)
  const passed = Object.entries(pick(received, passedDown)).filter(([, value = '']) => !hasSecret(value))
  const { 'content-length': length, 'cache-control': cacheControl, 'retry-after': pause, ...headers } = Object.fromEntries(passed)
  const retryAfter = readRetryAfter(pause, received.date)
  return {
    'cache-control': forOneKey(cacheControl),
    vary: 'Authorization, X-API-Key',
    ...headers,
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...(status !== 204 && length !== undefined && { 'content-length': length }),
    ...own,
    'content-security-policy': 'sandbox',
  }
}

const shared = /^(?:public|private|s-maxage|proxy-revalidate)(?:=|$)/i
/** Characters. A longer list of directives is taken for `no-store`. */
const maxCacheControl = 1_000

/** `Cache-Control` for the holder of one key: no shared cache may keep the response (RFC 9111 §5.2.2). `no-store` if there is none. */
function forOneKey(cacheControl = ''): string {
  const directives = cacheControl.length > maxCacheControl ? [] : directivesOf(cacheControl)
  if (directives.length === 0 || directives.some((text) => /^no-store$/i.test(text))) return 'no-store'
  return ['private', ...directives.filter((text) => !shared.test(text))].join(', ')
}

/** Those between commas (RFC 9110 §5.6.1). A comma in a quoted text divides nothing; a quote that nothing ends reaches to the end. */
function directivesOf(list: string): readonly string[] {
  const directives: string[] = []
  let begin = 0
  let isQuoted = false
  for (let at = 0; at < list.length; at++) {
    if (list[at] === '"') isQuoted = !isQuoted
    else if (isQuoted && list[at] === '\\') at++
    else if (list[at] === ',' && !isQuoted) {
      directives.push(list.slice(begin, at))
      begin = at + 1
    }
  }
  return [...directives, list.slice(begin)].map((text) => text.trim()).filter((text) => text !== '')
}

/** Whether the head announces a body (RFC 9112 §6). */
export function announcesBody({ 'content-length': length = '0', 'transfer-encoding': coding }: Headers): boolean {
  return coding !== undefined || Number(length) > 0
}

/** The body is framed explicitly: Node sends one of a DELETE without a frame, and a server would read it as another request. */
function framing(method: string, sent: Headers): Headers {
  if (sent['transfer-encoding'] !== undefined) return { 'transfer-encoding': 'chunked' }
  return methodsWithoutBody.has(method) ? {} : { 'content-length': String(Number(sent['content-length'] ?? 0)) }
}

function pick(headers: Headers, names: readonly string[]): Headers {
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])))
}
