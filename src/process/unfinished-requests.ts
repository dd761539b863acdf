/** Ends requests that have not arrived whole, the oldest first, before they take the memory or the places of others. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { clientNetworkOf } from '../core/access/client-address.ts'

/** Node's own list of connections, under its own name. No public one says which requests have not arrived whole, and which is the oldest. */
const listName = 'http.server.connections'

interface ConnectionsList {
  /** Those that owe the rest of a request, also its first byte. The oldest request first. */
  readonly active: () => readonly Parser[]
}

interface Parser {
  readonly socket: Socket | null
  /** Null until the head is whole. */
  readonly incoming: IncomingMessage | null
  /** Names and values of the head so far, in turn. */
  readonly _headers: readonly string[]
}

interface UnfinishedOptions {
  /** Memory for unfinished requests. From half of it on the oldest are ended. */
  readonly bufferBytes: number
  /** Of one request. */
  readonly maxBodyBytes: number
  /** A request was ended before its time. */
  readonly onEnded: (socket: Socket) => void
}

interface Unfinished {
  readonly socket: Socket
  readonly parser: Parser
  readonly incoming: IncomingMessage | null
  /** Bytes that had come at its last request with a whole head. */
  readonly mark: number
}

/** Milliseconds. New connections bring at most some megabytes in that time. */
const checkIntervalMs = 250
/** Milliseconds in which an ended connection is closed, whatever is still due on it. */
const maxClosingMs = 1_000
const maxHeadBytes = 16_384
/** Of a body that streams through, its connection keeps that much. */
const maxStreamedBytes = 65_536
/** Measured: of a connection, and of a request that awaits its body. */
const connectionBytes = 16_384
const requestBytes = 16_384
/** Of each name and value in a head beside its bytes, measured: a head of 12 kB and a thousand lines takes 64 kB. */
const bytesPerText = 32
/** Node keeps no more of a head. */
const maxTexts = 2_000

export class UnfinishedRequests {
  private readonly server: Server
  private readonly options: UnfinishedOptions
  private readonly maxBytes: number
  private readonly ended = new WeakSet<Socket>()
  /** By connection: bytes that had come at its last request, and before the packet with its head. */
  private readonly marks = new WeakMap<Socket, { last: number; before: number }>()
  /** The oldest one last. */
  private queue: Unfinished[] = []

  constructor(server: Server, options: UnfinishedOptions) {
    this.server = server
    this.options = options
    this.maxBytes = maxHeadBytes + Math.max(2 * options.maxBodyBytes, maxStreamedBytes)
    server.prependListener('request', ({ socket }: IncomingMessage) => this.mark(socket))
    const timer = setInterval(() => this.check(), checkIntervalMs).unref()
    server.once('close', () => clearInterval(timer))
  }

  /**
   * Ends the oldest one but that of `newest`, as at its timeout: with 408, and the connection is closed. Returns the connection;
   * undefined if there is none.
   */
  endOldest(newest: Socket): Socket | undefined {
    let isNew = false
    while (this.queue.length > 0 || !isNew) {
      const oldest = this.queue.pop()
      if (oldest === undefined) {
        this.queue = this.unfinished().toReversed()
        isNew = true
      } else if (oldest.socket !== newest && this.isUnfinished(oldest)) {
        this.end(oldest.socket)
        return oldest.socket
      }
    }
    return undefined
  }

  /** It is neither counted nor ended from now on. */
  ignore(socket: Socket): void {
    this.ended.add(socket)
  }

  private check(): void {
    const unfinished = this.unfinished()
    const limit = this.options.bufferBytes / 2
    if (unfinished.length * (connectionBytes + requestBytes + this.maxBytes + maxTexts * bytesPerText) <= limit) return
    const memory = unfinished.map((each) => this.memoryOf(each))
    let total = memory.reduce((sum, each) => sum + each, 0)
    for (const [at, { socket }] of unfinished.entries()) {
      if (total <= limit) return
      total -= memory[at] ?? 0
      this.end(socket)
    }
  }

  /** At most: what came in one packet with an earlier head, or just before it, counts too. */
  private memoryOf({ socket, parser, incoming }: Unfinished): number {
    const bytes = Math.min(socket.bytesRead - (this.marks.get(socket)?.before ?? 0), this.maxBytes)
    const texts = incoming ? incoming.rawHeaders : parser._headers
    return connectionBytes + (incoming ? requestBytes : 0) + bytes + bytesPerText * texts.length
  }

