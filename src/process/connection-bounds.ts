/** Bounds the connections of a port: those of all clients, and those of each address. */

import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { clientNetworkOf } from '../core/access/client-address.ts'
import { withTimeout } from '../domain/async.ts'
import { Fault } from '../domain/fault.ts'
import type { Http } from '../wire/http.ts'

/** Of one client address. It applies while all addresses together have at least `from`. */
export interface AddressBound {
  readonly max: number
  readonly from: number
}

interface ConnectionBounds {
  readonly max: number
  /** Undefined if the connections are those of proxies. */
  readonly ofAddress: AddressBound | undefined
  /** Ends the oldest request that has not arrived whole, for the new connection. Returns its connection. */
  readonly endOldest: (newest: Socket) => Socket | undefined
  readonly onClosed: (reason: 'address' | 'full') => void
  /** It is not read any more, and will be closed. */
  readonly onParked: (socket: Socket) => void
}

const parkedIntervalMs = 100
/** Connections above the bound of their address that are closed in each interval. */
const maxClosedAtOnce = 40
/** The time of a head. */
const endedCountsForMs = 10_000

export class BoundedConnections {
  private readonly bounds: ConnectionBounds
  private readonly open = new Map<Socket, string>()
  /** Above the bound of their address: not read, and closed few at a time, so that a client that comes back at once costs little. */
  private readonly parked = new Set<Socket>()
  /** By address: open connections, and those that were ended a short time ago. */
  private readonly counts = new Map<string, number>()
  private counted = 0

  constructor(server: Server, bounds: ConnectionBounds) {
    this.bounds = bounds
    server.on('connection', (socket: Socket) => this.admit(socket))
    const timer = setInterval(() => this.closeParked(maxClosedAtOnce), parkedIntervalMs).unref()
    server.once('close', () => clearInterval(timer))
  }

  /**
   * The place of an ended request is free, but counts for its address as long as the request could have taken. Otherwise one address
   * takes each place that becomes free.
   */
  onEnded(socket: Socket): void {
    const address = this.open.get(socket)
    if (address === undefined) return
    this.open.delete(socket)
    setTimeout(() => this.count(address, -1), endedCountsForMs).unref()
  }

  private admit(socket: Socket): void {
    const address = clientNetworkOf(socket.remoteAddress ?? '')
    const { max, ofAddress, onClosed } = this.bounds
    const isAboveBound = ofAddress && this.counted >= ofAddress.from && (this.counts.get(address) ?? 0) >= ofAddress.max
    if (isAboveBound) {
      onClosed('address')
      return void this.park(socket)
    }
    if (this.open.size + this.parked.size >= max) this.closeParked(1)
    if (this.open.size >= max && !this.bounds.endOldest(socket)) {
      onClosed('full')
      return void socket.destroy()
    }
    this.open.set(socket, address)
    this.count(address, 1)
    socket.once('close', () => {
      if (this.open.delete(socket)) this.count(address, -1)
    })
  }

  private park(socket: Socket): void {
    if (this.open.size + this.parked.size >= this.bounds.max) return void socket.destroy()
    // Node begins to read a new connection in the next tick.
    process.nextTick(() => socket.pause())
    this.parked.add(socket)
    this.bounds.onParked(socket)
    socket.once('close', () => this.parked.delete(socket))
  }

  private closeParked(count: number): void {
    for (const socket of this.parked.values().take(count)) {
      this.parked.delete(socket)
      socket.destroy()
    }
  }

  private count(address: string, change: 1 | -1): void {
    const count = (this.counts.get(address) ?? 0) + change
    this.counted += change
    if (count > 0) this.counts.set(address, count)
    else this.counts.delete(address)
  }
}

// Bounds the requests in progress of a client address, where connections say nothing: they are those of proxies.

/** Seconds. */
const retryAfter = 1

function tooManyAtOnce(max: number): Fault {
  const message = `Too many requests at once: the limit is ${max} from one address; please wait 1 second.`
  return new Fault('limited', message, { retryAfter })
}

/** A request whose head is whole counts from then on, also while its body is awaited. One too many is 429. */
export function limitRequestsPerAddress(handle: Http, { max, from }: AddressBound): Http {
  const counts = new Map<string, number>()
  let inProgress = 0
  return async (request) => {
    const address = clientNetworkOf(request.address ?? '')
    const count = counts.get(address) ?? 0
    if (count >= max && inProgress >= from) return handle({ ...request, protocolError: tooManyAtOnce(max) })
    counts.set(address, count + 1)
    inProgress++
    try {
      return await handle(request)
    } finally {
      inProgress--
      const left = (counts.get(address) ?? 1) - 1
      if (left > 0) counts.set(address, left)
      else counts.delete(address)
    }
  }
}

