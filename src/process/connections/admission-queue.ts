/** Lets what is under way go before what is new, so that a process with too much to do finishes what it begins. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { LinkedQueue } from '../../core/resilience/linked-queue.ts'

export interface AdmissionQueue {
  readonly listener: RequestListener
  /** How long the first in line has waited, in milliseconds; 0 where nobody waits. */
  readonly waitMs: () => number
  /** From now on every connection is read: what is asked on one that is to end is still answered. */
  readonly open: () => void
}

interface Waiting {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly since: number
}

/** Made once for each socket: what is made anew for each answer and waits for long, V8 takes for what will stay. */
interface Connection {
  readonly socket: Socket
  /** Given to the crowd's requests since it was last left unread. */
  responses: number
  /** When it was last left unread. */
  since: number
}

/** Requests that may begin in one turn of the event loop: large turns cost least, small ones keep few half-done. */
const maxPerTick = 64
/** Where so many wait, so few begin. */
const overloadThreshold = 32
/** So often in a row whoever is read is answered: who comes again at once costs less than who has to be read anew. */
const maxResponsesInARow = 2
/** Who is not read for so long is read even while others wait, in milliseconds. */
const maxPausedMs = 500

/**
 * Who comes when so many have begun in a turn of the event loop waits for the next one, with nothing kept of him but his
 * request. A turn brings first what others wait for: answers of providers, and room to write. Creates wait before the rest.
 * Who had his answers while a crowd waits is not read before it is his turn: what he asks next stays in the system.
 */
export function admissionQueue(begin: RequestListener): AdmissionQueue {
  const creates = new LinkedQueue<Waiting>()
  const others = new LinkedQueue<Waiting>()
  const paused = new LinkedQueue<Connection>()
  const connections = new WeakMap<Socket, Connection>()
  let begunInTick = 0
  let isTickScheduled = false
  let isOpen = false
  const beginNext = (): void => {
    const first = creates.shift() ?? others.shift()
    if (!first) return
    const { request, response } = first
    // Whoever hung up reads nothing any more; what he wanted created is created (docs/contract.md §10).
    if (!response.destroyed || request.method === 'POST') begin(request, response)
  }
  const resumeNext = (): void => void paused.shift()?.socket.resume()
  const runTick = (): void => {
    isTickScheduled = false
    begunInTick = Math.min(overloadThreshold, creates.size + others.size)
    // One by one: what follows from one is done before the next begins.
    for (let count = 0; count < begunInTick; count++) setImmediate(beginNext)
    // While somebody waits, who is read would only come to wait as well.
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
      response.on('close', () => pauseIfOverloaded(request.socket))
      if (begunInTick++ < maxPerTick && creates.size + others.size === 0) return begin(request, response)
      const queue = request.method === 'POST' ? creates : others
      queue.push({ request, response, since: performance.now() })
    },
    waitMs() {
      const now = performance.now()
      return now - Math.min(...[creates, others, paused].map(({ first }) => first?.since ?? now))
    },
    open() {
      isOpen = true
      while (paused.size > 0) resumeNext()
    },
  }
}
