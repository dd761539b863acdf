/** One call to a provider, from its first byte to its end. */
import { connectFailureOf } from '../domain/connect-failure.ts'
import type { Fault } from '../domain/fault.ts'
import type { AttemptOutcome, Observer, Server } from '../domain/observation.ts'
import type { Context, OperationName } from '../domain/service.ts'
import type { Span } from '../domain/trace.ts'
import type { HttpResponse } from '../wire/http.ts'

export interface AttemptTarget {
  readonly operation: OperationName
  readonly method: string
  readonly provider: string
  readonly server: Server
}

export class Attempt {
  private readonly target: AttemptTarget
  private readonly context: Context
  readonly span: Span | undefined
  private readonly startedAt: number
  /** When the response arrived or the call failed. */
  private endedAt: number | undefined
  private status: number | undefined
  private headAt: number | undefined

  /** `span` ends with the attempt; undefined if the request is not traced. */
  constructor(target: AttemptTarget, context: Context, span: Span | undefined) {
    this.target = target
    this.context = context
    this.span = span
    this.startedAt = span?.startedAt ?? performance.now()
    if (!context.upstreamTimer) return
    context.upstreamTimer.provider = target.provider
    context.upstreamTimer.start(this.startedAt)
  }

  setResponse({ status }: HttpResponse): void {
    this.setStatus(status)
    this.stop()
  }

  /** The head of a streamed response. The time of the rest depends on the client too, so it is not counted as the provider's latency. */
  setHead(status: number): void {
    this.setStatus(status)
    this.headAt = performance.now()
  }

  end(fault: Fault | undefined, observe: Observer): void {
    const { operation, method, provider, server } = this.target
    const endedAt = this.endedAt ?? this.stop()
    const seconds = ((this.headAt ?? endedAt) - this.startedAt) / 1000
    this.span?.end(fault, endedAt)
    const outcome = outcomeOf(fault)
    const connectFailure = fault && outcome === 'unreachable' ? connectFailureOf(fault) : undefined
    observe({ what: 'attempt', operation, method, provider, server, status: this.status, outcome, connectFailure, seconds })
  }

  private setStatus(status: number): void {
    this.status = status
    this.span?.setAttributes({ 'http.response.status_code': status })
  }

  private stop(): number {
    const now = performance.now()
    this.context.upstreamTimer?.stop(now)
    this.endedAt = now
    return now
  }
}

function outcomeOf(fault: Fault | undefined): AttemptOutcome {
  if (!fault) return 'done'
  const { kind, noEffect } = fault
  if (kind === 'invalid' || kind === 'notFound') return 'refused'
  if (kind === 'unauthorized') return 'keyRefused'
  if (kind === 'limited' || kind === 'unreadable' || kind === 'unreachable') return kind
  if (kind === 'tooSlow' || kind === 'tooLarge') return 'abandoned'
  if (kind === 'timedOut') return noEffect ? 'unreachable' : 'timedOut'
  return noEffect ? 'refused' : 'failed'
}
