/** node:stream: the request to the provider. It is built from the allow-lists, so nothing else of the client's request can be sent. */
import { Transform, type TransformCallback } from 'node:stream'
import { Fault } from '../../../domain/fault.ts'
import type { Headers } from '../../../wire/http.ts'

export interface UploadOptions {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly maxBytes: number
}

/** Has the members of `IncomingMessage` that the proxy reads. Fails with a `Fault` as soon as the body is too large. */
export class Upload extends Transform {
  readonly httpVersion = '1.1'
  readonly httpVersionMajor = 1
  readonly method: string
  url: string
  readonly headers: Headers
  private readonly maxBytes: number
  private length = 0

  constructor({ method, path, headers, maxBytes }: UploadOptions) {
    super()
    this.method = method
    this.url = path
    this.headers = headers
    this.maxBytes = maxBytes
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.length += chunk.length
    if (this.length > this.maxBytes) done(new Fault('tooLarge', `The body must have at most ${this.maxBytes} bytes.`))
    else done(null, chunk)
  }
}
