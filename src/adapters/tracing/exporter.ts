/** @opentelemetry/otlp-exporter-base: OTLP over HTTP, configured by the OTEL_EXPORTER_OTLP_… variables. */
import { Agent } from 'node:https'
import { createOtlpNetworkExportDelegate } from '@opentelemetry/otlp-exporter-base'
import { convertLegacyHttpOptions, createOtlpHttpExporterMetrics } from '@opentelemetry/otlp-exporter-base/node-http'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { SpanResult } from '../../domain/telemetry/labels.ts'
import { metricsHelper, serializer } from './serializer.ts'
import { type Certificates, transport } from './transport.ts'

/** Headers, certificates and compression come from the variables. Calls `settle` with the result of each batch. */
export function exporter(
  { endpoint, timeoutMs, version }: { readonly endpoint: string; readonly timeoutMs: number; readonly version: string },
  onResult: (result: SpanResult, count: number) => void,
): SpanExporter {
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`
  const own = { 'content-type': 'application/x-protobuf', 'user-agent': `swapgate/${version}` }
  const options = convertLegacyHttpOptions({ url, timeoutMillis: timeoutMs }, 'TRACES', 'v1/traces', own)
  const { headers, compression, agentFactory } = options
  const networkTransport = transport({
    url: new URL(url),
    headers,
    isCompressed: compression === 'gzip',
    tls: async () => certificatesOf(await agentFactory('https:')),
  })
  const metrics = createOtlpHttpExporterMetrics('otlp_http_span_exporter', metricsHelper, url, undefined)
  const collector = createOtlpNetworkExportDelegate(options, serializer, metrics, networkTransport)
  return {
    export(spans, done) {
      collector.export(spans, (result) => {
        onResult(result.code === 0 ? 'exported' : 'failed', spans.length)
        done(result)
      })
    },
    shutdown: () => collector.shutdown(),
  }
}

/** The SDK exposes the certificates only through an agent. */
function certificatesOf(agent: unknown): Certificates {
  if (!(agent instanceof Agent)) return {}
  const { ca, cert, key } = agent.options as Certificates
  return { ca, cert, key }
}
