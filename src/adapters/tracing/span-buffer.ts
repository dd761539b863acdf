import type { Span } from '../../domain/tracing/span.ts'

interface SpanBufferOptions {
  /** So many spans are sent at once. */
  readonly batch: number
  /** After so many milliseconds fewer are, too. */
  readonly delayMs: number
  readonly send: (spans: readonly Span[]) => void
}

/** Where spans wait for others to be sent with. */
export class SpanBuffer {
  private readonly options: SpanBufferOptions
  private spans: Span[] = []
  private timer: NodeJS.Timeout | undefined

  constructor(options: SpanBufferOptions) {
    this.options = options
  }

  /** Nothing is sent before whoever tells of them has done his own work. */
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
