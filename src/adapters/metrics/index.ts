/** All metrics for Prometheus. `docs/observability.md` explains each. */
import type { LedgerWaits } from '../../core/access/admission.ts'
import { type CacheShare, cacheShares } from '../../domain/bounded-map.ts'
import {
  connectionClosings,
  discrepancies,
  discrepancyActions,
  judgementKinds,
  judgementOutcomes,
  limitDecisions,
  limitPolicies,
  mirrorResults,
  type Observation,
  type Observer,
  ports,
  reloadResults,
  type StoreState,
  snakeCase,
  spanResults,
  storeStates,
} from '../../domain/observation.ts'
import type { CollectedMetrics } from './collected.ts'
import { ledgerMetrics, type ReadLedgerGauges } from './ledger.ts'
import { attemptMetrics, providerMetrics, requestMetrics } from './requests.ts'
import {
  Counter,
  combinations,
  Exposition,
  earlierName,
  type Family,
  type FormOf,
  gauge,
  type Handlers,
  Histogram,
  type Printed,
  type Providers,
  type Sample,
  single,
} from './series.ts'

export interface Metrics {
  /** Costs a few map reads: label objects are made when metrics are printed. */
  readonly observe: Observer
  /** Prints all metrics in the exposition format that the `Accept` header selects, with those of other processes. */
  readonly print: (accept: string, others?: readonly CollectedMetrics[]) => Promise<Printed>
  /** For another process to print. */
  readonly collect: () => Promise<CollectedMetrics>
}

interface MetricsOptions extends ProcessInfo {
  /** Whether to count requests and calls, not only the metrics of the process. */
  readonly isCounting: boolean
  readonly providers: Providers
  readonly formOf: FormOf
  /** Reads the ledger's counts. Called when metrics are printed, but not each time. */
  readonly readLedgerGauges: ReadLedgerGauges
  /** Undefined before the ledger is open. */
  readonly readLedgerWaits: () => LedgerWaits | undefined
}

export function createMetrics(options: MetricsOptions): Metrics {
  const { isCounting, providers, formOf, readLedgerGauges, readLedgerWaits } = options
  const exposition = new Exposition()
  const process = processMetrics(exposition, options)
  const print: Metrics['print'] = (accept, others) => exposition.print(accept, others)
  const collect = (): Promise<CollectedMetrics> => exposition.collect()
  if (!isCounting) return { print, collect, observe: () => {} }
  const handlers: Handlers<Observation['what']> = {
    ...process,
    ...requestMetrics(exposition, formOf),
    ...attemptMetrics(exposition, providers),
    ...addressMetrics(exposition),
    ...providerMetrics(exposition, providers),
    ...limitMetrics(exposition),
    ...cacheMetrics(exposition),
    ...ledgerMetrics(exposition, providers, readLedgerGauges, readLedgerWaits),
    ...judgementMetrics(exposition, providers),
    ...fidelityMetrics(exposition, providers, formOf),
    ...mirrorMetrics(exposition),
  }
  return { print, collect, observe: (observation) => (handlers[observation.what] as Observer)(observation) }
}

// Metric of creates that were rejected because an address does not match its network.

function addressMetrics(exposition: Exposition): Handlers<'addressRefused'> {
  const refusals = new Counter({
    name: 'swapgate_address_refusals_total',
    help: 'Withdrawal and refund addresses that match no address format of their network, by network of the asset table.',
    labels: ['network'],
  })
  exposition.add(refusals)
  return { addressRefused: ({ network }) => refusals.add([network]) }
}

// Metrics of the mirror: a candidate's quotes compared with the quotes that clients get.

/** Relative deviation of the amount received: −0.01 is one percent less than the client got. */
const mirrorDeviationBounds = [-0.1, -0.05, -0.02, -0.01, -0.005, -0.002, -0.001, 0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1]

function mirrorMetrics(exposition: Exposition): Handlers<'mirror' | 'mirrorAssets'> {
  const comparisons = new Counter({
    name: 'swapgate_mirror_comparisons_total',
    help: `Quotes repeated at the candidate of the mirror: ${mirrorResults.join(', ')}.`,
    labels: ['provider', 'result'],
  })
  const deviations = new Histogram({
    name: 'swapgate_mirror_deviation_ratio',
    help: 'Amount received by the candidate, relative to what the client got: -0.01 is one percent less.',
    labels: ['provider'],
    bounds: mirrorDeviationBounds,
  })
  const missingAssets = new Map<string, number>()
  const missing = gauge(
    'swapgate_mirror_missing_assets',
    'Assets of the table that a routed provider offers and the candidate of the mirror does not.',
    () => [...missingAssets].map(([provider, value]) => ({ labels: { provider }, value })),
  )
  for (const family of [
    comparisons,
    deviations,
    missing,
    earlierName('swapgate_shadow_comparisons_total', comparisons),
    earlierName('swapgate_shadow_deviation_ratio', deviations),
    earlierName('swapgate_shadow_missing_assets', missing),
  ])
    exposition.add(family)
  return {
    mirrorAssets({ provider, missing: count }) {
      missingAssets.set(provider, count)
    },
    mirror({ provider, result, deviation }) {
      comparisons.add([provider, result])
      if (deviation !== undefined) deviations.observe([provider], deviation)
    },
  }
}

