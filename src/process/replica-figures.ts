/** Writes what this process counts to the ledger, for `swapgate providers status` and the operator's page. */
import { randomUUID } from 'node:crypto'
import type { ProviderCounts, ProviderFigures, ReplicaFiguresStore } from '../core/operations/provider-figures.ts'
import type { ShadowStatistics } from '../core/routing/shadow.ts'
import type { ConnectedProvider } from '../provider/connected-provider.ts'
import { type IntervalJob, startIntervalJob } from './interval-job.ts'

const intervalMs = 5_000

export interface ReplicaFiguresOptions {
  readonly store: ReplicaFiguresStore
  readonly figures: ProviderFigures
  readonly shadowStatistics: ShadowStatistics
  readonly connected: () => readonly ConnectedProvider[]
}

/** Every 5 s under an id of its own. What the ledger does not accept now is written the next time. */
export function startReplicaFigures({ store, figures, shadowStatistics, connected }: ReplicaFiguresOptions): IntervalJob {
  const replica = randomUUID()
  const write = (): Promise<void> => {
    const providers = connected().map((provider) => ({ ...figures.counts(provider.tag), ...listFigures(provider) }))
    return store.write(replica, { providers, shadow: shadowStatistics.counts() ?? null })
  }
  // Killed processes have left their rows.
  store.remove(replica).catch(() => {})
  const job = startIntervalJob(write, intervalMs)
  return {
    async stop() {
      await job.stop()
      await store.remove(replica).catch(() => {}) // left out after 30 s
    },
  }
}

function listFigures({ catalogue }: ConnectedProvider): Pick<ProviderCounts, 'listAgeSeconds' | 'assets'> {
  const listing = catalogue.lastListing()
  if (!listing) return { listAgeSeconds: null, assets: null }
  return { listAgeSeconds: Math.round((performance.now() - listing.fetchedAt) / 1000), assets: listing.offers.length }
}
