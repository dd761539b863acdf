/** node:http: the listening socket, and the responses to bytes that are not a valid request. Such bytes cost by their length only. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  METHODS,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { type AddressInfo, createServer as createListener } from 'node:net'
import type { Duplex } from 'node:stream'
import { Fault, type Reason } from '../../domain/fault.ts'
import {
  type BodyStart,
  type Headers,
  type Http,
  type HttpRequest,
  type HttpResponse,
  reasonPhrase,
  type Streams,
} from '../../wire/http.ts'
import { mergeChunks, peekBody } from './request-body.ts'

interface ListenOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Whether other processes listen at the port too: the system gives each connection to one of them. */
  readonly isShared?: boolean
  /** One that listens already. */
  readonly socket?: ListeningSocket | undefined
  /** Idle timeout of a connection. */
  readonly socketTimeoutMs?: number
  /** How long a connection stays open after a response; 66 s by default. */
  readonly keepAliveTimeoutMs?: number
  /** The listener's own classes of requests and responses. */
  readonly messages?: Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>
}

export interface ListeningServer {
  readonly server: Server
  readonly url: string
}

/** Milliseconds. Node checks them once per `connectionsCheckingInterval`, and only while a request is arriving. */
const timeouts = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 }
const defaultKeepAliveMs = 66_000
/** So much earlier than a connection is closed, a client that keeps to the announced time sends nothing on it any more. */
const keepAliveMarginMs = 1_000

/** Node announces the first, and closes the connection after both. */
function keepAliveOf(timeoutMs: number): Pick<ServerOptions, 'keepAliveTimeout' | 'keepAliveTimeoutBuffer'> {
  const keepAliveTimeoutBuffer = Math.min(keepAliveMarginMs, timeoutMs / 2)
  return { keepAliveTimeout: timeoutMs - keepAliveTimeoutBuffer, keepAliveTimeoutBuffer }
}

/** Starts a server with `listener`. If a request fails before it reaches the listener, `handle` makes the response. */
export async function listen(listener: RequestListener, handle: Http, options: ListenOptions): Promise<ListeningServer> {
  const { host, port, isShared = false, socket, messages, socketTimeoutMs, keepAliveTimeoutMs = defaultKeepAliveMs } = options
  // The application rejects a request without Host: Node's own response has no body.
  const server = createServer({ ...timeouts, ...keepAliveOf(keepAliveTimeoutMs), ...messages, requireHostHeader: false }, listener)
  if (socketTimeoutMs !== undefined) server.timeout = socketTimeoutMs
  server.prependListener('request', mergeChunks)
  respondToInvalid(server, handle)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(socket ?? { host, port, reusePort: isShared && process.platform === 'linux' }, () => {
      server.off('error', reject)
      // If one connection cannot be accepted, the server continues with the next.
      server.on('error', () => {})
      resolve()
    })
  })
  return { server, url: urlOf(server.address() as AddressInfo) }
}

/** Node's own handle of a listening socket. It goes to another process without being accepted on there, as a `Server` would be. */
export interface ListeningSocket {
  readonly close: () => void
}

/** Undefined if other processes do not share its port by sockets of their own. */
export function listeningSocket(server: Server): ListeningSocket | undefined {
  return process.platform === 'linux' ? (server as unknown as { readonly _handle?: ListeningSocket })._handle : undefined
}

/** `server` gets the connections of another process's socket too. Returns how that ends. */
export function acceptAlso(server: Server, socket: ListeningSocket): () => void {
  const listener = createListener({ allowHalfOpen: true, noDelay: true }, (connection) => server.emit('connection', connection))
  listener.on('error', () => {})
  listener.listen(socket)
  return () => void listener.close()
}

function urlOf({ address, port }: AddressInfo): string {
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}

// node:http: responses to bytes that are not a valid request.

/** Lets `handle` respond to bytes that are not a valid request: Node's own responses have no body. */
export function respondToInvalid(server: Server, handle: Http): void {
  server.on('clientError', (error: ParserError, socket) => refuseParsed(handle, error, socket))
  server.on('connect', (request: IncomingMessage, socket) => void refuse(handle, fromTarget(request), socket))
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => server.emit('request', request, response))
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

/** The known part of a request that the parser rejected. Its path and headers decide the form of the response. */
function toRequest({ code, rawPacket }: ParserError): HttpRequest {
  const head = rawPacket?.toString('latin1', 0, maxHeadBytes) ?? ''
  const [, method = 'GET', path = '/'] = requestLine.exec(head) ?? []
  const known = { method, path, query: '', headers: headersIn(head) }
  const isUnknownMethod = code === 'HPE_INVALID_METHOD' && wholeRequestLine.test(head) && !METHODS.includes(method)
  return isUnknownMethod ? known : { ...known, protocolError: parserErrorOf(code, head, 'parameter_invalid') }
}

/** The header lines that arrived completely. */
function headersIn(head: string): Headers {
  const end = head.indexOf('\r\n\r\n')
  const lines = head
    .slice(0, end < 0 ? Math.max(head.lastIndexOf('\r\n'), 0) : end)
    .split('\r\n')
    .slice(1)
  return Object.fromEntries(lines.flatMap(headerIn))
}

