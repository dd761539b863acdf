/** express: the server for clients, so that its middleware can be used. */

import { Buffer } from 'node:buffer'
import { IncomingMessage, type ServerOptions, ServerResponse } from 'node:http'
import { isIP, type Socket } from 'node:net'
import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import { type Http, type HttpRequest, type HttpResponse, type ResponseStream, reasonPhrase, type Streams } from '../../wire/http.ts'
import { crossOrigin } from './cors.ts'
import { readBody } from './request-body.ts'
import { parsedHeaders, protocolErrorOf, repeatedHeaders, ServerStreams, toOriginForm } from './server.ts'

export interface ExpressOptions {
  readonly trustProxy: number
  readonly maxBodyBytes: number
  /** Origins whose pages may read responses. */
  readonly cors: readonly string[]
  /** Called for each response that has been written, with the address of its client. */
  readonly onWritten?: (response: ServerResponse, address: string | undefined) => void
  /** Whether the process is stopping: then every response closes its connection. */
  readonly isStopping?: () => boolean
  /** In front of the gateway. What they respond is theirs. */
  readonly middleware?: readonly RequestHandler[]
}

type ExpressHandle = (request: Request, response: Response, otherwise: () => void) => void

const ignore = (): void => {}

type Messages = Pick<Required<ServerOptions>, 'IncomingMessage' | 'ServerResponse'>

/** Makes an express application of `handle`. */
export function expressApp(handle: Http, options: ExpressOptions): Express {
  const { trustProxy, maxBodyBytes, cors, onWritten, isStopping = () => false, middleware = [] } = options
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('trust proxy', trustProxy)
  app.set('query parser', false)
  bindPrototypes(app)
  if (cors.length > 0) app.use(crossOrigin(cors))
  for (const handler of middleware) app.use(handler)
  const refused = new WeakSet<Socket>()
  const send = batch((pending: PendingResponse) => {
    write(pending, isStopping())
    onWritten?.(pending.response, pending.address)
  })
  const respond: RequestHandler = async (request, response) => {
    if (refused.has(request.socket)) return
    const endsConnection = (): boolean => refused.has(request.socket) || isStopping() || !request.complete
    const httpRequest = toHttpRequest(request, trustProxy, maxBodyBytes, new ServerStreams(request, response, endsConnection))
    // A proxy may read another end of this request, or another protocol: close, so that later bytes are not read as a request.
    const isLast = httpRequest.protocolError !== undefined || request.headers.upgrade !== undefined
    if (isLast) refused.add(request.socket)
    const httpResponse = await handle(httpRequest)
    const { stream, isSent } = httpResponse
    if (stream) writeStream({ response, httpResponse, address: httpRequest.address, isLast }, stream, isStopping())
    else if (!isSent) send({ response, httpResponse, address: httpRequest.address, isLast })
  }
  app.use(respond)
  // Express cannot route a target that is not a path: the same handler responds.
  const { handle: routed } = app as unknown as { handle: ExpressHandle }
  Object.assign(app, {
    handle: (request: Request, response: Response) => {
      toOriginForm(request)
      routed.call(app, request, response, () => respond(request, response, ignore))
    },
  })
  return app
}

/** The classes of requests and responses that the server must use for this application. */
export function messagesOf({ request, response }: Express): Messages {
  return { IncomingMessage: request.constructor, ServerResponse: response.constructor } as Messages
}

/**
 * 3.1 µs a request (`npm run bench:express`), 4 µs in the profile of a get: express changes the prototype of every request and response.
 * Here the server creates them from classes that already have the application's prototypes. Their `app`, which has the trusted
 * proxies, stays this one where it is mounted in another.
 */
function bindPrototypes(app: Express): void {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse extends ServerResponse {}
  app.request = Object.setPrototypeOf(ExpressRequest.prototype, app.request)
  app.response = Object.setPrototypeOf(ExpressResponse.prototype, app.response)
  for (const prototype of [app.request, app.response])
    Object.defineProperty(prototype, 'app', { value: app, configurable: true, enumerable: true, writable: true })
}

