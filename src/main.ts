/** The process: starts all parts in order and stops them in reverse (docs/contract.md §13). */
import { setTimeout as wait } from 'node:timers/promises'
import type { Readiness } from './adapters/http/admin.ts'
import { measureLoad } from './adapters/http/load.ts'
import { openLedger } from './adapters/ledger/index.ts'
import { type Config, ConfigError } from './config/index.ts'
import { DeferredResults } from './core/creation/deferred-results.ts'
import { PendingCreateKeys } from './core/creation/pending-create-keys.ts'
import { ProviderFigures } from './core/operations/provider-figures.ts'
import { createBreaker } from './core/resilience/breaker/breaker.ts'
import { ShadowStatistics } from './core/routing/shadow-statistics.ts'
import type { Observer } from './domain/telemetry/observation.ts'
import { withDefault } from './domain/with-timeout.ts'
import { forms } from './forms/index.ts'
import { createGateway } from './gateway.ts'
import { FollowedOverrides } from './process/configuration/followed-overrides.ts'
import { Generation } from './process/configuration/generation.ts'
import { offWarnings } from './process/configuration/off-warnings.ts'
import { overrideWarnings } from './process/configuration/overrides.ts'
import { Tags } from './process/configuration/tags.ts'
import { withListenError } from './process/connections/listen-error.ts'
import { openAdmin, openPublic } from './process/connections/ports.ts'
import { startIntervalJob } from './process/interval-job.ts'
import { keyIdentity } from './process/key-identity.ts'
import { openLimitStores } from './process/limit-stores.ts'
import { oneAtATime } from './process/one-at-a-time.ts'
import { openOperator } from './process/operator.ts'
import { noPages, preparePages } from './process/pages.ts'
import { startReplicaFigures } from './process/replica-figures.ts'
import { openTelemetry } from './process/telemetry.ts'
import { openTraces } from './process/traces.ts'
import { version } from './process/version.ts'
import { Connections } from './provider.ts'
import type { Http } from './wire/http.ts'

/** A running process. */
export interface Running {
  /** Base URLs by name: `gateway`, `form A`, `admin`, `sandbox`. */
  readonly urls: ReadonlyMap<string, string>
  /**
   * Applies a configuration to new requests; those in flight finish with the previous one. Returns warnings for the operator. Throws
   * a `ConfigError`, without a change, if the ledger contradicts it.
   */
  readonly reconfigure: (config: Config) => Promise<readonly string[]>
  /** Warnings for the operator about the configuration and the ledger. */
  readonly configWarnings: readonly string[]
  /** Reports events to metrics and logs. */
  readonly observe: Observer
  /** Logs a failure that no caller handles. */
  readonly logError: (message: string, reason: unknown) => void
  /** Waits for the requests in flight, then closes everything. False if log lines could not be written. */
  readonly stop: () => Promise<boolean>
}

