/** node:http: a request and its response on their way from the adapter that received them to the one that streams them. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Streams } from '../../wire/http.ts'

export interface ServerStreams {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Whether the connection is to end with this response. */
  readonly endsConnection: () => boolean
}

export function handOver(streams: ServerStreams): Streams {
  return streams as unknown as Streams
}

export function takeOver(streams: Streams): ServerStreams {
  return streams as unknown as ServerStreams
}
