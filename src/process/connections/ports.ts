/** The two ports: the public one, and the operators' own (docs/contract.md §13). */
import type { Socket } from 'node:net'
import { type AdminOptions, adminApp, adminErrorResponse, type PrintError } from '../../adapters/http/admin.ts'
import { type ExpressOptions, expressApp, messagesOf } from '../../adapters/http/express.ts'
import { listen } from '../../adapters/http/server.ts'
import type { Config } from '../../config/index.ts'
import type { ConnectionClosing, Observer } from '../../domain/observation.ts'
import { errorBody } from '../../edges/response.ts'
import { formNamed } from '../../forms/index.ts'
import type { Http } from '../../wire/http.ts'
import { memoryLimit } from '../memory-limit.ts'
import { admissionQueue } from './admission-queue.ts'
import { type AddressBound, BoundedConnections } from './connection-bounds.ts'
import { type Drain, drainOf } from './drain.ts'
import { evictIdlest } from './idle-eviction.ts'
import { setIdleTimeout } from './idle-timeout.ts'
import { withListenError } from './listen-error.ts'
import { maxConnections } from './open-files.ts'
import { limitPipelining } from './pipelining-limit.ts'
import { limitRequestsPerAddress } from './requests-per-address.ts'
import { UnfinishedRequests } from './unfinished-requests.ts'
import { UnreadResponses } from './unread-responses.ts'

export interface Port {
  readonly url: string
  readonly drain: Drain
}

export async function openAdmin(
  config: Config,
  options: Pick<AdminOptions, 'readiness' | 'printMetrics' | 'operator'>,
  observe: Observer,
): Promise<Port> {
  const { admin } = config
  const printError = errorPrinter(config)
  const app = adminApp({ ...options, printError, hosts: admin.hosts })
  const { server, url } = await withListenError('admin', admin, () => listen(app, adminErrorResponse(printError), admin))
  limitPipelining(server, maxDueResponses)
  const onClosed = (reason: ConnectionClosing): void => observe({ what: 'connectionClosed', port: 'admin', reason })
  const unfinished = new UnfinishedRequests(server, {
    bufferBytes: unfinishedBytes(),
    maxBodyBytes: maxAdminBodyBytes,
    onEnded: () => onClosed('unfinished'),
  })
  evictIdlest(server, {
    max: maxConnections('admin', maxAdminConnections),
    endOldest: (newest) => unfinished.endOldest(newest),
    onClosed,
  })
  setIdleTimeout(server, adminIdleTimeoutMs)
  return { url, drain: drainOf(server) }
}

/** Probes, Prometheus, and operators with their event streams. */
const maxAdminConnections = 64
const maxAdminBodyBytes = 16_384
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

/** `isStopping`: whether every response closes its connection. */
export async function openPublic(config: Config, handle: Http, isStopping: () => boolean, observe: Observer): Promise<PublicPort> {
  const socketTimeoutMs = socketTimeoutOf(config)
  const max = maxConnections('public', config.server.connections)
  const ofAddress = addressBoundOf(config, max)
  const hasProxies = config.server.trustProxy > 0
  const bounded = hasProxies ? limitRequestsPerAddress(handle, ofAddress) : handle
  const onClosed = (reason: ConnectionClosing): void => observe({ what: 'connectionClosed', port: 'public', reason })
  const unread = new UnreadResponses({ timeoutMs: socketTimeoutMs, maxBytes: unreadBytes(), onClosed: () => onClosed('unread') })
  const onWritten: ExpressOptions['onWritten'] = (response, address) => unread.add(response, address)
  const app = expressApp(bounded, { ...config.server, onWritten, isStopping })
  const { listener, waitMs: wait, open } = admissionQueue(app)
  const options = { ...config.server, messages: messagesOf(app), socketTimeoutMs }
  const { server, url } = await withListenError('server', config.server, () => listen(listener, handle, options))
  limitPipelining(server, maxDueResponses)
  const unfinished = new UnfinishedRequests(server, {
    bufferBytes: unfinishedBytes(),
    maxBodyBytes: config.server.maxBodyBytes,
    onEnded(socket) {
      onClosed('unfinished')
      connections.onEnded(socket)
    },
  })
  const endOldest = (newest: Socket): Socket | undefined => unfinished.endOldest(newest)
  const connections = new BoundedConnections(server, {
    max,
    ofAddress: hasProxies ? undefined : ofAddress,
    endOldest,
    onClosed,
    onParked: (socket) => unfinished.ignore(socket),
  })
  setIdleTimeout(server, socketTimeoutMs)
  const drain = drainOf(server)
  const begin = (): void => {
    drain.begin()
    open()
  }
  return { url, drain: { ...drain, begin }, wait }
}

/** The operator's bound applies always, the default only while most connections are in use. */
function addressBoundOf({ server }: Config, max: number): AddressBound {
  if (server.connectionsPerAddress !== undefined) return { max: server.connectionsPerAddress, from: 0 }
  return { max: Math.ceil(max / 4), from: Math.floor(max / 2) + 1 }
}

/** Memory for requests that have not arrived whole: up to half of it is used. */
function unfinishedBytes(): number {
  return memoryLimit() / 2
}

/** Memory for responses that clients have not read yet: their texts are on the heap. */
function unreadBytes(): number {
  return memoryLimit() / 8
}

/** Milliseconds after which an idle connection, or an unread response, is closed. Waiting for a provider is not idle. */
function socketTimeoutOf({ server, providers }: Config): number {
  const waits = providers.flatMap(({ timeout, native, nativeIdle }) => [timeout, ...(native.length > 0 ? [nativeIdle] : [])])
  return 1000 * Math.max(server.socketTimeout, ...waits.map((wait) => 2 * wait))
}

/** The maximum number of pending responses of a connection. */
const maxDueResponses = 100