// A port that is full closes the connection that has been idle longest, so that a probe always comes in.

interface IdleEviction {
  readonly max: number
  /** Ends the oldest request that has not arrived whole, for the new connection. Returns its connection. */
  readonly endOldest: (newest: Socket) => Socket | undefined
  readonly onClosed: (reason: 'idle' | 'full' | 'unread') => void
}

/** A socket with a pending response. The name is Node's. */
interface Pending extends Socket {
  readonly _httpMessage?: ServerResponse | null
}

/** Whether the response on its way was written to its end, and what the client has not taken of it is all that keeps the connection busy. */
function isUnread({ _httpMessage: response }: Pending): boolean {
  return response?.writableEnded === true
}

/**
 * Of more than `max` connections the idlest is closed. If each has a response pending, the oldest whose request is not whole; then the oldest
 * whose client does not read; else the new one.
 */
export function evictIdlest(server: Server, { max, endOldest, onClosed }: IdleEviction): void {
  // Pending responses by connection, the one whose last request or response is the longest ago first.
  const connections = new Map<Socket, number>()
  const touch = (socket: Socket, pending: number): void => {
    connections.delete(socket)
    connections.set(socket, pending)
  }
  server.on('connection', (socket: Socket) => {
    if (connections.size >= max) {
      const [idlest] = connections.entries().find(([, pending]) => pending === 0) ?? []
      const unfinished = idlest ?? endOldest(socket)
      const unread = unfinished ? undefined : connections.keys().find(isUnread)
      const closed = unfinished ?? unread
      if (idlest) onClosed('idle')
      if (unread) onClosed('unread')
      idlest?.destroy()
      unread?.resetAndDestroy()
      if (!closed) {
        onClosed('full')
        return void socket.destroy()
      }
      connections.delete(closed)
    }
    connections.set(socket, 0)
    socket.once('close', () => connections.delete(socket))
  })
  function onClose(this: ServerResponse): void {
    const { socket } = this.req
    const pending = connections.get(socket)
    if (pending !== undefined) touch(socket, pending - 1)
  }
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const pending = connections.get(socket)
    if (pending === undefined) return
    touch(socket, pending + 1)
    response.on('close', onClose)
  })
}

// Ends a server without losing a request (docs/contract-operators.md §13).

export interface Drain {
  /** From now on, every response closes its connection. */
  readonly begin: () => void
  /** Rejects new connections and waits for pending responses, at most `timeoutMs` milliseconds. */
  readonly finish: (timeoutMs: number) => Promise<void>
}

/** A connection that was just made has its first request on the way: some balancers make one for each. */
const arrivalMs = 100

/** Watches `server` from its first request on. */
export function drainOf(server: Server): Drain {
  let lastConnectionAt = Number.NEGATIVE_INFINITY
  // A number, not a set: a set that grows and shrinks leaves dead tables behind, which keep responses alive.
  let due = 0
  const idle = Promise.withResolvers<void>()
  let isDraining = false
  let isFinishing = false
  const onResponseClose = (): void => {
    due--
    if (isFinishing && due === 0) idle.resolve()
  }
  server.on('connection', () => {
    lastConnectionAt = performance.now()
  })
  server.prependListener('request', (_: IncomingMessage, response: ServerResponse) => {
    due++
    if (isDraining) response.setHeader('connection', 'close')
    response.on('close', onResponseClose)
  })
  return {
    begin() {
      isDraining = true
    },
    async finish(timeoutMs) {
      const closed = once(server, 'close')
      // What has connected is accepted before: the system would reset it. A whole turn of the event loop lies between two of these.
      await nextTurn()
      await nextTurn()
      // That of `http` would end connections whose first request is on the way.
      NetServer.prototype.close.call(server)
      const arrivingMs = lastConnectionAt + arrivalMs - performance.now()
      if (arrivingMs > 0) await delay(Math.min(arrivingMs, timeoutMs))
      server.close()
      isFinishing = true
      if (due === 0) idle.resolve()
      await withTimeout(idle.promise, timeoutMs, () => {})
      server.closeAllConnections()
      await closed
    },
  }
}
