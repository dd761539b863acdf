/** The gateway with its stores and background jobs, but without a port. */

import { hashKey } from '../adapters/crypto.ts'
import type { OpenTracing } from '../adapters/tracing.ts'
import { type Config, otlpCertificates, removeUnusableOtelVariables } from '../config/index.ts'
import { type Accounts, authentication, KeyUses } from '../core/access/authentication.ts'
import { ProcessorShares } from '../core/access/processor-shares.ts'
import { RequestCounts } from '../core/access/request-counts.ts'
import { PendingCreateKeys } from '../core/creation/idempotency.ts'
import { DeferredResults } from '../core/creation/record-result.ts'
import { RestoredLedger } from '../core/creation/restored-ledger.ts'
import { Suspensions } from '../core/creation/suspensions.ts'
import { EventHub } from '../core/events/event-hub.ts'
import { FailedReads } from '../core/failed-reads.ts'
import { CreatesInFlight } from '../core/journal.ts'
import { createBreaker } from '../core/resilience/breaker.ts'
import { MirrorStatistics } from '../core/routing/mirror.ts'
import { Timelines } from '../core/timelines.ts'
import { withDefault } from '../domain/async.ts'
import type { Observer } from '../domain/observation.ts'
import { knownForms } from '../forms/index.ts'
import type { Identify, ProcessScope } from '../gateway/process-scope.ts'
import { createGateway } from '../gateway.ts'
import { type OpenLedger, openLedger } from '../ledger/index.ts'
import { Connections } from '../provider/connections.ts'
import type { Http } from '../wire/http.ts'
import { startBackgroundJobs } from './background-jobs.ts'
import { ConfigurationInForce } from './in-force.ts'
import type { LimitStores } from './limit-stores.ts'
import { freshLookup, lookup } from './name-lookup.ts'
import { RunningGateway } from './running-gateway.ts'
import { reportTrouble } from './store-trouble.ts'
import type { Monitoring } from './telemetry.ts'
import { version } from './version.ts'

export interface OpenGateway {
  readonly configuration: ConfigurationInForce
  /** Warnings for the operator. */
  readonly warnings: readonly string[]
  readonly ledgerStores: OpenLedger
  readonly handle: Http
  readonly createsInFlight: () => readonly string[]
  /** Ends the streams of clients, as whole responses, and opens no others. */
  readonly endStreams: () => void
  /** Applies what operators have changed in the ledger. Throws if it cannot be read. */
  readonly follow: () => Promise<void>
}

/** The longest wait of the start for the assets that are suspended; later they are read all the same. */
const maxWaitMs = 1_000

/** The same for the lists of currencies that other processes have stored. */
const maxListWaitMs = 5_000

interface OpenOptions {
  readonly limitStores: LimitStores
  readonly pages: ProcessScope['pages']
  readonly sandbox?: ProcessScope['sandbox']
  /** Whether another process does the background work that is done once. */
  readonly isWorker?: boolean
}

/** Registers all that it opens in `resources`. Throws a `ConfigError` if the ledger contradicts the configuration. */
export async function openGateway(
  config: Config,
  monitoring: Monitoring,
  { limitStores, pages, sandbox, isWorker = false }: OpenOptions,
  resources: AsyncDisposableStack,
): Promise<OpenGateway> {
  const { observe, telemetry } = monitoring
  const { url, mustExist, migrate, maxConnections } = config.ledger
  const mayChange = migrate === 'auto'
  const whenMissing = mayChange ? 'make' : 'refuse'
  const onTrouble = reportTrouble('ledger', observe)
  const onTurnRefused = (work: 'create' | 'read'): void => observe({ what: 'turnRefused', work })
  const way = { maxConnections, lookup: freshLookup, onTrouble, onTurnRefused }
  const ledgerStores = await openLedger(url, { mustExist, whenMissing, mayMigrate: mayChange, ...way })
  resources.defer(ledgerStores.close)
  const ledgerWarnings = [...ledgerStores.warnings, ...(await ledgerStores.warmUp())] // from here on several connections are needed at a time
  telemetry.observeLedger(ledgerStores)
  const reportOnce = isWorker ? () => {} : observe
  const { configuration, warnings } = await ConfigurationInForce.open(config, ledgerStores, reportOnce)
  const scope = await openProcessScope(config, ledgerStores, monitoring, { limitStores, pages, sandbox }, resources)
  const { connections, createsInFlight, mirrorStatistics, suspensions, restoredLedger } = scope
  await Promise.all([withDefault(suspensions.follow(), maxWaitMs, undefined), restoredLedger.follow()])
  configuration.run((next) => {
    const gateway = createGateway(next, scope)
    telemetry.log.configure(next.log)
    return new RunningGateway(gateway, connections.retain(gateway.connected))
  })
  resources.defer(() => configuration.close())
  // A create needs the list of its provider, which may not answer now.
  await Promise.all(configuration.gateway.connected.map(({ currencyList }) => currencyList.loadStored(maxListWaitMs)))
  startBackgroundJobs(
    { configuration, ledgerStores, monitoring, mirrorStatistics, suspensions, restoredLedger, limitStores, isWorker },
    resources,
  )
  const follow = async (): Promise<void> =>
    void (await Promise.all([configuration.follow(), suspensions.follow(), restoredLedger.follow()]))
  const handle: Http = (request) => configuration.gateway.handle(request)
  return {
    configuration,
    warnings: [...ledgerWarnings, ...warnings, ...(isWorker ? [] : restoredLedger.warnings)],
    ledgerStores,
    handle,
    createsInFlight: () => createsInFlight.list(),
    endStreams: () => scope.eventHub.endStreams(),
    follow,
  }
}

