/** undici: connections to providers. The fastest HTTP client for Node; it separates errors of connecting from errors of sending. */

import { Buffer, isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { LookupFunction, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib'
import { buildConnector, type Dispatcher, Pool } from 'undici'
import { type UnreadableCause, unreachableCauseOf } from '../domain/failure-cause.ts'
import { Fault, standardFault } from '../domain/fault.ts'
import type { Headers, Http, HttpRequest, HttpResponse } from '../wire/http.ts'
import { withoutContinue } from '../wire/interim-responses.ts'

interface Upstream {
  readonly http: Http
  readonly openConnections: () => OpenConnections
  /** Accepts no new requests, and closes after the last response. */
  readonly retire: () => Promise<void>
  readonly close: () => Promise<void>
}

interface UpstreamOptions {
  /** The base URL; its path is a prefix of every path. */
  readonly url: string
  /** Milliseconds, for a request without a deadline. */
  readonly timeoutMs: number
  /** 128 by default. */
  readonly maxConnections?: number | undefined
  /** An older connection takes no new request. */
  readonly maxAgeMs: number
  readonly lookup: LookupFunction
  /** Opens a connection to a host through the proxy on the way, for TLS; none: connections are direct. */
  readonly tunnel?: Tunnel | undefined
  /** Called for each TLS connection, with the end of the server's certificate in milliseconds since 1970. */
  readonly onCertificate?: (notAfter: number) => void
}

type Tunnel = (host: string, port: number) => Promise<Socket>

/** Connections to one provider. `idle`: kept for the next call. */
export interface OpenConnections {
  readonly active: number
  readonly idle: number
  readonly max: number
}

const defaultMaxConnections = 128
/** Of a provider that announces none, undici's own; and until one was announced, half of Node's. */
const keepAliveMs = 4_000
const unannouncedMaxIdleMs = 2_500

/** Connects to a provider. No redirects, no retries, at most 2 MiB per response unless the request allows more. Rejects with a `Fault` at the request's deadline. */
export function upstream(options: UpstreamOptions): Upstream {
  const { url, timeoutMs } = options
  const { origin, pathname } = new URL(url)
  const base = pathname.replace(/\/$/, '')
  const kept = new KeptConnections(origin, options)
  const send = (request: HttpRequest, body: string | null): Promise<HttpResponse> => {
    const { method, path, query, headers, deadline = performance.now() + timeoutMs, maxResponseBytes } = request
    const remainingMs = deadline - performance.now()
    if (remainingMs <= 0) return Promise.reject(timedOut('nothingSent'))
    const dispatched: Dispatcher.DispatchOptions = {
      method: method as Dispatcher.HttpMethod,
      path: base + path + (query && `?${query}`),
      headers,
      body,
    }
    return new Promise((resolve, reject) => {
      const done = (response: HttpResponse): void => {
        kept.note(response.headers)
        resolve(response)
      }
      kept.current().dispatch(dispatched, new ResponseCollector(remainingMs, done, reject, maxResponseBytes))
    })
  }
  const http: Http = (request) => (request.body ? request.body().then((body) => send(request, body)) : send(request, null))
  const openConnections = (): OpenConnections => kept.openConnections()
  return { http, openConnections, retire: () => kept.end('close'), close: () => kept.end('destroy') }
}

/**
 * Connections that were idle for less than half of the keep-alive that the provider announces: it may close an older one just as a
 * create is sent, which would then be unknown. From before an answer that lacks one of the provider's addresses none takes a new request,
 * nor does one of `maxConnectionAge` (`undici.http.test.ts`).
 */
class KeptConnections {
  private pool: Pool
  private openedAt = performance.now()
  private readonly origin: string
  private readonly maxConnections: number
  private readonly maxAgeMs: number
  private readonly way: Way
  private readonly ending = new Set<Pool>()
  /** Of the last look-up. */
  private addresses: ReadonlySet<string> = new Set()
  private maxIdleMs: number | undefined
  private isEnded = false

  constructor(
    origin: string,
    { maxConnections = defaultMaxConnections, maxAgeMs, lookup, tunnel, onCertificate = () => {} }: UpstreamOptions,
  ) {
    this.origin = origin
    this.maxConnections = maxConnections
    this.maxAgeMs = maxAgeMs
    const following: LookupFunction = (hostname, options, done) =>
      lookup(hostname, options, (reason, address, family) => {
        if (!reason) this.follow(typeof address === 'string' ? [address] : address.map((entry) => entry.address))
        done(reason, address, family)
      })
    this.way = { lookup: following, tunnel, onCertificate }
    this.pool = this.openPool(unannouncedMaxIdleMs)
  }

  /** A pool ends as a whole: undici's own age of a connection reads the clock for each connection at each request. */
  current(): Pool {
    if (!this.isEnded && performance.now() - this.openedAt > this.maxAgeMs) this.drain()
    return this.pool
  }

  /** Takes what a response announces: the first, and then what is shorter. */
  note({ 'keep-alive': announced }: Headers): void {
    const seconds = announced === undefined ? undefined : /timeout=([0-9]{1,6})/i.exec(announced)?.[1]
    if (seconds === undefined || this.isEnded) return
    const maxIdleMs = Math.max(1, Number(seconds) * 500)
    const before = this.maxIdleMs
    if (before !== undefined && maxIdleMs >= before) return
    this.maxIdleMs = maxIdleMs
    if (maxIdleMs === (before ?? unannouncedMaxIdleMs)) return
    this.drain()
  }

  openConnections(): OpenConnections {
    const stats = [this.pool, ...this.ending].map((pool) => pool.stats)
    const idle = stats.reduce((sum, { free }) => sum + free, 0)
    return { active: stats.reduce((sum, { connected }) => sum + connected, 0) - idle, idle, max: this.maxConnections }
  }

  private follow(found: readonly string[]): void {
    const before = this.addresses
    this.addresses = new Set(found)
    if (!before.isSubsetOf(this.addresses) && !this.isEnded) this.drain()
  }

  /** New requests get new connections. */
  private drain(): void {
    const { pool } = this
    this.pool = this.openPool(this.maxIdleMs ?? unannouncedMaxIdleMs)
    this.openedAt = performance.now()
    this.ending.add(pool)
    const forget = (): void => void this.ending.delete(pool)
    pool.close().then(forget, forget) // rejects if it is closed already
  }

  async end(how: 'close' | 'destroy'): Promise<void> {
    this.isEnded = true
    if (how === 'destroy') await Promise.all([...this.ending].map((pool) => pool.destroy()))
    await this.pool[how]()
  }

  private openPool(maxIdleMs: number): Pool {
    return new Pool(this.origin, {
      connect: markingConnector(this.way),
      connections: this.maxConnections,
      keepAliveTimeout: keepAliveMs,
      keepAliveTimeoutThreshold: 0,
      keepAliveMaxTimeout: maxIdleMs,
      // Each call has a limit of its own.
      maxResponseSize: -1,
      // The deadline covers the whole response; these timeouts would restart with every chunk.
      headersTimeout: 0,
      bodyTimeout: 0,
      ...withoutHttp2,
    })
  }
}

// undici: one request to a provider and its response, with a deadline and a limit of bytes.

const defaultMaxResponseBytes = 2 * 1024 * 1024

/** One request and its response. The first event that ends it decides the result. */
class ResponseCollector implements Dispatcher.DispatchHandler {
  private readonly resolve: (response: HttpResponse) => void
  private readonly reject: (fault: Fault) => void
  private readonly timer: NodeJS.Timeout
  private controller: Dispatcher.DispatchController | undefined
  private isOver = false
  private status = 0
  private headers: Headers = {}
  private readonly body = new ResponseBytes()
  private remainingBytes: number
  private readonly maxResponseBytes: number

  constructor(
    remainingMs: number,
    resolve: (response: HttpResponse) => void,
    reject: (fault: Fault) => void,
    maxResponseBytes = defaultMaxResponseBytes,
  ) {
    this.remainingBytes = maxResponseBytes
    this.maxResponseBytes = maxResponseBytes
    this.resolve = resolve
    this.reject = reject
    this.timer = setTimeout(() => this.expire(), roundToTimerBucket(remainingMs))
  }

  /** Called before the first byte is sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.isOver) controller.abort(timedOut('nothingSent'))
    else this.controller = controller
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, received: IncomingHttpHeaders): void {
    const headers = headerTexts(received)
    this.status = status
    this.headers = headers
    if (Number(headers['content-length'] ?? 0) > this.remainingBytes) controller.abort(new UnreadableBody('too_large'))
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.remainingBytes -= chunk.length
    if (this.remainingBytes < 0) controller.abort(new UnreadableBody('too_large'))
    else this.body.add(chunk)
  }

  onResponseEnd(): void {
    try {
      this.succeed(textOf(this.body.whole(), this.headers['content-encoding'], this.maxResponseBytes))
    } catch (reason) {
      if (this.isRefusal) this.succeed('')
      else this.fail(unreadable(reason))
    }
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const isUnsent = this.controller === undefined || isConnectError(error)
    const failureCause = unreachableCauseOf(error)
    if (this.isRefusal) this.onResponseEnd()
    else if (isUnsent) this.fail(new Fault('unreachable', brokenMessage, { effect: 'nothingSent', failureCause, cause: error }))
    else if (this.status === 0) this.fail(new Fault('failed', brokenMessage, { failureCause, cause: error }))
    else this.fail(unreadable(error))
  }

  /** A 4xx is one by its head alone, whatever becomes of its body. */
  private get isRefusal(): boolean {
    return this.status >= 400 && this.status < 500
  }

  private succeed(body: string): void {
    if (this.end()) this.resolve({ status: this.status, headers: this.headers, body })
  }

  private expire(): void {
    const fault = timedOut(this.controller ? 'maybe' : 'nothingSent')
    if (this.isRefusal) this.succeed('')
    this.fail(fault)
    this.controller?.abort(fault)
  }

  private fail(fault: Fault): void {
    if (this.end()) this.reject(fault)
  }

  /** Returns false if it has already ended. */
  private end(): boolean {
    if (this.isOver) return false
    this.isOver = true
    clearTimeout(this.timer)
    return true
  }
}

/** Repeated lines of a header are one list (RFC 9110 §5.3). */
function headerTexts(headers: IncomingHttpHeaders): Headers {
  if (!Object.values(headers).some(Array.isArray)) return headers as Headers
  const texts = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value] as const)
  return Object.fromEntries(texts)
}

