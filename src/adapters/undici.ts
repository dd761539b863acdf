/** undici: the provider's connections; of the HTTP clients for Node the fastest that reports whether a byte was sent. */
import { buildConnector, Pool } from 'undici'
import { Fault } from '../domain/fault.ts'
import type { Headers, Http } from '../wire/http.ts'

export interface Upstream {
  readonly http: Http
  readonly close: () => Promise<void>
}

export interface UpstreamOptions {
  /** The base URL; its path comes before every path. */
  readonly url: string
  /** Milliseconds. */
  readonly timeout: number
}

const maxResponseBytes = 2 * 1024 * 1024
const connectTimeout = 2_000
const mostConnections = 128

/** No redirects, no retries, no more than 2 MiB, and never later than the request's deadline. */
export function upstream({ url, timeout }: UpstreamOptions): Upstream {
  const { origin, pathname } = new URL(url)
  const base = pathname.replace(/\/$/, '')
  const pool = new Pool(origin, {
    connect: markingConnector(),
    connections: mostConnections,
    maxResponseSize: maxResponseBytes,
    headersTimeout: timeout,
    bodyTimeout: timeout,
    pipelining: 1,
  })
  const http: Http = async ({ method, path, query, headers, body, deadline = performance.now() + timeout }) => {
    const left = deadline - performance.now()
    if (left <= 0) throw new Fault('timedOut', lateMessage, { certain: true })
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort(), left)
    try {
      const response = await pool.request({
        method: method as 'GET' | 'POST',
        path: base + path + (query && `?${query}`),
        headers: headers as Record<string, string>,
        body: body ? await body() : null,
        signal: abort.signal,
      })
      return { status: response.statusCode, headers: response.headers as Headers, body: await response.body.text() }
    } catch (reason) {
      throw toFault(reason, abort.signal.aborted)
    } finally {
      clearTimeout(timer)
    }
  }
  return { http, close: () => pool.destroy() }
}

const lateMessage = 'The provider did not answer in time; please try again later.'
const brokenMessage = 'The provider could not be reached or broke off; please try again later.'
const timeouts: ReadonlySet<string | undefined> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])
const unconnected = new WeakSet<Error>()

/** Notes which errors come from connecting: then no byte of a request was sent, whatever the error is called. */
function markingConnector(): buildConnector.connector {
  const connector = buildConnector({ timeout: connectTimeout })
  return (options, callback) =>
    connector(options, (...result) => {
      const [error] = result
      if (error) unconnected.add(error)
      callback(...result)
    })
}

function toFault(reason: unknown, isLate: boolean): Fault {
  const error = reason as Error & { readonly code?: string }
  if (unconnected.has(error)) return new Fault('unreachable', brokenMessage, { certain: true, cause: error })
  if (isLate || timeouts.has(error.code)) return new Fault('timedOut', lateMessage, { cause: error })
  return new Fault('failed', brokenMessage, { cause: error })
}
