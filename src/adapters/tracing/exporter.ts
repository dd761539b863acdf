/** @opentelemetry/exporter-trace-otlp-proto: OTLP over HTTP, configured by the OTEL_EXPORTER_OTLP_… variables. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { SpanResult } from '../../domain/telemetry/labels.ts'
import { addRequestDeadline } from './request-deadline.ts'

/** Headers, certificates and compression come from the variables. Calls `onResult` with the result of each batch. */
export function exporter(
  { endpoint, timeoutMs, version }: { readonly endpoint: string; readonly timeoutMs: number; readonly version: string },
  onResult: (result: SpanResult, count: number) => void,
): SpanExporter {
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`
  const collector = new OTLPTraceExporter({ url, timeoutMillis: timeoutMs, userAgent: `swapgate/${version}` })
  // The SDK limits only the time without a byte. Batches are sent one at a time, so one deadline is enough.
  let deadline = 0
  const removeDeadline = addRequestDeadline(url, () => deadline - performance.now())
  return {
    export(spans, done) {
      deadline = performance.now() + timeoutMs
      collector.export(spans, (result) => {
        onResult(result.code === 0 ? 'exported' : 'failed', spans.length)
        done(result)
      })
    },
    shutdown: () => collector.shutdown().finally(removeDeadline),
  }
}
