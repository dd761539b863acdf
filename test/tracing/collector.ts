/** A collector: takes OTLP over HTTP in protobuf, and remembers every span. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { vi } from 'vitest'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { recordOutput } from '../support/leak-check.ts'
import { trickle } from '../support/trickle.ts'
import { type ExportedSpan, readTraces } from './otlp.ts'

export interface Sent {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

export class Collector implements AsyncDisposable {
  readonly url: string
  readonly sent: Sent[] = []
  readonly spans: ExportedSpan[] = []
  /** The status of its responses; undefined: no response ever. */
  status: number | undefined = 200
  /** Its responses never end: their bodies come byte by byte. */
  isTrickling = false
  private readonly server: Server

  private constructor(server: Server) {
    this.server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const bytes = Buffer.concat(chunks)
      this.sent.push({ path: request.url ?? '', headers: request.headers, bytes })
      recordOutput('spans', bytes)
      if (this.status === 200) this.spans.push(...readTraces(bytes))
      if (this.status === undefined) return
      response.writeHead(this.status)
      if (this.isTrickling) trickle(response)
      else response.end()
    })
  }

  static async start(): Promise<Collector> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Collector(server)
  }

  /** The trace that refers to this one of a caller, once its first span has come. */
  async traceFrom(caller: Caller): Promise<Trace> {
    const find = (): ExportedSpan | undefined =>
      this.roots().find(({ links }) => links.some(({ traceId }) => traceId === caller.traceId))
    return this.whole(await there(find))
  }

  /** The first trace since the others were forgotten. */
  async next(): Promise<Trace> {
    return there(() => this.traces[0])
  }

  /** All traces whose first span has come. */
  get traces(): readonly Trace[] {
    return this.roots().map((root) => this.whole(root))
  }

  forget(): void {
    this.spans.length = 0
    this.sent.length = 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.server, 'close')
    this.server.close()
    this.server.closeAllConnections()
    await closed
  }

  private whole(root: ExportedSpan): Trace {
    return new Trace(
      root,
      this.spans.filter(({ traceId }) => traceId === root.traceId),
    )
  }

  private roots(): readonly ExportedSpan[] {
    return this.spans.filter(({ parentSpanId }) => parentSpanId === '')
  }
}

/** Waits for it. */
function there<T>(find: () => T | undefined): Promise<T> {
  const found = (): T => {
    const it = find()
    if (it === undefined) throw new Error('it has not come')
    return it
  }
  return vi.waitFor(found, { timeout: eventTimeoutMs })
}

/** A caller with a trace of its own. */
export class Caller {
  readonly traceId = randomBytes(16).toString('hex')
  readonly spanId = randomBytes(8).toString('hex')
  readonly headers = { traceparent: `00-${this.traceId}-${this.spanId}-00` }
}

export class Trace {
  readonly root: ExportedSpan
  readonly spans: readonly ExportedSpan[]

  constructor(root: ExportedSpan, spans: readonly ExportedSpan[]) {
    this.root = root
    this.spans = spans
  }

  get clients(): readonly ExportedSpan[] {
    return this.spans.filter(({ kind }) => kind === 'client').toSorted((a, b) => Number(a.start - b.start))
  }

  named(name: string): ExportedSpan | undefined {
    return this.spans.find((span) => span.name === name)
  }

  /** A line for each span, indented below its parent, in the order in which they began. */
  outline(): readonly string[] {
    const below = (parent: ExportedSpan, depth: number): readonly string[] => {
      const children = this.spans.filter(({ parentSpanId }) => parentSpanId === parent.spanId)
      const ordered = children.toSorted((a, b) => Number(a.start - b.start))
      return [`${'  '.repeat(depth)}${parent.name}`, ...ordered.flatMap((child) => below(child, depth + 1))]
    }
    return below(this.root, 0)
  }
}
