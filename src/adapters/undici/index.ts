/** undici: the provider's connections; of the HTTP clients for Node the fastest, and it tells connecting from sending. */
import { isUtf8 } from 'node:buffer'
import { buildConnector, type Dispatcher, Pool } from 'undici'
import { Fault } from '../../domain/faults/fault.ts'
import { standardFault } from '../../domain/faults/standard-fault.ts'
import type { Headers, Http, HttpRequest, HttpResponse } from '../../wire/http.ts'
import { ResponseBytes } from './response-body.ts'

export interface Upstream {
  readonly http: Http
  /** Ends when what is in flight is answered. */
  readonly retire: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface UpstreamOptions {
  /** The base URL; its path comes before every path. */
  readonly url: string
  /** Milliseconds, for a request without a deadline. */
  readonly timeoutMs: number
}

const maxResponseBytes = 2 * 1024 * 1024
const connectTimeoutMs = 2_000
const maxConnections = 128
/** Over HTTP/2 undici sends a refused POST again. */
const withoutHttp2 = { allowH2: false }

/** No redirects, no retries, no more than 2 MiB, and never later than the request's deadline. */
export function upstream({ url, timeoutMs }: UpstreamOptions): Upstream {
  const { origin, pathname } = new URL(url)
  const base = pathname.replace(/\/$/, '')
  const pool = new Pool(origin, {
    connect: markingConnector(),
    connections: maxConnections,
    maxResponseSize: maxResponseBytes,
    // The deadline bounds the whole answer; these would restart with every chunk.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...withoutHttp2,
  })
  const exchange = (request: HttpRequest, body: string | null): Promise<HttpResponse> => {
    const { method, path, query, headers, deadline = performance.now() + timeoutMs } = request
    const remainingMs = deadline - performance.now()
    if (remainingMs <= 0) return Promise.reject(timedOut(true))
    const options: Dispatcher.DispatchOptions = {
      method: method as Dispatcher.HttpMethod,
      path: base + path + (query && `?${query}`),
      headers: headers as Record<string, string>,
      body,
    }
    return new Promise((resolve, reject) => pool.dispatch(options, new Exchange(remainingMs, resolve, reject)))
  }
  const http: Http = (request) => (request.body ? request.body().then((body) => exchange(request, body)) : exchange(request, null))
  return { http, retire: () => pool.close(), close: () => pool.destroy() }
}

/** One request and its answer, as undici tells of them. Whatever ends it first settles it. */
class Exchange implements Dispatcher.DispatchHandler {
  private readonly resolve: (response: HttpResponse) => void
  private readonly reject: (fault: Fault) => void
  private readonly timer: NodeJS.Timeout
  private controller: Dispatcher.DispatchController | undefined
  private isOver = false
  private status = 0
  private headers: Headers = {}
  private readonly body = new ResponseBytes()

  constructor(remainingMs: number, resolve: (response: HttpResponse) => void, reject: (fault: Fault) => void) {
    this.resolve = resolve
    this.reject = reject
    this.timer = setTimeout(() => this.expire(), roundToTimerBucket(remainingMs))
  }

  /** Called before the first byte is sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.isOver) controller.abort(timedOut(true))
    else this.controller = controller
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.status = status
    this.headers = headers
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.body.add(chunk)
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

  /** False where it was over before. */
  private end(): boolean {
    if (this.isOver) return false
    this.isOver = true
    clearTimeout(this.timer)
    return true
  }
}

/** Node keeps a list of timers for each duration: under load thousands of lists with one timer each cost 6 % of the time. */
function roundToTimerBucket(milliseconds: number): number {
  return milliseconds < 1_000 ? milliseconds : milliseconds - (milliseconds % 50)
}

const brokenMessage = 'The provider could not be reached or broke off; please try again later.'

/** `certain`: no byte was sent. */
function timedOut(noEffect: boolean): Fault {
  return new Fault('timedOut', 'The provider did not answer in time; please try again later.', { noEffect })
}

const connectErrors = new WeakSet<Error>()

/** Notes which errors come from connecting: then no byte of a request was sent, whatever the error is called. */
function markingConnector(): buildConnector.connector {
  const connector = buildConnector({ timeout: connectTimeoutMs, ...withoutHttp2 })
  return (options, callback) =>
    connector(options, (...result) => {
      const [error] = result
      if (error) connectErrors.add(error)
      callback(...result)
    })
}
