/** For tests: a collector that stores the bytes that it receives. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { trickle } from '../../../test/support/trickle.ts'

interface ReceivedRequest {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

type Secure = Readonly<Record<'cert' | 'key', string>>

interface Behaviour {
  readonly secure?: Secure
  readonly headers?: OutgoingHttpHeaders
  readonly body?: Buffer | string
  /** The time before each response. */
  readonly delayMs?: number
  /** A status whose response never ends: its body comes byte by byte. */
  readonly trickled?: number
}

/** A collector that responds with these statuses in turn and then repeats the last; 0: no response. */
export async function collector(
  statuses: readonly number[],
  { secure, headers, body = 'well', delayMs = 0, trickled }: Behaviour = {},
) {
  const received: ReceivedRequest[] = []
  const receive: RequestListener = async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    received.push({ method: request.method, path: request.url, headers: request.headers, bytes: Buffer.concat(chunks) })
    const status = statuses[Math.min(received.length, statuses.length) - 1] ?? 0
    if (status === 0) return
    await wait(delayMs)
    response.writeHead(status, headers)
    if (status === trickled) trickle(response)
    else response.end(body)
  }
  const server: Server = secure ? createTlsServer(secure, receive) : createServer(receive)
  let connections = 0
  const openSockets = new Set<Socket>()
  server.on('connection', (socket) => {
    connections++
    openSockets.add(socket)
    socket.once('close', () => openSockets.delete(socket))
  })
  await once(server.listen(0), 'listening')
  const { port } = server.address() as AddressInfo
  const close = (): void => server.close().closeAllConnections()
  return {
    taken: received,
    close,
    connections: () => connections,
    openConnections: () => openSockets.size,
    url: new URL(`http${secure ? 's' : ''}://localhost:${port}/otel/v1/traces`),
  }
}
