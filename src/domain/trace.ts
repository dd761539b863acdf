/** What one request did and where it waited; told to somebody only where the trace is kept. */
import { Span, type SpanKind } from './span.ts'
import type { Link } from './traceparent.ts'

/** Takes spans that have ended, all of one trace, parents before their children. Must not throw. */
export type TakeSpans = (spans: readonly Span[]) => void

/** A bound on memory: a list that is completed item by item has thousands of calls. */
const mostSpans = 200

export class Trace {
  readonly id = newTraceId()
  /** Whether it is kept however it ends: by its id alone, so that everybody who knows the share decides alike. */
  readonly isSampled: boolean
  private readonly take: TakeSpans
  private readonly spans: Span[] = []
  /** Undefined until it is over. */
  private isKept: boolean | undefined

  constructor(ratio: number, take: TakeSpans) {
    this.isSampled = drawOf(this.id) >= 1 - ratio
    this.take = take
  }

  get root(): Span {
    return this.spans[0] as Span
  }

  /** For spans to call: false where it has too many already. */
  record(span: Span): boolean {
    return this.spans.length < mostSpans && this.spans.push(span) > 0
  }

  /** For spans to call: what ends after the trace is told on its own. */
  ended(span: Span): void {
    if (this.isKept) this.take([span])
  }

  /** `isNotable`: kept whatever the share is. */
  finish(isNotable: boolean): void {
    this.root.end()
    this.isKept = isNotable || this.isSampled
    if (this.isKept) this.take(this.spans.filter(({ endedAt }) => endedAt !== undefined))
  }
}

/** Begins traces, each with its first span. */
export interface Tracing {
  readonly begin: (kind: SpanKind, name: string, links: readonly Link[]) => Span
}

/** `ratio`: the share of traces that is kept whatever comes of them, from 0 to 1. */
export function recordTraces(ratio: number, take: TakeSpans): Tracing {
  return { begin: (kind, name, links) => new Span(new Trace(ratio, take), undefined, kind, name, links) }
}

/** Its last seven bytes are left to chance, as Level 2 of W3C Trace Context wants it. */
function newTraceId(): string {
  return crypto.randomUUID().replaceAll('-', '')
}

/** From 0 to below 1, by the last 52 bits. */
function drawOf(traceId: string): number {
  return Number.parseInt(traceId.slice(19), 16) / 2 ** 52
}
