/** One native call: the request to the provider, the head to the client, and the reports. */
import type { Confidential } from '../../domain/confidential.ts'
import { Fault, standardFault } from '../../domain/fault.ts'
import type { NativeGuard, OpenPath, ReportHead } from '../../domain/native.ts'
import type { Observer, Server } from '../../domain/observation.ts'
import type { Caller, Context } from '../../domain/service.ts'
import type { Headers, HttpRequest, HttpResponse } from '../../wire/http.ts'
import { toStatus } from '../../wire/http.ts'
import type { NativeHead, NativeRequest, SendNative } from '../../wire/native.ts'
import { Attempt } from '../call.ts'
import type { RequestRecord } from '../record.ts'
import { headersDown, headersUp } from './headers.ts'
import { faultOfStatus, refusedHead } from './status.ts'

/** A provider with the settings of its native lane. */
export interface NativeProvider {
  readonly tag: string
  readonly server: Server
  /** The gateway's own key in the header of the provider's form. */
  readonly credential: Headers
  readonly userAgent: string
  readonly confidential: Confidential
  /** Maximum size of a request body: `providers.<name>.nativeMaxBytes` (default: 1048576 bytes). */
  readonly maxBytes: number
  /** `providers.<name>.timeout` (default: 10 seconds). */
  readonly timeoutMs: number
  /** Between two bytes, in both directions: `providers.<name>.nativeIdle` (default: 30 seconds). */
  readonly idleTimeoutMs: number
  /** Of a whole exchange: `providers.<name>.nativeTimeout` (default: 300 seconds). */
  readonly totalTimeoutMs: number
  readonly guard: NativeGuard
  readonly send: SendNative
}

export interface ClientRequest {
  readonly request: HttpRequest
  readonly caller: Caller
  readonly record: RequestRecord
}

/** `path`: below the provider's base URL. Throws a `Fault` if the client got no head; after the head a fault is only recorded. */
export async function callNative(
  provider: NativeProvider,
  openPath: OpenPath,
  path: string,
  client: ClientRequest,
  observe: Observer,
): Promise<HttpResponse> {
  const { record } = client
  const context = contextOf(provider, client)
  const result: { head?: NativeHead; fault?: Fault | undefined } = {}
  const call = async (reportHead: ReportHead, signal: AbortSignal): Promise<void> => {
    const attempt = beginAttempt(provider, openPath, context)
    const toClient = (status: number, received: Headers): NativeHead => {
      attempt.setHead(status)
      result.head = headDown(status, received, provider, client)
      result.fault = faultOfStatus(status, received, provider.tag)
      reportHead(result.fault)
      return result.head
    }
    try {
      const { confidential: keys } = provider
      await provider.send({ ...provider, ...requestUp(provider, openPath, path, client, attempt), keys, signal, toClient })
      attempt.end(result.fault, observe)
    } catch (reason) {
      attempt.end(Fault.from(reason), observe)
      throw reason
    }
  }
  try {
    await provider.guard(openPath, context, call)
    record.fault = result.fault?.kind === 'invalid' ? undefined : result.fault
  } catch (reason) {
    record.fault = translateKeyRefusal(Fault.from(reason))
  }
  if (!result.head) throw record.fault
  // For the log: a response that was cut off for what was in it is no success.
  const { fault } = record
  const status = fault?.kind === 'failed' && result.head.status < 400 ? toStatus(fault.kind) : result.head.status
  return { ...result.head, status, body: '', isSent: true }
}

/** A rejection of the gateway's own key is a failure of the provider (docs/contract.md §5). */
function translateKeyRefusal(fault: Fault): Fault {
  if (fault.kind !== 'unauthorized' || fault.provider === undefined) return fault
  return standardFault('accessRefused', { noEffect: true, cause: fault, provider: fault.provider })
}

function contextOf({ timeoutMs }: NativeProvider, { caller, record }: ClientRequest): Context {
  return {
    requestId: record.requestId,
    caller,
    clientCapabilities: record.form.capabilities,
    deadline: performance.now() + timeoutMs,
    upstreamTimer: record.upstream,
    span: record.span,
  }
}

function beginAttempt({ tag, server }: NativeProvider, { method }: OpenPath, context: Context): Attempt {
  const attributes = {
    'http.request.method': method,
    'swapgate.operation': 'native',
    'swapgate.provider': tag,
    'server.address': server.address,
    'server.port': server.port,
  }
  const span = context.span?.begin(method, attributes, 'client')
  return new Attempt({ operation: 'native', method, provider: tag, server }, context, span)
}

function requestUp(
  { credential, userAgent }: NativeProvider,
  { method }: OpenPath,
  path: string,
  { request, record }: ClientRequest,
  { span }: Attempt,
): Pick<NativeRequest, 'streams' | 'method' | 'path' | 'headers'> {
  const { streams, query, headers } = request
  if (!streams) throw Fault.from(new Error('a native call without streams'))
  const own = {
    'user-agent': userAgent,
    'x-request-id': record.requestId,
    ...(span && { traceparent: span.traceparent }),
    ...credential,
  }
  return { streams, method, path: query === '' ? path : `${path}?${query}`, headers: headersUp(method, headers, own) }
}

function headDown(status: number, received: Headers, { tag, confidential }: NativeProvider, { record }: ClientRequest): NativeHead {
  const refusal = refusedHead(status, received, tag)
  if (refusal) throw refusal
  const hasSecret = (text: string): boolean => confidential.containsKey(text)
  return { status, headers: headersDown(status, received, hasSecret, record, tag) }
}
