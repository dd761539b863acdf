import { type LoadSources, type MeasuredLoad, measureLoad } from '../adapters/http/load.ts'
import type { Stderr } from '../adapters/log/stderr.ts'
import type { Config } from '../config/index.ts'
import { ProviderFigures } from '../core/operations/provider-figures.ts'
import type { Observer } from '../domain/observation.ts'
import { limitCacheMemory } from './memory-limit.ts'
import { openTelemetry, type Telemetry } from './telemetry.ts'

/**
 * How a gateway reaches its process: where its log goes, and where its load is read. What is absent is that of the real process. Only
 * `test/support/in-process-gateway.ts` gives others: there the gateway shares the process of its test.
 */
export interface ProcessIo {
  readonly stderr?: Stderr
  readonly loadSources?: LoadSources
}

/** Metrics, logs and figures of this process. */
export interface Monitoring {
  readonly load: MeasuredLoad
  readonly telemetry: Telemetry
  /** Written to the ledger for this replica. */
  readonly figures: ProviderFigures
  readonly observe: Observer
  /** Closes the log. False if lines could not be written. */
  readonly isLogFlushed: () => boolean
}

/** `current`: the configuration in force. */
export function openMonitoring(
  config: Config,
  current: () => Config,
  resources: AsyncDisposableStack,
  { stderr, loadSources }: ProcessIo = {},
): Monitoring {
  limitCacheMemory()
  const load = measureLoad(loadSources)
  resources.defer(async () => load.stop())
  const telemetry = openTelemetry(config, current, stderr)
  const figures = new ProviderFigures(() => performance.now())
  let isFlushed = true
  resources.defer(async () => {
    isFlushed = await telemetry.log.close()
  })
  return {
    load,
    telemetry,
    figures,
    observe(observation) {
      telemetry.observe(observation)
      figures.observe(observation)
    },
    isLogFlushed: () => isFlushed,
  }
}
