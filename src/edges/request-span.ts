/** The span of a client's request, by the stable HTTP conventions of OpenTelemetry. */
import { methods } from '../domain/observation.ts'
import type { Span, Tracing } from '../domain/trace.ts'
import { readTraceparent } from '../domain/trace.ts'
import type { HttpRequest, HttpResponse } from '../wire/http.ts'
import type { RequestRecord } from './request-record.ts'

/** Other methods are recorded as `_OTHER`, so that the attribute is bounded. */
const semanticMethods: ReadonlySet<string> = new Set(methods)

/** Begins a new trace with a link to the client's. Ignores the client's sampling flag and trace state. */
export function beginRequest({ headers }: HttpRequest, tracing: Tracing | undefined): Span | undefined {
  if (!tracing) return undefined
  const link = readTraceparent(headers.traceparent)
  return tracing.begin('server', 'HTTP', link ? [link] : [])
}

/** Sets the result and ends the trace. */
export function endRequest(span: Span, request: HttpRequest, record: RequestRecord, response: HttpResponse): void {
  const isWanted = span.trace.isKeptFor(response.status)
  if (isWanted) setRequestAttributes(span, request, record, response)
  span.end(record.fault, record.endedAt)
  span.trace.finish(isWanted)
}

/** A separate function for the rare case of a kept trace: V8 inlines the small common path. */
function setRequestAttributes(span: Span, { method }: HttpRequest, record: RequestRecord, response: HttpResponse): void {
  const { route, upstream } = record
  const { status, headers } = response
  const known = semanticMethods.has(method) ? method : undefined
  const provider = headers['x-swap-provider'] ?? upstream.provider
  span.name = known === undefined ? 'HTTP' : route === '' ? known : `${known} ${route}`
  span.setAttributes({
    'http.request.method': known ?? '_OTHER',
    'http.response.status_code': status,
    'url.scheme': 'http',
    'swapgate.form': record.form.name,
    ...(route !== '' && { 'http.route': route, 'url.path': route }),
    ...(record.operation && { 'swapgate.operation': record.operation }),
    ...(provider !== undefined && { 'swapgate.provider': provider }),
    ...(record.fault && { 'swapgate.reason': record.fault.reason }),
    ...(headers['idempotent-replayed'] !== undefined && { 'swapgate.replayed': true }),
    ...(headers['x-swap-stale'] !== undefined && { 'swapgate.stale': true }),
  })
}
