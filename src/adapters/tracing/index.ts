/** @opentelemetry/sdk-node: traces to any collector over OTLP, as operators know it by its OTEL_… variables. */
import { NodeSDK } from '@opentelemetry/sdk-node'
import type { SpanResult } from '../../domain/telemetry/observation.ts'
import type { Span } from '../../domain/tracing/span.ts'
import { recordTraces, type Tracing } from '../../domain/tracing/trace.ts'
import { withDefault } from '../../domain/with-timeout.ts'
import { exporter } from './exporter.ts'
import { always, batches } from './processor.ts'
import { spanSourceOf, toReadableSpan } from './readable-span.ts'
import { detectors, resource } from './resource.ts'
import { SpanBuffer } from './span-buffer.ts'

export interface TracingOptions {
  /** Base URL of the collector. */
  readonly endpoint: string
  /** The share of traces that is kept though nothing failed, from 0 to 1. */
  readonly ratio: number
  /** Spans that wait to be sent; beyond these whole traces are dropped. */
  readonly queue: number
  /** Spans that are sent together. */
  readonly batch: number
  /** How long spans wait for others, how long a batch may take with its second tries, and how long it is waited for: milliseconds. */
  readonly delayMs: number
  readonly timeoutMs: number
  readonly exportTimeoutMs: number
  readonly version: string
  readonly observe: (result: SpanResult, count: number) => void
}

export interface OpenTracing extends Tracing {
  /** Sends what waits, within the time that a batch may take. */
  readonly close: () => Promise<void>
}

/**
 * Spans are plain records until they are sent; only then, all of a batch at once, they are told as the SDK wants to read
 * them. Its own are many times as large, and to move them about while they wait is work for the collector of garbage.
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
    // Spans are told their parents; to follow them through every promise would cost all requests.
    contextManager: null as never,
  })
  sdk.start()
  const spanSource = spanSourceOf(version)
  const send = (spans: readonly Span[]): void => {
    const since1970 = Date.now() - performance.now()
    for (const span of spans) processor.onEnd(toReadableSpan(span, since1970, spanSource))
  }
  const spanBuffer = new SpanBuffer({ ...options, send })
  const bufferSpans = (spans: readonly Span[]): void => {
    if (waiting + spans.length > queue) {
      observe('dropped', spans.length)
      return
    }
    waiting += spans.length
    spanBuffer.add(spans)
  }
  const close = (): Promise<void> => {
    spanBuffer.flush()
    return withDefault(sdk.shutdown(), timeout, undefined) // what is not sent by then is lost
  }
  return { ...recordTraces(ratio, bufferSpans), close }
}
