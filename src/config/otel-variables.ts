/** What operators set for all their services by environment variables (OpenTelemetry's SDK configuration, and its OTLP exporter). */
import type { Tree } from './document.ts'
import type { Sources } from './interpolation.ts'

/** The key of the section `telemetry` for which each variable stands where the file has none. */
const variables: Readonly<Record<string, string>> = {
  OTEL_EXPORTER_OTLP_ENDPOINT: 'endpoint',
  OTEL_SDK_DISABLED: 'disabled',
  OTEL_TRACES_SAMPLER: 'sampler',
  OTEL_TRACES_SAMPLER_ARG: 'ratio',
  OTEL_BSP_MAX_QUEUE_SIZE: 'queue',
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: 'batch',
  OTEL_BSP_SCHEDULE_DELAY: 'delayMs',
  OTEL_EXPORTER_OTLP_TIMEOUT: 'timeoutMs',
  OTEL_BSP_EXPORT_TIMEOUT: 'exportTimeoutMs',
}

/** The tree with what the variables say; what the file says stays. An empty variable is none, as the specification has it. */
export function addVariables(tree: Tree, environment: Sources['environment']): Tree {
  if (!isMapping(tree)) return tree
  const fromEnvironment = Object.entries(variables).flatMap(([name, key]) => (environment[name] ? [[key, environment[name]]] : []))
  const configured = tree.telemetry ?? {}
  return isMapping(configured) && fromEnvironment.length > 0
    ? { ...tree, telemetry: { ...Object.fromEntries(fromEnvironment), ...configured } }
    : tree
}

function isMapping(tree: Tree): tree is { [key: string]: Tree } {
  return typeof tree === 'object' && tree !== null && !Array.isArray(tree)
}
