/** Metrics of the ledger: durations, failures, open transactions and unresolved creates. */
import type { LedgerWaits } from '../../core/access/admission.ts'
import type { LedgerGauges } from '../../core/ports/ledger-admin.ts'
import type { DeliveryGauges } from '../../core/ports/webhooks.ts'
import { singleFlight, withTimeout } from '../../domain/async.ts'
import { createOutcomes, ledgerWorks, lostCommits, snakeCase, webhookOutcomes } from '../../domain/observation.ts'
import { attentions, progress } from '../../domain/status.ts'
import { shortBounds } from './requests.ts'
import { combinations, type Exposition, type Handlers, type Providers, type Sample, single } from './series.ts'

export interface LedgerReads {
  /** Reads the ledger's counts. Called when metrics are printed, but not each time. */
  readonly readLedgerGauges: () => Promise<LedgerGauges>
  /** The same of its size, its volume, and the clock of its server. */
  readonly readLedgerCapacity: () => Promise<Capacity>
  /** What waits for webhooks. */
  readonly readDeliveryGauges: () => Promise<DeliveryGauges>
  /** Undefined before the ledger is open. */
  readonly readLedgerWaits: () => LedgerWaits | undefined
  /** Undefined without a server. */
  readonly readLedgerConnections: () => Connections | undefined
  /** Events of transactions that wait for their numbers. */
  readonly readWaitingEvents: () => Promise<{ readonly count: number; readonly ageMs: number }>
}

interface Capacity {
  readonly bytes: number
  readonly volume?: { readonly bytes: number; readonly availableBytes: number }
  readonly clockOffsetMs?: number
}

interface Connections {
  readonly used: number
  readonly idle: number
  readonly max: number
}

const unresolvedStates = ['pending', 'unknown', 'mismatch']
/** `unknown`: a provider's status that is not mapped. */
const openStatuses = [...progress.filter((status) => status !== 'success'), 'unknown']

export function ledgerMetrics(
  exposition: Exposition,
  providers: Providers,
  reads: LedgerReads,
): Handlers<
  | 'ledger'
  | 'turnRefused'
  | 'staleKey'
  | 'create'
  | 'action'
  | 'search'
  | 'reconciled'
  | 'resultsHeld'
  | 'commitsLost'
  | 'storeTrouble'
  | 'timelineLost'
  | 'webhookAttempt'
  | 'eventsNumbered'
