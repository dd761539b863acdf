/** Collects facts about one request and reports them once at its end (`docs/observability.md`). */
import { errorTypeOf } from '../domain/faults/error-type.ts'
import type { Fault } from '../domain/faults/fault.ts'
import type { OperationName } from '../domain/swap/operations.ts'
import type { Caller } from '../domain/swap/service.ts'
import { type KeyRefusal, type Method, methods } from '../domain/telemetry/labels.ts'
import type { Observer } from '../domain/telemetry/observation.ts'
import type { Span } from '../domain/tracing/span.ts'
import { UpstreamTimer } from '../domain/tracing/upstream-timer.ts'
import type { HttpRequest, HttpResponse } from '../wire/http.ts'
import type { ResponseContext } from './response.ts'

const knownMethods: ReadonlyMap<string, Method> = new Map(methods.map((method) => [method, method]))
/** Long enough to distinguish callers, too short to find a key. */
const callerLength = 8

export class RequestRecord {
  readonly upstream = new UpstreamTimer()
  /** The template of the path; empty if no path matches. */
  route = ''
  operation: OperationName | undefined
  caller: Caller | undefined
  fault: Fault | undefined
  /** On the clock of `performance.now()`; 0 until it has ended. */
  endedAt = 0
  private readonly startedAt: number
  private bodyWaitMs = 0

  constructor(span: Span | undefined) {
    this.startedAt = span?.startedAt ?? performance.now()
  }

  /** Reads the client's body and excludes this time from the gateway's own. */
  async readBody(work: Promise<string>): Promise<string> {
    const startedAt = performance.now()
    try {
      return await work
    } finally {
      this.bodyWaitMs = performance.now() - startedAt
    }
  }

  end(request: HttpRequest, { status, headers }: HttpResponse, responseContext: ResponseContext, observe: Observer): void {
    this.endedAt = performance.now()
    const { fault, route } = this
    const total = this.endedAt - this.startedAt
    const upstream = this.upstream.read(this.endedAt)
    if (fault?.kind === 'unauthorized') observe({ what: 'keyRefused', reason: keyRefusal(fault) })
    observe({
      what: 'request',
      requestId: responseContext.requestId,
      traceId: responseContext.span?.trace.id,
      isTraceKept: responseContext.span?.trace.isKeptFor(status) ?? false,
      operation: this.operation,
      method: knownMethods.get(request.method) ?? '_OTHER',
      route,
      status,
      errorType: errorTypeOf(fault),
      fault,
      client: responseContext.form.name,
      // The response to a failure does not have the provider's header.
      provider: headers['x-swap-provider'] ?? (status >= 500 ? this.upstream.provider : undefined),
      caller: this.caller?.identity?.slice(0, callerLength),
      seconds: total / 1000,
      providerSeconds: upstream / 1000,
      addedSeconds: Math.max(0, total - upstream - this.bodyWaitMs) / 1000,
    })
  }
}

function keyRefusal({ provider, reason }: Fault): KeyRefusal {
  if (provider !== undefined) return 'providerRefused'
  return reason === 'key_missing' ? 'missing' : 'unknown'
}
