/** The two ports: the public one, and the operators' own (docs/contract-operators.md §13). */

import type { RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { type AdminApp, type AdminOptions, adminApp, adminErrorResponse, type PrintError } from '../adapters/http/admin.ts'
import { type ExpressOptions, expressApp, messagesOf } from '../adapters/http/express.ts'
import { acceptAlso, type ListeningSocket, listen, listeningSocket } from '../adapters/http/server.ts'
import type { Config } from '../config/index.ts'
import { limitCaches } from '../domain/bounded-map.ts'
import type { ConnectionClosing, Observer } from '../domain/observation.ts'
import { errorBody } from '../edges/encode-response.ts'
import { formNamed } from '../forms/index.ts'
import type { Http } from '../wire/http.ts'
import { admissionQueue, type RequestCounts } from './admission-queue.ts'
import {
  type AddressBound,
  BoundedConnections,
  type Drain,
  drainOf,
  evictIdlest,
  limitRequestsPerAddress,
} from './connection-bounds.ts'
import { UnfinishedRequests, UnreadResponses } from './unfinished-requests.ts'

export interface Port {
  readonly url: string
  readonly drain: Drain
}

export interface AdminPort extends Port, Pick<AdminApp, 'operator' | 'onError'> {}

/** `current`: the configuration in force. */
export async function openAdmin(
  { admin }: Config,
  current: () => Config,
  options: Pick<AdminOptions, 'readiness' | 'createRefusal' | 'silentWorkers' | 'printMetrics'>,
  observe: Observer,
): Promise<AdminPort> {
  const printError: PrintError = (status, message) => errorBody(formNamed(current().defaultForm), status, message)
  const { app, ...routers } = adminApp({ ...options, printError, hosts: admin.hosts })
  const listener = limitPipelining(app, maxDueAdminResponses)
  const { server, url } = await withListenError('admin', admin, () => listen(listener, adminErrorResponse(printError), admin))
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
  setIdleTimeout(server, () => adminIdleTimeoutMs)
  return { url, drain: drainOf(server), ...routers }
}

/** Probes, Prometheus, and operators with their event streams. */
const maxAdminConnections = 64
const maxAdminBodyBytes = 16_384
/** Longer than Prometheus and probes pause. */
const adminIdleTimeoutMs = 75_000

export interface PublicPort extends Port {
  /** How long the first request in line has waited, in milliseconds. */
  readonly wait: () => number
  readonly requestCounts: () => RequestCounts
  /** Timeouts of connections follow the providers of another configuration: for new connections, and for others from their next request. */
  readonly follow: (providers: Config['providers']) => void
  readonly listener: PublicListener
}

export interface PublicListener {
  /** Of its own, if the port is shared by such sockets. */
  readonly socket: ListeningSocket | undefined
  /** Accepts the connections of another process of the port too. Returns how that ends. */
  readonly accept: (other: ListeningSocket) => () => void
}

/** What a process that shares the public port with others has of it. */
export interface SharedPort {
  readonly port: number
  /** Of the processes that share it: each has its share of the connections and of the memory. */
  readonly count: number
  /** That of a process whose place this one takes: what waits there waits for it. */
  readonly socket?: ListeningSocket | undefined
}

/** `isStopping`: whether every response closes its connection. */
export async function openPublic(
  config: Config,
  handle: Http,
  isStopping: () => boolean,
  observe: Observer,
  shared?: SharedPort,
): Promise<PublicPort> {
  const { port = config.server.port, count = 1, socket } = shared ?? {}
  let socketTimeoutMs = socketTimeoutOf(config)
  const max = maxConnections('public', Math.ceil(config.server.connections / count))
  const ofAddress = addressBoundOf(config, max)
  const hasProxies = config.server.trustProxy > 0
  const bounded = hasProxies ? limitRequestsPerAddress(handle, ofAddress) : handle
  const onClosed = (reason: ConnectionClosing): void => observe({ what: 'connectionClosed', port: 'public', reason })
  const unread = new UnreadResponses({
    timeoutMs: () => socketTimeoutMs,
    maxBytes: unreadBytes(count),
    onClosed: () => onClosed('unread'),
  })
  const onWritten: ExpressOptions['onWritten'] = (response, address) => unread.add(response, address)
  const app = expressApp(bounded, { ...config.server, onWritten, isStopping })
  const queue = admissionQueue(app)
  const keepAliveTimeoutMs = config.server.keepAliveTimeout * 1000
  const connection = { socketTimeoutMs, keepAliveTimeoutMs }
  const options = { ...config.server, ...connection, port, isShared: shared !== undefined, socket, messages: messagesOf(app) }
  const { server, url } = await withListenError('server', config.server, () =>
    listen(limitPipelining(queue.listener, maxDueResponses), handle, options),
  )
  const unfinished = new UnfinishedRequests(server, {
    bufferBytes: unfinishedBytes(count),
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
  setIdleTimeout(server, () => socketTimeoutMs, keepAliveTimeoutMs)
  const drain = drainOf(server)
  const begin = (): void => {
    drain.begin()
    queue.open()
  }
  const follow: PublicPort['follow'] = (providers) => {
    socketTimeoutMs = socketTimeoutOf({ server: config.server, providers })
    server.timeout = socketTimeoutMs
  }
  const listener: PublicListener = { socket: listeningSocket(server), accept: (other) => acceptAlso(server, other) }
  return { url, drain: { ...drain, begin }, wait: queue.waitMs, requestCounts: queue.counts, follow, listener }
}

/** The operator's bound applies always, the default only while most connections are in use. */
function addressBoundOf({ server }: Config, max: number): AddressBound {
  if (server.connectionsPerAddress !== undefined) return { max: server.connectionsPerAddress, from: 0 }
  return { max: Math.ceil(max / 4), from: Math.floor(max / 2) + 1 }
}

/** Memory for requests that have not arrived whole: up to half of it is used. */
function unfinishedBytes(processes = 1): number {
  return memoryLimit(processes) / 2
}

/** Memory for responses that clients have not read yet: their texts are on the heap. */
function unreadBytes(processes: number): number {
  return memoryLimit(processes) / 8
}

/** Milliseconds after which an idle connection, or an unread response, is closed. Waiting for a provider is not idle. */
function socketTimeoutOf({ server, providers }: Pick<Config, 'server' | 'providers'>): number {
  const waits = providers.flatMap(({ timeout, native, nativeIdle }) => [timeout, ...(native.length > 0 ? [nativeIdle] : [])])
  return 1000 * Math.max(server.socketTimeout, ...waits.map((wait) => 2 * wait))
}

/** The maximum number of pending responses of a connection. */
const maxDueResponses = 100
const maxDueAdminResponses = 2

/** By system call and code. */
const reasons: Readonly<Record<string, string>> = {
  'listen EADDRINUSE': 'the port is in use',
  'listen EACCES': 'the port may not be listened on',
  'listen EADDRNOTAVAIL': 'the host is not an address of this machine',
  'getaddrinfo ENOTFOUND': 'the host is not known',
}

/** Runs `open`. If it fails, throws an error with one line for the operator: the section of the configuration, and the cause. */
export async function withListenError<T>(
  section: 'server' | 'admin' | 'sandbox',
  { host, port }: { readonly host: string; readonly port: number },
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open()
  } catch (cause) {
    const error: NodeJS.ErrnoException = cause instanceof Error ? cause : new Error(String(cause))
    const { syscall, code, message } = error
    const reason = reasons[`${syscall} ${code}`]
    throw new Error(`${section}: ${reason ? `cannot listen on ${host} port ${port}: ${reason}` : message}`, { cause })
  }
}

/** How many files and sockets this process may have open; undefined if the system does not report it. */
export function openFilesLimit(): number | undefined {
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } }
  }
  const soft = Number(userLimits?.open_files?.soft)
  return Number.isSafeInteger(soft) ? soft : undefined
}

