/** All metrics for Prometheus. `docs/observability.md` explains each. */
import type { Histogram, Registry } from 'prom-client'
import { type CacheShare, cacheShares } from '../../domain/bounded-map.ts'
import {
  connectionClosings,
  discrepancies,
  discrepancyActions,
  judgedKinds,
  judgementOutcomes,
  limitDecisions,
  limitPolicies,
  mirrorResults,
  type Observation,
  type Observer,
  ports,
  reloadResults,
  type StoreState,
  sharedLimits,
  snakeCase,
  spanResults,
  storeStates,
} from '../../domain/observation.ts'
import type { CollectedMetrics } from './collected.ts'
import { type LedgerReads, ledgerMetrics } from './ledger.ts'
import { callMetrics, providerMetrics, requestMetrics } from './requests.ts'
import {
  combinations,
  Exposition,
  type FormOf,
  type Handlers,
  type Printed,
  type Providers,
  type Sample,
  single,
} from './series.ts'

export interface Metrics {
  /** Of a get all of it costs 3 µs. */
  readonly observe: Observer
  /** Prints all metrics in the exposition format that the `Accept` header selects, with those of other processes. */
  readonly print: (accept: string, others?: readonly CollectedMetrics[]) => Promise<Printed>
  /** For another process to print. */
  readonly collect: () => Promise<CollectedMetrics>
  /** Takes them out of the registry that was given. */
  readonly close: () => void
}

interface MetricsOptions extends ProcessInfo, LedgerReads {
  /** Whether to count requests and calls, not only the metrics of the process. */
  readonly isCounting: boolean
  /** Names of those that have series of their own. */
  readonly accounts: readonly string[]
  readonly providers: Providers
  readonly formOf: FormOf
  readonly readProviderConnections: () => readonly ProviderConnections[]
  /** That of a program around the gateway; absent: an own one, which has the metrics of the process too. */
  readonly registry?: Registry | undefined
}

export function createMetrics(options: MetricsOptions): Metrics {
  const { isCounting, accounts, providers, formOf, readProviderConnections } = options
  const exposition = new Exposition(options.registry)
  const process = processMetrics(exposition, options)
  const print: Metrics['print'] = (accept, others) => exposition.print(accept, others)
  const collect = (): Promise<CollectedMetrics> => exposition.collect()
  const close = (): void => exposition.close()
  if (!isCounting) return { print, collect, close, observe: () => {} }
  const handlers: Handlers<Observation['what']> = {
    ...process,
    ...requestMetrics(exposition, formOf, new Set(accounts)),
    ...callMetrics(exposition, providers),
    ...connectionMetrics(exposition, providers, readProviderConnections),
    ...addressMetrics(exposition),
    ...providerMetrics(exposition, providers),
    ...limitMetrics(exposition),
    ...cacheMetrics(exposition),
    ...ledgerMetrics(exposition, providers, options),
    ...judgementMetrics(exposition, providers),
    ...fidelityMetrics(exposition, providers, formOf),
    ...mirrorMetrics(exposition),
  }
  return { print, collect, close, observe: (observation) => (handlers[observation.what] as Observer)(observation) }
}

// Metric of creates that were rejected because an address does not match its network.

function addressMetrics(exposition: Exposition): Handlers<'addressRefused'> {
  const refusals = exposition.counter({
    name: 'swapgate_address_refusals_total',
    help: 'Withdrawal and refund addresses that match no address format of their network, by network of the asset table.',
    labels: ['network'],
  })
  return { addressRefused: ({ network }) => refusals.labels(network).inc() }
}

// Metrics of the mirror: a candidate's quotes compared with the quotes that clients get.

/** Relative deviation of the amount received: −0.01 is one percent less than the client got. */
const mirrorDeviationBounds = [-0.1, -0.05, -0.02, -0.01, -0.005, -0.002, -0.001, 0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1]

