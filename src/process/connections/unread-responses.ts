/** Closes connections of clients that do not read their responses, before these take the memory of others. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { clientNetworkOf } from '../../core/access/client-address.ts'

export interface UnreadOptions {
  /** For a client to read a response. */
  readonly timeoutMs: number
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
    const timer = setTimeout(() => socket.resetAndDestroy(), this.options.timeoutMs).unref()
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
