/** A provider that records every request, with configured replies. Independent of the gateway. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Operation = 'currencies' | 'rate' | 'create' | 'list' | 'get' | 'other'

/** One request as it came. */
export interface Received {
  readonly operation: Operation
  readonly method: string
  /** Below the base path, as it was sent; the whole path where it is outside. */
  readonly path: string
  readonly query: URLSearchParams
  readonly rawQuery: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly headerNames: readonly string[]
  readonly body: string
}

export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** Printed as JSON, unless `text` is given. */
  readonly json?: unknown
  readonly text?: string | Uint8Array
  /** Milliseconds. */
  readonly delay?: number
  /** It is sent when this has happened. */
  readonly after?: Promise<unknown>
  /** Breaks the connection instead of responding. */
  readonly reset?: boolean
}

/** Gets every request, and its reply by calling `respond` once. */
export type Watch = (received: Received, respond: () => Reply) => Reply

type ReplyRule = Reply | ((received: Received) => Reply | undefined)

export interface StandIn {
  /** With the base path. */
  readonly url: string
  readonly origin: string
  readonly journal: Received[]
  readonly received: (operation: Operation) => readonly Received[]
  /** Sets the reply to an operation from now on; undefined from a function means as usual. */
  readonly reply: (operation: Operation, rule: ReplyRule) => void
  /** Forgets the journal and every reply. */
  readonly reset: () => void
  readonly close: () => Promise<void>
}

const base = '/service/api/v2'

/** `usual` is the reply of the provider by default. */
export async function standIn(usual: (received: Received) => Reply, watch: Watch = (_, respond) => respond()): Promise<StandIn> {
  const journal: Received[] = []
  const replies = new Map<Operation, ReplyRule>()
  const replyTo = (received: Received): Reply => {
    const configured = replies.get(received.operation)
    return (typeof configured === 'function' ? configured(received) : configured) ?? usual(received)
  }
  const server = createServer(async (request, response) => {
    const received = await receive(request)
    journal.push(received)
    send(
      response,
      watch(received, () => replyTo(received)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    url: origin + base,
    journal,
    received: (operation) => journal.filter((entry) => entry.operation === operation),
    reply: (operation, configured) => void replies.set(operation, configured),
    reset() {
      journal.length = 0
      replies.clear()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function receive(request: IncomingMessage): Promise<Received> {
  const [whole = '', rawQuery = ''] = (request.url ?? '').split('?')
  const path = whole.startsWith(`${base}/`) ? whole.slice(base.length) : whole
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  const method = request.method ?? ''
  return {
    operation: whole.startsWith(`${base}/`) ? operationOf(method, path) : 'other',
    method,
    path,
    query: new URLSearchParams(rawQuery),
    rawQuery,
    headers: request.headers as Record<string, string>,
    headerNames: request.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()),
    body,
  }
}

function operationOf(method: string, path: string): Operation {
  if (method === 'POST') return path === '/transactions' ? 'create' : 'other'
  if (method !== 'GET') return 'other'
  if (path === '/currencies') return 'currencies'
  if (path === '/rate') return 'rate'
  if (path === '/transactions') return 'list'
  return /^\/transactions\/[^/]+$/.test(path) ? 'get' : 'other'
}

function send(response: ServerResponse, { status = 200, headers = {}, json, text, delay = 0, after, reset = false }: Reply): void {
  if (reset) return void response.socket?.resetAndDestroy()
  const write = (): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers } as Record<string, string>)
    response.end(text ?? JSON.stringify(json))
  }
  if (after) after.then(write)
  else if (delay > 0) setTimeout(write, delay)
  else write()
}
