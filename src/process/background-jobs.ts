import { randomUUID } from 'node:crypto'
import type { Config } from '../config/index.ts'
import type { RestoredLedger } from '../core/creation/restored-ledger.ts'
import type { Suspensions } from '../core/creation/suspensions.ts'
import { WebhookDelivery } from '../core/events/webhook-delivery.ts'
import { instrumented } from '../core/instrumented-ledger.ts'
import type { ProviderCounts, ProviderFigures, ReplicaFiguresStore } from '../core/operations/provider-figures.ts'
import type { Retention } from '../core/ports/retention.ts'
import type { MirrorStatistics } from '../core/routing/mirror.ts'
import { singleFlight } from '../domain/async.ts'
import { changeEncoder } from '../gateway/webhook-bodies.ts'
import type { OpenLedger } from '../ledger/index.ts'
import type { ConnectedProvider } from '../provider/connected-provider.ts'
import type { ConfigurationInForce } from './in-force.ts'
import type { LimitStores } from './limit-stores.ts'
import { removeOld, removeOldDeliveries } from './retention.ts'
import type { Monitoring } from './telemetry.ts'
import { webhookSender } from './webhook-sender.ts'

interface BackgroundJobParts {
  readonly configuration: ConfigurationInForce
  readonly ledgerStores: Pick<
    OpenLedger,
    'ledger' | 'createProbe' | 'replicaFigures' | 'retention' | 'watches' | 'findLostCommits' | 'webhooks'
  >
  readonly monitoring: Pick<Monitoring, 'figures' | 'observe'>
  readonly mirrorStatistics: MirrorStatistics
  readonly suspensions: Suspensions
  readonly limitStores: Pick<LimitStores, 'seeProcesses'>
  readonly restoredLedger: RestoredLedger
  /** Then another process does what is done once. */
  readonly isWorker: boolean
}

/** Every replica must apply a change within 5 s. */
const changePollMs = 2_000

/** How soon creates go on once the ledger takes them again. */
const createProbeMs = 1_000

/** After a failover the new server's log soon is as long as the lost one. */
const logPositionPollMs = 1_000

/** How soon a new transaction of a watched account is read. */
const findWatchedMs = 2_000

/** The background jobs of the process. */
export function startBackgroundJobs(parts: BackgroundJobParts, resources: AsyncDisposableStack): void {
  const { configuration, ledgerStores, monitoring, mirrorStatistics, suspensions, restoredLedger, limitStores, isWorker } = parts
  const { seeProcesses } = limitStores
  const store = ledgerStores.replicaFigures
  const { figures } = monitoring
  const jobs = [
    ...(isWorker ? [startOverlappingJob(() => reconcileByKeys(configuration))] : jobsDoneOnce(parts)),
    startIntervalJob(() => configuration.follow(), changePollMs),
    startIntervalJob(() => suspensions.follow(), changePollMs),
    startIntervalJob(() => restoredLedger.follow(), changePollMs),
    startIntervalJob(() => ledgerStores.createProbe.runIfDue(), createProbeMs),
    startReplicaFigures({ store, figures, mirrorStatistics, seeProcesses, connected: () => configuration.gateway.connected }),
  ]
  for (const { stop } of jobs) resources.defer(stop)
}

function jobsDoneOnce({ configuration, ledgerStores, monitoring }: BackgroundJobParts): readonly IntervalJob[] {
  const { ledger, findLostCommits } = ledgerStores
  const reportLostCommits = async (): Promise<void> => {
    const by = await findLostCommits()
    if (by) monitoring.observe({ what: 'commitsLost', by })
  }
  // At the start too: the ledger may have been restored.
  reportLostCommits().catch(() => {})
  return [
    startOverlappingJob(() => configuration.gateway.reconcile()),
    startOverlappingJob(() => configuration.gateway.pollTransactions()),
    startIntervalJob(() => ledgerStores.watches.findWatched(), findWatchedMs),
    startOverlappingJob(() => configuration.gateway.readWatched()),
    startIntervalJob(() => ledger.expireIdempotencyKeys(), 3_600_000),
    startIntervalJob(() => ledger.expireFirmQuotes(), 60_000),
    startIntervalJob(reportLostCommits, logPositionPollMs),
    startIntervalJob(() => configuration.tags.flush(), 10_000),
    startRetention(configuration, instrumented(ledgerStores.retention, monitoring.observe)),
    ...webhookJobs(configuration, ledgerStores, monitoring.observe),
  ]
}

// Webhooks.

/** For kills and other processes: what this process writes is sent at once. */
const webhookPollMs = 1_000
const deliveriesKeptMs = 30 * 86_400_000
/** At the end of the process. */
const maxDeliveryWaitMs = 2_000