const decoders: Readonly<Record<string, (bytes: Buffer, maxOutputLength: number) => Buffer>> = {
  identity: (bytes) => bytes,
  gzip: (bytes, maxOutputLength) => gunzipSync(bytes, { maxOutputLength }),
  'x-gzip': (bytes, maxOutputLength) => gunzipSync(bytes, { maxOutputLength }),
  deflate: (bytes, maxOutputLength) => unzipDeflate(bytes, maxOutputLength),
  br: (bytes, maxOutputLength) => brotliDecompressSync(bytes, { maxOutputLength }),
}

/** What is wrong with the bytes of a body. */
class UnreadableBody extends Error {
  readonly failureCause: UnreadableCause

  constructor(failureCause: UnreadableCause) {
    super(`The body cannot be read: ${failureCause}.`)
    this.failureCause = failureCause
  }
}

/** `reason`: why the body cannot be read, or what ended the connection before its end. */
function unreadable(reason: unknown): Fault {
  return standardFault('unreadable', {
    failureCause: reason instanceof UnreadableBody ? reason.failureCause : 'cut_off',
    cause: reason,
  })
}

const byteOrderMark = 0xfeff
/** The marks of UTF-16 in either order; the one of UTF-32 begins or ends with one of them. */
const otherMarks = ['fffe', 'feff', '0000feff'].map((mark) => Buffer.from(mark, 'hex'))

