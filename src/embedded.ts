/** The gateway as a request handler of another program (docs/contract.md §17). */
import { type ExpressOptions, expressApp } from './adapters/http/express.ts'
import { type Config, type ConfigSettings, loadConfig, readSettings } from './config/index.ts'
import { errorBody } from './edges/response.ts'
import { formNamed, knownForms } from './forms/index.ts'
import { openMonitoring } from './process/monitoring.ts'
import { type OpenGateway, openGateway } from './process/open-gateway.ts'
import { noPages } from './process/pages.ts'
import type { Http } from './wire/http.ts'

export interface SwapgateOptions {
  /** express middleware in front of the gateway. What it responds is its own. */
  readonly middleware?: NonNullable<ExpressOptions['middleware']>
}

export interface Swapgate {
  /** An express request handler: `app.use('/swap', swapgate.handler)`, or a listener of `node:http`. It reads the raw body itself. */
  readonly handler: ReturnType<typeof expressApp>
  /** Opens the ledger and the connections and begins the background work; no port and no signal handler. Returns warnings. */
  readonly start: () => Promise<readonly string[]>
  /** Ends the background work and closes everything; waits for what is under way. */
  readonly stop: () => Promise<void>
  /** Applies another configuration to new requests. Throws a `ConfigError`, without a change, if it is not valid. Returns warnings. */
  readonly reload: (config: ConfigSource) => Promise<readonly string[]>
}

/** The path of a configuration file, its keys as an object, or what `loadConfig` returned. */
export type ConfigSource = string | ConfigSettings | Config

/** Throws a `ConfigError` with all faults. Before `start` and after `stop` the handler responds with 503. */
export function createSwapgate(source: ConfigSource, { middleware = [] }: SwapgateOptions = {}): Swapgate {
  const config = toConfig(source)
  let opened: { readonly gateway: OpenGateway; readonly resources: AsyncDisposableStack } | undefined
  const closed = closedHandler(config)
  const handle: Http = (request) => (opened ? opened.gateway.handle(request) : closed(request))
  return {
    handler: expressApp(handle, { ...config.server, middleware }),
    async start() {
      if (opened) throw new Error('swapgate is already started.')
      await using resources = new AsyncDisposableStack()
      const monitoring = openMonitoring(config, () => opened?.gateway.configuration.config ?? config, resources)
      const gateway = await openGateway(config, monitoring, Promise.resolve(noPages), resources)
      await gateway.configuration.tags.remember(config)
      const warnings = [...gateway.warnings, ...(await gateway.configuration.startWarnings(config))]
      opened = { gateway, resources: resources.move() }
      return warnings
    },
    async stop() {
      const stopping = opened
      opened = undefined
      await stopping?.resources.disposeAsync()
    },
    reload(next) {
      if (!opened) throw new Error('swapgate is not started.')
      return opened.gateway.configuration.load(toConfig(next))
    },
  }
}

function toConfig(source: ConfigSource): Config {
  if (typeof source === 'string') return loadConfig(source, knownForms)
  return isLoaded(source) ? source : readSettings(source, knownForms)
}

/** Only a loaded configuration has the hash of its file. */
function isLoaded(source: ConfigSettings | Config): source is Config {
  return 'hash' in source
}

function closedHandler({ defaultForm }: Config): Http {
  const body = errorBody(formNamed(defaultForm), 503, 'The service is starting or stopping; please try again later.')
  const headers = { 'content-type': 'application/json; charset=utf-8', 'x-swap-reason': 'stopping', 'retry-after': '1' }
  return async () => ({ status: 503, headers, body })
}