function webhookJobs(
  configuration: ConfigurationInForce,
  { webhooks }: BackgroundJobParts['ledgerStores'],
  observe: Monitoring['observe'],
): readonly IntervalJob[] {
  const { onNew, ...calls } = webhooks
  const store = { ...instrumented(calls, observe), onNew }
  const current = forConfiguration(configuration, (config) => ({
    send: webhookSender(config),
    encode: changeEncoder(config.assets),
  }))
  const delivery = new WebhookDelivery({ store, send: () => current().send, encode: () => current().encode, observe })
  let isStopped = false
  const poll = startIntervalJob(() => delivery.look(), webhookPollMs)
  return [
    poll,
    startIntervalJob(() => removeOldDeliveries(store, deliveriesKeptMs, () => isStopped), 3_600_000),
    {
      stop() {
        isStopped = true
        return delivery.stop(maxDeliveryWaitMs)
      },
    },
  ]
}

/** Made again when another configuration is in force. */
function forConfiguration<T>(configuration: ConfigurationInForce, make: (config: Config) => T): () => T {
  let known: { readonly config: Config; readonly made: T } | undefined
  return () => {
    const { config } = configuration
    if (known?.config !== config) known = { config, made: make(config) }
    return known.made
  }
}

/** Only the process that has the key of a client can look for its creates, where clients send the provider's keys. */
async function reconcileByKeys({ config, gateway }: ConfigurationInForce): Promise<void> {
  if (config.auth.mode === 'passthrough') await gateway.reconcile()
}

/** Whether it is due is decided in the ledger, over all processes. */
function startRetention(configuration: ConfigurationInForce, retention: Retention): IntervalJob {
  let isStopped = false
  const removeWhatIsDue = (): Promise<void> => {
    const { ledger, events } = configuration.config
    return removeOld(retention, { ...ledger, keepEvents: events.keep }, () => isStopped)
  }
  const job = startIntervalJob(removeWhatIsDue, 60_000)
  return {
    stop() {
      isStopped = true
      return job.stop()
    },
  }
}

// Background work at an interval.

interface IntervalJob {
  /** Starts no further run and waits for the current one. */
  readonly stop: () => Promise<void>
}

/** Runs `work` at this interval, never twice at a time. Errors are ignored here: they are counted where they occur. */
function startIntervalJob(work: () => Promise<unknown>, intervalMs: number): IntervalJob {
  let current: Promise<unknown> | undefined
  const flight = singleFlight(work)
  const timer = setInterval(() => {
    current = flight.run().catch(() => {})
  }, intervalMs)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await current
    },
  }
}

/** Runs `work` each second, also before an earlier run has ended: a provider that hangs holds up its own part only. */
function startOverlappingJob(work: () => Promise<void>): IntervalJob {
  const running = new Set<Promise<void>>()
  const { stop } = startIntervalJob(async () => {
    const run: Promise<void> = work()
      .catch(() => {})
      .finally(() => running.delete(run))
    running.add(run)
  }, 1_000)
  return {
    async stop() {
      await stop()
      await Promise.all(running)
    },
  }
}

// Writes what this process counts to the ledger, for `swapgate providers status` and the operator's page.

const intervalMs = 5_000

interface ReplicaFiguresOptions {
  readonly store: ReplicaFiguresStore
  readonly figures: ProviderFigures
  readonly mirrorStatistics: MirrorStatistics
  readonly seeProcesses: LimitStores['seeProcesses']
  readonly connected: () => readonly ConnectedProvider[]
}

/** At once and every 5 s under an id of its own. What the ledger does not accept now is written the next time. */
export function startReplicaFigures(options: ReplicaFiguresOptions): IntervalJob {
  const { store, figures, mirrorStatistics, seeProcesses, connected } = options
  const replica = randomUUID()
  const write = async (): Promise<void> => {
    const providers = connected().map((provider) => ({ ...figures.counts(provider.upstream.tag), ...listFigures(provider) }))
    await store.write(replica, { providers, mirror: mirrorStatistics.counts() ?? null })
    seeProcesses((await store.countOthers(replica)) + 1)
  }
  // Killed processes have left their rows.
  const first = store
    .remove(replica)
    .then(write)
    .catch(() => {})
  const job = startIntervalJob(write, intervalMs)
  return {
    async stop() {
      await Promise.all([first, job.stop()])
      await store.remove(replica).catch(() => {}) // left out after 30 s
    },
  }
}

function listFigures({ currencyList }: ConnectedProvider): Pick<ProviderCounts, 'listAgeSeconds' | 'assets'> {
  const list = currencyList.last()
  if (!list) return { listAgeSeconds: null, assets: null }
  return { listAgeSeconds: Math.round((performance.now() - list.fetchedAt) / 1000), assets: list.listedAssets.length }
}
