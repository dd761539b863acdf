/** One call that goes up to a provider, from its first byte to its end. */
import type { Fault } from '../domain/fault.ts'
import type { AttemptOutcome, Observer, Server } from '../domain/observation.ts'
import type { Context, Op } from '../domain/operations.ts'
import type { Span } from '../domain/span.ts'
import type { HttpResponse } from '../wire/http.ts'

export interface Attempted {
  readonly operation: Op
  readonly method: string
  readonly provider: string
  readonly server: Server
}

export class Attempt {
  private readonly attempted: Attempted
  private readonly context: Context
  private readonly span: Span | undefined
  private readonly began: number
  /** Since when it is waited for no longer. */
  private ended: number | undefined
  private status: number | undefined

  /** `span`: where it is traced; it ends with the attempt. */
  constructor(attempted: Attempted, context: Context, span: Span | undefined) {
    this.attempted = attempted
    this.context = context
    this.span = span
    this.began = span?.startedAt ?? performance.now()
    if (!context.upstream) return
    context.upstream.provider = attempted.provider
    context.upstream.start(this.began)
  }

  answered({ status }: HttpResponse): void {
    this.status = status
    this.span?.tell({ 'http.response.status_code': status })
    this.stop()
  }

  end(fault: Fault | undefined, observe: Observer): void {
    const { operation, method, provider, server } = this.attempted
    const ended = this.ended ?? this.stop()
    const seconds = (ended - this.began) / 1000
    this.span?.end(fault, ended)
    observe({ what: 'attempt', operation, method, provider, server, status: this.status, outcome: outcomeOf(fault), seconds })
  }

  private stop(): number {
    const now = performance.now()
    this.context.upstream?.stop(now)
    this.ended = now
    return now
  }
}

function outcomeOf(fault: Fault | undefined): AttemptOutcome {
  if (!fault) return 'done'
  const { kind, certain } = fault
  if (kind === 'invalid' || kind === 'notFound') return 'refused'
  if (kind === 'unauthorized') return 'keyRefused'
  if (kind === 'limited' || kind === 'unreadable' || kind === 'unreachable') return kind
  if (kind === 'timedOut') return certain ? 'unreachable' : 'timedOut'
  return certain ? 'refused' : 'failed'
}
