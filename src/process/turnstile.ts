/** Lets what is under way go before what is new, so that a process with too much to do finishes what it begins. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Line } from '../core/line.ts'

export interface Turnstile {
  readonly listener: RequestListener
  /** How long the first in line has waited, in milliseconds; 0 where nobody waits. */
  readonly wait: () => number
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
  answers: number
  /** When it was last left unread. */
  since: number
}

/** Requests that may begin in one turn of the event loop: large turns cost least, small ones keep few half-done. */
const most = 64
/** Where so many wait, so few begin. */
const crowd = 32
/** So often in a row whoever is read is answered: who comes again at once costs less than who has to be read anew. */
const stint = 2
/** Who is not read for so long is read even while others wait, in milliseconds. */
const longestUnread = 500

/**
 * Who comes when so many have begun in a turn of the event loop waits for the next one, with nothing kept of him but his
 * request. A turn brings first what others wait for: answers of providers, and room to write. Creates wait before the rest.
 * Who had his answers while a crowd waits is not read before it is his turn: what he asks next stays in the system.
 */
export function turnstile(begin: RequestListener): Turnstile {
  const creates = new Line<Waiting>()
  const others = new Line<Waiting>()
  const unread = new Line<Connection>()
  const connections = new WeakMap<Socket, Connection>()
  let begun = 0
  let isTurning = false
  let isOpen = false
  const beginNext = (): void => {
    const first = creates.shift() ?? others.shift()
    if (!first) return
    const { request, response } = first
    // Whoever hung up reads nothing any more; what he wanted created is created (docs/contract.md §10).
    if (!response.destroyed || request.method === 'POST') begin(request, response)
  }
  const readNext = (): void => void unread.shift()?.socket.resume()
  const turn = (): void => {
    isTurning = false
    begun = Math.min(crowd, creates.size + others.size)
    // One by one: what follows from one is done before the next begins.
    for (let count = 0; count < begun; count++) setImmediate(beginNext)
    // While somebody waits, who is read would only come to wait as well.
    const isTime = begun === 0 || performance.now() - (unread.first?.since ?? 0) > longestUnread
    const read = isTime ? Math.min(crowd, unread.size) : 0
    for (let count = 0; count < read; count++) readNext()
    if (begun + read > 0) willTurn()
  }
  const willTurn = (): void => {
    if (isTurning) return
    isTurning = true
    setImmediate(turn)
  }
  const known = (socket: Socket): Connection => {
    const connection = { socket, answers: 0, since: 0 }
    connections.set(socket, connection)
    return connection
  }
  const rest = (socket: Socket): void => {
    const isCrowd = creates.size + others.size + unread.size >= crowd
    if (!isCrowd || isOpen || socket.destroyed || socket.writableEnded) return
    const connection = connections.get(socket) ?? known(socket)
    if (++connection.answers < stint) return
    socket.pause()
    connection.answers = 0
    connection.since = performance.now()
    unread.push(connection)
  }
  return {
    listener(request, response) {
      willTurn()
      response.on('close', () => rest(request.socket))
      if (begun++ < most && creates.size + others.size === 0) return begin(request, response)
      const line = request.method === 'POST' ? creates : others
      line.push({ request, response, since: performance.now() })
    },
    wait() {
      const now = performance.now()
      return now - Math.min(...[creates, others, unread].map(({ first }) => first?.since ?? now))
    },
    open() {
      isOpen = true
      while (unread.size > 0) readNext()
    },
  }
}
