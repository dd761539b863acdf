/**
 * http-proxy-middleware: streams one request to the provider and its response to the client, with timeouts in both directions. A client that is
 * slow with its body costs the provider no time.
 */
import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, type ServerResponse, STATUS_CODES } from 'node:http'
import { type AgentOptions, type RequestOptions, Agent as TlsAgent } from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import { type Duplex, type Readable, Transform, type TransformCallback } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib'
import { createProxyMiddleware, proxyEventsPlugin, type RequestHandler } from 'http-proxy-middleware'
import { parsedHeaders, type ServerStreams, serverStreams } from '../adapters/http/server.ts'
import { type FailureCause, unreachableCauseOf } from '../domain/failure-cause.ts'
import { Fault, standardFault } from '../domain/fault.ts'
import { piece } from '../domain/processor-time.ts'
import type { KeySearch, NativeHead, NativeRequest, SendNative } from '../wire/native.ts'

/** How a provider is reached. */
export interface Way {
  readonly lookup: LookupFunction
  /** Opens a connection through the proxy on the way; none: connections are direct. */
  readonly tunnel: Tunnel | undefined
}

type Tunnel = (host: string, port: number) => Promise<Socket>

/** `url`: the provider's base URL. */
export function nativeUpstream(url: string, { lookup, tunnel }: Way): SendNative {
  const target = new URL(url)
  const proxies = proxiesOf.getOrInsertComputed(tunnel ?? lookup, () => createProxies(lookup, tunnel))
  const proxy = target.protocol === 'https:' ? proxies.https : proxies.http
  return (native: NativeRequest) => {
    const call = new ProxiedCall(target, native, serverStreams(native.streams))
    if (call.begin()) proxy(call.request, call.response, call.fail).catch(call.fail)
    return call.ended
  }
}

type Proxies = Readonly<Record<'http' | 'https', RequestHandler>>

/** For all providers and reloads: a proxy stays in memory until the server ends, since it listens for that. */
const proxiesOf = new WeakMap<LookupFunction | Tunnel, Proxies>()

/**
 * No keep-alive: on a kept connection, surplus bytes of one response would be read as the next one, and a connection that the provider
 * closes at that moment would fail a request that is never retried.
 */
function createProxies(lookup: LookupFunction, tunnel: Tunnel | undefined): Proxies {
  const options = { keepAlive: false, lookup }
  const secureAgent = tunnel ? new TunnelAgent(options, tunnel) : new TlsAgent(options)
  return { http: createProxy(new PlainAgent(options)), https: createProxy(secureAgent) }
}

/** Its sockets begin TLS with the provider when their tunnel is open. */
class TunnelAgent extends TlsAgent {
  private readonly tunnel: Tunnel

  constructor(options: AgentOptions, tunnel: Tunnel) {
    super(options)
    this.tunnel = tunnel
  }

  override createConnection(options: RequestOptions, done: (reason: Error | null, stream?: Duplex) => void): null {
    this.tunnel(String(options.host), Number(options.port)).then(
      (socket) => done(null, super.createConnection({ ...options, socket } as RequestOptions) ?? undefined),
      (reason: Error) => done(reason),
    )
    return null
  }
}

/** An exception in a hook would end the process; the methods of `ProxiedCall` do not throw. */
function createProxy(agent: PlainAgent): RequestHandler {
  const fail = (reason: Error, request: IncomingMessage): void => callOf(request).onError(reason)
  return createProxyMiddleware({
    agent,
    router: (request) => callOf(request).target,
    changeOrigin: true, // `Host` is the provider's
    selfHandleResponse: true, // copies no header and no status of the response
    ejectPlugins: true, // sends and prints no errors of its own
    plugins: [proxyEventsPlugin],
    on: {
      proxyReq: (clientRequest, request) => callOf(request).onRequest(clientRequest),
      proxyRes: (answer, request) => callOf(request).onResponse(answer),
      error: fail,
      econnreset: fail,
    },
  })
}

const calls = new WeakMap<IncomingMessage, ProxiedCall>()

function callOf(request: IncomingMessage): ProxiedCall {
  const call = calls.get(request)
  if (!call) throw new Error('The proxy has a request that is in no call.')
  return call
}

/** The first event that ends the call decides its outcome, and closes the other side. */
class ProxiedCall {
  /** The provider's base URL. */
  readonly target: URL
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Resolves when the whole response was sent, rejects with a `Fault`. */
  readonly ended: Promise<void>
  private readonly native: NativeRequest
  private readonly endsConnection: () => boolean
  private readonly completion = Promise.withResolvers<void>()
  private readonly timers: IdleTimer[] = []
  private clientRequest: ClientRequest | undefined
  private uploadedBytes = 0
  private isConnected = false
  private answer: IncomingMessage | undefined
  private isHeadSent = false
  private hasLength = false
  private isOver = false
  private total: NodeJS.Timeout | undefined

