/** Reads the standard environment variables of OpenTelemetry (SDK configuration and OTLP exporter). */
import { readFileSync } from 'node:fs'
import type { Tree } from './document.ts'
import type { Sources } from './interpolation.ts'

/** Each variable and the key of the section `telemetry` that it sets if the file does not. */
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

/** Adds the variables to the tree. The file takes precedence. An empty variable counts as unset, as the specification requires. */
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

const certificates = { ca: 'CERTIFICATE', cert: 'CLIENT_CERTIFICATE', key: 'CLIENT_KEY' } as const

export type OtlpCertificates = { readonly [Part in keyof typeof certificates]?: Buffer }

/** The files that the variables name for the connection to a collector. One that cannot be read counts as none, as the SDK has it. */
export function readCertificates(environment: Sources['environment']): OtlpCertificates {
  const parts = Object.entries(certificates).flatMap(([part, name]) => {
    const file = environment[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || environment[`OTEL_EXPORTER_OTLP_${name}`]
    const content = file ? readIfPossible(file) : undefined
    return content ? [[part, content]] : []
  })
  return Object.fromEntries(parts)
}

function readIfPossible(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}
