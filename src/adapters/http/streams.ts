/** node:http: hands a request and its response from the server's adapter to the one that streams them. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Streams } from '../../wire/http.ts'

export interface ServerStreams {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Whether the response must have `Connection: close`. */
  readonly endsConnection: () => boolean
}

export function handOver(streams: ServerStreams): Streams {
  return streams as unknown as Streams
}

export function takeOver(streams: Streams): ServerStreams {
  return streams as unknown as ServerStreams
}