function mirrorMetrics(exposition: Exposition): Handlers<'mirror' | 'mirrorAssets'> {
  const comparisons = exposition.counter({
    name: 'swapgate_mirror_comparisons_total',
    earlierName: 'swapgate_shadow_comparisons_total',
    help: `Quotes repeated at the candidate of the mirror: ${mirrorResults.join(', ')}.`,
    labels: ['provider', 'result'],
  })
  const deviations = exposition.histogram({
    name: 'swapgate_mirror_deviation_ratio',
    earlierName: 'swapgate_shadow_deviation_ratio',
    help: 'Amount received by the candidate, relative to what the client got: -0.01 is one percent less.',
    labels: ['provider'],
    buckets: mirrorDeviationBounds,
  })
  const missingAssets = new Map<string, number>()
  exposition.gauge({
    name: 'swapgate_mirror_missing_assets',
    earlierName: 'swapgate_shadow_missing_assets',
    help: 'Assets of the table that a routed provider offers and the candidate of the mirror does not.',
    labels: ['provider'],
    samples: () => [...missingAssets].map(([provider, value]) => ({ labels: { provider }, value })),
  })
  return {
    mirrorAssets({ provider, missing: count }) {
      missingAssets.set(provider, count)
    },
    mirror({ provider, result, deviation }) {
      comparisons.labels(provider, result).inc()
      observeDeviation(deviations, provider, deviation)
    },
  }
}

/** A provider may name an amount that is beyond numbers; prom-client throws for it. */
function observeDeviation(deviations: Histogram<'provider'>, provider: string, deviation: number | undefined): void {
  if (Number.isFinite(deviation)) deviations.labels(provider).observe(deviation as number)
}

// Metrics of providers' conformance: drift from the form, and missing fields.

function fidelityMetrics(
  exposition: Exposition,
  providers: Providers,
  formOf: FormOf,
): Handlers<'drift' | 'omitted' | 'derived' | 'discrepancy'> {
  const drifts = exposition.counter({
    name: 'swapgate_contract_drift_total',
    help: 'Deviations of providers’ responses from their form, by field.',
    labels: ['provider', 'field', 'drift'],
  })
  const fields = exposition.counter({
    name: 'swapgate_response_fields_total',
    help: 'Fields of responses that were omitted or derived.',
    labels: ['what', 'client_form', 'provider_form', 'field'],
  })
  const found = exposition.counter({
    name: 'swapgate_transaction_discrepancies_total',
    help: 'Responses that contradict the ledger about a transaction that was created here.',
    labels: ['provider', 'field', 'action'],
    initialValues: () => {
      const tags = providers().map(({ tag }) => tag)
      return combinations(tags, discrepancies.map(snakeCase), discrepancyActions)
    },
  })
  const count: Handlers<'omitted'>['omitted'] = ({ what, client, provider, field }) =>
    fields.inc({ what, client_form: client, provider_form: formOf(provider), field })
  return {
    drift: ({ provider, field, drift }) => drifts.labels(provider, field, snakeCase(drift)).inc(),
    discrepancy: ({ provider, field, action }) => found.labels(provider, snakeCase(field), action).inc(),
    omitted: count,
    derived: count,
  }
}

// Metrics of what providers say of their own in the responses to creates.

/** Relative deviation of the amount received: -0.01 is one percent less than the quote. */
const promiseDeviationBounds = [-0.5, -0.2, -0.1, -0.05, -0.02, -0.01, -0.001, 0, 0.001, 0.01, 0.05]

