/** A receiver of webhooks, as a test wants it. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

type Respond = (received: Received, response: ServerResponse) => unknown

export class Receiver implements AsyncDisposable {
  readonly received: Received[] = []
  /** How many connections it has got, also those without a request. */
  connections = 0
  respond: Respond = (_, response) => response.end('taken')
  private readonly server: Server
  private readonly sockets = new Set<Socket>()

  private constructor(server: Server) {
    this.server = server
    server.on('connection', (socket: Socket) => {
      this.connections++
      this.sockets.add(socket)
      socket.on('close', () => this.sockets.delete(socket))
      socket.on('error', () => {})
    })
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const { method = '', url = '', headers } = request
      const received = { method, path: url, headers, body: Buffer.concat(chunks).toString() }
      this.received.push(received)
      this.respond(received, response)
    })
  }

  static async start(host = '127.0.0.1', tls?: { readonly cert: string; readonly key: string }, port = 0): Promise<Receiver> {
    const server = tls ? createSecureServer(tls) : createServer()
    const receiver = new Receiver(server)
    await once(server.listen(port, host), 'listening')
    return receiver
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    await new Promise((resolve) => this.server.close(resolve))
  }
}
