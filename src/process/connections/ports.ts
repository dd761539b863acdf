/** The two ports: the public one, and the operators' own (docs/contract.md §13). */
import { type AdminOptions, adminApp, adminErrorResponse, type PrintError } from '../../adapters/http/admin.ts'
import { expressApp, messagesOf } from '../../adapters/http/express.ts'
import { listen } from '../../adapters/http/server.ts'
import type { Config } from '../../config/index.ts'
import { errorBody } from '../../edges/response.ts'
import { formNamed } from '../../forms/index.ts'
import type { Http } from '../../wire/http.ts'
import { admissionQueue } from './admission-queue.ts'
import { limitConnectionsPerAddress } from './connections-per-address.ts'
import { type Drain, drainOf } from './drain.ts'
import { evictIdlest } from './idle-eviction.ts'
import { setIdleTimeout } from './idle-timeout.ts'
import { withListenError } from './listen-error.ts'
import { maxConnections } from './open-files.ts'
import { limitPipelining } from './pipelining-limit.ts'

export interface Port {
  readonly url: string
  readonly drain: Drain
}

export async function openAdmin(
  config: Config,
  options: Pick<AdminOptions, 'readiness' | 'printMetrics' | 'operator'>,
): Promise<Port> {
  const { admin } = config
  const printError = errorPrinter(config)
  const app = adminApp({ ...options, printError, hosts: admin.hosts })
  const { server, url } = await withListenError('admin', admin, () => listen(app, adminErrorResponse(printError), admin))
  limitPipelining(server, maxDueResponses)
  evictIdlest(server, maxConnections(maxAdminConnections))
  setIdleTimeout(server, adminIdleTimeoutMs)
  return { url, drain: drainOf(server) }
}

/** Probes, Prometheus, and operators with their event streams. */
const maxAdminConnections = 64
/** Longer than Prometheus and probes pause. */
const adminIdleTimeoutMs = 75_000

/** Errors outside the mounts have the body of the default form. */
export function errorPrinter({ defaultForm }: Config): PrintError {
  const form = formNamed(defaultForm)
  return (status, message) => errorBody(form, status, message)
}

export interface PublicPort extends Port {
  /** How long the first request in line has waited, in milliseconds. */
  readonly wait: () => number
}

/** `isEnding`: whether every response closes its connection. */
export async function openPublic(config: Config, handle: Http, isStopping: () => boolean): Promise<PublicPort> {
  const socketTimeoutMs = socketTimeoutOf(config)
  const app = expressApp(handle, { ...config.server, writeTimeoutMs: socketTimeoutMs, isStopping })
  const { listener, waitMs: wait, open } = admissionQueue(app)
  const connections = maxConnections(config.server.connections)
  const options = {
    ...config.server,
    messages: messagesOf(app),
    connections,
    socketTimeoutMs,
  }
  const { server, url } = await withListenError('server', config.server, () => listen(listener, handle, options))
  limitPipelining(server, maxDueResponses)
  if (config.server.trustProxy === 0) {
    limitConnectionsPerAddress(server, config.server.connectionsPerAddress ?? Math.ceil(connections * shareOfOneAddress))
  }
  setIdleTimeout(server, socketTimeoutMs)
  const drain = drainOf(server)
  const begin = (): void => {
    drain.begin()
    open()
  }
  return { url, drain: { ...drain, begin }, wait }
}

/** Milliseconds after which an idle connection, or an unread response, is closed. Waiting for a provider is not idle. */
function socketTimeoutOf({ server, providers }: Config): number {
  const waits = providers.flatMap(({ timeout, native, nativeIdle }) => [timeout, ...(native.length > 0 ? [nativeIdle] : [])])
  return 1000 * Math.max(server.socketTimeout, ...waits.map((wait) => 2 * wait))
}

/** The remaining connections are for all other clients. */
const shareOfOneAddress = 0.9
/** The maximum number of pending responses of a connection. */
const maxDueResponses = 100
