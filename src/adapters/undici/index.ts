/** undici: connections to providers. The fastest HTTP client for Node; it separates errors of connecting from errors of sending. */
import type { LookupFunction } from 'node:net'
import { type Dispatcher, Pool } from 'undici'
import type { Headers, Http, HttpRequest, HttpResponse } from '../../wire/http.ts'
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
  /** An older connection takes no new request. */
  readonly maxAgeMs: number
  readonly lookup: LookupFunction
}

const maxConnections = 128
/** Of a provider that announces none, undici's own; and until one was announced, half of Node's. */
const keepAliveMs = 4_000
const unannouncedMaxIdleMs = 2_500

/** Connects to a provider. No redirects, no retries, at most 2 MiB per response unless the request allows more. Rejects with a `Fault` at the request's deadline. */
export function upstream({ url, timeoutMs, maxAgeMs, lookup }: UpstreamOptions): Upstream {
  const { origin, pathname } = new URL(url)
  const base = pathname.replace(/\/$/, '')
  const kept = new KeptConnections(origin, maxAgeMs, lookup)
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
    return new Promise((resolve, reject) => {
      const done = (response: HttpResponse): void => {
        kept.note(response.headers)
        resolve(response)
      }
      kept.current().dispatch(options, new Exchange(remainingMs, done, reject, maxResponseBytes))
    })
  }
  const http: Http = (request) => (request.body ? request.body().then((body) => exchange(request, body)) : exchange(request, null))
  return { http, retire: () => kept.end('close'), close: () => kept.end('destroy') }
}

/**
 * Connections that were idle for less than half of the keep-alive that the provider announces: it may close an older one just as a
 * create is sent, which would then be unknown. Those to an address that the provider's name no longer has take no new request.
 */
class KeptConnections {
  private pool: Pool
  private openedAt = performance.now()
  private readonly origin: string
  private readonly maxAgeMs: number
  private readonly lookup: LookupFunction
  private readonly ending = new Set<Pool>()
  /** Of the last look-up. */
  private addresses: ReadonlySet<string> = new Set()
  private maxIdleMs: number | undefined
  private isEnded = false

  constructor(origin: string, maxAgeMs: number, lookup: LookupFunction) {
    this.origin = origin
    this.maxAgeMs = maxAgeMs
    this.lookup = (hostname, options, done) =>
      lookup(hostname, options, (reason, address, family) => {
        if (!reason) this.follow(typeof address === 'string' ? [address] : address.map((entry) => entry.address))
        done(reason, address, family)
      })
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
      connect: markingConnector(this.lookup),
      connections: maxConnections,
      keepAliveTimeout: keepAliveMs,
      keepAliveTimeoutThreshold: 0,
      keepAliveMaxTimeout: maxIdleMs,
      // Each exchange has a limit of its own.
      maxResponseSize: -1,
      // The deadline covers the whole response; these timeouts would restart with every chunk.
      headersTimeout: 0,
      bodyTimeout: 0,
      ...withoutHttp2,
    })
  }
}
