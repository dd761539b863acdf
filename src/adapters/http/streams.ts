/** node:http: hands a request and its response from the server's adapter to the one that streams them. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Streams } from '../../wire/http.ts'

export class ServerStreams implements Streams {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly endsConnection: () => boolean

  constructor(request: IncomingMessage, response: ServerResponse, endsConnection: () => boolean) {
    this.request = request
    this.response = response
    this.endsConnection = endsConnection
  }
}

/** Throws for streams of another adapter. */
export function serverStreams(streams: Streams): ServerStreams {
  if (!(streams instanceof ServerStreams)) throw new Error('These streams are not from the server.')
  return streams
}
