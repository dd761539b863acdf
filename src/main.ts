/** The process: starts all parts in order and stops them in reverse (docs/contract.md §13). */
import { setTimeout as wait } from 'node:timers/promises'
import type { Readiness } from './adapters/http/admin.ts'
import type { Config } from './config/index.ts'
import type { Observer } from './domain/observation.ts'
import { forms } from './forms/index.ts'
import { addOperator } from './operator/router.ts'
import type { OperatorParts, OperatorStores } from './operator/stores.ts'
import { openGateway } from './process/gateway-process.ts'
import type { ConfigurationInForce } from './process/in-force.ts'
import { preparePages } from './process/pages.ts'
import { type AdminPort, openAdmin, openPublic, type PublicPort, withListenError } from './process/ports.ts'
import { type Monitoring, openMonitoring, type ProcessIo } from './process/telemetry.ts'
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

/** What changes while the process runs. */
interface ProcessState {
  readiness: Readiness
  /** Undefined until the ledger is open. */
  configuration: ConfigurationInForce | undefined
}

/**
 * Starts the gateway. If a part fails, it closes all others and throws.
 *
 * @example
 *     const { urls, configWarnings, stop } = await start(loadConfig('config/gateway.yaml'))
 *     console.log(urls.get('gateway'), configWarnings)
 *     process.once('SIGTERM', () => void stop())
 */
export async function start(config: Config, processIo?: ProcessIo): Promise<Running> {
  await using resources = new AsyncDisposableStack()
  const state: ProcessState = { readiness: 'starting', configuration: undefined }
  const current = (): Config => state.configuration?.config ?? config
  const monitoring = openMonitoring(config, current, resources, processIo)
  const { observe, telemetry } = monitoring
  const admin = await openAdminPort(config, current, state, monitoring, resources)
  const sandboxUrls = await addSandbox(config, resources)
  const { configuration, warnings, ledgerStores, handle, follow } = await openGateway(
    config,
    monitoring,
    preparePages(forms),
    resources,
  )
  state.configuration = configuration
  const stopping = new AbortController()
  addOperator(admin, operatorParts(ledgerStores, configuration, follow), observe, stopping.signal)
  const publicPort = await openPublicPort(config, handle, state, monitoring, resources)
  await configuration.tags.remember(config)
  state.readiness = 'ready'
  const configWarnings = [...warnings, ...(await configuration.ledgerWarnings())]
  const opened = resources.move()
  const urls = new Map([...urlsOf(publicPort.url), ['admin', admin.url], ...sandboxUrls])
  const stop = async (): Promise<boolean> => {
    state.readiness = 'draining'
    stopping.abort()
    publicPort.drain.begin()
    await wait(config.server.shutdownDelay * 1000)
    await opened.disposeAsync()
    return monitoring.isLogFlushed()
  }
  const reconfigure = async (next: Config): Promise<readonly string[]> => {
    const warnings = await configuration.load(next)
    publicPort.follow(next.providers)
    return warnings
  }
  return { urls, configWarnings, reconfigure, observe, logError: telemetry.log.fail, stop }
}

async function openAdminPort(
  config: Config,
  current: () => Config,
  state: ProcessState,
  { load, telemetry, observe }: Monitoring,
  resources: AsyncDisposableStack,
): Promise<AdminPort> {
  const options = {
    readiness: () => (state.readiness === 'ready' && load.level >= 2 ? 'overloaded' : state.readiness),
    printMetrics: telemetry.print,
  } as const
  const port = await openAdmin(config, current, options, observe)
  resources.defer(() => port.drain.finish(0))
  return port
}

async function openPublicPort(
  config: Config,
  handle: Http,
  state: ProcessState,
  { load, observe }: Monitoring,
  resources: AsyncDisposableStack,
): Promise<PublicPort> {
  const port = await openPublic(config, handle, () => state.readiness === 'draining', observe)
  resources.defer(() => port.drain.finish(config.server.drain * 1000))
  load.addQueueWait(port.wait)
  return port
}

function operatorParts(
  stores: OperatorStores,
  configuration: ConfigurationInForce,
  follow: OperatorParts['follow'],
): OperatorParts {
  return {
    stores,
    file: () => configuration.file,
    inForce: () => configuration.config,
    follow,
  }
}

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
