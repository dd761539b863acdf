/** @opentelemetry/exporter-trace-otlp-proto: OTLP over HTTP, configured by the OTEL_EXPORTER_OTLP_… variables. */
import type { AgentOptions } from 'node:https'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { SpanResult } from '../../domain/observation.ts'
import { withRequestDeadline } from './request-deadline.ts'

export interface ExporterOptions {
  readonly endpoint: string
  readonly timeoutMs: number
  readonly version: string
  /** For connections: look-up and certificates. */
  readonly agent: AgentOptions
}

/** Headers and compression come from the variables. Calls `onResult` with the result of each batch. */
export function exporter(
  { endpoint, timeoutMs, version, agent }: ExporterOptions,
  onResult: (result: SpanResult, count: number) => void,
): SpanExporter {
  const collector = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: timeoutMs,
    httpAgentOptions: { keepAlive: true, ...agent },
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