// Metrics of providers' conformance: drift from the form, and missing fields.

function fidelityMetrics(
  exposition: Exposition,
  providers: Providers,
  formOf: FormOf,
): Handlers<'drift' | 'omitted' | 'derived' | 'discrepancy'> {
  const drifts = new Counter({
    name: 'swapgate_contract_drift_total',
    help: 'Deviations of providers’ responses from their form, by field.',
    labels: ['provider', 'field', 'drift'],
  })
  const fields = new Counter({
    name: 'swapgate_response_fields_total',
    help: 'Fields of responses that were omitted or derived.',
    labels: ['what', 'client_form', 'provider_form', 'field'],
  })
  const found = new Counter({
    name: 'swapgate_transaction_discrepancies_total',
    help: 'Responses that contradict the ledger about a transaction that was created here.',
    labels: ['provider', 'field', 'action'],
    initialValues: () => {
      const tags = providers().map(({ tag }) => tag)
      return combinations(tags, discrepancies.map(snakeCase), discrepancyActions)
    },
  })
  for (const family of [drifts, fields, found]) exposition.add(family)
  const count: Handlers<'omitted'>['omitted'] = ({ what, client, provider, field }) =>
    fields.add([what, client, formOf(provider), field])
  return {
    drift: ({ provider, field, drift }) => drifts.add([provider, field, snakeCase(drift)]),
    discrepancy: ({ provider, field, action }) => found.add([provider, snakeCase(field), action]),
    omitted: count,
    derived: count,
  }
}

// Metrics of what providers say of their own in the responses to creates.

/** Relative deviation of the amount received: -0.01 is one percent less than the quote. */
const promiseDeviationBounds = [-0.5, -0.2, -0.1, -0.05, -0.02, -0.01, -0.001, 0, 0.001, 0.01, 0.05]

function judgementMetrics(exposition: Exposition, providers: Providers): Handlers<'judgement' | 'quoteDeviation' | 'suspended'> {
  const judgements = new Counter({
    name: 'swapgate_create_judgements_total',
    help: 'What the provider says of its own in the responses to creates, by kind and what followed.',
    labels: ['provider', 'kind', 'outcome'],
    initialValues: () => {
      const tags = providers().map(({ tag }) => tag)
      return combinations(tags, judgementKinds.map(snakeCase), judgementOutcomes)
    },
  })
  const deviations = new Histogram({
    name: 'swapgate_create_quote_deviation_ratio',
    help: 'Amount received that a create promises, relative to the newest quote of its provider: -0.01 is one percent less.',
    labels: ['provider'],
    bounds: promiseDeviationBounds,
  })
  const suspended = new Counter({
    name: 'swapgate_provider_assets_suspended_total',
    help: 'Assets of a provider that were taken out of new swaps for ten minutes, by the kind of mismatch and the network of the deposit.',
    labels: ['provider', 'kind', 'network'],
  })
  for (const family of [judgements, deviations, suspended]) exposition.add(family)
  return {
    judgement: ({ provider, kind, outcome }) => judgements.add([provider, snakeCase(kind), outcome]),
    suspended: ({ provider, kind, network = '' }) => suspended.add([provider, snakeCase(kind), network]),
    quoteDeviation: ({ provider, deviation }) => deviations.observe([provider], deviation),
  }
}

// Metrics of limits: decisions, and whether the shared store is used.

function limitMetrics(exposition: Exposition): Handlers<'limit' | 'limitStore' | 'overAdmission'> {
  let state: StoreState = 'shared'
  const decisions = new Counter({
    name: 'swapgate_limit_decisions_total',
    help: 'Decisions of limits on requests; near: admitted with at most a tenth of the limit left.',
    labels: ['policy', 'decision'],
    initialValues: () => combinations(limitPolicies, limitDecisions),
  })
  const changes = new Counter({
    name: 'swapgate_limit_store_changes_total',
    help: 'Changes between the shared store and local limits.',
    labels: ['state'],
    initialValues: () => combinations(storeStates),
  })
  const overAdmitted = new Counter({
    name: 'swapgate_limits_over_admitted_total',
    help: 'Requests above a limit that were admitted while the shared store of limits was unavailable.',
    labels: [],
    initialValues: () => combinations(),
  })
  for (const family of [decisions, changes, overAdmitted]) exposition.add(family)
  exposition.add(
    gauge('swapgate_limits_local', '1 while the shared store of limits is unavailable and this process counts alone.', () =>
      single(state === 'local' ? 1 : 0),
    ),
  )
  return {
    limit: ({ policy, decision }) => decisions.add([policy, decision]),
    limitStore(observation) {
      state = observation.state
      changes.add([state])
    },
    overAdmission: ({ count }) => overAdmitted.add([], count),
  }
}

