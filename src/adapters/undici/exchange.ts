/** undici: one request to a provider and its response, with a deadline and a limit of bytes. */
import { isUtf8 } from 'node:buffer'
import type { Dispatcher } from 'undici'
import { Fault } from '../../domain/faults/fault.ts'
import { standardFault } from '../../domain/faults/standard-fault.ts'
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

  constructor(
    remainingMs: number,
    resolve: (response: HttpResponse) => void,
    reject: (fault: Fault) => void,
    maxResponseBytes = defaultMaxResponseBytes,
  ) {
    this.remainingBytes = maxResponseBytes
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
    const bytes = this.body.whole()
    if (!isUtf8(bytes)) this.fail(standardFault('unreadable'))
    else if (this.end()) this.resolve({ status: this.status, headers: this.headers, body: bytes.toString('utf8') })
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const isUnsent = this.controller === undefined || isConnectError(error)
    if (isUnsent) this.fail(new Fault('unreachable', brokenMessage, { noEffect: true, cause: error }))
    else if (this.status === 0) this.fail(new Fault('failed', brokenMessage, { cause: error }))
    else this.fail(standardFault('unreadable', { cause: error }))
  }

  private expire(): void {
    const fault = timedOut(this.controller === undefined)
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
