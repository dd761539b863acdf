/** @opentelemetry/sdk-node: sends traces to a collector over OTLP, configured by the standard `OTEL_…` variables. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import { ClientRequest, type IncomingMessage } from 'node:http'
import type { AgentOptions } from 'node:https'
import { type HrTime, type Attributes as OtherAttributes, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base'
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http'
import { ProtobufTraceSerializer, TraceExporterMetricsHelper } from '@opentelemetry/otlp-transformer'
import {
  defaultResource,
  envDetector,
  type Resource,
  type ResourceDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources'
import { NodeSDK } from '@opentelemetry/sdk-node'
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace'
import { maxTimerMs, withDefault } from '../domain/async.ts'
import { errorTypeOf, failureCauseOf, faultTable } from '../domain/fault.ts'
import type { SpanResult } from '../domain/observation.ts'
import { type Attributes, recordTraces, type Span, type Tracing } from '../domain/trace.ts'

export interface TracingOptions {
  /** Where the collector takes traces. */
  readonly url: string
  /** The share of traces without an error that is kept, from 0 to 1. */
  readonly ratio: number
  /** Maximum number of queued spans; further traces are dropped as a whole. Notable ones have as much again. */
  readonly queue: number
  /** Maximum number of spans per export request. */
  readonly batch: number
  /** How long a span waits for a full batch, the timeout of a batch with retries, and how long the next batch waits for it. */
  readonly delayMs: number
  readonly timeoutMs: number
  readonly exportTimeoutMs: number
  readonly agent: ExporterOptions['agent']
  readonly version: string
  readonly observe: (result: SpanResult, count: number) => void
}

export interface OpenTracing extends Tracing {
  /** Sends the queued spans, within the timeout of a batch. */
  readonly close: () => Promise<void>
}

/**
 * Spans are plain records until their batch is sent; only then they are converted for the SDK. The SDK's spans are many times
 * larger, and while they wait they are work for the garbage collector.
 */
export function openTracing(options: TracingOptions): OpenTracing {
  const { ratio, queue, timeoutMs: timeout, version, observe } = options
  let waiting = 0
  const reportResult = (result: SpanResult, count: number): void => {
    waiting -= count
    observe(result, count)
  }
  const processor = batches({ ...options, exporter: exporter(options, reportResult) })
  const sdk = new NodeSDK({
    resource: resource(version),
    resourceDetectors: detectors,
    sampler: always,
    spanProcessors: [processor],
    metricReaders: [],
    logRecordProcessors: [],
    textMapPropagator: null,
    // Spans get their parents explicitly. Context propagation through promises would slow every request.
    contextManager: null as never,
  })
  sdk.start()
  const spanSource = spanSourceOf(version)
  const send = (spans: readonly Span[]): void => {
    const since1970 = Date.now() - performance.now()
    for (const span of spans) processor.onEnd(toReadableSpan(span, since1970, spanSource))
  }
  const spanBuffer = new SpanBuffer({ ...options, send })
  const bufferSpans = (spans: readonly Span[], isNotable: boolean): void => {
    if (waiting + spans.length > (isNotable ? 2 * queue : queue)) {
      observe('dropped', spans.length)
      return
    }
    waiting += spans.length
    spanBuffer.add(spans)
  }
  const close = (): Promise<void> => {
    spanBuffer.flush()
    return withDefault(sdk.shutdown(), timeout, undefined) // spans that are not sent by then are lost
  }
  return { ...recordTraces(ratio, bufferSpans), close }
}

// @opentelemetry/resources: the resource of spans. Without the command line and the user, which the SDK adds by default.

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override `resource`. */
export const detectors: ResourceDetector[] = [serviceInstanceIdDetector, envDetector]

export function resource(version: string): Resource {
  return defaultResource().merge(resourceFromAttributes({ 'service.name': 'swapgate', 'service.version': version }))
}

// @opentelemetry/sdk-trace: sends spans in batches.

interface Batches {
  readonly exporter: SpanExporter
  readonly queue: number
  readonly batch: number
  readonly exportTimeoutMs: number
}

/** Sends at once: the span buffer has already made the batches. */
export function batches({ exporter, queue, batch, exportTimeoutMs }: Batches): SpanProcessor {
  return new BatchSpanProcessor({
    exporter,
    maxQueueSize: 2 * queue,
    maxExportBatchSize: batch,
    scheduledDelayMillis: 0,
    exportTimeoutMillis: exportTimeoutMs,
  })
}

/** Keeps every span: the sampling decision was made before. */
export const always = new AlwaysOnSampler()

interface SpanBufferOptions {
  /** The number of spans that are sent together. */
  readonly batch: number
  /** After this time a smaller batch is sent. */
  readonly delayMs: number
  readonly send: (spans: readonly Span[]) => void
}

/** Collects spans into batches. */
export class SpanBuffer {
  private readonly options: SpanBufferOptions
  private spans: Span[] = []
  private timer: NodeJS.Timeout | undefined

