/** The span of a client's request, by the stable HTTP conventions of OpenTelemetry. */
import { methods as knownMethods } from '../domain/observation.ts'
import type { Span } from '../domain/span.ts'
import type { Tracing } from '../domain/trace.ts'
import { readTraceparent } from '../domain/traceparent.ts'
import type { HttpRequest, HttpResponse } from '../wire/http.ts'
import type { Course } from './course.ts'
import type { Telling } from './response.ts'

/** A client may invent more. */
const methods: ReadonlySet<string> = new Set(knownMethods)

/** A trace of its own: the client's is referred to, and what he wants kept is not heeded. Of his state nothing is read. */
export function beginRequest({ headers }: HttpRequest, tracing: Tracing | undefined): Span | undefined {
  if (!tracing) return undefined
  const link = readTraceparent(headers.traceparent)
  return tracing.begin('server', 'HTTP', link ? [link] : [])
}

/** One that ends in a failure of ours or of the provider's is kept beside the share. */
export function isKept({ trace }: Span, status: number): boolean {
  return trace.isSampled || status >= 500
}

/** Ends the trace. */
export function endRequest(span: Span, request: HttpRequest, course: Course, telling: Telling, response: HttpResponse): void {
  const isWanted = isKept(span, response.status)
  if (isWanted) tellRequest(span, request, course, telling, response)
  span.end(course.fault, course.endedAt)
  span.trace.finish(isWanted)
}

/** Apart, since few come here: what all do has to be small to be fast. */
function tellRequest(span: Span, { method }: HttpRequest, course: Course, telling: Telling, response: HttpResponse): void {
  const { route, upstream } = course
  const { status, headers } = response
  const known = methods.has(method) ? method : undefined
  const provider = headers['x-swap-provider'] ?? upstream.provider
  span.name = known === undefined ? 'HTTP' : route === '' ? known : `${known} ${route}`
  span.tell({
    'http.request.method': known ?? '_OTHER',
    'http.response.status_code': status,
    'url.scheme': 'http',
    'swapgate.form': telling.form.name,
    ...(route !== '' && { 'http.route': route, 'url.path': route }),
    ...(telling.operation && { 'swapgate.operation': telling.operation.op }),
    ...(provider !== undefined && { 'swapgate.provider': provider }),
    ...(course.fault && { 'swapgate.reason': course.fault.reason }),
    ...(headers['idempotent-replayed'] !== undefined && { 'swapgate.replayed': true }),
    ...(headers['x-swap-stale'] !== undefined && { 'swapgate.stale': true }),
  })
}
