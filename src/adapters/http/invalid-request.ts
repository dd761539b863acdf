/** node:http: responses to bytes that are not a valid request. */
import { type IncomingMessage, METHODS, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Reason } from '../../domain/fault.ts'
import { Fault } from '../../domain/fault.ts'
import type { Headers, Http, HttpRequest, HttpResponse } from '../../wire/http.ts'
import { reasonPhrase } from '../../wire/http.ts'
import { parsedHeaders } from './headers.ts'

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
