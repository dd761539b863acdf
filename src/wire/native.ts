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
  /** Milliseconds for the whole call. */
  readonly totalTimeoutMs: number
  /** Ends the call with its reason, a `Fault`. */
  readonly signal: AbortSignal
  /** Finds keys in the body of the response; it must not have one. */
  readonly keys: KeySearch
  /** Maps the provider's head to the client's. Throws the `Fault` that the client gets instead of the response. */
  readonly toClient: (status: number, headers: Headers) => NativeHead
}

export interface KeySearch {
  /** Of the longest key; 0 if there are none. */
  readonly longestKey: number
  /** Whether bytes, as Latin-1, contain a key. */
  readonly containsLongKey: (text: string) => boolean
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
