/** undici: one request to a provider and its response, with a deadline and a limit of bytes. */
import { isUtf8 } from 'node:buffer'
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { Fault, standardFault } from '../../domain/fault.ts'
import type { Headers, HttpResponse } from '../../wire/http.ts'
import { isConnectError } from './connector.ts'
import { ResponseBytes } from './response-body.ts'

const defaultMaxResponseBytes = 2 * 1024 * 1024

/** One request and its response. The first event that ends it decides the result. */
export class Exchange implements Dispatcher.DispatchHandler {
  private readonly resolve: (response: HttpResponse) => void
  private readonly reject: (fault: Fault) => void
  private readonly timer: NodeJS.Timeout
  private controller: Dispatcher.DispatchController | undefined
  private isOver = false
  private status = 0
  private headers: Headers = {}
  private readonly body = new ResponseBytes()
  private remainingBytes: number
  private readonly maxResponseBytes: number

  constructor(
    remainingMs: number,
    resolve: (response: HttpResponse) => void,
    reject: (fault: Fault) => void,
    maxResponseBytes = defaultMaxResponseBytes,
  ) {
    this.remainingBytes = maxResponseBytes
    this.maxResponseBytes = maxResponseBytes
    this.resolve = resolve
    this.reject = reject
    this.timer = setTimeout(() => this.expire(), roundToTimerBucket(remainingMs))
  }

  /** Called before the first byte is sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.isOver) controller.abort(timedOut(true))
    else this.controller = controller
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.status = status
    this.headers = headers
    if (Number(headers['content-length'] ?? 0) > this.remainingBytes) controller.abort(tooLarge())
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.remainingBytes -= chunk.length
    if (this.remainingBytes < 0) controller.abort(tooLarge())
    else this.body.add(chunk)
  }

  onResponseEnd(): void {
    const text = textOf(this.body.whole(), this.headers['content-encoding'], this.maxResponseBytes)
    if (text !== undefined || this.isRefusal) this.succeed(text ?? '')
    else this.fail(standardFault('unreadable'))
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const isUnsent = this.controller === undefined || isConnectError(error)
    if (this.isRefusal) this.succeed(textOf(this.body.whole(), this.headers['content-encoding'], this.maxResponseBytes) ?? '')
    else if (isUnsent) this.fail(new Fault('unreachable', brokenMessage, { noEffect: true, cause: error }))
    else if (this.status === 0) this.fail(new Fault('failed', brokenMessage, { cause: error }))
    else this.fail(standardFault('unreadable', { cause: error }))
  }

  /** A 4xx is one by its head alone, whatever becomes of its body. */
  private get isRefusal(): boolean {
    return this.status >= 400 && this.status < 500
  }

  private succeed(body: string): void {
    if (this.end()) this.resolve({ status: this.status, headers: this.headers, body })
  }

  private expire(): void {
    const fault = timedOut(this.controller === undefined)
    if (this.isRefusal) this.succeed('')
    this.fail(fault)
    this.controller?.abort(fault)
  }

  private fail(fault: Fault): void {
    if (this.end()) this.reject(fault)
  }

  /** Returns false if it has already ended. */
  private end(): boolean {
    if (this.isOver) return false
    this.isOver = true
    clearTimeout(this.timer)
    return true
  }
}

const decoders: Readonly<Record<string, (bytes: Buffer, maxOutputLength: number) => Buffer>> = {
  identity: (bytes) => bytes,
  gzip: (bytes, maxOutputLength) => gunzipSync(bytes, { maxOutputLength }),
  'x-gzip': (bytes, maxOutputLength) => gunzipSync(bytes, { maxOutputLength }),
  deflate: (bytes, maxOutputLength) => unzipDeflate(bytes, maxOutputLength),
  br: (bytes, maxOutputLength) => brotliDecompressSync(bytes, { maxOutputLength }),
}

/** The body without its byte order mark. Undefined if it is not UTF-8, too large when decoded, or in a coding that is not known. */
function textOf(bytes: Buffer, contentEncoding: string | undefined, maxLength: number): string | undefined {
  const decoded = contentEncoding === undefined ? bytes : decode(bytes, contentEncoding, maxLength)
  if (!decoded || !isUtf8(decoded)) return undefined
  const text = decoded.toString('utf8')
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** Thousands of them, each around the next, would hold the loop for seconds. */
const maxCodings = 2

/** Of providers that compress though `identity` was asked for. */
function decode(bytes: Buffer, contentEncoding: string, maxLength: number): Buffer | undefined {
  try {
    const codings = contentEncoding
      .toLowerCase()
      .split(',')
      .map((coding) => coding.trim())
    if (codings.length > maxCodings) return undefined
    return codings.reduceRight<Buffer | undefined>((decoded, coding) => decoded && decoders[coding]?.(decoded, maxLength), bytes)
  } catch {
    return undefined
  }
}

/** With the header of zlib, as RFC 9110 has it, or without, as some servers send it. */
function unzipDeflate(bytes: Buffer, maxOutputLength: number): Buffer {
  try {
    return inflateSync(bytes, { maxOutputLength })
  } catch {
    return inflateRawSync(bytes, { maxOutputLength })
  }
}

/** Rounds, since Node keeps a list of timers per duration: under load, thousands of lists with one timer cost 6 % of the time. */
function roundToTimerBucket(milliseconds: number): number {
  return milliseconds < 1_000 ? milliseconds : milliseconds - (milliseconds % 50)
}

const brokenMessage = 'The provider could not be reached or broke off; please try again later.'

function tooLarge(): Error {
  return new Error('The response is too large.')
}

/** `noEffect`: no byte was sent. */
export function timedOut(noEffect: boolean): Fault {
  return new Fault('timedOut', 'The provider did not answer in time; please try again later.', { noEffect })
}
