/** A client of server-sent events over a socket of its own: what came, and whether it ended as a whole response. */
import * as http from 'node:http'
import * as https from 'node:https'
import { expect, onTestFinished } from 'vitest'

export interface ReceivedEvent {
  readonly event: string
  readonly id: string | undefined
  readonly data: unknown
}

export interface EventSource {
  readonly url: string
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly events: readonly ReceivedEvent[]
  /** When each came, on the clock of `performance.now()`. */
  readonly arrivals: readonly number[]
  readonly comments: readonly string[]
  /** The last id that came, with an event or without one. */
  readonly lastEventId: () => string | undefined
  /** All that came, for what is no stream. */
  readonly text: () => string
  /** `whole`: by the end of the response; `cut`: by the end of the connection. */
  readonly ended: () => 'whole' | 'cut' | undefined
  /** Waits until so many events have come. */
  readonly received: (count: number) => Promise<readonly ReceivedEvent[]>
  readonly untilEnd: () => Promise<'whole' | 'cut'>
  readonly pause: () => void
  readonly resume: () => void
  readonly close: () => void
}

/** Waits for the head. Takes any certificate. */
export async function openEvents(url: string, headers: Readonly<Record<string, string>> = {}): Promise<EventSource> {
  const { request } = url.startsWith('https:') ? https : http
  const options = { agent: false, rejectUnauthorized: false, headers: { accept: 'text/event-stream', ...headers } }
  const sent = request(url, options)
  sent.on('error', () => {})
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject).end()
  })
  onTestFinished(() => void sent.destroy())
  const events: ReceivedEvent[] = []
  const arrivals: number[] = []
  const comments: string[] = []
  let lastEventId: string | undefined
  let all = ''
  let rest = ''
  let ended: 'whole' | 'cut' | undefined
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    all += chunk
    rest += chunk
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      if (block.startsWith(':')) {
        comments.push(block)
        continue
      }
      const fields = fieldsOf(block)
      lastEventId = fields.get('id') ?? lastEventId
      if (fields.has('data')) arrivals[events.push(eventOf(fields)) - 1] = performance.now()
    }
  })
  response.on('error', () => {})
  response.on('close', () => {
    ended = response.complete ? 'whole' : 'cut'
  })
  return {
    url,
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    arrivals,
    comments,
    lastEventId: () => lastEventId,
    text: () => all,
    ended: () => ended,
    async received(count) {
      await expect.poll(() => events.length).toBeGreaterThanOrEqual(count)
      return events
    },
    async untilEnd() {
      await expect.poll(() => ended).toBeDefined()
      return ended as 'whole' | 'cut'
    },
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close: () => void sent.destroy(),
  }
}

function fieldsOf(block: string): ReadonlyMap<string, string> {
  return new Map(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]))
}

function eventOf(fields: ReadonlyMap<string, string>): ReceivedEvent {
  return { event: fields.get('event') ?? 'message', id: fields.get('id'), data: JSON.parse(fields.get('data') ?? 'null') }
}