// Metrics of the process: version, reloads, closed connections, lost spans and log lines.

interface ProcessInfo {
  readonly version: string
  /** The number of lost log lines. */
  readonly droppedLines: () => number
}

function processMetrics(
  exposition: Exposition,
  { version, droppedLines }: ProcessInfo,
): Handlers<'reload' | 'override' | 'spans' | 'connectionClosed' | 'workers'> {
  const reloads = new Counter({
    name: 'swapgate_configuration_reloads_total',
    help: 'Reloads of the configuration, by result.',
    labels: ['result'],
    initialValues: () => combinations(reloadResults),
  })
  const spans = new Counter({
    name: 'swapgate_trace_spans_total',
    help: 'Spans of kept traces, by result.',
    labels: ['result'],
    initialValues: () => combinations(spanResults),
  })
  const closed = new Counter({
    name: 'swapgate_connections_closed_total',
    help: 'Connections that were closed before their time, for others.',
    labels: ['port', 'reason'],
    initialValues: () => combinations(ports, connectionClosings),
  })
  let workers: number | undefined
  exposition.add(gauge('swapgate_workers', 'Processes behind the public port, with server.workers.', () => single(workers)))
  const restarts = new Counter({
    name: 'swapgate_worker_ends_total',
    help: 'Processes behind the public port that ended by themselves. Each is started again.',
    labels: [],
    initialValues: () => [[]],
  })
  exposition.add(restarts)
  exposition.add(reloads)
  exposition.add(closed)
  exposition.add(spans)
  exposition.add({
    name: 'swapgate_log_lines_dropped_total',
    help: 'Log lines that were lost because standard error was not read.',
    type: 'counter',
    samples: () => [{ labels: {}, value: droppedLines() }],
  })
  const labels = { version, node: process.versions.node }
  exposition.add(gauge('swapgate_build_info', 'The running version: always 1.', () => [{ labels, value: 1 }]))
  return {
    reload: ({ result }) => reloads.add([result]),
    override: () => {}, // only logged
    connectionClosed: ({ port, reason }) => closed.add([port, reason]),
    spans: ({ result, count }) => spans.add([result], count),
    workers({ running, ended }) {
      workers = running
      if (ended !== undefined) restarts.add([])
    },
  }
}

// Metrics of caches.

const ageBounds = [1, 2, 5, 10, 30, 60, 300, 600, 3_600, 86_400]

function cacheMetrics(exposition: Exposition): Handlers<'cache'> {
  const lookups = new Counter({
    name: 'swapgate_cache_lookups_total',
    help: 'Cache lookups, by result.',
    labels: ['cache', 'outcome'],
  })
  const ages = new Histogram({
    name: 'swapgate_cache_age_seconds',
    help: 'Age of responses from a cache.',
    labels: ['cache'],
    bounds: ageBounds,
  })
  for (const family of [lookups, ages, ...memory()]) exposition.add(family)
  return {
    cache({ cache, outcome, ageSeconds }) {
      lookups.add([cache, outcome])
      if (ageSeconds !== undefined) ages.observe([cache], ageSeconds)
    },
  }
}

/** Each kind has its share of the memory of all caches. */
function memory(): readonly Family[] {
  const read = (value: (share: CacheShare) => number) => (): readonly Sample[] =>
    Object.entries(cacheShares)
      .map(([kind, share]) => ({ labels: { cache: snakeCase(kind) }, value: value(share) }))
      .filter((sample) => Number.isFinite(sample.value))
  return [
    gauge(
      'swapgate_cache_bytes',
      'Memory of caches, estimated, by what they keep.',
      read(({ bytes }) => bytes),
    ),
    gauge(
      'swapgate_cache_max_bytes',
      'The most that they may take: a quarter of the memory of the process together.',
      read(({ maxBytes }) => maxBytes),
    ),
    gauge(
      'swapgate_cache_entries',
      'Entries of caches.',
      read(({ entries }) => entries),
    ),
    {
      name: 'swapgate_cache_evictions_total',
      help: 'Entries that were dropped to make room for others.',
      type: 'counter',
      samples: read(({ evictions }) => evictions),
    },
  ]
}
