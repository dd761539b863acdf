/** Server-sent events: changes of transactions in a client's form (docs/contract.md §18.2). */
import type { EventFeed, EventFeeds, StreamEvent } from '../domain/event-stream.ts'
import { Fault } from '../domain/fault.ts'
import { piece } from '../domain/processor-time.ts'
import type { Context } from '../domain/service.ts'
import type { TransactionReference } from '../domain/swap.ts'
import type { StreamCodec } from '../wire/form.ts'
import type { HttpRequest, HttpResponse, ResponseStream } from '../wire/http.ts'
import { baseHeaders } from './encode-response.ts'
import type { RequestRecord } from './record.ts'

/** Throws the `Fault` of a get where the stream does not begin. 204: the client has seen its end. */
export async function streamResponse(
  codec: StreamCodec,
  fields: object,
  { method, headers: { 'last-event-id': lastEventId } }: HttpRequest,
  context: Context,
  record: RequestRecord,
  { watchTransaction, watchTransactions }: Partial<EventFeeds>,
  forCaller: <Result>(work: () => Result) => Result,
): Promise<HttpResponse> {
  const feed =
    codec.stream === 'watchTransaction'
      ? await watchTransaction?.(fields as TransactionReference, context, lastEventId)
      : await watchTransactions?.(context, lastEventId)
  if (feed === undefined) throw new Fault('internal', 'A stream was matched that there is none of.')
  // That of all transactions may have one of any provider.
  const sources = codec.stream === 'watchTransaction' ? [] : [...record.sandboxTags]
  const headers = baseHeaders(record, feed === 'seen' ? undefined : feed.provider, sources)
  headers['cache-control'] = 'no-store'
  if (feed === 'seen') {
    delete headers['content-type']
    return { status: 204, headers, body: '' }
  }
  headers['content-type'] = 'text/event-stream; charset=utf-8'
  // Proxies like nginx would keep events back until they have many.
  headers['x-accel-buffering'] = 'no'
  if (method !== 'HEAD')
    return { status: codec.success, headers, body: '', stream: eventText(feed, printer(codec, record), forCaller) }
  feed.close()
  return { status: codec.success, headers, body: '', stream: noText }
}

/** Of HEAD: a length of 0 would be that of the stream. */
const noText: ResponseStream = { run: async () => {}, close: () => {} }

const commentIntervalMs = 15_000
const comment = ': still here\n\n'

function eventText(
  feed: EventFeed,
  print: (event: StreamEvent) => string,
  forCaller: <Result>(work: () => Result) => Result,
): ResponseStream {
  return {
    close: () => feed.close(),
    run: (write) => forCaller(() => run(write)),
  }

  async function run(write: Parameters<ResponseStream['run']>[0]): Promise<void> {
    let isWriting = false
    const written = async (text: string): Promise<boolean> => {
      isWriting = true
      const isOpen = await write(text)
      isWriting = false
      return isOpen
    }
    // A client that does not read gets none.
    const comments = setInterval(() => void (isWriting || written(comment)), commentIntervalMs)
    try {
      // NGINX holds a head back until something follows it.
      await written(comment)
      for (let events = await feed.next(); events; events = await feed.next())
        for (const event of events) if (!(await written(piece(() => print(event))))) return
    } finally {
      clearInterval(comments)
      feed.close()
    }
  }
}

function printer({ responseCodec }: StreamCodec, { hasAmountsAsText }: RequestRecord): (event: StreamEvent) => string {
  const encode = hasAmountsAsText ? responseCodec.encodeAmountsAsText : responseCodec.encode
  return (event) => {
    if (event.event === 'gap') return 'event: gap\ndata: {}\n\n'
    // Without data it is no event: the client keeps the id for its next connection.
    if (event.event === 'position') return `id: ${event.id}\n\n`
    const id = event.id === undefined ? '' : `id: ${event.id}\n`
    return `event: transaction\n${id}data: ${encode(event.body, new Set())}\n\n`
  }
}
