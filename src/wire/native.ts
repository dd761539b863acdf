/** The port through which the native lane streams a request to a provider and the response back (docs/contract.md §11). */
import type { Headers, Streams } from './http.ts'

export interface NativeRequest {
  readonly streams: Streams
  readonly method: string
  /** Path below the provider's base URL, with the query. */
  readonly path: string
  /** All request headers except `Host` and `Connection`. */
  readonly headers: Headers
  /** Of the request body. */
  readonly maxBytes: number
  /** Milliseconds until the head of the response, not counting the wait for the client's body. */
  readonly timeoutMs: number
  /** Milliseconds from one byte to the next, in either direction. */
  readonly idleTimeoutMs: number
  /** Maps the provider's head to the client's. Throws the `Fault` that the client gets instead of the response. */
  readonly toClient: (status: number, headers: Headers) => NativeHead
}

export interface NativeHead {
  readonly status: number
  readonly headers: Headers
}

/**
 * Resolves when the whole response was sent to the client. Throws a `Fault`: until `toClient` has returned, the client got nothing;
 * after that its connection is cut. Uses a new connection for each request and never retries.
 */
export type SendNative = (request: NativeRequest) => Promise<void>
