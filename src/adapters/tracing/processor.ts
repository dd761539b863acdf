/** @opentelemetry/sdk-trace: sends spans in batches. */
import { AlwaysOnSampler, BatchSpanProcessor, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace'

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
    maxQueueSize: queue,
    maxExportBatchSize: batch,
    scheduledDelayMillis: 0,
    exportTimeoutMillis: exportTimeoutMs,
  })
}

/** Keeps every span: the sampling decision was made before. */
export const always = new AlwaysOnSampler()