  constructor(target: URL, native: NativeRequest, { request, response, endsConnection }: ServerStreams) {
    this.target = target
    this.native = native
    this.request = request
    this.response = response
    this.endsConnection = endsConnection
    this.ended = this.completion.promise
  }

  /** False if the client has disconnected: then nothing is sent. */
  begin(): boolean {
    const { request, response, native } = this
    if (response.destroyed || request.destroyed) {
      this.fail(hungUp())
      return false
    }
    response.setMaxListeners(20) // of the server, the proxy and this class
    response.once('close', () => response.writableFinished || this.fail(hungUp()))
    request.on('error', () => this.fail(hungUp()))
    this.startTimer(native.timeoutMs, () => this.isClientsTurn() || this.fail(timedOut()))
    this.startTimer(native.idleTimeoutMs, () => !this.isClientsTurn() || this.fail(tooSlow('request')))
    this.total = setTimeout(() => this.fail(this.isHeadSent ? tooSlow('answer') : timedOut()), native.totalTimeoutMs)
    native.signal.addEventListener('abort', this.onAbort)
    // The server has already sent 100 (Continue). The proxy would send this head as it is, without the hook that replaces it.
    delete request.headers.expect
    calls.set(request, this)
    return true
  }

  /** The request to the provider got its socket, which is connecting. No byte of it was written, and the proxy pipes the body next. */
  onRequest(clientRequest: ClientRequest): void {
    this.clientRequest = clientRequest
    try {
      replaceHead(clientRequest, this.target, this.native)
    } catch (reason) {
      this.fail(unreachable(reason as Error))
    }
    if (this.isOver) return void clientRequest.destroy()
    // Node closes the request without an error after a 101.
    clientRequest.once('close', () => this.answer || this.fail(failed()))
    const connected = (): void => {
      this.isConnected = true
    }
    if (clientRequest.socket) watchConnecting(clientRequest.socket, connected, () => this.fail(notConnected('timed_out')))
    this.request.on('data', this.onUpload)
  }

  onResponse(answer: IncomingMessage): void {
    this.answer = answer
    try {
      if (this.isOver) throw hungUp()
      // Before the proxy's own listeners, which close the client's connection.
      answer.on('error', (reason) => this.fail(brokenOff(reason)))
      answer.on('close', () => answer.complete || this.fail(brokenOff()))
      const { keys } = this.native
      if (keys.longestKey === 0) return void this.stream(answer)
      const searched = searchedForKeys(answer.headers['content-encoding'], keys)
      searched.once('error', (reason) => this.fail(reason))
      answer.pipe(searched)
      // What came with the head is searched before the head is sent: then the client gets an error in its form.
      setImmediate(() => this.isOver || this.stream(answer, searched))
    } catch (reason) {
      letGo(answer)
      this.fail(reason)
    }
  }

  /** An error of a socket. After a complete response it is ignored: it is about surplus bytes. */
  onError(reason: Error): void {
    if (this.answer?.complete) return
    if (this.isHeadSent) this.fail(brokenOff(reason))
    else this.fail(this.isConnected ? failed(reason) : unreachable(reason))
  }

  readonly fail = (reason: unknown): void => {
    if (this.isOver) return
    this.end()
    if (this.isHeadSent) this.cut()
    this.clientRequest?.destroy()
    this.completion.reject(Fault.from(reason))
  }

  private sendHead({ status, headers }: NativeHead): void {
    this.isHeadSent = true
    this.hasLength = headers['content-length'] !== undefined
    this.response.writeHead(status, STATUS_CODES[status] ?? '', {
      ...headers,
      ...(this.endsConnection() && { connection: 'close' }),
    })
    this.response.flushHeaders()
  }

  /** `body`: what the client gets of the response's body. */
  private stream(answer: IncomingMessage, body: Readable = answer): void {
    const { response, native } = this
    try {
      const { statusCode = 0, headers } = answer
      const head = native.toClient(statusCode, parsedHeaders(headers))
      this.stopTimers()
      this.sendHead(head)
    } catch (reason) {
      letGo(answer)
      return void this.fail(reason)
    }
    this.startTimer(native.idleTimeoutMs, () => {
      if (response.socket === null) return // waits for earlier responses on its connection
      this.fail(answer.complete || response.writableNeedDrain ? tooSlow('answer') : timedOut())
    })
    answer.on('data', this.onBytes)
    response.once('finish', () => {
      if (!this.isOver) this.completion.resolve()
      this.end()
    })
    body.pipe(response)
  }

