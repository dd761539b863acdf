/** @opentelemetry/sdk-trace: converts finished spans for its processors and exporters. */
import { type HrTime, type Attributes as OtherAttributes, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { errorTypeOf } from '../../domain/error-type.ts'
import type { Attributes, Span } from '../../domain/trace.ts'
import { toStatus } from '../../wire/http.ts'

/** The source of spans: this process and this library. */
type SpanSource = Pick<ReadableSpan, 'resource' | 'instrumentationScope'>

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const
const failed = { code: SpanStatusCode.ERROR }
const unset = { code: SpanStatusCode.UNSET }

/** Starts a span to read the resource: the SDK exposes it only there. */
export function spanSourceOf(version: string): SpanSource {
  const span = trace.getTracer('swapgate', version).startSpan('')
  if (!hasSource(span)) throw new Error('The SDK for traces is not started.')
  return span
}

function hasSource(span: object): span is SpanSource {
  return 'resource' in span && 'instrumentationScope' in span
}

/** `since1970`: the offset in milliseconds from the clock of spans to the Unix epoch. */
export function toReadableSpan(span: Span, since1970: number, { resource, instrumentationScope }: SpanSource): ReadableSpan {
  const { attributes, startedAt, endedAt = startedAt } = span
  const failure = failureOf(span, attributes)
  const context = contextOf(span)
  return {
    name: span.name,
    kind: kinds[span.kind],
    spanContext: () => context,
    ...(span.parent && { parentSpanContext: contextOf(span.parent) }),
    startTime: toTime(startedAt + since1970),
    endTime: toTime(endedAt + since1970),
    duration: toTime(endedAt - startedAt),
    ended: true,
    status: failure === undefined ? unset : failed,
    attributes: attributesOf(span, attributes, failure),
    links: span.links.map((link) => ({ context: { ...link, traceFlags: TraceFlags.NONE, isRemote: true } })),
    events: [],
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

const contextOf = ({ trace, id }: Span) => ({ traceId: trace.id, spanId: id, traceFlags: TraceFlags.SAMPLED })

function attributesOf({ fault }: Span, attributes: Attributes, failure: string | undefined): OtherAttributes {
  return {
    ...attributes,
    ...(fault !== undefined && { 'swapgate.error_type': errorTypeOf(fault) }),
    ...(failure !== undefined && { 'error.type': failure }),
  }
}

/** A 4xx is an error of a call to a provider, but not of a client's request (OpenTelemetry's convention). */
function failureOf({ kind, fault }: Span, attributes: Attributes): string | undefined {
  const status = attributes['http.response.status_code'] ?? 0
  if (status >= (kind === 'client' ? 400 : 500)) return String(status)
  return fault !== undefined && (kind === 'client' || toStatus(fault.kind) >= 500) ? errorTypeOf(fault) : undefined
}

function toTime(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1000)
  return [seconds, Math.round((milliseconds - seconds * 1000) * 1e6)]
}