function judgementMetrics(exposition: Exposition, providers: Providers): Handlers<'judgement' | 'quoteDeviation' | 'suspended'> {
  const judgements = exposition.counter({
    name: 'swapgate_create_judgements_total',
    help: 'What the provider says of its own in the responses to creates, by kind and what followed.',
    labels: ['provider', 'kind', 'outcome'],
    initialValues: () => {
      const tags = providers().map(({ tag }) => tag)
      return combinations(tags, judgedKinds.map(snakeCase), judgementOutcomes)
    },
  })
  const deviations = exposition.histogram({
    name: 'swapgate_create_quote_deviation_ratio',
    help: 'Amount received that a create promises, relative to the newest quote of its provider: -0.01 is one percent less.',
    labels: ['provider'],
    buckets: promiseDeviationBounds,
  })
  const suspended = exposition.counter({
    name: 'swapgate_provider_assets_suspended_total',
    help: 'Assets of a provider that were taken out of new swaps for ten minutes, by the kind of mismatch and the network of the deposit.',
    labels: ['provider', 'kind', 'network'],
  })
  return {
    judgement: ({ provider, kind, outcome }) => judgements.labels(provider, snakeCase(kind), outcome).inc(),
    suspended: ({ provider, kind, network = '' }) => suspended.labels(provider, snakeCase(kind), network).inc(),
    quoteDeviation: ({ provider, deviation }) => observeDeviation(deviations, provider, deviation),
  }
}

// Metrics of limits: decisions, and whether the shared store is used.

function limitMetrics(exposition: Exposition): Handlers<'limit' | 'limitStore' | 'overAdmission' | 'shareRefusal'> {
  let state: StoreState = 'shared'
  const decisions = exposition.counter({
    name: 'swapgate_limit_decisions_total',
    help: 'Decisions of limits on requests; near: admitted with at most a tenth of the limit left.',
    labels: ['policy', 'decision'],
    initialValues: () => combinations(limitPolicies, limitDecisions),
  })
  const changes = exposition.counter({
    name: 'swapgate_limit_store_changes_total',
    help: 'Changes between the shared store and local limits.',
    labels: ['state'],
    initialValues: () => combinations(storeStates),
  })
  const overAdmitted = exposition.counter({
    name: 'swapgate_limits_over_admitted_total',
    help: 'Requests above a limit that were admitted while the shared store of limits was unavailable.',
    labels: [],
    initialValues: () => combinations(),
  })
  const refusedByShare = exposition.counter({
    name: 'swapgate_limit_share_refusals_total',
    help: 'What only the share of this process refused while the shared store was unavailable: requests (limit), or calls to providers (rate_limit).',
    labels: ['of'],
    initialValues: () => combinations(sharedLimits),
  })
  exposition.gauge({
    name: 'swapgate_limits_local',
    help: '1 while the shared store of limits is unavailable and this process counts alone.',
    labels: [],
    samples: () => single(state === 'local' ? 1 : 0),
  })
  return {
    limit: ({ policy, decision }) => decisions.inc({ policy, decision }),
    limitStore(observation) {
      state = observation.state
      changes.labels(state).inc()
    },
    overAdmission: ({ count }) => overAdmitted.inc(count),
    shareRefusal: ({ of }) => refusedByShare.labels(snakeCase(of)).inc(),
  }
}

// Metrics of the process: version, reloads, closed connections, lost spans and log lines.

interface ProcessInfo {
  readonly version: string
  readonly commit: string
  /** Of the ledger, which this version knows. */
  readonly schema: number
  /** The used share of the heap, or of the memory that the process may take, whichever is higher. */
  readonly memoryShare: () => number
  /** The number of lost log lines. */
  readonly droppedLines: () => number
  /** Of the public port; undefined before it is open, and in a program around the gateway. */
  readonly readRequestCounts: () => { readonly inFlight: number; readonly waiting: number } | undefined
  /** Open streams; undefined before there may be some. */
  readonly readStreams: () => number | undefined
}

function requestsOf(counts: { readonly inFlight: number } | undefined, streams = 0): number | undefined {
  return counts && Math.max(0, counts.inFlight - streams)
}