> {
  let lastRunAt: number | undefined
  let resultsHeld = 0
  const durations = exposition.histogram({
    name: 'swapgate_ledger_duration_seconds',
    help: 'Duration of the operations of the ledger.',
    labels: ['action'],
    buckets: shortBounds,
  })
  const failures = exposition.counter({
    name: 'swapgate_ledger_failures_total',
    help: 'Failed operations of the ledger.',
    labels: ['action'],
  })
  const outcomes = exposition.counter({
    name: 'swapgate_create_outcomes_total',
    help: 'Creates without a plain success, by their outcome so far.',
    labels: ['provider', 'outcome'],
    initialValues: () => {
      const tags = providers().map(({ tag }) => tag)
      return combinations(tags, createOutcomes.map(snakeCase))
    },
  })
  const actions = exposition.counter({
    name: 'swapgate_actions_total',
    help: 'Actions of clients and operators on swaps, by their outcome.',
    labels: ['provider', 'action', 'outcome'],
  })
  const losses = exposition.counter({
    name: 'swapgate_ledger_commits_lost_total',
    help: 'How often the log of the database server went back, or was that of another server.',
    labels: ['by'],
    initialValues: () => combinations([...lostCommits]),
  })
  const turnsRefused = exposition.counter({
    name: 'swapgate_ledger_turns_refused_total',
    help: 'Calls to the ledger that got no turn in time, since their account had too many others.',
    labels: ['work'],
    initialValues: () => combinations([...ledgerWorks]),
  })
  const staleKeys = exposition.counter({
    name: 'swapgate_stale_keys_total',
    help: 'Quotes that got what was known of their key before, since the ledger had not answered yet.',
    labels: [],
    initialValues: () => combinations(),
  })
  exposition.gauge({
    name: 'swapgate_reconciliation_last_run_timestamp_seconds',
    help: 'Time of the last run of reconciliation.',
    labels: [],
    samples: () => single(lastRunAt),
  })
  const lastSearches = new Map<string, { readonly labels: { readonly provider: string; readonly result: string }; value: number }>()
  exposition.gauge({
    name: 'swapgate_reconciliation_last_search_timestamp_seconds',
    help: 'Time of the last search for creates at a provider with this result. Absent: this process has made none.',
    labels: ['provider', 'result'],
    samples: () => [...lastSearches.values()],
  })
  exposition.gauge({
    name: 'swapgate_ledger_results_held',
    help: 'Results of creates that wait in memory because the ledger failed.',
    labels: [],
    aggregator: 'sum',
    samples: () => single(resultsHeld),
  })
  exposition.gauge({
    name: 'swapgate_ledger_wait_seconds',
    help: 'How long the first call that waits for a connection to the ledger has waited.',
    labels: ['work'],
    samples() {
      const { readMs, writeMs } = reads.readLedgerWaits() ?? { readMs: 0, writeMs: 0 }
      return [
        { labels: { work: 'read' }, value: readMs / 1000 },
        { labels: { work: 'write' }, value: writeMs / 1000 },
      ]
    },
  })
  const timelineLosses = exposition.counter({
    name: 'swapgate_timeline_events_lost_total',
    help: 'Events of timelines that were lost because too many waited for the ledger.',
    labels: [],
    initialValues: () => [[]],
  })
  const troubles = exposition.counter({
    name: 'swapgate_store_troubles_total',
    help: 'Failures of the ledger and of Redis, by what was wrong with the server or with the way to it.',
    labels: ['store', 'cause'],
  })
  const attempts = exposition.counter({
    name: 'swapgate_webhook_attempts_total',
    help: 'Attempts to tell webhooks of changes, by what became of them.',
    labels: ['outcome'],
    initialValues: () => combinations([...webhookOutcomes]),
  })
  addDeliveryGauges(exposition, staleCache(reads.readDeliveryGauges))
  const numbered = exposition.counter({
    name: 'swapgate_events_numbered_total',
    help: 'Changes of swaps that this process has numbered: from then on they are sent.',
    labels: [],
    initialValues: () => [[]],
  })
  addWaitingEvents(exposition, staleCache(reads.readWaitingEvents))
  addLedgerGauges(exposition, providers, staleCache(reads.readLedgerGauges))
  addCapacity(exposition, staleCache(reads.readLedgerCapacity))
  addConnections(exposition, reads.readLedgerConnections)
  return {
    ledger({ action, seconds, isFailure }) {
      durations.observe({ action }, seconds)
      if (isFailure) failures.labels(action).inc()
    },
    turnRefused: ({ work }) => turnsRefused.labels(work).inc(),
    staleKey: () => staleKeys.inc(),
    action: ({ provider, action, outcome }) => actions.labels(provider, snakeCase(action), snakeCase(outcome)).inc(),
    create: ({ provider, outcome }) => outcomes.labels(provider, snakeCase(outcome)).inc(),
    timelineLost: ({ count }) => timelineLosses.inc(count),
    eventsNumbered: ({ count }) => numbered.inc(count),
    commitsLost: ({ by }) => losses.labels(by).inc(),
    storeTrouble: ({ store, cause }) => troubles.labels(store, cause).inc(),
    resultsHeld({ count }) {
      resultsHeld = count
    },
    webhookAttempt: ({ outcome }) => attempts.labels(outcome).inc(),
    search({ provider, result, at }) {
      lastSearches.set(`${provider} ${result}`, { labels: { provider, result }, value: at / 1000 })
    },
    reconciled({ at }) {
      lastRunAt = at / 1000
    },
  }
}

