/** @opentelemetry/otlp-transformer: spans in OTLP's protobuf, which every collector takes. */
export { ProtobufTraceSerializer as serializer, TraceExporterMetricsHelper as metricsHelper } from '@opentelemetry/otlp-transformer'
