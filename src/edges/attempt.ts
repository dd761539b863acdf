/** One call that goes up to a provider, from its first byte to its end. */
import type { Fault } from '../domain/fault.ts'
import type { AttemptOutcome, Observer, Server } from '../domain/observation.ts'
import type { Context, Op } from '../domain/operations.ts'
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
  private readonly began = performance.now()
  private waited: number | undefined
  private status: number | undefined

  constructor(attempted: Attempted, context: Context) {
    this.attempted = attempted
    this.context = context
    if (!context.upstream) return
    context.upstream.provider = attempted.provider
    context.upstream.start(this.began)
  }

  answered({ status }: HttpResponse): void {
    this.status = status
    this.wait()
  }

  end(fault: Fault | undefined, observe: Observer): void {
    const { operation, method, provider, server } = this.attempted
    const seconds = (this.waited ?? this.wait()) / 1000
    observe({ what: 'attempt', operation, method, provider, server, status: this.status, outcome: outcomeOf(fault), seconds })
  }

  /** It is waited for no longer. */
  private wait(): number {
    const now = performance.now()
    this.context.upstream?.stop(now)
    this.waited = now - this.began
    return this.waited
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
