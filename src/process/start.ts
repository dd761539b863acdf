/** The process: starts all parts in order and stops them in reverse (docs/contract-operators.md §13). */
import { setTimeout as wait } from 'node:timers/promises'
import type { Readiness } from '../adapters/http/admin.ts'
import type { CollectedMetrics } from '../adapters/metrics/collected.ts'
import { prefersOpenMetrics } from '../adapters/metrics/series.ts'
import type { Config } from '../config/index.ts'
import type { LoadLevel } from '../core/access/admission.ts'
import type { Observer } from '../domain/observation.ts'
import { ProcessorQuota } from '../domain/processor-quota.ts'
import type { SandboxControl } from '../domain/sandbox-event.ts'
import { forms, providerFormNamed } from '../forms/index.ts'
import type { CreateProbe } from '../ledger/create-probe.ts'
import { addOperator } from '../operator/router.ts'
import { isSandboxAlone, StartToken } from '../operator/start-token.ts'
import type { OperatorParts, OperatorStores } from '../operator/stores.ts'
import type { Http } from '../wire/http.ts'
import { openGateway } from './gateway-process.ts'
import type { ConfigurationInForce } from './in-force.ts'
import { type LimitStores, openLimitStores } from './limit-stores.ts'
import { preparePages } from './pages.ts'
import {
  type AdminPort,
  openAdmin,
  openPublic,
  type PublicListener,
  type PublicPort,
  type SharedPort,
  withListenError,
} from './ports.ts'
import { startSettings } from './start-settings.ts'
import { type Monitoring, openMonitoring, type ProcessIo } from './telemetry.ts'
import { Workers, workerCount } from './workers.ts'

/** A running process. */
export interface Running {
  /** Base URLs by name: `gateway`, `form A`, `admin`, `sandbox`. */
  readonly urls: ReadonlyMap<string, string>
  /**
   * Applies a configuration to new requests; those in flight finish with the previous one. Returns warnings for the operator. Throws
   * a `ConfigError`, without a change, if the ledger contradicts it.
   */
  readonly reconfigure: (config: Config) => Promise<readonly string[]>
  /**
   * Makes a token for the operator's page, which ends with this process, or earlier (docs/contract-operators.md §15). Undefined where the
   * configuration in force allows none.
   */
  readonly makeStartToken: () => string | undefined
  /** Of the public port; undefined in a process without it. */
  readonly listener: PublicListener | undefined
  /** Warnings for the operator about the configuration and the ledger. */
  readonly configWarnings: readonly string[]
  /** Reports events to metrics and logs. */
  readonly observe: Observer
  /** The metrics of this process, for another one to print. */
  readonly collectMetrics: () => Promise<CollectedMetrics>
  /** What is shed at present. */
  readonly level: () => LoadLevel
  /** Logs a failure that no caller handles. */
  readonly logError: (message: string, reason: unknown) => void
  /** The creates that this process has begun and not ended: the provider's tag and the intent of each. */
  readonly createsInFlight: () => readonly string[]
  /** Waits for the requests in flight, then closes everything. False if log lines could not be written. */
  readonly stop: () => Promise<boolean>
  /** Ends the other processes at once, where there are any. Returns the creates that were in flight in all of them. */
  readonly abandon: () => Promise<readonly string[]>
}

/** What changes while the process runs. */
interface ProcessState {
  readiness: Readiness
  /** Undefined until the ledger is open. */
  configuration: ConfigurationInForce | undefined
  /** Of a primary, when all listen. */
  workers: (Workers & { readonly url: string }) | undefined
  /** Undefined until the ledger is open. */
  createProbe: CreateProbe | undefined
  /** Undefined until the public port is. */
  publicUrl: string | undefined
}

/** Which part of the gateway a process is: with `server.workers`, the port for operators and the background work, or the public port. */
export type Part =
  | { readonly is: 'whole' }
  | { readonly is: 'primary' }
  | {
      readonly is: 'worker'
      readonly shared: SharedPort
      readonly remoteLimits: LimitStores
      readonly sandbox?: SandboxControl | undefined
    }

/**
 * Starts the gateway. If a part fails, it closes all others and throws.
 *
 * @example
 *     const { urls, configWarnings, stop } = await start(loadConfig('config/gateway.yaml'))
 *     console.log(urls.get('gateway'), configWarnings)
 *     process.once('SIGTERM', () => void stop())
 */