/** The body without its byte order mark. Throws `UnreadableBody`. */
function textOf(bytes: Buffer, contentEncoding: string | undefined, maxLength: number): string {
  const decoded = contentEncoding === undefined ? bytes : decode(bytes, contentEncoding, maxLength)
  if (otherMarks.some((mark) => decoded.subarray(0, mark.length).equals(mark))) throw new UnreadableBody('bom')
  if (!isUtf8(decoded)) throw new UnreadableBody('charset')
  const text = decoded.toString('utf8')
  if (text.charCodeAt(0) !== byteOrderMark) return text
  if (text.charCodeAt(1) === byteOrderMark) throw new UnreadableBody('bom')
  return text.slice(1)
}

/** Thousands of them, each around the next, would hold the loop for seconds. */
const maxCodings = 2

/** Of providers that compress though `identity` was asked for. */
function decode(bytes: Buffer, contentEncoding: string, maxLength: number): Buffer {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
  if (codings.length > maxCodings) throw new UnreadableBody('encoding')
  return codings.reduceRight((decoded, coding) => decodeOne(decoded, coding, maxLength), bytes)
}

function decodeOne(bytes: Buffer, coding: string, maxLength: number): Buffer {
  try {
    const decoded = decoders[coding]?.(bytes, maxLength)
    if (decoded) return decoded
  } catch (reason) {
    const code = reason instanceof Error && 'code' in reason ? reason.code : undefined
    throw new UnreadableBody(code === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : code === 'Z_BUF_ERROR' ? 'cut_off' : 'encoding')
  }
  throw new UnreadableBody('encoding')
}