  /** Whether the call waits for the client: its body is incomplete, and the provider has taken all of it so far. */
  private isClientsTurn(): boolean {
    return !this.request.complete && !this.clientRequest?.writableNeedDrain
  }

  private startTimer(durationMs: number, onIdle: () => unknown): void {
    this.timers.push(new IdleTimer(durationMs, onIdle))
  }

  private readonly onUpload = (chunk: Buffer): void => {
    const { maxBytes } = this.native
    this.uploadedBytes += chunk.length
    if (this.uploadedBytes > maxBytes) this.fail(new Fault('tooLarge', `The body must have at most ${maxBytes} bytes.`))
    else this.onBytes(chunk)
  }

  private readonly onBytes = ({ length }: Buffer): void => {
    countStreamed(length)
    for (const timer of this.timers) timer.refresh()
  }

  private stopTimers(): void {
    for (const timer of this.timers.splice(0)) timer.stop()
  }

  private readonly onAbort = (): void => this.fail(this.native.signal.reason)

  private end(): void {
    this.isOver = true
    this.stopTimers()
    clearTimeout(this.total)
    this.native.signal.removeEventListener('abort', this.onAbort)
    if (this.clientRequest) this.request.unpipe(this.clientRequest)
  }

  /** Closes the client's connection; with a reset if the client would take a normal end for the end of the response. */
  private cut(): void {
    const { request, response } = this
    if (this.hasLength || request.httpVersionMinor > 0) response.destroy()
    else request.socket.resetAndDestroy()
  }
}

// node:http: the head that goes up.

/** The proxy has copied the client's path and headers: nothing of them is left but `Host`, which is already the provider's. */
function replaceHead(clientRequest: ClientRequest, { pathname }: URL, { path, headers }: NativeRequest): void {
  clientRequest.path = `${pathname.replace(/\/$/, '')}${path}`
  for (const name of clientRequest.getHeaderNames()) if (name !== 'host') clientRequest.removeHeader(name)
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) clientRequest.setHeader(name, value)
  clientRequest.setHeader('connection', 'close')
}

// node:http: discards a response of which the client gets nothing.

/** Without the proxy's listeners, which would close the client's connection before it gets its error. */
function letGo(answer: IncomingMessage): void {
  process.nextTick(() => {
    answer.removeAllListeners()
    answer.on('error', () => {})
    answer.destroy()
  })
}

// node:net: whether a connection is made in time; for TLS, after the handshake.

const connectTimeoutMs = 2_000

/** Calls one of the two callbacks, or none if the socket fails. */
function watchConnecting(socket: Socket, onConnected: () => void, onTimeout: () => void): void {
  const timer = setTimeout(onTimeout, connectTimeoutMs)
  const stop = (): void => clearTimeout(timer)
  socket.once('close', stop)
  socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
    stop()
    onConnected()
  })
}

/** node:timers: calls back after each period without activity, until it is stopped. */
class IdleTimer {
  private readonly timer: NodeJS.Timeout

  constructor(durationMs: number, onIdle: () => unknown) {
    this.timer = setTimeout(() => {
      this.timer.refresh()
      onIdle()
    }, durationMs)
  }

  /** Starts the period again. */
  refresh(): void {
    this.timer.refresh()
  }

  stop(): void {
    clearTimeout(this.timer)
  }
}

// node:v8: frees read buffers early. With that a stream of 50 MB adds 5 to 8 MB to the process, without it 26 to 28 MB.

/** Each read of a socket allocates a buffer of 64 KB. V8 collects these only after about 64 MB, so a stream would need that much memory. */
const intervalBytes = 2 * 1_048_576

type Collect = (options: { readonly type: 'minor' }) => void

let collect: Collect | undefined
let bytes = 0

/** Counts the streamed bytes of all calls, and collects young garbage at each interval, which takes 1 to 2 ms. */
function countStreamed(length: number): void {
  bytes += length
  if (bytes < intervalBytes) return
  bytes = 0
  collect ??= exposeCollection()
  collect({ type: 'minor' })
}

function exposeCollection(): Collect {
  setFlagsFromString('--expose-gc')
  const gc: Collect = runInNewContext('gc')
  return gc
}

// The faults of a call on the native lane.

/** No byte of the request was sent. */
function unreachable(cause: Error): Fault {
  return notConnected(unreachableCauseOf(cause), cause)
}

function notConnected(failureCause: FailureCause, cause?: Error): Fault {
  const { message } = standardFault('failed')
  return new Fault('unreachable', message, { effect: 'nothingSent', failureCause, cause })
}

function failed(cause?: Error): Fault {
  return standardFault('failed', { failureCause: cause ? unreachableCauseOf(cause) : 'reset', cause })
}

