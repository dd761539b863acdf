/**
 * undici: sends spans to the collector. Node's own client shares the code of its streams and sockets with the server: with it
 * a get took 2 % longer, in some processes 10 %.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { ExportResponse, IExporterTransport } from '@opentelemetry/otlp-exporter-base'
import { type Dispatcher, Pool } from 'undici'
import type { Headers } from '../../wire/http.ts'
import { readRetryAfter } from '../../wire/retry-after.ts'

export interface Collector {
  readonly url: URL
  readonly headers: () => Promise<Readonly<Record<string, string>>>
  readonly isCompressed: boolean
  readonly tls: () => Promise<Certificates>
}

/** In PEM; undefined: the default certificates of Node. */
export interface Certificates {
  readonly ca?: string | Buffer | undefined
  readonly cert?: string | Buffer | undefined
  readonly key?: string | Buffer | undefined
}

const compress = promisify(gzip)
/** Retryable statuses of OTLP/HTTP. */
const retryable: ReadonlySet<number> = new Set([429, 502, 503, 504])
/** The delay before the first retry; each further delay is 1.5 times as long. */
const initialBackoffMs = 1_000
const timeoutError = new Error('the collector did not accept the batch in time')

/** Retries retryable failures within `timeoutMillis`. */
export function transport({ url, headers, isCompressed, tls }: Collector): IExporterTransport {
  let opening: Promise<Pool> | undefined
  const open = async (timeoutMs: number): Promise<Pool> =>
    new Pool(url.origin, { connections: 1, allowH2: false, connect: { ...(await tls()), timeout: timeoutMs } })
  return {
    async send(data, timeoutMillis) {
      const deadline = performance.now() + timeoutMillis
      opening ??= open(timeoutMillis)
      const pool = await opening
      const options: Dispatcher.DispatchOptions = {
        method: 'POST',
        path: url.pathname + url.search,
        headers: { ...(await headers()), ...(isCompressed && { 'content-encoding': 'gzip' }) },
        body: isCompressed ? await compress(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength),
      }
      for (let backoffMs = initialBackoffMs; ; backoffMs *= 1.5) {
        const response = await deliver(pool, options, deadline - performance.now())
        if (response.status !== 'retryable') return response
        const waitMs = Math.max(backoffMs, response.retryInMillis ?? 0)
        if (performance.now() + waitMs >= deadline) return response
        await wait(waitMs, undefined, { ref: false })
      }
    },
    shutdown() {
      opening?.then((pool) => pool.destroy()).catch(() => {})
    },
  }
}

function deliver(pool: Pool, options: Dispatcher.DispatchOptions, remainingMs: number): Promise<ExportResponse> {
  return new Promise((resolve) => pool.dispatch(options, new Delivery(remainingMs, resolve)))
}

/** One delivery of a batch. Uses only the collector's status and Retry-After. */
class Delivery implements Dispatcher.DispatchHandler {
  private readonly resolve: (response: ExportResponse) => void
  private readonly timer: NodeJS.Timeout
  private controller: Dispatcher.DispatchController | undefined
  private isOver = false
  private status = 0
  /** Retry-After of the collector, in seconds. */
  private retryAfter = 0

  constructor(timeout: number, resolve: (response: ExportResponse) => void) {
    this.resolve = resolve
    this.timer = setTimeout(() => this.expire(), timeout)
  }

  /** Called before the first byte is sent, possibly after the timeout. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.isOver) controller.abort(timeoutError)
    else this.controller = controller
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.status = status
    this.retryAfter = readRetryAfter(headers['retry-after']) ?? 0
  }

  /** undici requires this method. */
  onResponseData(): void {}

  onResponseEnd(): void {
    const error = new Error(`the collector returned ${this.status}`)
    if (this.status < 300) this.finish({ status: 'success' })
    else if (!retryable.has(this.status)) this.finish({ status: 'failure', error })
    else this.finish({ status: 'retryable', error, retryInMillis: 1_000 * this.retryAfter })
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.finish({ status: 'retryable', error })
  }

  private expire(): void {
    this.finish({ status: 'failure', error: timeoutError })
    this.controller?.abort(timeoutError)
  }

  private finish(response: ExportResponse): void {
    this.isOver = true
    clearTimeout(this.timer)
    this.resolve(response)
  }
}