  private mark(socket: Socket): void {
    const { bytesRead } = socket
    const mark = this.marks.get(socket)
    if (mark === undefined) this.marks.set(socket, { last: bytesRead, before: 0 })
    else if (mark.last !== bytesRead) {
      mark.before = mark.last
      mark.last = bytesRead
    }
  }

  private unfinished(): readonly Unfinished[] {
    const symbol = Object.getOwnPropertySymbols(this.server).find(({ description }) => description === listName)
    const list = symbol && (this.server as unknown as Record<symbol, ConnectionsList | undefined>)[symbol]
    const unfinished: Unfinished[] = []
    for (const parser of list?.active() ?? []) {
      const { socket, incoming } = parser
      if (socket && !this.ended.has(socket)) unfinished.push({ socket, parser, incoming, mark: this.marks.get(socket)?.last ?? 0 })
    }
    return unfinished
  }

  /** Whether it still is. */
  private isUnfinished({ socket, incoming, mark }: Unfinished): boolean {
    if (socket.destroyed || this.ended.has(socket)) return false
    return incoming ? !incoming.complete : (this.marks.get(socket)?.last ?? 0) === mark
  }

  private end(socket: Socket): void {
    this.ended.add(socket)
    this.options.onEnded(socket)
    const reason = Object.assign(new Error('The request did not arrive in time.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    if (!this.server.emit('clientError', reason, socket)) socket.destroy()
    // Responses to earlier requests on the connection come before the 408.
    const timer = setTimeout(() => socket.destroy(), maxClosingMs).unref()
    socket.once('close', () => clearTimeout(timer))
  }
}

// Closes connections of clients that do not read their responses, before these take the memory of others.

interface UnreadOptions {
  /** For a client to read a response. */
  readonly timeoutMs: () => number
  /** Of all unread responses together. */
  readonly maxBytes: number
  /** A connection was closed before that time. */
  readonly onClosed: () => void
}

interface Connection {
  readonly client: string
  bytes: number
  /** One for each unread response. */
  readonly timers: Set<NodeJS.Timeout>
}

export class UnreadResponses {
  private readonly options: UnreadOptions
  /** Those with unread responses; the one that has had some for longest first. */
  private readonly connections = new Map<Socket, Connection>()
  private readonly bytesOfClients = new Map<string, number>()
  private bytes = 0

  constructor(options: UnreadOptions) {
    this.options = options
  }

  /**
   * Watches a response that has been written. Its connection is reset after the time limit: single bytes do not extend it, but they
   * extend every timeout of a socket. Bytes in the system's buffer count as read. Beyond the limit of bytes the connections of the
   * client that has most of them are reset, the oldest first.
   */
  add(response: ServerResponse, address = ''): void {
    const { socket } = response.req
    const bytes = response.writableLength
    if (bytes === 0 || socket.destroyed) return
    const connection = this.connections.get(socket) ?? this.watch(socket, clientNetworkOf(address))
    const timer = setTimeout(() => socket.resetAndDestroy(), this.options.timeoutMs()).unref()
    connection.timers.add(timer)
    this.count(connection, bytes)
    response.once('close', () => {
      clearTimeout(timer)
      if (!connection.timers.delete(timer)) return
      this.count(connection, -bytes)
      if (connection.bytes === 0) this.connections.delete(socket)
    })
    while (this.bytes > this.options.maxBytes && this.connections.size > 1) this.endOldest()
  }

  /** Of a connection that has ended, Node closes only the first response. */
  private watch(socket: Socket, client: string): Connection {
    const connection: Connection = { client, bytes: 0, timers: new Set() }
    this.connections.set(socket, connection)
    socket.once('close', () => this.forget(socket, connection))
    return connection
  }

  private endOldest(): void {
    const [greediest] = [...this.bytesOfClients].reduce((most, next) => (next[1] > most[1] ? next : most))
    const oldest = this.connections.entries().find(([, { client }]) => client === greediest)
    if (!oldest) return
    this.forget(...oldest)
    this.options.onClosed()
    oldest[0].resetAndDestroy()
  }

  private forget(socket: Socket, connection: Connection): void {
    for (const timer of connection.timers) clearTimeout(timer)
    connection.timers.clear()
    this.count(connection, -connection.bytes)
    if (this.connections.get(socket) === connection) this.connections.delete(socket)
  }

  private count(connection: Connection, bytes: number): void {
    const ofClient = (this.bytesOfClients.get(connection.client) ?? 0) + bytes
    if (ofClient > 0) this.bytesOfClients.set(connection.client, ofClient)
    else this.bytesOfClients.delete(connection.client)
    connection.bytes += bytes
    this.bytes += bytes
  }
}
