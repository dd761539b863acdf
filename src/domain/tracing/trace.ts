/** What one request did and where it waited; told to somebody only where the trace is kept. */
import { randomHex } from './random-hex.ts'
import { Span, type SpanKind, type SpanOwner } from './span.ts'
import type { Link } from './traceparent.ts'

/** Takes spans that have ended, all of one trace, parents before their children. Must not throw. */
export type SpanSink = (spans: readonly Span[]) => void

/** A bound on memory: a list that is completed item by item has thousands of calls. */
const maxSpans = 200
/** Half of an id is enough to tell the traces of one process from each other. */
const processHalf = randomHex() + randomHex()

export class Trace implements SpanOwner {
  readonly isSampled: boolean
  /** The last word of its id, by which it is kept or not. */
  private readonly draw = Math.floor(Math.random() * 2 ** 32)
  private ownId: string | undefined
  private readonly take: SpanSink
  private count = 0
  private first: Span | undefined
  /** The newest, to which the next one is chained. */
  last: Span | undefined
  /** Undefined until it is over. */
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

  /** One that ends in a failure of ours or of the provider's is kept beside the share. */
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

/** Begins traces, each with its first span. */
export interface Tracing {
  readonly begin: (kind: SpanKind, name: string, links: readonly Link[]) => Span
}

/** `ratio`: the share of traces that is kept whatever comes of them, from 0 to 1. */
export function recordTraces(ratio: number, take: SpanSink): Tracing {
  return { begin: (kind, name, links) => new Span(new Trace(ratio, take), undefined, name, {}, kind, links) }
}