/** Gauges of the ledger's contents; without samples until the first read. */
function addLedgerGauges(exposition: Exposition, providers: Providers, read: () => Promise<LedgerGauges | undefined>): void {
  const add = (
    name: string,
    help: string,
    labels: readonly string[],
    samplesOf: (gauges: LedgerGauges) => readonly Sample[],
  ): void => {
    const samples = async (): Promise<readonly Sample[]> => {
      const gauges = await read()
      return gauges ? samplesOf(gauges) : []
    }
    exposition.gauge({ name, help, labels, samples })
  }
  add('swapgate_transactions_open', 'Transactions that have not ended.', ['provider', 'status'], ({ unfinished }) =>
    counts(
      providers,
      'status',
      openStatuses,
      unfinished.map(({ provider, status = 'unknown', count }) => ({ provider, value: status, count })),
    ),
  )
  add(
    'swapgate_creates_unresolved',
    'Creates without a known or accepted outcome.',
    ['provider', 'state'],
    ({ unresolvedCounts }) =>
      counts(
        providers,
        'state',
        unresolvedStates,
        unresolvedCounts.map(({ provider, state, count }) => ({ provider, value: state, count })),
      ),
  )
  add('swapgate_transactions_need_person', 'Transactions that need a person.', ['provider', 'attention'], ({ attentionCounts }) =>
    counts(
      providers,
      'attention',
      attentions,
      attentionCounts.map(({ provider, attention, count }) => ({ provider, value: attention, count })),
    ),
  )
  add(
    'swapgate_transactions_oldest_open_seconds',
    'Age of the oldest transaction that has not ended.',
    ['provider'],
    ({ unfinished: open }) => ages(open),
  )
  add(
    'swapgate_transactions_open_age_seconds',
    'Age of the oldest transaction in each state that has not ended.',
    ['provider', 'status'],
    ({ unfinished }) =>
      unfinished.map(({ provider, status = 'unknown', oldest }) => ({
        labels: { provider, status },
        value: Math.max(0, Date.now() - oldest) / 1000,
      })),
  )
  add(
    'swapgate_creates_oldest_unresolved_seconds',
    'Age of the oldest create without a known or accepted outcome.',
    ['provider'],
    ({ unresolvedCounts: unresolved }) => ages(unresolved),
  )
  add('swapgate_watched_transactions', 'Open transactions that a stream or a webhook watches.', ['provider'], ({ watchedCounts }) =>
    watchedCounts.map(({ provider, count }) => ({ labels: { provider }, value: count })),
  )
  add(
    'swapgate_watched_transactions_oldest_read_seconds',
    'Time since the last read of the watched transaction that was not read for the longest.',
    ['provider'],
    ({ watchedCounts }) => ages(watchedCounts),
  )
}

function addDeliveryGauges(exposition: Exposition, read: () => Promise<DeliveryGauges | undefined>): void {
  const add = (name: string, help: string, figureOf: (gauges: DeliveryGauges) => number): void => {
    const samples = async (): Promise<readonly Sample[]> => {
      const gauges = await read()
      return single(gauges && figureOf(gauges))
    }
    exposition.gauge({ name, help, labels: [], samples })
  }
  add(
    'swapgate_webhook_deliveries_waiting',
    'Changes of which a webhook was not told yet; counted up to 10,000.',
    ({ waiting }) => waiting,
  )
  add(
    'swapgate_webhook_deliveries_oldest_waiting_seconds',
    'How long the oldest change waits of which a webhook was not told yet.',
    ({ oldestWaitingMs }) => oldestWaitingMs / 1000,
  )
}

function addCapacity(exposition: Exposition, read: () => Promise<Capacity | undefined>): void {
  const add = (name: string, help: string, figureOf: (capacity: Capacity) => number | undefined): void => {
    const samples = async (): Promise<readonly Sample[]> => {
      const capacity = await read()
      return single(capacity && figureOf(capacity))
    }
    exposition.gauge({ name, help, labels: [], samples })
  }
  add('swapgate_ledger_size_bytes', 'Size of the ledger: of its file, or of its database.', ({ bytes }) => bytes)
  add('swapgate_ledger_filesystem_avail_bytes', 'What is free on the volume of the file.', ({ volume }) => volume?.availableBytes)
  add('swapgate_ledger_filesystem_size_bytes', 'The size of the volume of the file.', ({ volume }) => volume?.bytes)
  exposition.gauge({
    name: 'swapgate_clock_offset_seconds',
    help: 'By how much the clock of this process is ahead of another one.',
    labels: ['against'],
    async samples() {
      const offsetMs = (await read())?.clockOffsetMs
      return offsetMs === undefined ? [] : [{ labels: { against: 'ledger' }, value: offsetMs / 1000 }]
    },
  })
}

