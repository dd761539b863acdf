/** The trace of one request. Its spans are exported only if the trace is sampled or notable. */
import { randomHex } from './random-hex.ts'
import { Span, type SpanKind, type SpanOwner } from './span.ts'
import type { Link } from './traceparent.ts'

/** Receives ended spans of one trace, parents before their children. Must not throw. */
export type SpanSink = (spans: readonly Span[]) => void

/** A bound on memory: a list with details for each item causes thousands of calls. */
const maxSpans = 200
/** The first half of all trace ids of this process: the other half is enough to distinguish its traces. */
const processHalf = randomHex() + randomHex()

/** A trace with at most 200 spans. */
export class Trace implements SpanOwner {
  readonly isSampled: boolean
  /** The last 32 bits of the id, which decide whether the trace is sampled. */
  private readonly draw = Math.floor(Math.random() * 2 ** 32)
  private ownId: string | undefined
  private readonly take: SpanSink
  private count = 0
  private first: Span | undefined
  /** The newest span: the next one links to it. */
  last: Span | undefined
  /** Undefined until the trace ends. */
  private isKept: boolean | undefined

  constructor(ratio: number, take: SpanSink) {
    this.isSampled = this.draw / 2 ** 32 >= 1 - ratio
    this.take = take
  }

  get id(): string {
    this.ownId ??= processHalf + randomHex() + randomHex(this.draw)
    return this.ownId
  }

  get root(): Span | undefined {
    return this.first
  }

  /** A trace with a 5xx is exported even if it is not sampled. */
  isKeptFor(status: number): boolean {
    return this.isSampled || status >= 500
  }

  record(span: Span): boolean {
    if (this.count >= maxSpans) return false
    this.count++
    this.first ??= span
    this.last = span
    return true
  }

  ended(span: Span): void {
    if (this.isKept) this.take([span])
  }

  finish(isNotable: boolean): void {
    this.first?.end()
    this.isKept = isNotable || this.isSampled
    if (this.isKept) this.take(this.endedSpans())
  }

  private endedSpans(): readonly Span[] {
    const spans: Span[] = []
    for (let span = this.last; span; span = span.previous) if (span.endedAt !== undefined) spans.push(span)
    return spans.reverse()
  }
}

/** Starts traces, each with its root span. */
export interface Tracing {
  readonly begin: (kind: SpanKind, name: string, links: readonly Link[]) => Span
}

/** `ratio`: the share of traces that is sampled, from 0 to 1. */
export function recordTraces(ratio: number, take: SpanSink): Tracing {
  return { begin: (kind, name, links) => new Span(new Trace(ratio, take), undefined, name, {}, kind, links) }
}
