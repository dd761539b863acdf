/** undici: connections to providers. The fastest HTTP client for Node; it separates errors of connecting from errors of sending. */
import { isUtf8 } from 'node:buffer'
import { buildConnector, type Dispatcher, Pool } from 'undici'
import { Fault } from '../../domain/faults/fault.ts'
import { standardFault } from '../../domain/faults/standard-fault.ts'
import type { Headers, Http, HttpRequest, HttpResponse } from '../../wire/http.ts'
import { ResponseBytes } from './response-body.ts'

export interface Upstream {
  readonly http: Http
  /** Accepts no new requests, and closes after the last response. */
  readonly retire: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface UpstreamOptions {
  /** The base URL; its path is a prefix of every path. */
  readonly url: string
  /** Milliseconds, for a request without a deadline. */
  readonly timeoutMs: number
}

const defaultMaxResponseBytes = 2 * 1024 * 1024
const connectTimeoutMs = 2_000
const maxConnections = 128
/** Over HTTP/2 undici resends a refused POST. */
const withoutHttp2 = { allowH2: false }

/** Connects to a provider. No redirects, no retries, at most 2 MiB per response unless the request allows more. Rejects with a `Fault` at the request's deadline. */
export function upstream({ url, timeoutMs }: UpstreamOptions): Upstream {
  const { origin, pathname } = new URL(url)
  const base = pathname.replace(/\/$/, '')
  const pool = new Pool(origin, {
    connect: markingConnector(),
    connections: maxConnections,
    // Each exchange has a limit of its own.
    maxResponseSize: -1,
    // The deadline covers the whole response; these timeouts would restart with every chunk.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...withoutHttp2,
  })
  const exchange = (request: HttpRequest, body: string | null): Promise<HttpResponse> => {
    const { method, path, query, headers, deadline = performance.now() + timeoutMs, maxResponseBytes } = request
    const remainingMs = deadline - performance.now()
    if (remainingMs <= 0) return Promise.reject(timedOut(true))
    const options: Dispatcher.DispatchOptions = {
      method: method as Dispatcher.HttpMethod,
      path: base + path + (query && `?${query}`),
      headers,
      body,
    }
    return new Promise((resolve, reject) => pool.dispatch(options, new Exchange(remainingMs, resolve, reject, maxResponseBytes)))
  }
  const http: Http = (request) => (request.body ? request.body().then((body) => exchange(request, body)) : exchange(request, null))
  return { http, retire: () => pool.close(), close: () => pool.destroy() }
}

/** One request and its response. The first event that ends it decides the result. */
class Exchange implements Dispatcher.DispatchHandler {
  private readonly resolve: (response: HttpResponse) => void
  private readonly reject: (fault: Fault) => void
  private readonly timer: NodeJS.Timeout
  private controller: Dispatcher.DispatchController | undefined
  private isOver = false
  private status = 0
  private headers: Headers = {}
  private readonly body = new ResponseBytes()
  private remainingBytes: number

  constructor(
    remainingMs: number,
    resolve: (response: HttpResponse) => void,
    reject: (fault: Fault) => void,
    maxResponseBytes = defaultMaxResponseBytes,
  ) {
    this.remainingBytes = maxResponseBytes
    this.resolve = resolve
    this.reject = reject
    this.timer = setTimeout(() => this.expire(), roundToTimerBucket(remainingMs))
  }

  /** Called before the first byte is sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.isOver) controller.abort(timedOut(true))
    else this.controller = controller
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.status = status
    this.headers = headers
    if (Number(headers['content-length'] ?? 0) > this.remainingBytes) controller.abort(tooLarge())
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.remainingBytes -= chunk.length
    if (this.remainingBytes < 0) controller.abort(tooLarge())
    else this.body.add(chunk)
  }

  onResponseEnd(): void {
    const bytes = this.body.whole()
    if (!isUtf8(bytes)) this.fail(standardFault('unreadable'))
    else if (this.end()) this.resolve({ status: this.status, headers: this.headers, body: bytes.toString('utf8') })
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const isUnsent = this.controller === undefined || connectErrors.has(error)
    if (isUnsent) this.fail(new Fault('unreachable', brokenMessage, { noEffect: true, cause: error }))
    else if (this.status === 0) this.fail(new Fault('failed', brokenMessage, { cause: error }))
    else this.fail(standardFault('unreadable', { cause: error }))
  }

  private expire(): void {
    const fault = timedOut(this.controller === undefined)
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

/** Rounds, since Node keeps a list of timers per duration: under load, thousands of lists with one timer cost 6 % of the time. */
function roundToTimerBucket(milliseconds: number): number {
  return milliseconds < 1_000 ? milliseconds : milliseconds - (milliseconds % 50)
}

const brokenMessage = 'The provider could not be reached or broke off; please try again later.'

function tooLarge(): Error {
  return new Error('The response is too large.')
}

/** `noEffect`: no byte was sent. */
function timedOut(noEffect: boolean): Fault {
  return new Fault('timedOut', 'The provider did not answer in time; please try again later.', { noEffect })
}

const connectErrors = new WeakSet<Error>()

/** Marks errors of connecting: then no byte of a request was sent, whatever the error's code. */
function markingConnector(): buildConnector.connector {
  const connector = buildConnector({ timeout: connectTimeoutMs, ...withoutHttp2 })
  return (options, callback) =>
    connector(options, (...result) => {
      const [error] = result
      if (error) connectErrors.add(error)
      callback(...result)
    })
}
