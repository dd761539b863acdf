/** A port that is full closes the connection that has been idle longest, so that a probe always comes in. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface IdleEviction {
  readonly max: number
  /** Ends the oldest request that has not arrived whole, for the new connection. Returns its connection. */
  readonly endOldest: (newest: Socket) => Socket | undefined
  readonly onClosed: (reason: 'idle' | 'full') => void
}

/**
 * Of more than `max` connections the idlest is closed. If each has a response pending, the oldest whose request is not whole; else the
 * new one.
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
      const closed = idlest ?? endOldest(socket)
      if (idlest) onClosed('idle')
      idlest?.destroy()
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
