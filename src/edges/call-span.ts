/** The span of one call that goes up to a provider, by the stable HTTP conventions of OpenTelemetry. */
import type { Context } from '../domain/operations.ts'
import type { Span } from '../domain/span.ts'
import type { OperationCodec } from '../wire/form.ts'
import type { HttpRequest } from '../wire/http.ts'

/** Where a provider listens. */
export interface Peer {
  readonly scheme: string
  readonly address: string
  readonly port: number
}

export function peerOf(url: string): Peer {
  const { protocol, hostname, port } = new URL(url)
  return { scheme: protocol.slice(0, -1), address: hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) }
}

export function beginCall(
  { op, method }: OperationCodec,
  { span, resends }: Context,
  provider: string,
  peer?: Peer,
): Span | undefined {
  const call = span?.begin(method, 'client')
  call?.tell({
    'http.request.method': method,
    'swapgate.operation': op,
    'swapgate.provider': provider,
    ...(peer && { 'url.scheme': peer.scheme, 'server.address': peer.address, 'server.port': peer.port }),
    ...(resends !== undefined && { 'http.request.resend_count': resends }),
  })
  return call
}

/** Goes up with the name of its span. */
export function withTraceparent(request: HttpRequest, span: Span | undefined): HttpRequest {
  return span ? { ...request, headers: { ...request.headers, traceparent: span.traceparent } } : request
}
