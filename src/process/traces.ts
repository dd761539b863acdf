import type { OpenTracing } from '../adapters/tracing/index.ts'
import type { Config } from '../config/index.ts'
import type { Observer } from '../domain/telemetry/observation.ts'
import { version } from './version.ts'

/** Undefined if tracing is off: then OpenTelemetry is not loaded. */
export async function openTraces(settings: Config['telemetry'], observe: Observer): Promise<OpenTracing | undefined> {
  const { endpoint, disabled, sampler } = settings
  if (endpoint === '' || disabled) return undefined
  const { openTracing } = await import('../adapters/tracing/index.ts')
  const ratio = sampler.endsWith('always_on') ? 1 : sampler.endsWith('always_off') ? 0 : settings.ratio
  return openTracing({ ...settings, ratio, version, observe: (result, count) => observe({ what: 'spans', result, count }) })
}
