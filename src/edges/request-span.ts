/** The span of a client's request, by the stable HTTP conventions of OpenTelemetry. */
import type { Span } from '../domain/span.ts'
import type { Tracing } from '../domain/trace.ts'
import { readTraceparent } from '../domain/traceparent.ts'
import type { HttpRequest, HttpResponse } from '../wire/http.ts'
import type { Telling } from './response.ts'

/** RFC 9110, and PATCH; a client may invent more. */
const methods: ReadonlySet<string> = new Set('GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH'.split(' '))

/** A trace of its own: the client's is referred to, and what he wants kept is not heeded. Of his state nothing is read. */
export function beginRequest({ headers }: HttpRequest, tracing: Tracing | undefined): Span | undefined {
  if (!tracing) return undefined
  const link = readTraceparent(headers.traceparent)
  return tracing.begin('server', 'HTTP', link ? [link] : [])
}

/** Ends the trace; one that ended in a failure of ours or of the provider's is kept. `below`: the path without the mount. */
export function endRequest(
  span: Span,
  { method, path }: HttpRequest,
  below: string,
  telling: Telling,
  response: HttpResponse,
): void {
  const { operation, form, fault, answer } = telling
  const isNotable = response.status >= 500
  if (isNotable || span.trace.isSampled) {
    const known = methods.has(method) ? method : undefined
    const route = operation && path.slice(0, path.length - below.length) + operation.path.pattern
    span.name = known === undefined ? 'HTTP' : route === undefined ? known : `${known} ${route}`
    const provider = answer?.provider ?? fault?.provider
    span.tell({
      'http.request.method': known ?? '_OTHER',
      'http.response.status_code': response.status,
      'url.scheme': 'http',
      'swapgate.form': form.name,
      ...(route !== undefined && { 'http.route': route, 'url.path': route }),
      ...(operation && { 'swapgate.operation': operation.op }),
      ...(provider !== undefined && { 'swapgate.provider': provider }),
      ...((answer?.replayed || fault?.replayed) && { 'swapgate.replayed': true }),
      ...(answer?.stale !== undefined && { 'swapgate.stale': true }),
    })
  }
  span.end(fault?.kind)
  span.trace.finish(isNotable)
}
