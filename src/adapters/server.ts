/** node:http: the listening socket, and the answers to what never becomes a request. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { Fault } from '../domain/fault.ts'
import type { Http, HttpRequest, HttpResponse } from '../wire/http.ts'

export interface ListenOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** What requests and responses are made with, where the listener wants its own. */
  readonly messages?: Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>
}

export interface Listening {
  readonly server: Server
  readonly url: string
}

/** Milliseconds; the interval is how late a limit may be noticed. */
const timeouts = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000, connectionsCheckingInterval: 1_000 }

/** Listens with `listener`; whatever fails before it is answered by `handle`, in a form. */
export async function listen(listener: RequestListener, handle: Http, { host, port, messages }: ListenOptions): Promise<Listening> {
  // A request without Host is the application's to refuse: Node's own answer has no body.
  const server = createServer({ ...timeouts, ...messages, requireHostHeader: false }, listener)
  server.on('clientError', (error: ParserError, socket) => void refuse(handle, toRequest(error), socket))
  server.on('connect', (request: IncomingMessage, socket) => void refuse(handle, fromTarget(request), socket))
  server.on(
    'checkExpectation',
    (request: IncomingMessage, response: ServerResponse) => void refuseExpectation(handle, request, response),
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return { server, url: urlOf(server.address() as AddressInfo) }
}

function urlOf({ address, port }: AddressInfo): string {
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}

interface ParserError extends Error {
  readonly code?: string
  readonly rawPacket?: Buffer
}

const requestLine = /^([^\s]{1,64}) (\/[^\s?]*)(?:\?[^\s]*)? HTTP\/1\.[01]\r?\n/
const blank = { query: '', headers: {} }

/** What is known of a request that the parser refused; the path tells the form of the answer. */
function toRequest({ code, rawPacket }: ParserError): HttpRequest {
  const head = rawPacket?.toString('latin1') ?? ''
  const [, method = 'GET', path = '/'] = requestLine.exec(head) ?? []
  if (code === 'HPE_INVALID_METHOD' && requestLine.test(head)) return { ...blank, method, path }
  return { ...blank, method: 'GET', path, flaw: flawOf(code, head) }
}

function flawOf(code: string | undefined, head: string): Fault {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Fault('tooSlow', 'The request did not arrive in time.')
  if (code !== 'HPE_HEADER_OVERFLOW') return new Fault('invalid', 'The request is not HTTP/1.1 as RFC 9112 has it.')
  const isPath = head !== '' && !head.slice(0, 16_384).includes('\n')
  return isPath
    ? new Fault('pathTooLong', 'The path and query are too long.')
    : new Fault('headersTooLarge', 'The headers are too large.')
}

function fromTarget({ url = '' }: IncomingMessage): HttpRequest {
  return { ...blank, method: 'CONNECT', path: url, flaw: new Fault('invalid', 'The request target must be a path.') }
}

async function refuse(handle: Http, request: HttpRequest, socket: Duplex): Promise<void> {
  const response = await handle(request)
  if (!socket.writable) return void socket.destroy()
  socket.end(print(response), () => socket.destroy())
}

async function refuseExpectation(handle: Http, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const flaw = new Fault('expectationFailed', 'Only Expect: 100-continue is understood.')
  const { status, headers, body } = await handle({ ...blank, method: 'GET', path: request.url ?? '/', flaw })
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' })
  response.end(body)
}

function print({ status, headers, body }: HttpResponse): string {
  const lines = Object.entries({ ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' })
  const head = lines.filter(([, value]) => value !== undefined).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${head.join('')}\r\n${body}`
}
