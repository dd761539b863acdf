import type { Suspensions } from '../core/creation/suspensions.ts'
import type { ShadowStatistics } from '../core/routing/shadow.ts'
import type { OpenLedger } from '../ledger/index.ts'
import type { ConfigurationInForce } from './configuration/configuration-in-force.ts'
import type { CurrentGeneration } from './configuration/generation.ts'
import { startIntervalJob } from './interval-job.ts'
import type { Monitoring } from './monitoring.ts'
import { startReplicaFigures } from './replica-figures.ts'

export interface BackgroundJobParts {
  readonly generation: CurrentGeneration
  readonly configuration: ConfigurationInForce
  readonly ledgerStores: Pick<OpenLedger, 'ledger' | 'replicaFigures' | 'findLostCommits'>
  readonly monitoring: Pick<Monitoring, 'figures' | 'observe'>
  readonly shadowStatistics: ShadowStatistics
  readonly suspensions: Suspensions
}

/** Every replica must apply a change within 5 s. */
const changePollMs = 2_000

/** After a failover the new server's log soon is as long as the lost one. */
const logPositionPollMs = 1_000

/** The background jobs of the process. */
export function startBackgroundJobs(parts: BackgroundJobParts, resources: AsyncDisposableStack): void {
  const { generation, configuration, ledgerStores, monitoring, shadowStatistics, suspensions } = parts
  const { ledger, replicaFigures: store, findLostCommits } = ledgerStores
  const { figures, observe } = monitoring
  const reportLostCommits = async (): Promise<void> => {
    const by = await findLostCommits()
    if (by) observe({ what: 'commitsLost', by })
  }
  // At the start too: the ledger may have been restored.
  reportLostCommits().catch(() => {})
  const jobs = [
    startIntervalJob(() => generation.reconcile(), 1_000),
    startIntervalJob(() => generation.pollDraining(), 1_000),
    startIntervalJob(() => ledger.expireClaims(), 3_600_000),
    startIntervalJob(reportLostCommits, logPositionPollMs),
    startIntervalJob(() => configuration.tags.flush(), 10_000),
    startIntervalJob(() => configuration.follow(), changePollMs),
    startIntervalJob(() => suspensions.follow(), changePollMs),
    startReplicaFigures({ store, figures, shadowStatistics, connected: () => generation.connected }),
  ]
  for (const { stop } of jobs) resources.defer(stop)
}