/** Of the open files, a port's connections take at most this share: the others are for providers, stores and the process itself. */
const shares = { public: 1 / 2, admin: 1 / 8 }

/** The wanted number of connections of a port, but at most its share of the open files. */
export function maxConnections(port: keyof typeof shares, wanted: number, openFiles = openFilesLimit()): number {
  return openFiles === undefined ? wanted : Math.max(1, Math.min(wanted, Math.floor(openFiles * shares[port])))
}

// Limits the pipelined requests of a connection: Node accepts them without limit and keeps unread responses in memory.

/** Runs `listener` for as many pending responses of a connection. One request more closes the connection, and it and all after it do not run. */
export function limitPipelining(listener: RequestListener, maxDue: number): RequestListener {
  const due = new WeakMap<Socket, number>()
  function onClose(this: ServerResponse): void {
    const { socket } = this.req
    due.set(socket, (due.get(socket) ?? 1) - 1)
  }
  return (request, response) => {
    const { socket } = request
    const count = (due.get(socket) ?? 0) + 1
    if (count > maxDue) return void socket.destroy()
    due.set(socket, count)
    response.on('close', onClose)
    listener(request, response)
  }
}

// Closes connections without requests. Node's own timeouts do not: an empty line begins no request, but renews them.

/** The socket's pending response, under Node's own name. */
interface AwaitingResponse extends Socket {
  readonly _httpMessage?: ServerResponse | null
}

/** Closes a connection that had no response in this many milliseconds and has none pending; after its first, at the earliest after `keptMs`. */
function setIdleTimeout(server: Server, timeoutMs: () => number, keptMs = 0): void {
  server.on('connection', (socket: AwaitingResponse) => {
    let lastBytesWritten = socket.bytesWritten
    let timer: NodeJS.Timeout
    const waitOnce = (): void => {
      const waitMs = lastBytesWritten === 0 ? timeoutMs() : Math.max(timeoutMs(), keptMs)
      timer = setTimeout(closeIfIdle, waitMs).unref()
    }
    const closeIfIdle = (): void => {
      if (socket.bytesWritten === lastBytesWritten && !socket._httpMessage) return void socket.destroy()
      lastBytesWritten = socket.bytesWritten
      waitOnce()
    }
    waitOnce()
    socket.once('close', () => clearTimeout(timer))
  })
}

// How much memory the process may use, and how much of it its caches.

/** The part of the memory for caches: the rest is for requests, and for what the caches are made from. */
const cachePart = 1 / 4

/** Bytes: the least of V8's heap limit, and of a process's share of the container's limit and of the machine's memory. */
export function memoryLimit(processes = 1): number {
  const machine = totalmem()
  return Math.min(getHeapStatistics().heap_size_limit, (process.constrainedMemory() || machine) / processes, machine / processes)
}

export function limitCacheMemory(processes = 1): void {
  limitCaches(memoryLimit(processes) * cachePart)
}
