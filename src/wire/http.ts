/** HTTP as plain data: a server's handler and a client are the same type, so they compose with no network between. */

import type { Fault } from '../domain/fault.ts'

export type Headers = Readonly<Record<string, string | undefined>>

export interface HttpRequest {
  readonly method: string
  /** As sent, without the query. Begins with `/`. */
  readonly path: string
  /** Without its `?`, as it was sent. */
  readonly query: string
  /** Names in lower case. */
  readonly headers: Headers
  /** Names of headers that were sent more than once, but must not be. */
  readonly repeated?: readonly string[]
  /** Why the request is invalid at every path, for example a bad Host. */
  readonly protocolError?: Fault
  /** The client's address. */
  readonly address?: string
  /** Reads the body, once. Throws a `Fault` if it is too large or not UTF-8. */
  readonly body?: () => Promise<string>
  /** On the clock of `performance.now()`. */
  readonly deadline?: number
  /** The maximum size of the response; default: 2 MiB. */
  readonly maxResponseBytes?: number
  /** The connection's streams, for the native lane. */
  readonly streams?: Streams
}

/** The request and its response as streams: the server's adapter creates them, the adapter of the native lane uses them. */
export interface Streams {
  /** Whether the response must have `Connection: close`. */
  readonly endsConnection: () => boolean
}

export interface HttpResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  /** Sent instead of `body`: shared by all responses, never copied. */
  readonly bytes?: Uint8Array
  /** The response was already sent through `streams`, whole or cut off. */
  readonly isSent?: true
}

/** Throws only a `Fault`. A response with an error status is returned. */
export type Http = (request: HttpRequest) => Promise<HttpResponse>
