/** undici: connections to providers. The fastest HTTP client for Node; it separates errors of connecting from errors of sending. */
import { type Dispatcher, Pool } from 'undici'
import type { Http, HttpRequest, HttpResponse } from '../../wire/http.ts'
import { markingConnector, withoutHttp2 } from './connector.ts'
import { Exchange, timedOut } from './exchange.ts'

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

const maxConnections = 128
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