/** Splits at the colon and trims. One regular expression for the line would take cubic time. */
function headerIn(line: string): readonly (readonly [name: string, value: string])[] {
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(colon, 0))
  const value = line.slice(colon + 1)
  return headerName.test(name) && headerValue.test(value) ? [[name.toLowerCase(), value.trim()]] : []
}

/** `reason`: the reason if the request is neither too slow nor too large. */
function parserErrorOf(code: string | undefined, head: string, reason: Reason): Fault {
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

/** A socket with a pending response. The name is Node's; its default handler uses it too. */
interface AwaitingResponse extends Duplex {
  readonly _httpMessage?: ServerResponse | null
}

/** Rejects invalid bytes only after the responses to earlier complete requests on the connection. */
function refuseParsed(handle: Http, error: ParserError, socket: AwaitingResponse, request = toRequest(error)): void {
  // The client has closed the connection: there is nothing to respond to.
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

/** A request with a complete head. Its body, or the next request on the connection, is invalid. The head decides the form. */
function fromHead({ method = 'GET', url = '/', headers }: IncomingMessage, { code }: ParserError): HttpRequest {
  return {
    method,
    path: url.split('?')[0] ?? '/',
    query: '',
    headers: parsedHeaders(headers),
    protocolError: parserErrorOf(code, '', 'body_invalid'),
  }
}

/** Milliseconds in which the client must read a rejection: it may not read at all. */
const refusalTimeoutMs = 10_000

async function refuse(handle: Http, request: HttpRequest, socket: Duplex): Promise<void> {
  // Node leaves a CONNECT's socket without an error listener: a reset would end the process.
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

// node:http: rejects requests that RFC 9112 forbids and Node accepts.

const maxPathLength = 8_192
const hostPattern = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/
const continuation = /^100-continue$/i
const none: readonly string[] = []

/** Names of repeated headers, in lower case. */
export function repeatedHeaders({ rawHeaders, headers }: IncomingMessage): readonly string[] {
  if (rawHeaders.length === 2 * Object.keys(headers).length) return none
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase())
  return names.filter((name, at) => names.indexOf(name) !== at)
}

/** The fault of a request that is not valid HTTP/1.1 (RFC 9112 §3.2, §6.1). Undefined if it is valid. */
export function protocolErrorOf(request: IncomingMessage, repeated: readonly string[]): Fault | undefined {
  const { url = '', headers, httpVersionMinor } = request
  if (url.length > maxPathLength)
    return new Fault('pathTooLong', `The path and query must have at most ${maxPathLength} characters.`)
  if (!url.startsWith('/')) return new Fault('invalid', 'The request target must be a path.', { reason: 'path' })
  const mayLackHost = httpVersionMinor === 0 && headers.host === undefined
  if (repeated.includes('host') || !(mayLackHost || hostPattern.test(headers.host ?? '')))
    return new Fault('invalid', 'Invalid Host: it must be sent once, as a host and a port.')
  if (httpVersionMinor > 0 && headers.expect !== undefined && !continuation.test(headers.expect))
    return new Fault('expectationFailed', 'Only Expect: 100-continue is understood.')
  const coding = headers['transfer-encoding']
  if (coding === undefined) return undefined
  if (httpVersionMinor === 0) return new Fault('invalid', 'HTTP/1.0 has no Transfer-Encoding.')
  if (coding.toLowerCase() !== 'chunked') return new Fault('invalid', 'The only Transfer-Encoding is chunked.')
  return undefined
}

// Headers as Node parsed them.

/** Node joins the values of a repeated header with commas. Only `set-cookie` stays a list, and nothing here reads it. */
export function parsedHeaders(headers: IncomingHttpHeaders): Headers {
  return headers as Headers
}

// node:http: hands a request and its response from the server's adapter to the one that streams them.

export class ServerStreams implements Streams {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly endsConnection: () => boolean

  constructor(request: IncomingMessage, response: ServerResponse, endsConnection: () => boolean) {
    this.request = request
    this.response = response
    this.endsConnection = endsConnection
  }

  isGone(): boolean {
    return this.response.destroyed
  }

  isBodyRead(): boolean {
    return this.request.readableDidRead
  }

  peekBody(maxBytes: number, idleMs: number, totalMs: number): Promise<BodyStart> {
    return peekBody(this.request, maxBytes, idleMs, totalMs)
  }
}

/** Throws for streams of another adapter. */
export function serverStreams(streams: Streams): ServerStreams {
  if (!(streams instanceof ServerStreams)) throw new Error('These streams are not from the server.')
  return streams
}

// node:http: requests whose target is a whole URL, as proxies get them (RFC 9112 §3.2.2).

const absoluteForm = /^https?:\/\/([^/?#@\\\s]+)(\/[^\s]*|\?[^\s]*)?$/i

/** Makes the target a path, and its authority the `Host`, whatever that was. Another target stays as it is. */
export function toOriginForm(request: IncomingMessage): void {
  if (request.url?.startsWith('/') !== false) return
  const [whole, authority, target = '/'] = absoluteForm.exec(request.url) ?? []
  if (whole === undefined) return
  request.url = target.startsWith('/') ? target : `/${target}`
  if (request.headers.host !== undefined) request.headers.host = authority
}
