import type { OpenTracing } from '../adapters/tracing.ts'
import { type Config, otlpCertificates } from '../config/index.ts'
import type { Observer } from '../domain/observation.ts'
import { lookup } from './name-lookup.ts'
import { version } from './version.ts'

/** Undefined if tracing is off: then OpenTelemetry is not loaded. */
export async function openTraces(settings: Config['telemetry'], observe: Observer): Promise<OpenTracing | undefined> {
  const { endpoint, disabled, sampler } = settings
  if (endpoint === '' || disabled) return undefined
  const { openTracing } = await import('../adapters/tracing.ts')
  const ratio = sampler.endsWith('always_on') ? 1 : sampler.endsWith('always_off') ? 0 : settings.ratio
  const agent = { lookup, ...otlpCertificates() }
  return openTracing({ ...settings, ratio, version, agent, observe: (result, count) => observe({ what: 'spans', result, count }) })
}
