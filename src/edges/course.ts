/** What is noted on the course of one request, and told once when it ends (`docs/observability.md`). */
import { errorTypeOf } from '../domain/error-type.ts'
import type { Fault } from '../domain/fault.ts'
import { type KeyRefusal, type Method, methods, type Observer } from '../domain/observation.ts'
import type { Caller } from '../domain/operations.ts'
import type { Span } from '../domain/span.ts'
import { Upstream } from '../domain/upstream.ts'
import type { HttpRequest, HttpResponse } from '../wire/http.ts'
import { isKept } from './request-span.ts'
import type { Telling } from './response.ts'

const known: ReadonlySet<string> = new Set(methods)
/** Enough to tell one caller from another, too little to look a key up by. */
const callerLength = 8

export class Course {
  readonly upstream = new Upstream()
  /** The template of the path; empty where none fits. */
  route = ''
  caller: Caller | undefined
  fault: Fault | undefined
  /** On the clock of `performance.now()`; 0 until it has ended. */
  endedAt = 0
  private readonly began: number
  private reading = 0

  constructor(span: Span | undefined) {
    this.began = span?.startedAt ?? performance.now()
  }

  /** Waits for the client's own body. */
  async read(work: Promise<string>): Promise<string> {
    const began = performance.now()
    try {
      return await work
    } finally {
      this.reading = performance.now() - began
    }
  }

  end(request: HttpRequest, { status, headers }: HttpResponse, telling: Telling, observe: Observer): void {
    this.endedAt = performance.now()
    const { fault, route } = this
    const total = this.endedAt - this.began
    const upstream = this.upstream.read(this.endedAt)
    if (fault?.kind === 'unauthorized') observe({ what: 'keyRefused', reason: keyRefusal(fault) })
    observe({
      what: 'request',
      requestId: telling.requestId,
      traceId: telling.span?.trace.id,
      isTraceKept: telling.span !== undefined && isKept(telling.span, status),
      operation: telling.operation?.op,
      method: known.has(request.method) ? (request.method as Method) : '_OTHER',
      route,
      status,
      errorType: errorTypeOf(fault),
      fault,
      client: telling.form.name,
      // Of a failure the answer does not tell whose it is.
      provider: headers['x-swap-provider'] ?? (status >= 500 ? this.upstream.provider : undefined),
      caller: this.caller?.identity?.slice(0, callerLength),
      seconds: total / 1000,
      providerSeconds: upstream / 1000,
      addedSeconds: Math.max(0, total - upstream - this.reading) / 1000,
    })
  }
}

function keyRefusal({ provider, reason }: Fault): KeyRefusal {
  if (provider !== undefined) return 'providerRefused'
  return reason === 'key_missing' ? 'missing' : 'unknown'
}
