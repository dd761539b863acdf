/** Limits the pipelined requests of a connection: Node accepts them without limit and keeps unread responses in memory. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Closes a connection with more pending responses. Its requests still run. */
export function limitPipelining(server: Server, maxDue: number): void {
  const due = new WeakMap<Socket, number>()
  function onClose(this: ServerResponse): void {
    const { socket } = this.req
    due.set(socket, (due.get(socket) ?? 1) - 1)
  }
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const count = (due.get(socket) ?? 0) + 1
    due.set(socket, count)
    if (count > maxDue) socket.destroy()
    response.on('close', onClose)
  })
}
