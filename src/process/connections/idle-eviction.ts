/** A port that is full closes the connection that has been idle longest, so that a probe always comes in. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Of more than `max` connections the idlest is closed; the new one, if each has a response pending. */
export function evictIdlest(server: Server, max: number): void {
  // Pending responses by connection, the one whose last request or response is the longest ago first.
  const connections = new Map<Socket, number>()
  const touch = (socket: Socket, pending: number): void => {
    connections.delete(socket)
    connections.set(socket, pending)
  }
  server.on('connection', (socket: Socket) => {
    if (connections.size >= max) {
      const [idlest] = connections.entries().find(([, pending]) => pending === 0) ?? []
      if (!idlest) return void socket.destroy()
      connections.delete(idlest)
      idlest.destroy()
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
