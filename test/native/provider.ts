/** A provider on node:http that responds as a test defines, and records all that it receives. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface Arrived {
  readonly method: string
  readonly url: string
  /** Names in lower case, one for each line. */
  readonly headerNames: readonly string[]
  readonly headers: Readonly<Record<string, unknown>>
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Resolves when the body has come whole; undefined where it broke off. */
  readonly body: Promise<Buffer | undefined>
  /** Resolves when so many bytes of the body have come. */
  readonly hasBytes: (count: number) => Promise<void>
  /** Resolves when its connection has ended. */
  readonly closed: Promise<void>
}

export interface NativeProvider {
  /** Up to and with the base path. */
  readonly url: string
  readonly arrived: readonly Arrived[]
  /** How it responds from now on. */
  respond: (response: ServerResponse, arrived: Arrived) => unknown
  /** Resolves when there was a connection since the last `reset`. */
  readonly connected: () => Promise<void>
  /** The next request, or one that has come since this was called last. */
  readonly next: () => Promise<Arrived>
  readonly reset: () => void
  readonly close: () => Promise<void>
}

const echo: NativeProvider['respond'] = async (response, { body }) => {
  const bytes = await body
  if (bytes) response.writeHead(200, { 'content-type': 'text/plain' }).end(bytes.length > 0 ? bytes : 'hello')
}

export async function startNativeProvider(make: (listener: Parameters<typeof createServer>[1]) => Server = createServer) {
  const arrived: Arrived[] = []
  const waiting: ((next: Arrived) => void)[] = []
  let taken = 0
  const provider = { respond: echo }
  const sockets = new Set<Socket>()
  let connection = Promise.withResolvers<void>()
  const server = make((request, response) => {
    const one = arrival(request, response)
    arrived.push(one)
    const first = waiting.shift()
    if (first) {
      taken = arrived.length
      first(one)
    }
    provider.respond(response, one)
  })
  server.on('connection', (socket) => {
    connection.resolve()
    sockets.add(socket.on('error', () => {}))
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const result: NativeProvider = Object.assign(provider, {
    url: `http://127.0.0.1:${port}/service/api/v2`,
    arrived,
    next: () =>
      taken < arrived.length
        ? Promise.resolve(arrived[taken++] as Arrived)
        : new Promise<Arrived>((resolve) => waiting.push(resolve)),
    connected: () => connection.promise,
    reset() {
      connection = Promise.withResolvers()
      arrived.length = 0
      waiting.length = 0
      taken = 0
      provider.respond = echo
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  })
  return result
}

function arrival(request: IncomingMessage, response: ServerResponse): Arrived {
  const { method = '', url = '', headers, rawHeaders } = request
  const chunks: Buffer[] = []
  const body = new Promise<Buffer | undefined>((resolve) => {
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', () => resolve(undefined))
    request.on('close', () => resolve(undefined))
  })
  const hasBytes = async (count: number): Promise<void> => {
    while (Buffer.concat(chunks).length < count) await once(request, 'data')
  }
  const closed = new Promise<void>((resolve) => void request.socket.once('close', () => resolve()))
  const headerNames = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase())
  return { method, url, headers, headerNames, request, response, body, hasBytes, closed }
}
