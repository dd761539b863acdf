/** node:http: the listening socket, and the responses to bytes that are not a valid request. */
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Http } from '../../wire/http.ts'
import { respondToInvalid } from './invalid-request.ts'
import { mergeChunks } from './merged-chunks.ts'

export interface ListenOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Idle timeout of a connection. */
  readonly socketTimeoutMs?: number
  /** The listener's own classes of requests and responses. */
  readonly messages?: Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>
}

export interface ListeningServer {
  readonly server: Server
  readonly url: string
}

/** Milliseconds. Node checks them once per `connectionsCheckingInterval`. */
const timeouts = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000, connectionsCheckingInterval: 1_000 }

/** Starts a server with `listener`. If a request fails before it reaches the listener, `handle` makes the response. */
export async function listen(listener: RequestListener, handle: Http, options: ListenOptions): Promise<ListeningServer> {
  const { host, port, messages, socketTimeoutMs } = options
  // The application rejects a request without Host: Node's own response has no body.
  const server = createServer({ ...timeouts, ...messages, requireHostHeader: false }, listener)
  if (socketTimeoutMs !== undefined) server.timeout = socketTimeoutMs
  server.prependListener('request', mergeChunks)
  respondToInvalid(server, handle)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      // If one connection cannot be accepted, the server continues with the next.
      server.on('error', () => {})
      resolve()
    })
  })
  return { server, url: urlOf(server.address() as AddressInfo) }
}

function urlOf({ address, port }: AddressInfo): string {
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}