function processMetrics(
  exposition: Exposition,
  { version, commit, schema, memoryShare, droppedLines, readRequestCounts, readStreams }: ProcessInfo,
): Handlers<'reload' | 'override' | 'assetsUnclear' | 'spans' | 'connectionClosed' | 'workers' | 'workerSilent'> {
  const reloads = exposition.counter({
    name: 'swapgate_configuration_reloads_total',
    help: 'Reloads of the configuration, by result.',
    labels: ['result'],
    initialValues: () => combinations(reloadResults),
  })
  const spans = exposition.counter({
    name: 'swapgate_trace_spans_total',
    help: 'Spans of kept traces, by result.',
    labels: ['result'],
    initialValues: () => combinations(spanResults),
  })
  const closed = exposition.counter({
    name: 'swapgate_connections_closed_total',
    help: 'Connections that were closed before their time, for others.',
    labels: ['port', 'reason'],
    initialValues: () => combinations(ports, connectionClosings),
  })
  exposition.gauge({
    name: 'swapgate_requests_in_flight',
    help: 'Requests at the public port that have begun, and have not had their whole response; but for streams.',
    labels: [],
    aggregator: 'sum',
    samples: () => single(requestsOf(readRequestCounts(), readStreams())),
  })
  exposition.gauge({
    name: 'swapgate_streams',
    help: 'Open streams of changes.',
    labels: [],
    aggregator: 'sum',
    samples: () => single(readStreams()),
  })
  exposition.gauge({
    name: 'swapgate_requests_waiting',
    help: 'Requests at the public port that wait to begin, with the connections that are not read meanwhile.',
    labels: [],
    aggregator: 'sum',
    samples: () => single(readRequestCounts()?.waiting),
  })
  let workers: number | undefined
  exposition.gauge({
    name: 'swapgate_workers',
    help: 'Processes behind the public port, with server.workers.',
    labels: [],
    samples: () => single(workers),
  })
  const restarts = exposition.counter({
    name: 'swapgate_worker_ends_total',
    help: 'Processes behind the public port that ended by themselves. Each is started again.',
    labels: [],
    initialValues: () => [[]],
  })
  exposition.gauge({
    name: 'swapgate_memory_used_ratio',
    help: 'The used share of the heap, or of the memory that the process may take, whichever is higher. From 0.85 on requests are refused.',
    labels: [],
    samples: () => single(memoryShare()),
  })
  exposition.gauge({
    name: 'swapgate_time_seconds',
    help: 'The clock of the process, in seconds since 1970.',
    labels: [],
    samples: () => single(Date.now() / 1000),
  })
  exposition.computedCounter({
    name: 'swapgate_log_lines_dropped_total',
    help: 'Log lines that were lost because standard error was not read.',
    labels: [],
    samples: () => single(droppedLines()),
  })
  exposition.gauge({
    name: 'swapgate_build_info',
    help: 'The running version: always 1.',
    labels: ['version', 'commit', 'schema', 'node'],
    samples: () => [{ labels: { version, commit, schema: String(schema), node: process.versions.node }, value: 1 }],
  })
  return {
    reload: ({ result }) => reloads.labels(result).inc(),
    override: () => {}, // only logged
    assetsUnclear: () => {}, // its rows are counted as drift
    connectionClosed: ({ port, reason }) => closed.labels(port, reason).inc(),
    spans: ({ result, count }) => spans.labels(result).inc(count),
    workers({ running, ended }) {
      workers = running
      if (ended !== undefined) restarts.inc()
    },
    workerSilent: () => {}, // only logged
  }
}

// Metrics of connections to providers.

export interface ProviderConnections {
  readonly provider: string
  readonly active: number
  readonly idle: number
  readonly max: number
}