/** With the header of zlib, as RFC 9110 has it, or without, as some servers send it. */
function unzipDeflate(bytes: Buffer, maxOutputLength: number): Buffer {
  try {
    return inflateSync(bytes, { maxOutputLength })
  } catch {
    return inflateRawSync(bytes, { maxOutputLength })
  }
}

/** Rounds, since Node keeps a list of timers per duration: under load, thousands of lists with one timer cost 6 % of the time. */
function roundToTimerBucket(milliseconds: number): number {
  return milliseconds < 1_000 ? milliseconds : milliseconds - (milliseconds % 50)
}

const brokenMessage = 'The provider could not be reached or broke off; please try again later.'

function timedOut(effect: 'nothingSent' | 'maybe'): Fault {
  const message = 'The provider did not answer in time; please try again later.'
  return new Fault('timedOut', message, { effect, failureCause: 'timed_out' })
}

// node:buffer: collects the bytes of a response.

const firstBytes = 4_096
const noBytes = Buffer.alloc(0)

/**
 * Copies the bytes, since each chunk is a slice that keeps its 64 KiB read buffer alive: a response that arrives byte by byte
 * would take thousands of times its size.
 */
export class ResponseBytes {
  /** The only chunk so far; most responses have one. */
  private only: Buffer | undefined
  private bytes: Buffer = noBytes
  private length = 0

  add(chunk: Buffer): void {
    if (this.length === 0 && this.only === undefined) {
      this.only = chunk
      return
    }
    if (this.only) {
      const { only } = this
      this.only = undefined
      this.append(only)
    }
    this.append(chunk)
  }

  whole(): Buffer {
    return this.only ?? this.bytes.subarray(0, this.length)
  }

  private append(chunk: Buffer): void {
    const needed = this.length + chunk.length
    if (needed > this.bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.bytes.length, firstBytes))
      this.bytes.copy(grown, 0, 0, this.length)
      this.bytes = grown
    }
    chunk.copy(this.bytes, this.length)
    this.length = needed
  }
}

// undici: connects to providers, and marks errors of connecting.

const connectTimeoutMs = 2_000
/** Over HTTP/2 undici resends a refused POST. */
const withoutHttp2 = { allowH2: false }

const connectErrors = new WeakSet<Error>()

/** Whether no byte of a request was sent, because the connection failed. */
function isConnectError(error: Error): boolean {
  return connectErrors.has(error)
}

type Way = Pick<UpstreamOptions, 'lookup' | 'tunnel'> & Required<Pick<UpstreamOptions, 'onCertificate'>>

/** Marks errors of connecting: then no byte of a request was sent, whatever the error's code. */
function markingConnector({ lookup, tunnel, onCertificate }: Way): buildConnector.connector {
  const connector = buildConnector({ timeout: connectTimeoutMs, lookup, ...withoutHttp2 })
  return (options, callback) => {
    const done: buildConnector.Callback = (...result) => {
      const [error, socket] = result
      if (error) connectErrors.add(error)
      else if (socket instanceof TLSSocket) reportCertificate(socket, onCertificate)
      if (error) callback(error, null)
      else callback(null, withoutContinue(socket))
    }
    if (!tunnel) return void connector(options, done)
    tunnel(options.hostname, Number(options.port) || 443).then(
      (httpSocket) => connector({ ...options, httpSocket }, done),
      (error: Error) => done(error, null),
    )
  }
}

/** A resumed session has none: the one of its first connection was reported. */
function reportCertificate(socket: TLSSocket, onCertificate: (notAfter: number) => void): void {
  const { valid_to: end } = socket.getPeerCertificate()
  if (end !== undefined) onCertificate(Date.parse(end))
}
