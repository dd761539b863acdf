/** @opentelemetry/api: spans that have ended, told to the SDK as if they happened now. */
import {
  type HrTime,
  type Attributes as OtherAttributes,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { errorTypeOf } from '../../domain/error-type.ts'
import type { Attributes, Span } from '../../domain/span.ts'
import { toStatus } from '../../wire/status.ts'

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const

/** `identities` is what the SDK takes ids from. */
export function replay(spans: readonly Span[], identities: { traceId: string; spanId: string }, version: string): void {
  const tracer = trace.getTracer('swapgate', version)
  const since1970 = Date.now() - performance.now()
  for (const span of spans) {
    const traceId = span.trace.id
    Object.assign(identities, { traceId, spanId: span.id })
    const { attributes } = span
    const failure = failureOf(span, attributes)
    const options = {
      kind: kinds[span.kind],
      startTime: toTime(span.startedAt + since1970),
      attributes: attributesOf(span, attributes, failure),
      links: span.links.map((link) => ({ context: { ...link, traceFlags: TraceFlags.NONE, isRemote: true } })),
    }
    const parent = span.parent && { traceId, spanId: span.parent.id, traceFlags: TraceFlags.SAMPLED }
    const told = tracer.startSpan(span.name, options, parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT)
    if (failure !== undefined) told.setStatus({ code: SpanStatusCode.ERROR })
    told.end(toTime((span.endedAt ?? span.startedAt) + since1970))
  }
}

function attributesOf({ fault }: Span, attributes: Attributes, failure: string | undefined): OtherAttributes {
  return {
    ...attributes,
    ...(fault !== undefined && { 'swapgate.error_type': errorTypeOf(fault) }),
    ...(failure !== undefined && { 'error.type': failure }),
  }
}

/** A client's own mistake is no failure of the request; of a call to a provider, every refusal is one. */
function failureOf({ kind, fault }: Span, attributes: Attributes): string | undefined {
  const status = attributes['http.response.status_code'] ?? 0
  if (status >= (kind === 'client' ? 400 : 500)) return String(status)
  return fault !== undefined && (kind === 'client' || toStatus(fault.kind) >= 500) ? errorTypeOf(fault) : undefined
}

function toTime(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1000)
  return [seconds, Math.round((milliseconds - seconds * 1000) * 1e6)]
}
