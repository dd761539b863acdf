import { type MeasuredLoad, measureLoad } from '../adapters/http/load.ts'
import type { Config } from '../config/index.ts'
import { ProviderFigures } from '../core/operations/provider-figures.ts'
import type { Observer } from '../domain/telemetry/observation.ts'
import { openTelemetry, type Telemetry } from './telemetry.ts'

/** What is measured of this process. */
export interface Monitoring {
  readonly load: MeasuredLoad
  readonly telemetry: Telemetry
  /** What the ledger gets of this replica. */
  readonly figures: ProviderFigures
  readonly observe: Observer
  /** After the end: whether all log lines were written. */
  readonly isLogFlushed: () => boolean
}

/** `current`: the configuration in force. */
export function openMonitoring(config: Config, current: () => Config, resources: AsyncDisposableStack): Monitoring {
  const load = measureLoad()
  resources.defer(async () => load.stop())
  const telemetry = openTelemetry(config, current)
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
