/** @opentelemetry/exporter-trace-otlp-proto: OTLP over HTTP, configured by the OTEL_EXPORTER_OTLP_… variables. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { SpanResult } from '../../domain/telemetry/labels.ts'
import { withRequestDeadline } from './request-deadline.ts'

/** Headers, certificates and compression come from the variables. Calls `onResult` with the result of each batch. */
export function exporter(
  { endpoint, timeoutMs, version }: { readonly endpoint: string; readonly timeoutMs: number; readonly version: string },
  onResult: (result: SpanResult, count: number) => void,
): SpanExporter {
  const collector = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: timeoutMs,
    userAgent: `swapgate/${version}`,
  })
  return {
    export(spans, done) {
      const onExported: typeof done = (result) => {
        onResult(result.code === 0 ? 'exported' : 'failed', spans.length)
        done(result)
      }
      withRequestDeadline(timeoutMs, () => collector.export(spans, onExported))
    },
    shutdown: () => collector.shutdown(),
  }
}
