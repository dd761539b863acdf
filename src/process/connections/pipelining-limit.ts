/** Bounds what one connection asks for before it has its answers: Node takes in all that comes, and keeps all that is not read. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A connection with more answers due is closed; what it has asked for is done all the same. */
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
