/** Metrics and logs of this process. */

import type { Registry } from 'prom-client'
import { type LoadSources, type MeasuredLoad, measureLoad, processGauges } from '../adapters/http/load.ts'
import { type Log, openLog } from '../adapters/log/index.ts'
import { openStderr, type Stderr } from '../adapters/log/stderr.ts'
import { createMetrics, type Metrics } from '../adapters/metrics/index.ts'
import { type Config, mayColour } from '../config/index.ts'
import type { EventHub } from '../core/events/event-hub.ts'
import { ProviderFigures } from '../core/operations/provider-figures.ts'
import type { LedgerAdmin } from '../core/ports/ledger-admin.ts'
import type { Observer } from '../domain/observation.ts'
import type { OpenLedger } from '../ledger/index.ts'
import { schemaNumber } from '../ledger/schema/steps.ts'
import type { Connections } from '../provider/connections.ts'
import type { RequestCounts } from './admission-queue.ts'
import { limitCacheMemory } from './ports.ts'
import { commit, version } from './version.ts'

type ObservedLedger = Pick<OpenLedger, 'waits' | 'connections' | 'capacity' | 'webhooks' | 'events'> & {
  readonly ledgerAdmin: Pick<LedgerAdmin, 'gauges'>
}

interface Telemetry {
  readonly observe: Observer
  readonly print: Metrics['print']
  readonly collect: Metrics['collect']
  readonly log: Log
  readonly closeMetrics: Metrics['close']
  /** Adds the counts of the ledger and its waits to the metrics. */
  readonly observeLedger: (stores: ObservedLedger) => void
  /** Adds the requests of the public port to the metrics. */
  readonly observeRequests: (counts: () => RequestCounts) => void
  /** Adds the open streams of clients. */
  readonly observeStreams: (hub: Pick<EventHub, 'streams'>) => void
  /** Adds the connections to providers. */
  readonly observeConnections: (connections: Pick<Connections, 'open'>) => void
}

/** `current`: the configuration in force. */
function openTelemetry(
  { log: settings, telemetry }: Config,
  current: () => Config,
  { stderr, registry }: ProcessIo,
  memoryShare: () => number,
): Telemetry {
  const formOf = formFinder(current)
  const log = openLog(settings, formOf, stderr ?? openStderr(mayColour()))
  const opened = Promise.withResolvers<ObservedLedger>()
  let stores: ObservedLedger | undefined
  let requestCounts: (() => RequestCounts) | undefined
  let connections: Pick<Connections, 'open'> | undefined
  let streams: Pick<EventHub, 'streams'> | undefined
  const metrics = createMetrics({
    isCounting: telemetry.metrics,
    accounts: telemetry.accounts,
    providers: () => current().providers,
    formOf,
    readLedgerGauges: async () => (await opened.promise).ledgerAdmin.gauges(),
    readDeliveryGauges: async () => (await opened.promise).webhooks.gauges(),
    readLedgerWaits: () => stores?.waits(),
    readLedgerConnections: () => stores?.connections?.(),
    readWaitingEvents: async () => (await opened.promise).events.waiting(),
    readLedgerCapacity: async () => (await opened.promise).capacity(),
    readProviderConnections: () => connections?.open() ?? [],
    memoryShare,
    version,
    commit: commit(),
    schema: schemaNumber(),
    droppedLines: log.dropped,
    readRequestCounts: () => requestCounts?.(),
    readStreams: () => streams?.streams,
    registry,
  })
  return {
    observe(observation) {
      metrics.observe(observation)
      log.observe(observation)
    },
    print: metrics.print,
    collect: metrics.collect,
    closeMetrics: metrics.close,
    log,
    observeLedger(observed) {
      stores = observed
      opened.resolve(observed)
    },
    observeRequests(counts) {
      requestCounts = counts
    },
    observeStreams(hub) {
      streams = hub
    },
    observeConnections(observed) {
      connections = observed
    },
  }
}

/** The form of a provider by its tag, also if it is no longer configured; `none` if no provider responded. */
function formFinder(current: () => Config): (tag: string | undefined) => string {
  const known = new Map<string, string>()
  return (tag) => {
    if (tag === undefined) return 'none'
    const cached = known.get(tag)
    if (cached !== undefined) return cached
    const form = current().providers.find((provider) => provider.tag === tag)?.form ?? 'none'
    known.set(tag, form)
    return form
  }
}

/**
 * How a gateway reaches its process: where its log and its metrics go, and where its load is read. What is absent is that of the real
 * process. A program around the gateway may give its registry; `test/support/in-process-gateway.ts` the others, since there the gateway
 * shares the process of its test.
 */
export interface ProcessIo {
  readonly stderr?: Stderr
  readonly loadSources?: LoadSources
  /** The registry for the metrics of the gateway; without it they are beside those of the process. */
  readonly registry?: Registry
  /** How many processes share the memory of the machine; 1 by default. */
  readonly processes?: number
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
  processIo: ProcessIo = {},
): Monitoring {
  const { loadSources, processes = 1 } = processIo
  limitCacheMemory(processes)
  const sources = loadSources ?? processGauges(processes)
  const load = measureLoad(sources)
  resources.defer(async () => load.stop())
  const telemetry = openTelemetry(config, current, processIo, sources.memoryShare)
  resources.defer(async () => telemetry.closeMetrics())
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
