/** @opentelemetry/sdk-node: sends traces to a collector over OTLP, configured by the standard `OTEL_…` variables. */
import { NodeSDK } from '@opentelemetry/sdk-node'
import { withDefault } from '../../domain/async.ts'
import type { SpanResult } from '../../domain/observation.ts'
import type { Span } from '../../domain/trace.ts'
import { recordTraces, type Tracing } from '../../domain/trace.ts'
import { type ExporterOptions, exporter } from './exporter.ts'
import { always, batches } from './processor.ts'
import { spanSourceOf, toReadableSpan } from './readable-span.ts'
import { detectors, resource } from './resource.ts'
import { SpanBuffer } from './span-buffer.ts'

export interface TracingOptions {
  /** Base URL of the collector. */
  readonly endpoint: string
  /** The share of traces without an error that is kept, from 0 to 1. */
  readonly ratio: number
  /** Maximum number of queued spans; further traces are dropped as a whole. */
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
    return withDefault(sdk.shutdown(), timeout, undefined) // spans that are not sent by then are lost
  }
  return { ...recordTraces(ratio, bufferSpans), close }
}