/** Starts the gateway. If a part fails, it closes all others and throws. */
export async function start(config: Config): Promise<Running> {
  await using resources = new AsyncDisposableStack()
  let readiness: Readiness = 'starting'
  let current = config
  const preparingPages = preparePages(forms)
  const load = measureLoad()
  resources.defer(async () => load.stop())
  const telemetry = openTelemetry(config, () => current)
  const { log } = telemetry
  const figures = new ProviderFigures(steadyClock)
  const observe: Observer = (observation) => {
    telemetry.observe(observation)
    figures.observe(observation)
  }
  let isLogFlushed = true
  resources.defer(async () => {
    isLogFlushed = await log.close()
  })

  const ready = (): Readiness => (readiness === 'ready' && load.level >= 2 ? 'overloaded' : readiness)
  let operator: ReturnType<typeof openOperator> | undefined
  const admin = await openAdmin(config, { readiness: ready, printMetrics: telemetry.print, operator: () => operator })
  resources.defer(() => admin.drain.finish(0))

  const sandboxUrls = await addSandbox(config, resources)

  const { ledger, accounts, ledgerAdmin, ...stores } = await openLedger(config.ledger.url)
  const { currencyLists, replicaFigures, tags: tagRecords, waits: ledgerWaits, close } = stores
  resources.defer(close)
  telemetry.observeLedger(ledgerAdmin)
  const tags = new Tags(tagRecords)
  const { faults, warnings } = await tags.open(config)
  if (faults.length > 0) throw new ConfigError(faults)
  const overrides = await FollowedOverrides.open(config, stores.overrides, observe)
  current = overrides.config
  const { close: closeLimitStores, ...limitStores } = await openLimitStores(config, observe)
  resources.defer(closeLimitStores)
  const tracing = await openTraces(config.telemetry, observe)
  if (tracing) resources.defer(tracing.close)
  const deferredResults = new DeferredResults({ observe })
  resources.defer(() => deferredResults.close())
  const connections = new Connections()
  resources.defer(() => connections.close())
  const pages = await preparingPages
  const sharedParts = {
    ...limitStores,
    tracing,
    load,
    ledger,
    currencyLists,
    ledgerWaits,
    deferredResults,
    breaker: createBreaker,
    steadyClock,
    connections,
    pendingKeys: new PendingCreateKeys(),
    shadowStatistics: new ShadowStatistics(),
  }
  const buildGeneration = (next: Config): Generation => {
    const identify = keyIdentity(next, accounts)
    const servedPages = next.docs ? pages : noPages
    const gateway = createGateway({ ...sharedParts, config: next, forms, identify, observe, version, pages: servedPages })
    return new Generation(gateway, connections.retain(gateway.connected))
  }
  let generation = buildGeneration(current)
  const applyConfig = (next: Config): void => {
    const previous = generation
    generation = buildGeneration(next)
    previous.retire()
    current = next
  }
  // A reload and a change of the overrides must not overlap: each starts from the other's result.
  const runSerially = oneAtATime()
  const followOverrides = async (): Promise<void> => {
    await overrides.poll()
    if (overrides.config !== current) applyConfig(overrides.config)
  }
  const stopping = new AbortController()
  const operatorParts = {
    stores: { accounts, ledgerAdmin, ...stores },
    file: () => overrides.file,
    inForce: () => current,
    follow: () => runSerially(followOverrides),
  }
  operator = openOperator(config, operatorParts, stopping.signal)
  const openAtOff = async (file: Config): Promise<readonly string[]> =>
    file.providers.some(({ state }) => state === 'off')
      ? offWarnings(file, await withDefault(ledgerAdmin.openCounts(), maxCountWaitMs, []))
      : []
  const handle: Http = (request) => generation.handle(request)
  const intervalJobs = [
    startIntervalJob(() => generation.reconcile(), 1_000),
    startIntervalJob(() => generation.pollDraining(), 1_000),
    startIntervalJob(() => ledger.expireClaims(), 3_600_000),
    startIntervalJob(() => tags.flush(), 10_000),
    startIntervalJob(() => runSerially(followOverrides), overridePollMs),
  ]
  for (const { stop } of intervalJobs) resources.defer(stop)
  const { shadowStatistics } = sharedParts
  const figuresJob = startReplicaFigures({
    store: replicaFigures,
    figures,
    shadowStatistics,
    connected: () => generation.connected,
  })
  resources.defer(figuresJob.stop)

  const publicServer = await openPublic(config, handle, () => readiness === 'draining')
  resources.defer(() => publicServer.drain.finish(config.server.drain * 1000))
  load.addQueueWait(publicServer.wait)

  await tags.remember(config)
  readiness = 'ready'
  const running = resources.move()
  return {
    urls: new Map([...urlsOf(publicServer.url), ['admin', admin.url], ...sandboxUrls]),
    configWarnings: [...warnings, ...(await openAtOff(config)), ...overrideWarnings(config, overrides.applied)],
    reconfigure: (next) =>
      runSerially(async () => {
        const report = await tags.compare(next)
        if (report.faults.length > 0) throw new ConfigError(report.faults)
        await overrides.load(next)
        applyConfig(overrides.config)
        log.configure(next.log)
        await tags.remember(next)
        return [...report.warnings, ...(await openAtOff(next))]
      }),
    observe,
    logError: log.fail,
    async stop() {
      readiness = 'draining'
      stopping.abort()
      publicServer.drain.begin()
      await wait(config.server.grace * 1000)
      await running.disposeAsync()
      return isLogFlushed
    },
  }
}

/** Every replica must apply a change within 5 s. */
const overridePollMs = 2_000
/** A reload does not wait longer for what the ledger counts. */
const maxCountWaitMs = 1_000
const steadyClock = (): number => performance.now()

/** Opens the sandbox if it is enabled. Its modules are loaded only then. */
async function addSandbox(config: Config, resources: AsyncDisposableStack): Promise<[string, string][]> {
  if (!config.sandbox.enabled) return []
  const { openSandbox } = await import('./process/sandbox.ts')
  const address = { host: '127.0.0.1', port: config.sandbox.port }
  const sandbox = await withListenError('sandbox', address, () => openSandbox(config))
  resources.defer(sandbox.close)
  return [['sandbox', sandbox.url]]
}

/** The base URLs for integrators, and the documentation page. */
function urlsOf(url: string): [string, string][] {
  const ofForms = forms.map(({ name }): [string, string] => [`form ${name}`, `${url}/${name.toLowerCase()}`])
  return [['gateway', url], ...ofForms, ['docs', `${url}/docs`]]
}