/** Opens what the gateways of all configurations share: traces, results that the ledger could not store, and connections. */
async function openProcessScope(
  config: Config,
  ledgerStores: OpenLedger,
  { load, observe, telemetry }: Monitoring,
  { limitStores, pages, sandbox }: OpenOptions,
  resources: AsyncDisposableStack,
): Promise<ProcessScope> {
  const tracing = await openTraces(config.telemetry, observe)
  if (tracing) resources.defer(tracing.close)
  const scope = processScopeOf(ledgerStores, { ...limitStores, load, observe, pages, sandbox, tracing }, resources)
  telemetry.observeConnections(scope.connections)
  telemetry.observeStreams(scope.eventHub)
  scope.eventHub.start()
  return scope
}

type GivenScope = Pick<ProcessScope, 'load' | 'observe' | 'pages' | 'sandbox' | 'tracing'> & LimitStores

/** Registers all that it opens in `resources`. */
export function processScopeOf(ledgerStores: OpenLedger, given: GivenScope, resources: AsyncDisposableStack): ProcessScope {
  const { accounts, currencyLists, suspensions: store, restores, swapActions, watches } = ledgerStores
  const { observe } = given
  const timelines = new Timelines(ledgerStores.timelines, observe)
  resources.defer(() => timelines.close())
  const failedReads = new FailedReads(ledgerStores.failedReads)
  resources.defer(() => failedReads.close())
  const eventHub = new EventHub(ledgerStores.events, watches, observe, given.streamPlaces)
  resources.defer(() => eventHub.close())
  const uses = new KeyUses(accounts)
  resources.defer(() => uses.close())
  const requests = new RequestCounts(ledgerStores.usage)
  resources.defer(() => requests.close())
  const deferredResults = new DeferredResults({ observe })
  resources.defer(() => deferredResults.close())
  const connections = new Connections(lookup)
  resources.defer(() => connections.close())
  return {
    ...knownForms,
    ...given,
    ledger: ledgerStores.ledger,
    ledgerWaits: ledgerStores.turnWaits,
    currencyLists,
    createsInFlight: new CreatesInFlight(),
    deferredResults,
    timelines,
    failedReads,
    events: ledgerStores.events,
    eventHub,
    swapActions,
    watches,
    suspensions: new Suspensions(store, () => performance.now()),
    restoredLedger: new RestoredLedger(restores),
    restoredOrders: restores,
    connections,
    mirrorStatistics: new MirrorStatistics(),
    pendingKeys: new PendingCreateKeys(),
    breaker: createBreaker,
    steadyClock: () => performance.now(),
    processorShares: new ProcessorShares(() => performance.now(), threadMicroseconds),
    identification: (auth) => keyIdentity(auth, accounts, uses, observe),
    observe(observation) {
      observe(observation)
      requests.observe(observation)
    },
    version,
  }
}

function threadMicroseconds(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** Identifies the caller of a key: by its hash if it is the provider's key, by its account if it was issued here. */
function keyIdentity(auth: Config['auth'], accounts: Accounts, uses: KeyUses, observe: Observer): Identify {
  if (auth.mode === 'passthrough') return async (key) => ({ identity: hashKey(key) })
  return authentication({ accounts, digest: hashKey, uses, clock: Date.now, observe })
}

/** Undefined if tracing is off: then OpenTelemetry is not loaded. */
async function openTraces(settings: Config['telemetry'], observe: Observer): Promise<OpenTracing | undefined> {
  const { endpoint, tracesEndpoint, disabled, sampler } = settings
  const url = tracesEndpoint || (endpoint && `${endpoint.replace(/\/$/, '')}/v1/traces`)
  if (url === '' || disabled) return undefined
  const { openTracing } = await import('../adapters/tracing.ts')
  const ratio = sampler.endsWith('always_on') ? 1 : sampler.endsWith('always_off') ? 0 : settings.ratio
  const agent = { lookup, ...otlpCertificates() }
  removeUnusableOtelVariables()
  return openTracing({
    ...settings,
    url,
    ratio,
    version,
    agent,
    observe: (result, count) => observe({ what: 'spans', result, count }),
  })
}
