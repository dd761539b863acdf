import type { Fault } from '../faults/fault.ts'
import type { Reason } from '../faults/reason.ts'
import { randomHex } from './random-hex.ts'
import type { Link } from './traceparent.ts'

/** All that a span may tell: closed lists and figures, so that no key, address, amount, id, query or body can be told. */
export interface Attributes {
  readonly 'http.request.method'?: string
  readonly 'http.request.resend_count'?: number
  readonly 'http.response.status_code'?: number
  readonly 'http.route'?: string
  readonly 'url.path'?: string
  readonly 'url.scheme'?: string
  readonly 'server.address'?: string
  readonly 'server.port'?: number
  readonly 'swapgate.operation'?: string
  /** The form that the client speaks. */
  readonly 'swapgate.form'?: string
  /** Tag of the provider. */
  readonly 'swapgate.provider'?: string
  /** How a create, or a look for one, ended. */
  readonly 'swapgate.outcome'?:
    | 'done'
    | 'refused'
    | 'unknown'
    | 'found'
    | 'notFound'
    | 'notCreated'
    | 'ambiguous'
    | 'duplicateId'
    | 'contradicted'
    | 'lookupFailed'
  /** Whether a quote was kept, is another's that was on its way, or was asked for. */
  readonly 'swapgate.quote'?: 'cached' | 'shared' | 'requested'
  /** What `X-Swap-Reason` tells. */
  readonly 'swapgate.reason'?: Reason
  readonly 'swapgate.replayed'?: true
  readonly 'swapgate.stale'?: true
}

export type SpanKind = 'server' | 'client' | 'internal'

/** The trace as its spans see it. */
export interface SpanOwner {
  readonly id: string
  /** Whether it is kept however it ends. */
  readonly isSampled: boolean
  /** The first span. */
  readonly root: Span | undefined
  /** The newest span, to which the next one is chained. */
  readonly last: Span | undefined
  /** False where it has too many spans already. */
  readonly record: (span: Span) => boolean
  /** What ends after the trace is told on its own. */
  readonly ended: (span: Span) => void
  /** Whether it is kept if the request is answered with this status. */
  readonly isKeptFor: (status: number) => boolean
  /** Ends it. `isNotable`: kept whatever the share is. */
  readonly finish: (isNotable: boolean) => void
}

const none: readonly Link[] = []
const nothing: Attributes = {}

/** A step of what a request does: a plain record while it runs. Times are on the clock of `performance.now()`. */
export class Span {
  readonly trace: SpanOwner
  readonly parent: Span | undefined
  readonly kind: SpanKind
  name: string
  /** Spans of other traces that it comes from. */
  readonly links: readonly Link[]
  readonly startedAt = performance.now()
  endedAt: number | undefined
  /** Why it failed, where it did. */
  fault: Fault | undefined
  /** The one that the trace recorded before: a list of all would cost each request more than they do. */
  readonly previous: Span | undefined
  private readonly isRecorded: boolean
  /** Known when it began; and what was told since. They are put together only where somebody asks. */
  private readonly initial: Attributes
  private added: Attributes | undefined
  private ownId: string | undefined

  constructor(
    trace: SpanOwner,
    parent: Span | undefined,
    name: string,
    initial: Attributes,
    kind: SpanKind,
    links: readonly Link[],
  ) {
    this.trace = trace
    this.parent = parent
    this.name = name
    this.initial = initial
    this.kind = kind
    this.links = links
    this.previous = trace.last
    this.isRecorded = trace.record(this)
  }

  get id(): string {
    this.ownId ??= randomHex() + randomHex()
    return this.ownId
  }

  /** The header by which whoever is asked may continue the trace (W3C Trace Context, §3.2). */
  get traceparent(): string {
    const { id, isSampled } = this.trace
    return `00-${id}-${this.id}-${isSampled && this.isRecorded ? '01' : '00'}`
  }

  begin(name: string, initial = nothing, kind: SpanKind = 'internal', links = none): Span {
    return new Span(this.trace, this, name, initial, kind, links)
  }

  setAttributes(attributes: Attributes): void {
    this.added = this.added ? { ...this.added, ...attributes } : attributes
  }

  get attributes(): Attributes {
    return { ...this.initial, ...this.added }
  }

  /** Ends it, once: a second time changes nothing. `at`: where the clock was read already. */
  end(fault?: Fault, at = performance.now()): void {
    if (this.endedAt !== undefined) return
    this.endedAt = at
    this.fault = fault
    if (this.isRecorded) this.trace.ended(this)
  }
}
