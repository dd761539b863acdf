/** node:http: the listening socket, and the answers to what never becomes a request. */
import {
  createServer,
  type IncomingMessage,
  METHODS,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { Fault } from '../../domain/faults/fault.ts'
import type { Reason } from '../../domain/faults/reason.ts'
import type { Headers, Http, HttpRequest, HttpResponse } from '../../wire/http.ts'
import { reasonPhrase } from '../../wire/http-status.ts'

export interface ListenOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** More connections are closed as soon as they are made. */
  readonly connections?: number
  /** Longest silence of a connection, in milliseconds. */
  readonly socketTimeoutMs?: number
  /** What requests and responses are made with, where the listener wants its own. */
  readonly messages?: Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>
}

export interface ListeningServer {
  readonly server: Server
  readonly url: string
}

/** Milliseconds; the interval is how late a limit may be noticed. */
const timeouts = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000, connectionsCheckingInterval: 1_000 }

/** Listens with `listener`; whatever fails before it is answered by `handle`, in a form. */
export async function listen(listener: RequestListener, handle: Http, options: ListenOptions): Promise<ListeningServer> {
  const { host, port, messages, connections, socketTimeoutMs } = options
  // A request without Host is the application's to refuse: Node's own answer has no body.
  const server = createServer({ ...timeouts, ...messages, requireHostHeader: false }, listener)
  if (connections !== undefined) server.maxConnections = connections
  if (socketTimeoutMs !== undefined) server.timeout = socketTimeoutMs
  answerRefused(server, handle)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      // A connection that cannot be accepted is lost; the next one may do better.
      server.on('error', () => {})
      resolve()
    })
  })
  return { server, url: urlOf(server.address() as AddressInfo) }
}

/** What never becomes a request is answered by `handle`: Node's own answers have no body. */
export function answerRefused(server: Server, handle: Http): void {
  server.on('clientError', (error: ParserError, socket) => refuseParsed(handle, error, socket))
  server.on('connect', (request: IncomingMessage, socket) => void refuse(handle, fromTarget(request), socket))
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => server.emit('request', request, response))
}

function urlOf({ address, port }: AddressInfo): string {
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}

interface ParserError extends Error {
  readonly code?: string
  readonly rawPacket?: Buffer
}

const requestLine = /^([^\s]{1,64}) (\/[^\s?]*)/
const wholeRequestLine = /^[^\s]+ [^\s]+ HTTP\/1\.[01]\r?\n/
const headerName = /^[A-Za-z0-9-]{1,64}$/
const headerValue = /^[\t\x20-\x7e]*$/
const maxHeadBytes = 16_384

/** What is known of a request that the parser refused: its path and headers tell the form of the answer. */
function toRequest({ code, rawPacket }: ParserError): HttpRequest {
  const head = rawPacket?.toString('latin1', 0, maxHeadBytes) ?? ''
  const [, method = 'GET', path = '/'] = requestLine.exec(head) ?? []
  const known = { method, path, query: '', headers: headersIn(head) }
  const isUnknownMethod = code === 'HPE_INVALID_METHOD' && wholeRequestLine.test(head) && !METHODS.includes(method)
  return isUnknownMethod ? known : { ...known, protocolError: protocolErrorOf(code, head, 'parameter_invalid') }
}

/** The header lines that came whole. */
function headersIn(head: string): Headers {
  const end = head.indexOf('\r\n\r\n')
  const lines = head
    .slice(0, end < 0 ? Math.max(head.lastIndexOf('\r\n'), 0) : end)
    .split('\r\n')
    .slice(1)
  return Object.fromEntries(lines.flatMap(headerIn))
}

/** Cut at the colon and trimmed: one expression for the whole line would take the cube of its length. */
function headerIn(line: string): readonly (readonly [name: string, value: string])[] {
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(colon, 0))
  const value = line.slice(colon + 1)
  return headerName.test(name) && headerValue.test(value) ? [[name.toLowerCase(), value.trim()]] : []
}

/** `reason`: what is wrong where it came in time and is not too large. */
function protocolErrorOf(code: string | undefined, head: string, reason: Reason): Fault {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Fault('tooSlow', 'The request did not arrive in time.')
  if (code !== 'HPE_HEADER_OVERFLOW') return new Fault('invalid', 'The request is not HTTP/1.1 as RFC 9112 has it.', { reason })
  const isPath = head !== '' && !head.includes('\n')
  return isPath
    ? new Fault('pathTooLong', 'The path and query are too long.')
    : new Fault('headersTooLarge', 'The headers are too large.')
}

function fromTarget({ url = '' }: IncomingMessage): HttpRequest {
  return {
    method: 'CONNECT',
    path: url,
    query: '',
    headers: {},
    protocolError: new Fault('invalid', 'The request target must be a path.', { reason: 'path' }),
  }
}

/** The answer that a socket is waiting for; Node's own name for it, by which its default handler goes too. */
interface AwaitingResponse extends Duplex {
  readonly _httpMessage?: ServerResponse | null
}

/** What comes behind whole requests neither overtakes nor replaces the answers to them. */
function refuseParsed(handle: Http, error: ParserError, socket: AwaitingResponse, request = toRequest(error)): void {
  // Whoever hung up has asked for nothing.
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const pendingResponse = socket._httpMessage
  if (!pendingResponse) return void refuse(handle, request, socket)
  if (pendingResponse.req.complete)
    pendingResponse.once('close', () =>
      refuseParsed(handle, error, socket, { ...fromHead(pendingResponse.req, error), method: 'GET' }),
    )
  else if (pendingResponse.headersSent) socket.destroy()
  else void refuse(handle, fromHead(pendingResponse.req, error), socket)
}

/** A request whose head came whole, and whose body or whose successor on the connection did not: the form is that of the head. */
function fromHead({ method = 'GET', url = '/', headers }: IncomingMessage, { code }: ParserError): HttpRequest {
  return {
    method,
    path: url.split('?')[0] ?? '/',
    query: '',
    headers: headers as Headers,
    protocolError: protocolErrorOf(code, '', 'body_invalid'),
  }
}

/** Milliseconds in which a refusal has to be taken: one whose answers before were not read may not read this one either. */
const refusalTimeoutMs = 10_000

async function refuse(handle: Http, request: HttpRequest, socket: Duplex): Promise<void> {
  // Node leaves a CONNECT's socket without a listener: its reset would end the process.
  socket.on('error', () => socket.destroy())
  const response = await handle(request)
  if (!socket.writable) return void socket.destroy()
  const timer = setTimeout(() => socket.destroy(), refusalTimeoutMs).unref()
  socket.on('close', () => clearTimeout(timer))
  socket.end(print(response, request.method), () => socket.destroy())
}

function print({ status, headers, body }: HttpResponse, method: string): string {
  const lines = Object.entries({ ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' })
  const head = lines.filter(([, value]) => value !== undefined).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${reasonPhrase(status)}\r\n${head.join('')}\r\n${method === 'HEAD' ? '' : body}`
}
