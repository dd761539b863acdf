/** The native lane's way to a provider: bytes pass both ways and are not examined (docs/contract.md §11). */
import type { Headers, Streams } from './http.ts'

export interface NativeRequest {
  readonly streams: Streams
  readonly method: string
  /** What follows the provider's base URL, with the query. */
  readonly path: string
  /** All that go up, but `Host` and `Connection`. */
  readonly headers: Headers
  /** Of the body that goes up. */
  readonly maxBytes: number
  /** Milliseconds for the head of the answer, without those in which the client's body is waited for. */
  readonly timeoutMs: number
  /** Milliseconds from one byte to the next, in either direction. */
  readonly idleTimeoutMs: number
  /** What of the provider's head goes down. Throws the `Fault` that the client is told in its place. */
  readonly toClient: (status: number, headers: Headers) => NativeHead
}

export interface NativeHead {
  readonly status: number
  readonly headers: Headers
}

/**
 * Ends when the answer has gone down whole. Throws a `Fault`: before `toClient` has returned nothing went down, and after that the
 * connection is cut. One request is one connection, and is never sent again.
 */
export type SendNative = (request: NativeRequest) => Promise<void>
