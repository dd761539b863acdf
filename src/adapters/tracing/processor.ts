/** @opentelemetry/sdk-trace: what sends spans in batches. */
import { AlwaysOnSampler, BatchSpanProcessor, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace'

interface Batches {
  readonly exporter: SpanExporter
  readonly queue: number
  readonly batch: number
  readonly exportTimeoutMs: number
}

/** Spans have waited for each other before they come here. */
export function batches({ exporter, queue, batch, exportTimeoutMs }: Batches): SpanProcessor {
  return new BatchSpanProcessor({
    exporter,
    maxQueueSize: queue,
    maxExportBatchSize: batch,
    scheduledDelayMillis: 0,
    exportTimeoutMillis: exportTimeoutMs,
  })
}

/** What is kept was decided before. */
export const always = new AlwaysOnSampler()