function toHttpRequest(request: Request, trustProxy: number, maxBodyBytes: number, streams: Streams): HttpRequest {
  const { method, url, baseUrl, headers } = request
  const at = url.indexOf('?')
  const repeated = repeatedHeaders(request)
  const protocolError = protocolErrorOf(request, repeated)
  return {
    method,
    path: at < 0 ? url : url.slice(0, at),
    query: at < 0 ? '' : url.slice(at + 1),
    // It becomes a part of links: as a URL has it.
    ...(baseUrl && { mountedAt: new URL(baseUrl, 'http://localhost').pathname }),
    headers: parsedHeaders(headers),
    repeated,
    address: clientAddress(request, trustProxy),
    body: (maxBytes = maxBodyBytes) => readBody(request, maxBytes),
    streams,
    ...(protocolError && { protocolError }),
  }
}

interface PendingResponse {
  readonly response: Response
  readonly httpResponse: HttpResponse
  readonly address: string | undefined
  /** Whether to close the connection after the response. */
  readonly isLast: boolean
}

/** Writes all items of one turn of the event loop together: each wake-up of a socket's reader costs more than a write. */
function batch<T>(writeItem: (item: T) => void): (item: T) => void {
  let waiting: T[] = []
  const flush = (): void => {
    const items = waiting
    waiting = []
    for (const item of items) writeItem(item)
  }
  return (item) => {
    if (waiting.push(item) === 1) setImmediate(flush)
  }
}

function write({ response, httpResponse: { status, headers, body, bytes }, isLast }: PendingResponse, isStopping: boolean): void {
  // Node leaves the later responses of a closed connection as they are.
  if (response.destroyed || response.req.socket.destroyed) return
  const length = bytes ? bytes.length : Buffer.byteLength(body)
  const sent: Record<string, string | number | undefined> = { ...headers }
  if (status !== 204 && status !== 304) sent['content-length'] = length
  if (headers.vary !== undefined && response.hasHeader('vary')) sent.vary = `${headers.vary}, ${response.getHeader('vary')}`
  if (isLast || isStopping || !response.req.complete) sent.connection = 'close'
  response.writeHead(status, reasonPhrase(status), sent)
  if (bytes) return void response.end(bytes)
  // For ASCII, Latin-1 gives the same bytes with half the work.
  response.end(body, length === body.length ? 'latin1' : 'utf8')
}

/** Of a stream whose client reads nothing: how long its connection may be full. */
const fullTimeoutMs = 60_000

/** Writes no more than the client reads. */
function writeStream({ response, httpResponse, isLast }: PendingResponse, stream: ResponseStream, isStopping: boolean): void {
  const { socket } = response.req
  if (response.destroyed || socket.destroyed) return void stream.close()
  const { status, headers } = httpResponse
  const sent: Record<string, string | undefined> = { ...headers }
  if (headers.vary !== undefined && response.hasHeader('vary')) sent.vary = `${headers.vary}, ${response.getHeader('vary')}`
  if (isLast || isStopping || !response.req.complete) sent.connection = 'close'
  response.writeHead(status, reasonPhrase(status), sent)
  response.flushHeaders()
  // Node sets it again for the next request. It ends a full connection only the second time.
  socket.setTimeout(0)
  let readOn = ignore
  const isOpen = (): boolean => !response.destroyed && !response.writableEnded
  response.on('drain', () => readOn())
  response.once('close', () => {
    stream.close()
    readOn()
  })
  const write = async (text: string): Promise<boolean> => {
    if (!isOpen()) return false
    if (response.write(text)) return true
    const timer = setTimeout(() => socket.destroy(), fullTimeoutMs)
    await new Promise<void>((resolve) => {
      readOn = resolve
    })
    clearTimeout(timer)
    return isOpen()
  }
  stream.run(write).then(
    () => response.end(),
    () => response.destroy(),
  )
}

// node:net: the client's address, as the socket or the trusted proxies have it.

/** Of an address with a port or a zone. */
const maxLength = 80
/** Some proxies write the port too. */
const withPort = /^(\d+(?:\.\d+){3}):\d+$|^\[(.+)\](?::\d+)?$/

/** `server.trustProxy` hops back in `X-Forwarded-For`, without a port. What is no address there is none: empty. */
export function clientAddress(request: Pick<Request, 'socket' | 'ip'>, trustProxy: number): string {
  if (trustProxy === 0) return request.socket.remoteAddress ?? ''
  const { ip = '' } = request // express parses the header at each read
  const address = ip.length <= maxLength ? ip.replace(withPort, '$1$2') : ''
  // A real copy: a part of the header would keep all of it in memory.
  return isIP(address) === 0 ? '' : Buffer.from(address, 'latin1').toString('latin1')
}