function addWaitingEvents(
  exposition: Exposition,
  read: () => Promise<{ readonly count: number; readonly ageMs: number } | undefined>,
): void {
  exposition.gauge({
    name: 'swapgate_events_waiting',
    help: 'Changes of swaps without a number, counted up to 10,000.',
    labels: [],
    samples: async () => single((await read())?.count),
  })
  exposition.gauge({
    name: 'swapgate_events_waiting_age_seconds',
    help: 'How long the oldest change of a swap without a number has waited for it.',
    labels: [],
    async samples() {
      const waiting = await read()
      return single(waiting && waiting.ageMs / 1000)
    },
  })
}

function addConnections(exposition: Exposition, read: () => Connections | undefined): void {
  const ofConnections = (samplesOf: (connections: Connections) => readonly Sample[]) => (): readonly Sample[] => {
    const connections = read()
    return connections ? samplesOf(connections) : []
  }
  exposition.gauge({
    name: 'db_client_connection_count',
    help: 'Connections to the server of the ledger.',
    labels: ['db_client_connection_state'],
    aggregator: 'sum',
    samples: ofConnections(({ used, idle }) => [
      { labels: { db_client_connection_state: 'used' }, value: used },
      { labels: { db_client_connection_state: 'idle' }, value: idle },
    ]),
  })
  exposition.gauge({
    name: 'db_client_connection_max',
    help: 'The most connections to the server of the ledger at a time. More work waits.',
    labels: [],
    aggregator: 'sum',
    samples: ofConnections(({ max }) => single(max)),
  })
}

interface Row {
  readonly provider: string
  readonly value: string
  readonly count: number
}

/** All label values of every provider that is configured or has rows, so that a value without rows is 0, not absent. */
function counts(providers: Providers, label: string, values: readonly string[], rows: readonly Row[]): readonly Sample[] {
  const countByKey = new Map(rows.map(({ provider, value, count }) => [`${provider}\n${value}`, count]))
  const tags = new Set([...providers().map(({ tag }) => tag), ...rows.map(({ provider }) => provider)])
  return [...tags].flatMap((provider) =>
    values.map((value) => ({ labels: { provider, [label]: value }, value: countByKey.get(`${provider}\n${value}`) ?? 0 })),
  )
}

function ages(rows: readonly { readonly provider: string; readonly oldest: number }[]): readonly Sample[] {
  const now = Date.now()
  const byProvider = Map.groupBy(rows, ({ provider }) => provider)
  return [...byProvider].map(([provider, own]) => ({
    labels: { provider },
    value: Math.max(0, now - Math.min(...own.map(({ oldest }) => oldest))) / 1000,
  }))
}

/** How long a value is fresh. */
const lifetimeMs = 10_000
/** Maximum wait of a caller; a later value is for the next call. */
const timeoutMs = 500

/** Caches `read`. Calls it again when the value is old, and returns the previous value while that fails or is slow. */
function staleCache<T>(read: () => Promise<T>): () => Promise<T | undefined> {
  let latest: T | undefined
  let fetchedAt = Number.NEGATIVE_INFINITY
  const renewal = singleFlight(async () => {
    try {
      latest = await read()
    } catch {
      // The previous value stays. Other users of the ledger report the failure.
    } finally {
      fetchedAt = performance.now()
    }
  })
  return async () => {
    if (performance.now() - fetchedAt >= lifetimeMs) await withTimeout(renewal.run(), timeoutMs, () => {})
    return latest
  }
}
