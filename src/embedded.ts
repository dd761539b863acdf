/** The gateway as a request handler of another program (docs/contract-operators.md §17). */
import type { RequestHandler } from 'express'
import type { Registry } from 'prom-client'
import { type ExpressOptions, expressApp } from './adapters/http/express.ts'
import { mergeChunks } from './adapters/http/request-body.ts'
import { newRegistry } from './adapters/metrics/series.ts'
import { type Config, type ConfigSettings, loadConfig, readSettings } from './config/index.ts'
import { withDefault } from './domain/async.ts'
import { Fault } from './domain/fault.ts'
import { mounts } from './edges/mounts.ts'
import { serve } from './edges/serve.ts'
import { formNamed, forms, knownForms } from './forms/index.ts'
import { type OpenGateway, openGateway } from './process/gateway-process.ts'
import { oneAtATime } from './process/in-force.ts'
import { openLimitStores } from './process/limit-stores.ts'
import { preparePages } from './process/pages.ts'
import { needsRestart } from './process/start-settings.ts'
import { openMonitoring } from './process/telemetry.ts'
import { configWarnings } from './process/warnings.ts'
import type { Http, HttpResponse } from './wire/http.ts'

export interface SwapgateOptions {
  /** express middleware in front of the gateway. What it responds is its own. */
  readonly middleware?: NonNullable<ExpressOptions['middleware']>
  /** prom-client's, for the metrics of the gateway while it is started; one for each gateway. Absent: it makes one. */
  readonly registry?: Registry
}

export interface Swapgate {
  /** An express request handler: `app.use('/swap', swapgate.handler)`, or a listener of `node:http`. It reads the raw body itself. */
  readonly handler: ReturnType<typeof expressApp>
  /** The metrics of the gateway: `await swapgate.registry.metrics()`. Those of the process are not among them. */
  readonly registry: Registry
  /** Opens the ledger and the connections and begins the background work; no port and no signal handler. Returns warnings. */
  readonly start: () => Promise<readonly string[]>
  /** Waits for the requests under way, at most `server.drain`, then ends the background work and closes everything. */
  readonly stop: () => Promise<void>
  /** Applies another configuration to new requests. Rejects with a `ConfigError`, without a change, if it is not valid. Returns warnings. */
  readonly reload: (config: ConfigSource) => Promise<readonly string[]>
}

/** The path of a configuration file, its keys as an object, or what `loadConfig` returned. */
export type ConfigSource = string | ConfigSettings | Config

const mergeBody: RequestHandler = (request, _, next) => {
  mergeChunks(request)
  next()
}

/**
 * Throws a `ConfigError` with all faults. Before `start` and after `stop` the handler responds with 503. Starts, stops and reloads
 * run one after another, in the order of the calls.
 *
 * @example In an express application, in front of every body parser (`examples/embedded/express.ts`)
 *     const swapgate = createSwapgate('config/gateway.yaml')
 *     for (const warning of await swapgate.start()) console.error(warning)
 *     app.use('/swap', swapgate.handler)
 *     process.once('SIGTERM', () => server.close(() => void swapgate.stop()))
 */
export function createSwapgate(
  source: ConfigSource,
  { middleware = [], registry = newRegistry() }: SwapgateOptions = {},
): Swapgate {
  const first = toConfig(source)
  const runSerially = oneAtATime()
  let closed = closedHandler(first)
  const underWay = new Set<Promise<HttpResponse>>()
  let config = first
  let opened: Opened | undefined
  const handle: Http = (request) => {
    if (!opened) return closed(request)
    const response = opened.gateway.handle(request)
    underWay.add(response)
    return response.finally(() => underWay.delete(response))
  }
  return {
    handler: expressApp(handle, { ...config.server, middleware: [mergeBody, ...middleware] }),
    registry,
    start: () =>
      runSerially(async () => {
        if (opened) throw new Error('swapgate is already started.')
        const { warnings, ...gateway } = await open(config, () => opened?.gateway.configuration.config ?? config, registry)
        opened = gateway
        return warnings
      }),
    stop: () =>
      runSerially(async () => {
        const stopping = opened
        opened = undefined
        stopping?.gateway.endStreams()
        await withDefault(Promise.all(underWay), config.server.drain * 1000, undefined)
        await stopping?.resources.disposeAsync()
      }),
    reload: (source) =>
      runSerially(async () => {
        if (!opened) throw new Error('swapgate is not started.')
        const next = toConfig(source)
        const warnings = await opened.gateway.configuration.load(next)
        const changed = needsRestart(config, next)
        config = next
        closed = closedHandler(next)
        return [...changed.map(restartWarning), ...warningsOf(next), ...warnings]
      }),
  }
}

/** While there is no gateway: 503 in every form. Paths and methods are checked as usual; nothing is logged or counted. */
function closedHandler({ defaultForm }: Pick<Config, 'defaultForm'>): Http {
  const message = 'The service is starting or stopping; please try again later.'
  const refusal = new Fault('unavailable', message, { reason: 'stopping', retryAfter: 1 })
  const refuse = () => Promise.reject(refusal)
  const service = { call: refuse }
  const answers = { checkAddress: refuse, describePair: refuse, listRates: refuse, coinNetworks: refuse, allNetworks: refuse }
  const feeds = { watchTransaction: refuse, watchTransactions: refuse }
  const edge = { gate: async () => ({ refusal }), identify: async () => undefined, observe: () => {} }
  return mounts(new Map(forms.map((form) => [form, serve(form, service, edge, { answers, feeds })])), formNamed(defaultForm))
}

interface Opened {
  readonly gateway: OpenGateway
  readonly resources: AsyncDisposableStack
}

async function open(
  config: Config,
  current: () => Config,
  registry: Registry,
): Promise<Opened & { readonly warnings: readonly string[] }> {
  await using resources = new AsyncDisposableStack()
  const monitoring = openMonitoring(config, current, resources, { registry })
  const limitStores = await openLimitStores(config, monitoring.observe)
  const pages = preparePages(forms, false)
  resources.defer(limitStores.close)
  const gateway = await openGateway(config, monitoring, { limitStores, pages }, resources)
  await gateway.configuration.tags.remember(config)
  const warnings = [...warningsOf(config), ...gateway.warnings, ...(await gateway.configuration.ledgerWarnings())]
  return { gateway, resources: resources.move(), warnings }
}

function warningsOf(config: Config): readonly string[] {
  const { sandbox } = config
  const unused = sandbox.enabled ? ['sandbox.enabled is of no effect: the sandbox has a port of its own'] : []
  return [...configWarnings({ ...config, sandbox: { ...sandbox, enabled: false } }), ...unused]
}

/** The handler has the settings of `server` for good. */
function restartWarning(section: string): string {
  return `${section}: a change takes effect ${section === 'server' ? 'with another createSwapgate' : 'after stop() and start()'}`
}

function toConfig(source: ConfigSource): Config {
  if (typeof source === 'string') return loadConfig(source, knownForms)
  return isLoaded(source) ? source : readSettings(source, knownForms)
}

/** Only a loaded configuration has the hash of its file. */
function isLoaded(source: ConfigSettings | Config): source is Config {
  return 'hash' in source
}
