/** @opentelemetry/exporter-trace-otlp-proto: OTLP over HTTP in protobuf, which every collector takes. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { SpanResult } from '../../domain/observation.ts'

/** Headers, certificates and compression are what the OTEL_EXPORTER_OTLP_… variables say. `settle` hears how each batch ended. */
export function exporter(
  { endpoint, timeout }: { readonly endpoint: string; readonly timeout: number },
  settle: (result: SpanResult, count: number) => void,
): SpanExporter {
  const collector = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces`, timeoutMillis: timeout })
  return {
    export(spans, told) {
      collector.export(spans, (result) => {
        settle(result.code === 0 ? 'exported' : 'failed', spans.length)
        told(result)
      })
    },
    shutdown: () => collector.shutdown(),
  }
}
