import type { Fault } from '../faults/fault.ts'
import type { Reason } from '../faults/reason.ts'
import { randomHex } from './random-hex.ts'
import type { Link } from './traceparent.ts'

/** All attributes of spans: closed lists and numbers, so that a span cannot contain a key, address, amount, id, query or body. */
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
  /** The client's form. */
  readonly 'swapgate.form'?: string
  /** Tag of the provider. */
  readonly 'swapgate.provider'?: string
  /** The outcome of a create or of its check. */
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
  /** Whether a quote came from the cache, from a pending call of another request, or from an own call. */
  readonly 'swapgate.quote'?: 'cached' | 'shared' | 'requested'
  /** The value of `X-Swap-Reason`. */
  readonly 'swapgate.reason'?: Reason
  readonly 'swapgate.replayed'?: true
  readonly 'swapgate.stale'?: true
}

export type SpanKind = 'server' | 'client' | 'internal'

/** The trace's interface for its spans. */
export interface SpanOwner {
  readonly id: string
  /** Whether the trace is exported independent of its result. */
  readonly isSampled: boolean
  /** The first span. */
  readonly root: Span | undefined
  /** The newest span: the next one links to it. */
  readonly last: Span | undefined
  /** False if the trace has too many spans already. */
  readonly record: (span: Span) => boolean
  /** A span that ends after the trace is exported on its own. */
  readonly ended: (span: Span) => void
  /** Whether the trace is exported if the response has this status. */
  readonly isKeptFor: (status: number) => boolean
  /** Ends the trace. `isNotable`: it is exported even if it is not sampled. */
  readonly finish: (isNotable: boolean) => void
}

const none: readonly Link[] = []
const nothing: Attributes = {}

/** A step of a request. Times are on the clock of `performance.now()`. */
export class Span {
  readonly trace: SpanOwner
  readonly parent: Span | undefined
  readonly kind: SpanKind
  name: string
  /** Related spans of other traces. */
  readonly links: readonly Link[]
  readonly startedAt = performance.now()
  endedAt: number | undefined
  /** Set if the step failed. */
  fault: Fault | undefined
  /** The span that the trace recorded before. A linked list is cheaper per request than an array. */
  readonly previous: Span | undefined
  private readonly isRecorded: boolean
  /** Attributes from the start, and those added later. They are merged only on export. */
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

  /** The `traceparent` header, with which the provider may continue the trace (W3C Trace Context, §3.2). */
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

  /** Ends the span. A second call has no effect. `at`: the time, if the clock was read already. */
  end(fault?: Fault, at = performance.now()): void {
    if (this.endedAt !== undefined) return
    this.endedAt = at
    this.fault = fault
    if (this.isRecorded) this.trace.ended(this)
  }
}
