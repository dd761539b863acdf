import type { Span } from '../../domain/trace.ts'

interface SpanBufferOptions {
  /** The number of spans that are sent together. */
  readonly batch: number
  /** After this time a smaller batch is sent. */
  readonly delayMs: number
  readonly send: (spans: readonly Span[]) => void
}

/** Collects spans into batches. */
export class SpanBuffer {
  private readonly options: SpanBufferOptions
  private spans: Span[] = []
  private timer: NodeJS.Timeout | undefined

  constructor(options: SpanBufferOptions) {
    this.options = options
  }

  /** Sends only after the current turn of the event loop, so that the caller finishes first. */
  add(spans: readonly Span[]): void {
    this.spans.push(...spans)
    if (this.spans.length >= this.options.batch) setImmediate(() => this.flush())
    else this.timer ??= setTimeout(() => this.flush(), this.options.delayMs).unref()
  }

  flush(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    const { spans } = this
    this.spans = []
    if (spans.length > 0) this.options.send(spans)
  }
}
