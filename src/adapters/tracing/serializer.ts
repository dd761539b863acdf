/** @opentelemetry/otlp-transformer: encodes spans as OTLP protobuf, which every collector accepts. */
export { ProtobufTraceSerializer as serializer, TraceExporterMetricsHelper as metricsHelper } from '@opentelemetry/otlp-transformer'