  constructor(options: SpanBufferOptions) {
    this.options = options
  }

  /** Sends only after the current turn of the event loop, so that the caller finishes first. */
  add(spans: readonly Span[]): void {
    this.spans.push(...spans)
    if (this.spans.length >= this.options.batch) setImmediate(() => this.flush())
    else this.timer ??= setTimeout(() => this.flush(), this.options.delayMs).unref()
  }

  flush(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    const { spans } = this
    this.spans = []
    if (spans.length > 0) this.options.send(spans)
  }
}

// @opentelemetry/otlp-exporter-base: OTLP over HTTP, configured by the OTEL_EXPORTER_OTLP_… variables.

export interface ExporterOptions {
  readonly url: string
  readonly timeoutMs: number
  readonly version: string
  /** For connections: look-up and certificates. */
  readonly agent: AgentOptions
}

/**
 * Headers and compression come from the variables. Calls `onResult` with the result of each batch, and with two where the collector took a
 * part of it.
 */
export function exporter(
  { url, timeoutMs, version, agent }: ExporterOptions,
  onResult: (result: SpanResult, count: number) => void,
): SpanExporter {
  const options = {
    url,
    timeoutMillis: timeoutMs,
    httpAgentOptions: { keepAlive: true, ...agent },
    userAgent: `swapgate/${version}`,
  }
  const http = convertLegacyHttpOptions(options, 'TRACES', 'v1/traces', { 'Content-Type': 'application/x-protobuf' })
  // The exporter of the SDK is made in the same way. It keeps what the collector responds to itself.
  const batches = new AsyncLocalStorage<{ rejected: number }>()
  const serializer: typeof ProtobufTraceSerializer = {
    ...ProtobufTraceSerializer,
    deserializeResponse(bytes) {
      const response = ProtobufTraceSerializer.deserializeResponse(bytes)
      const batch = batches.getStore()
      if (batch) batch.rejected = response.partialSuccess?.rejectedSpans ?? 0
      return response
    },
  }
  const collector = new OTLPExporterBase(
    createOtlpHttpExportDelegate(http, serializer, 'otlp_http_span_exporter', TraceExporterMetricsHelper, undefined),
  )
  return {
    export(spans, done) {
      const batch = { rejected: 0 }
      const onExported: typeof done = (result) => {
        const isTaken = result.code === 0
        const failed = isTaken ? Math.min(Math.max(batch.rejected, 0), spans.length) : spans.length
        if (isTaken) onResult('exported', spans.length - failed)
        if (!isTaken || failed > 0) onResult('failed', failed)
        done(result)
      }
      batches.run(batch, () => withRequestDeadline(timeoutMs, () => collector.export([...spans], onExported)))
    },
    shutdown: () => collector.shutdown(),
  }
}

// node:async_hooks and node:diagnostics_channel: a deadline for the requests of a library that sets none.

const deadlines = new AsyncLocalStorage<number>()

/**
 * Calls `send`. The requests of `node:http` that it makes, at once or later, get the event `timeout` after `timeoutMs`; it has no
 * effect on a response that is complete. The timeout of `node:http` itself is for idle connections: each byte restarts it.
 */
export function withRequestDeadline(timeoutMs: number, send: () => void): void {
  deadlines.run(performance.now() + timeoutMs, send)
}

subscribe('http.client.request.created', (message) => {
  const deadline = deadlines.getStore()
  if (deadline === undefined || !hasRequest(message)) return
  const { request } = message
  const remainingMs = Math.max(0, deadline - performance.now())
  const timer = setTimeout(() => request.emit('timeout'), Math.min(remainingMs, maxTimerMs)).unref()
  const clear = (): void => clearTimeout(timer)
  // Not on `close`: after a response with 101 that is the only event, and a library that waits for others waits for ever.
  request.once('error', clear).once('response', (response: IncomingMessage) => response.once('close', clear))
})

function hasRequest(message: unknown): message is { readonly request: ClientRequest } {
  return typeof message === 'object' && message !== null && 'request' in message && message.request instanceof ClientRequest
}

// @opentelemetry/sdk-trace: converts finished spans for its processors and exporters.

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
  const cause = fault && failureCauseOf(fault)
  return {
    ...attributes,
    ...(fault !== undefined && { 'swapgate.error_type': errorTypeOf(fault) }),
    ...(cause !== undefined && { 'swapgate.cause': cause }),
    ...(failure !== undefined && { 'error.type': failure }),
  }
}

/** A 4xx is an error of a call to a provider, but not of a client's request (OpenTelemetry's convention). */
function failureOf({ kind, fault }: Span, attributes: Attributes): string | undefined {
  const status = attributes['http.response.status_code'] ?? 0
  if (status >= (kind === 'client' ? 400 : 500)) return String(status)
  return fault !== undefined && (kind === 'client' || faultTable[fault.kind].status >= 500) ? errorTypeOf(fault) : undefined
}

function toTime(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1000)
  return [seconds, Math.round((milliseconds - seconds * 1000) * 1e6)]
}