/** In the body of the response. */
function brokenOff(cause?: Error): Fault {
  return standardFault('unreadable', { failureCause: 'cut_off', cause })
}

function timedOut(): Fault {
  const message = 'The provider did not answer in time; please try again later.'
  return new Fault('timedOut', message, { failureCause: 'timed_out' })
}

function tooSlow(what: 'request' | 'answer'): Fault {
  return new Fault('tooSlow', what === 'request' ? 'The request did not arrive in time.' : 'The answer was not taken in time.')
}

function hungUp(): Fault {
  return new Fault('tooSlow', 'The client hung up.')
}

// node:zlib: finds a configured key in a body that streams by, also one that two chunks share or that is compressed.

/** More is not decoded: a few bytes may become gigabytes. */
const maxDecodedBytes = 256 * 1_048_576

/** `bytesWritten`: of what was written, those that it has decoded. */
type Decoder = Transform & { readonly bytesWritten: number }
type Create = (firstByte: number) => Decoder

const decoders: ReadonlyMap<string, Create> = new Map<string, Create>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  // With the header of zlib, as RFC 9110 has it, or without, as some servers send it.
  ['deflate', (firstByte) => ((firstByte & 15) === 8 ? createInflate() : createInflateRaw())],
  ['br', () => createBrotliDecompress()],
  ['zstd', () => createZstdDecompress()],
])

/**
 * Passes the body on as it is. Fails with a `Fault` before it passes the end of a key, or what cannot be decoded whole. A body in an unknown
 * coding, or in several, is refused, since nobody asked for one.
 */
function searchedForKeys(contentEncoding: string | undefined, keys: KeySearch): Transform {
  const codings = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  const [coding, ...others] = codings
  if (coding === undefined) return plain(new Search(keys))
  const create = others.length === 0 ? decoders.get(coding) : undefined
  return create ? throughDecoder(create, keys) : refused()
}

/** What has no body has nothing to hide. */
function refused(): Transform {
  return new Transform({ transform: (_chunk, _encoding, done) => done(standardFault('failed')) })
}

/** The end of what was read is kept, so that a key may be in two chunks. */
class Search {
  private readonly keys: KeySearch
  private end = ''

  constructor(keys: KeySearch) {
    this.keys = keys
  }

  finds(chunk: Buffer): boolean {
    return piece(() => this.findsIn(chunk))
  }

  private findsIn(chunk: Buffer): boolean {
    const text = this.end + chunk.toString('latin1')
    this.end = text.slice(Math.max(0, text.length - this.keys.longestKey + 1))
    return this.keys.containsLongKey(text)
  }
}

function plain(search: Search): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      if (search.finds(chunk)) done(standardFault('failed'))
      else done(null, chunk)
    },
  })
}

/** Each chunk waits until it is decoded. What is no part of what was decoded is refused: a client may read it in another way. */
function throughDecoder(create: Create, keys: KeySearch): Transform {
  const raw = new Search(keys)
  const search = new Search(keys)
  let decoder: Decoder | undefined
  let isRefused = false
  let [receivedBytes, decodedBytes] = [0, 0]
  let release: (() => void) | undefined
  const refuse = (): void => {
    isRefused = true
    release?.()
  }
  const begin = (firstByte: number): Decoder => {
    const begun = create(firstByte)
    begun.on('data', (decoded: Buffer) => {
      decodedBytes += decoded.length
      if (decodedBytes > maxDecodedBytes || search.finds(decoded)) begun.destroy()
    })
    return begun.on('error', refuse).on('close', () => begun.readableEnded || refuse())
  }
  /** Waits for what was written. `done` gets a fault if not all of it is decoded, or a key is in it. */
  const settle = (done: TransformCallback, chunk?: Buffer): void => {
    release = () => {
      release = undefined
      const hasMore = decoder?.readableEnded && decoder.bytesWritten < receivedBytes
      if (isRefused || hasMore) done(standardFault('failed'))
      else done(null, chunk)
    }
    if (isRefused) release()
  }
  return new Transform({
    transform(chunk: Buffer, _, done: TransformCallback) {
      receivedBytes += chunk.length
      isRefused ||= raw.finds(chunk)
      settle(done, chunk)
      if (isRefused) return
      decoder ??= begin(chunk[0] ?? 0)
      if (decoder.readableEnded) return void release?.()
      decoder.write(chunk, () => setImmediate(() => release?.()))
    },
    flush(done: TransformCallback) {
      settle(done)
      if (isRefused || !decoder || decoder.readableEnded) return void release?.()
      decoder.once('end', () => release?.()).end()
    },
    destroy(reason, done) {
      decoder?.destroy()
      done(reason)
    },
  })
}
