/** node:http: streams one request to the provider and its response to the client, with timeouts in both directions. */
import { type ClientRequest, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Readable } from 'node:stream'
import { Fault } from '../../../domain/fault.ts'
import type { NativeHead, NativeRequest } from '../../../wire/native.ts'
import { parsedHeaders } from '../headers.ts'
import type { ServerStreams } from '../streams.ts'
import { watchConnecting } from './connecting.ts'
import { brokenOff, failed, hungUp, timedOut, tooSlow, unreachable } from './faults.ts'
import { IdleTimer } from './idle-timer.ts'
import { searchedForKeys } from './key-search.ts'
import { letGo } from './let-go.ts'
import { countStreamed } from './release.ts'
import type { Upload } from './upload.ts'

/** The first event that ends the exchange settles it and closes the other side. */
export class Exchange {
  readonly response: ServerResponse
  /** Resolves when the whole response was sent, rejects with a `Fault`. */
  readonly ended: Promise<void>
  private readonly native: NativeRequest
  private readonly upload: Upload
  private readonly request: IncomingMessage
  private readonly endsConnection: () => boolean
  private readonly settled = Promise.withResolvers<void>()
  private readonly timers: IdleTimer[] = []
  private clientRequest: ClientRequest | undefined
  private isConnected = false
  private answer: IncomingMessage | undefined
  private isHeadSent = false
  private hasLength = false
  private isOver = false
  private total: NodeJS.Timeout | undefined

  constructor(native: NativeRequest, upload: Upload, { request, response, endsConnection }: ServerStreams) {
    this.native = native
    this.upload = upload
    this.request = request
    this.response = response
    this.endsConnection = endsConnection
    this.ended = this.settled.promise
  }

  /** False if the client has disconnected: then nothing is sent. */
  begin(): boolean {
    const { request, response, upload, native } = this
    if (response.destroyed || request.destroyed) {
      this.fail(hungUp())
      return false
    }
    response.setMaxListeners(20) // of the server, the proxy and this class
    response.once('close', () => response.writableFinished || this.fail(hungUp()))
    request.on('error', () => this.fail(hungUp()))
    this.startTimer(native.timeoutMs, () => this.isClientsTurn() || this.fail(timedOut()))
    this.startTimer(native.idleTimeoutMs, () => !this.isClientsTurn() || this.fail(tooSlow('request')))
    this.total = setTimeout(() => this.fail(this.isHeadSent ? tooSlow('answer') : timedOut()), native.totalTimeoutMs)
    native.signal.addEventListener('abort', this.onAbort)
    request.on('data', this.onBytes)
    request.pipe(upload)
    return true
  }

  /** The request to the provider got its socket, which is connecting. */
  onRequest(clientRequest: ClientRequest): void {
    this.clientRequest = clientRequest
    if (this.isOver) return void clientRequest.destroy()
    // Node closes the request without an error after a 101.
    clientRequest.once('close', () => this.answer || this.fail(failed()))
    const connected = (): void => {
      this.isConnected = true
    }
    if (clientRequest.socket) watchConnecting(clientRequest.socket, connected, () => this.fail(unreachable()))
  }

  onResponse(answer: IncomingMessage): void {
    this.answer = answer
    try {
      if (this.isOver) throw hungUp()
      // Before the proxy's own listeners, which close the client's connection.
      answer.on('error', (reason) => this.fail(brokenOff(reason)))
      answer.on('close', () => answer.complete || this.fail(brokenOff()))
      const { keys } = this.native
      if (keys.longestKey === 0) return void this.stream(answer)
      const searched = searchedForKeys(answer.headers['content-encoding'], keys)
      searched.once('error', (reason) => this.fail(reason))
      answer.pipe(searched)
      // What came with the head is searched before the head is sent: then the client gets an error in its form.
      setImmediate(() => this.isOver || this.stream(answer, searched))
    } catch (reason) {
      letGo(answer)
      this.fail(reason)
    }
  }

  /** An error of a socket. After a complete response it is ignored: it is about surplus bytes. */
  onError(reason: Error): void {
    if (reason instanceof Fault) this.fail(reason)
    else if (this.answer?.complete) return
    else if (this.isHeadSent) this.fail(brokenOff(reason))
    else this.fail(this.isConnected ? failed(reason) : unreachable(reason))
  }

  readonly fail = (reason: unknown): void => {
    if (this.isOver) return
    this.end()
    if (this.isHeadSent) this.cut()
    this.clientRequest?.destroy()
    this.settled.reject(Fault.from(reason))
  }

  private sendHead({ status, headers }: NativeHead): void {
    this.isHeadSent = true
    this.hasLength = headers['content-length'] !== undefined
    this.response.writeHead(status, STATUS_CODES[status] ?? '', {
      ...headers,
      ...(this.endsConnection() && { connection: 'close' }),
    })
    this.response.flushHeaders()
  }

  /** `body`: what the client gets of the response's body. */
  private stream(answer: IncomingMessage, body: Readable = answer): void {
    const { response, native } = this
    try {
      const { statusCode = 0, headers } = answer
      const head = native.toClient(statusCode, parsedHeaders(headers))
      this.stopTimers()
      this.sendHead(head)
    } catch (reason) {
      letGo(answer)
      return void this.fail(reason)
    }
    this.startTimer(native.idleTimeoutMs, () => {
      if (response.socket === null) return // waits for earlier responses on its connection
      this.fail(answer.complete || response.writableNeedDrain ? tooSlow('answer') : timedOut())
    })
    answer.on('data', this.onBytes)
    response.once('finish', () => {
      if (!this.isOver) this.settled.resolve()
      this.end()
    })
    body.pipe(response)
  }

  /** Whether the exchange waits for the client: its body is incomplete, and the provider has taken all of it so far. */
  private isClientsTurn(): boolean {
    return !this.request.complete && !this.upload.writableNeedDrain
  }

  private startTimer(durationMs: number, onIdle: () => unknown): void {
    this.timers.push(new IdleTimer(durationMs, onIdle))
  }

  private readonly onBytes = ({ length }: Buffer): void => {
    countStreamed(length)
    for (const timer of this.timers) timer.refresh()
  }

  private stopTimers(): void {
    for (const timer of this.timers.splice(0)) timer.stop()
  }

  private readonly onAbort = (): void => this.fail(this.native.signal.reason)

  private end(): void {
    this.isOver = true
    this.stopTimers()
    clearTimeout(this.total)
    this.native.signal.removeEventListener('abort', this.onAbort)
    this.request.unpipe(this.upload)
  }

  /** Closes the client's connection; with a reset if the client would take a normal end for the end of the response. */
  private cut(): void {
    const { request, response } = this
    if (this.hasLength || request.httpVersionMinor > 0) response.destroy()
    else request.socket.resetAndDestroy()
  }
}
