import type { OpenLedger } from '../adapters/ledger/index.ts'
import type { ShadowStatistics } from '../core/routing/shadow-statistics.ts'
import type { ConfigurationInForce } from './configuration/configuration-in-force.ts'
import type { CurrentGeneration } from './configuration/generation.ts'
import { startIntervalJob } from './interval-job.ts'
import type { Monitoring } from './monitoring.ts'
import { startReplicaFigures } from './replica-figures.ts'

export interface BackgroundJobParts {
  readonly generation: CurrentGeneration
  readonly configuration: ConfigurationInForce
  readonly ledgerStores: Pick<OpenLedger, 'ledger' | 'replicaFigures'>
  readonly figures: Monitoring['figures']
  readonly shadowStatistics: ShadowStatistics
}

/** Every replica must apply a change within 5 s. */
const overridePollMs = 2_000

/** The background jobs of the process. */
export function startBackgroundJobs(parts: BackgroundJobParts, resources: AsyncDisposableStack): void {
  const { generation, configuration, ledgerStores, figures, shadowStatistics } = parts
  const { ledger, replicaFigures: store } = ledgerStores
  const jobs = [
    startIntervalJob(() => generation.reconcile(), 1_000),
    startIntervalJob(() => generation.pollDraining(), 1_000),
    startIntervalJob(() => ledger.expireClaims(), 3_600_000),
    startIntervalJob(() => configuration.tags.flush(), 10_000),
    startIntervalJob(() => configuration.follow(), overridePollMs),
    startReplicaFigures({ store, figures, shadowStatistics, connected: () => generation.connected }),
  ]
  for (const { stop } of jobs) resources.defer(stop)
}
