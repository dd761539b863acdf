import { type LoadSources, type MeasuredLoad, measureLoad } from '../adapters/http/load.ts'
import type { Stderr } from '../adapters/log/stderr.ts'
import type { Config } from '../config/index.ts'
import { ProviderFigures } from '../core/operations/provider-figures.ts'
import type { Observer } from '../domain/telemetry/observation.ts'
import { openTelemetry, type Telemetry } from './telemetry.ts'

/** What a gateway uses in place of what its process has: for tests that share their process with it. */
export interface ProcessResources {
  /** Where the log is written. */
  readonly stderr?: Stderr
  /** How the load is measured. */
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
  { stderr, loadSources }: ProcessResources = {},
): Monitoring {
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