export async function start(config: Config, processIo?: ProcessIo, part: Part = { is: 'whole' }): Promise<Running> {
  await using resources = new AsyncDisposableStack()
  const state: ProcessState = {
    readiness: 'starting',
    configuration: undefined,
    workers: undefined,
    createProbe: undefined,
    publicUrl: undefined,
  }
  const current = (): Config => state.configuration?.config ?? config
  const monitoring = openMonitoring(config, current, resources, processIo)
  const { observe, telemetry, load } = monitoring
  const isWorker = part.is === 'worker'
  const admin = isWorker ? undefined : await openAdminPort(config, current, state, monitoring, resources)
  const sandbox = isWorker ? part.sandbox : await addSandbox(config, resources)
  const limitStores =
    isWorker && config.redis.url === '' ? part.remoteLimits : await openLimitStores(config, observe, processesOf(config))
  resources.defer(limitStores.close)
  const opened = await openGateway(config, monitoring, { limitStores, pages: preparePages(forms), sandbox, isWorker }, resources)
  const { configuration, warnings, ledgerStores, handle, createsInFlight, endStreams, follow } = opened
  state.configuration = configuration
  state.createProbe = ledgerStores.createProbe
  const stopping = new AbortController()
  const sandboxUrl = sandbox?.url
  const startToken = new StartToken(() => configuration.file, sandboxUrl)
  if (admin) {
    const parts = operatorParts(ledgerStores, config, configuration, {
      redis: limitStores.redis,
      follow,
      tokens: () => startToken.all(),
      isSandboxAlone: () => isSandboxAlone(configuration.file.providers, sandboxUrl),
      publicUrl: () => state.publicUrl,
    })
    addOperator(admin, parts, observe, stopping.signal)
  }
  const shared = isWorker ? part.shared : undefined
  const publicPort = part.is === 'primary' ? undefined : await openPublicPort(config, handle, state, monitoring, shared, resources)
  if (!publicPort) state.workers = await Workers.start(config, limitStores, sandbox, observe)
  const publicUrl = publicPort?.url ?? state.workers?.url ?? ''
  state.publicUrl = publicUrl
  await configuration.tags.remember(config)
  state.readiness = 'ready'
  const configWarnings = [...warnings, ...(await configuration.ledgerWarnings())]
  const all = resources.move()
  return {
    urls: new Map([
      ...urlsOf(publicUrl),
      ...(admin ? [['admin', admin.url] as const] : []),
      ...(sandbox ? [['sandbox', sandbox.url] as const] : []),
    ]),
    makeStartToken: () => (admin ? startToken.make() : undefined),
    configWarnings,
    listener: publicPort?.listener,
    async reconfigure(next) {
      const messages = await configuration.load(next)
      const hasEnded = startToken.endUnlessAllowed()
      publicPort?.follow(next.providers)
      await state.workers?.reload(next)
      return hasEnded ? [...messages, "the operator's page: the token of this start has ended"] : messages
    },
    observe,
    collectMetrics: telemetry.collect,
    level: () => load.level,
    logError: telemetry.log.fail,
    createsInFlight,
    abandon: async () => state.workers?.abandon() ?? createsInFlight(),
    // After `shutdownDelay` all ends in the reverse order of its opening: the public port with its requests, jobs, the configuration,
    // connections to providers, results that wait for the ledger, traces, the ledger, the stores of limits, the sandbox, the admin port,
    // the log.
    async stop() {
      state.readiness = 'stopping'
      stopping.abort()
      endStreams()
      publicPort?.drain.begin()
      await (state.workers?.stop() ?? wait(config.server.shutdownDelay * 1000))
      await all.disposeAsync()
      return monitoring.isLogFlushed()
    },
  }
}

/** Of one gateway: with workers so many, and the one with the port for operators. */
function processesOf(config: Config): number {
  const workers = workerCount(config)
  return workers > 1 ? workers + 1 : 1
}

async function openAdminPort(
  config: Config,
  current: () => Config,
  state: ProcessState,
  { load, telemetry, observe }: Monitoring,
  resources: AsyncDisposableStack,
): Promise<AdminPort> {
  const level = (): LoadLevel => state.workers?.level ?? load.level
  const quota = new ProcessorQuota()
  const printer = (accept: string) => quota.shared(async () => telemetry.print(accept, await state.workers?.metrics()))
  const [printOpenMetrics, printText] = [printer('application/openmetrics-text'), printer('text/plain')]
  const options = {
    readiness: () => readinessOf(state, level()),
    createRefusal: () => state.createProbe?.refusal()?.message,
    silentWorkers: () => state.workers?.silent ?? [],
    printMetrics: (accept: string) => (prefersOpenMetrics(accept) ? printOpenMetrics() : printText()),
  } as const
  const port = await openAdmin(config, current, options, observe)
  resources.defer(() => port.drain.finish(0))
  return port
}

/** Ready means that the ledger has once taken what a create writes. */
function readinessOf({ readiness, createProbe }: ProcessState, level: LoadLevel): Readiness {
  if (readiness !== 'ready') return readiness
  if (!createProbe?.hasPassed()) return 'starting'
  return level >= 2 ? 'overloaded' : 'ready'
}

async function openPublicPort(
  config: Config,
  handle: Http,
  state: ProcessState,
  { load, telemetry, observe }: Monitoring,
  shared: SharedPort | undefined,
  resources: AsyncDisposableStack,
): Promise<PublicPort> {
  const port = await openPublic(config, handle, () => state.readiness === 'stopping', observe, shared)
  resources.defer(() => port.drain.finish(config.server.drain * 1000))
  load.begin(port.wait)
  telemetry.observeRequests(port.requestCounts)
  return port
}

function operatorParts(
  stores: OperatorStores,
  started: Config,
  configuration: ConfigurationInForce,
  own: Pick<OperatorParts, 'redis' | 'follow' | 'tokens' | 'isSandboxAlone' | 'publicUrl'>,
): OperatorParts {
  return {
    ...own,
    stores,
    file: () => configuration.file,
    inForce: () => configuration.config,
    started: startSettings(started),
    actions: () => configuration.gateway.operatorActions,
    hasPlainIds(tag) {
      const known = configuration.file.providers.find((provider) => provider.tag === tag)
      return known !== undefined && !providerFormNamed(known.form).hasSecretIds
    },
  }
}

/** Opens the sandbox if it is enabled. Its modules are loaded only then. */
async function addSandbox(config: Config, resources: AsyncDisposableStack): Promise<SandboxControl | undefined> {
  if (!config.sandbox.enabled) return undefined
  const { openSandbox } = await import('./sandbox.ts')
  const address = { host: '127.0.0.1', port: config.sandbox.port }
  const sandbox = await withListenError('sandbox', address, () => openSandbox(config))
  resources.defer(sandbox.close)
  return sandbox
}

/** The base URLs for integrators, and the documentation page. */
function urlsOf(url: string): [string, string][] {
  const ofForms = forms.map(({ name }): [string, string] => [`form ${name}`, `${url}/${name.toLowerCase()}`])
  return [['gateway', url], ...ofForms, ['docs', `${url}/docs`]]
}
