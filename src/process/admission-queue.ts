/** Work in progress goes before new requests, so that an overloaded process finishes what it begins. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { LinkedQueue, RoundRobinQueue } from '../core/resilience/bulkhead.ts'

export interface AdmissionQueue {
  readonly listener: RequestListener
  /** How long the first request in the queue has waited, in milliseconds; 0 if the queue is empty. */
  readonly waitMs: () => number
  readonly counts: () => RequestCounts
  /** Reads every connection from now on: requests on a connection that is about to end still get their responses. */
  readonly open: () => void
}

export interface RequestCounts {
  /** Have begun, and have not had their whole response. */
  readonly inFlight: number
  /** Wait to begin, with the connections that are not read meanwhile. */
  readonly waiting: number
}

interface Waiting {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly since: number
}

/** One per socket, not one per response: V8 keeps objects that wait for long, and they would pile up. */
interface Connection {
  readonly socket: Socket
  /** Responses during overload since the connection was last paused. */
  responses: number
  /** When the connection was last paused. */
  since: number
}

/** Requests that may begin in one turn of the event loop: large turns cost least, small ones keep few half-done. */
const maxPerTick = 64
/** From this many waiting requests the process is overloaded, and only this many begin in a turn. */
const overloadThreshold = 32
/** Responses to a connection before it is paused: its next request costs less than resuming another connection. */
const maxResponsesInARow = 2
/** Milliseconds after which a paused connection is read, even if requests wait. */
const maxPausedMs = 500

/**
 * Further requests in a turn of the event loop wait for the next turn, and only the request object is kept. Each turn first does
 * what requests in progress wait for: responses of providers, and writes. Of those that wait, callers have turns, and every second
 * request is a create, if there is one. During overload, a connection that had its responses is not read until its turn: its next
 * requests stay in the operating system.
 */
export function admissionQueue(begin: RequestListener): AdmissionQueue {
  const creates = new RoundRobinQueue<Waiting>()
  const others = new RoundRobinQueue<Waiting>()
  let isCreatesTurn = true
  const paused = new LinkedQueue<Connection>()
  const connections = new WeakMap<Socket, Connection>()
  let begunInTick = 0
  let isTickScheduled = false
  let isOpen = false
  let unanswered = 0
  const beginNext = (): void => {
    const [preferred, other] = isCreatesTurn ? [creates, others] : [others, creates]
    const first = preferred.shift() ?? other.shift()
    if (!first) return
    isCreatesTurn = first.request.method !== 'POST'
    const { request, response } = first
    // The client has closed the connection. Only a create still runs (docs/contract.md §10).
    if (!response.destroyed || request.method === 'POST') begin(request, response)
  }
  const resumeNext = (): void => void paused.shift()?.socket.resume()
  const runTick = (): void => {
    isTickScheduled = false
    begunInTick = Math.min(overloadThreshold, creates.size + others.size)
    // One by one: the callbacks of one request run before the next begins.
    for (let count = 0; count < begunInTick; count++) setImmediate(beginNext)
    // While requests wait, a request from a resumed connection would only wait, too.
    const isTime = begunInTick === 0 || performance.now() - (paused.first?.since ?? 0) > maxPausedMs
    const read = isTime ? Math.min(overloadThreshold, paused.size) : 0
    for (let count = 0; count < read; count++) resumeNext()
    if (begunInTick + read > 0) scheduleTick()
  }
  const scheduleTick = (): void => {
    if (isTickScheduled) return
    isTickScheduled = true
    setImmediate(runTick)
  }
  const connectionOf = (socket: Socket): Connection => {
    const connection = { socket, responses: 0, since: 0 }
    connections.set(socket, connection)
    return connection
  }
  const pauseIfOverloaded = (socket: Socket): void => {
    const isOverloaded = creates.size + others.size + paused.size >= overloadThreshold
    if (!isOverloaded || isOpen || socket.destroyed || socket.writableEnded) return
    const connection = connections.get(socket) ?? connectionOf(socket)
    if (++connection.responses < maxResponsesInARow) return
    socket.pause()
    connection.responses = 0
    connection.since = performance.now()
    paused.push(connection)
  }
  return {
    listener(request, response) {
      scheduleTick()
      unanswered++
      response.on('close', () => {
        unanswered--
        pauseIfOverloaded(request.socket)
      })
      if (begunInTick++ < maxPerTick && creates.size + others.size === 0) return begin(request, response)
      const queue = request.method === 'POST' ? creates : others
      queue.push(callerOf(request), { request, response, since: performance.now() })
    },
    waitMs() {
      const now = performance.now()
      const firsts = [...creates.firsts, ...others.firsts, ...(paused.first ? [paused.first] : [])]
      return firsts.reduce((longest, { since }) => Math.max(longest, now - since), 0)
    },
    counts() {
      const queued = creates.size + others.size
      // A client may leave while its request is still queued.
      return { inFlight: Math.max(0, unanswered - queued), waiting: queued + paused.size }
    },
    open() {
      isOpen = true
      while (paused.size > 0) resumeNext()
    },
  }
}

/** By what a request says of itself, since nothing is checked yet: its key, else where it comes from. */
function callerOf({ headers, socket }: IncomingMessage): string {
  const { authorization, 'x-api-key': key = authorization } = headers
  return String(key ?? socket.remoteAddress)
}