function connectionMetrics(
  exposition: Exposition,
  providers: Providers,
  read: () => readonly ProviderConnections[],
): Handlers<'certificate' | 'currencyList'> {
  const ends = new Map<string, number>()
  const areWhole = new Map<string, boolean>()
  const ofProviders = <T>(known: ReadonlyMap<string, T>, value: (known: T) => number): readonly Sample[] =>
    providers().flatMap(({ tag: provider }) => {
      const found = known.get(provider)
      return found === undefined ? [] : [{ labels: { provider }, value: value(found) }]
    })
  exposition.gauge({
    name: 'http_client_open_connections',
    help: 'Connections to a provider: active, or idle and kept for the next call.',
    labels: ['provider', 'http_connection_state'],
    aggregator: 'sum',
    samples: () =>
      read().flatMap(({ provider, active, idle }) => [
        { labels: { provider, http_connection_state: 'active' }, value: active },
        { labels: { provider, http_connection_state: 'idle' }, value: idle },
      ]),
  })
  exposition.gauge({
    name: 'swapgate_provider_connections_max',
    help: 'The most connections to a provider at a time. More calls wait.',
    labels: ['provider'],
    aggregator: 'sum',
    samples: () => read().map(({ provider, max: value }) => ({ labels: { provider }, value })),
  })
  exposition.gauge({
    name: 'swapgate_certificate_not_after_timestamp_seconds',
    help: 'When the certificate of a provider ends, by the newest connection over TLS.',
    labels: ['provider'],
    samples: () => ofProviders(ends, (notAfter) => notAfter / 1000),
  })
  exposition.gauge({
    name: 'swapgate_currency_list_whole',
    help: '1 if the last read of the currency list of a provider came to its end, else 0.',
    labels: ['provider'],
    aggregator: 'min',
    samples: () => ofProviders(areWhole, Number),
  })
  return {
    certificate: ({ provider, notAfter }) => void ends.set(provider, notAfter),
    currencyList: ({ provider, isWhole }) => void areWhole.set(provider, isWhole),
  }
}

// Metrics of caches.

const ageBounds = [1, 2, 5, 10, 30, 60, 300, 600, 3_600, 86_400]

function cacheMetrics(exposition: Exposition): Handlers<'cache'> {
  const lookups = exposition.counter({
    name: 'swapgate_cache_lookups_total',
    help: 'Cache lookups, by result.',
    labels: ['cache', 'outcome'],
  })
  const ages = exposition.histogram({
    name: 'swapgate_cache_age_seconds',
    help: 'Age of responses from a cache.',
    labels: ['cache'],
    buckets: ageBounds,
  })
  addCacheMemory(exposition)
  return {
    cache({ cache, outcome, ageSeconds }) {
      lookups.inc({ cache, outcome })
      if (ageSeconds !== undefined) ages.labels(cache).observe(ageSeconds)
    },
  }
}

/** Each kind has its share of the memory of all caches. */
function addCacheMemory(exposition: Exposition): void {
  const labels = ['cache']
  const read = (value: (share: CacheShare) => number) => (): readonly Sample[] =>
    Object.entries(cacheShares)
      .map(([kind, share]) => ({ labels: { cache: snakeCase(kind) }, value: value(share) }))
      .filter((sample) => Number.isFinite(sample.value))
  exposition.gauge({
    name: 'swapgate_cache_bytes',
    help: 'Memory of caches, estimated, by what they keep.',
    labels,
    aggregator: 'sum',
    samples: read(({ bytes }) => bytes),
  })
  exposition.gauge({
    name: 'swapgate_cache_max_bytes',
    help: 'The most that they may take: a quarter of the memory of the process together.',
    labels,
    aggregator: 'sum',
    samples: read(({ maxBytes }) => maxBytes),
  })
  exposition.gauge({
    name: 'swapgate_cache_entries',
    help: 'Entries of caches.',
    labels,
    aggregator: 'sum',
    samples: read(({ entries }) => entries),
  })
  exposition.computedCounter({
    name: 'swapgate_cache_evictions_total',
    help: 'Entries that were dropped to make room for others.',
    labels,
    samples: read(({ evictions }) => evictions),
  })
}
