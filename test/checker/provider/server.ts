/** A provider's own HTTP: writes the request to the journal, carries it out, and responds or fails. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { digits } from '../../support/json.ts'
import { type Fault, type Faults, type InjectedReply, swapped } from './fault.ts'
import { type ProviderForm, readOrder } from './form.ts'
import type { Holdings } from './holdings.ts'
import { append, type Operation, type Received } from './journal.ts'

export const base = '/api/v2'

export interface Serving {
  readonly form: ProviderForm
  readonly keys: readonly string[]
  readonly holdings: Holdings
  readonly faults: Faults
  /** The file. */
  readonly journal: string
}

interface Reply {
  readonly status: number
  readonly body: object
}

export function providerServer(serving: Serving): Server {
  let requests = 0
  return createServer((request, response) => {
    // A request that breaks off is not an error here.
    void handle(serving, ++requests, request, response).catch(() => response.destroy())
  })
}

async function handle(serving: Serving, number: number, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { form, faults, journal } = serving
  const received = await receive(number, request)
  append(journal, received)
  const fault = faults.take(received.operation, received.path + received.body)
  const done = fault.before === undefined ? replyTo(serving, received, fault) : failed(form, fault.before, fault)
  if (fault.delay) await setTimeout(fault.delay)
  if (fault.held) await faults.untilCleared()
  const ending = fault.before ?? fault.after ?? done.status
  append(journal, { what: 'responded', request: number, ending })
  end(response, ending, typeof fault.after === 'number' ? failed(form, fault.after, fault).body : done.body)
}

function failed(form: ProviderForm, ending: InjectedReply, { message = 'Something is wrong' }: Fault): Reply {
  const status = typeof ending === 'number' ? ending : 500
  return { status, body: form.error(status, message) }
}

async function receive(number: number, request: IncomingMessage): Promise<Received> {
  const { method = '', url: path = '', headers } = request
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  return { what: 'received', at: Date.now(), request: number, operation: operationOf(method, path), path, headers, body }
}

function operationOf(method: string, url: string): Operation {
  const [path = ''] = url.split('?')
  if (method === 'POST') return path === `${base}/transactions` ? 'create' : 'other'
  if (path === `${base}/currencies`) return 'currencies'
  if (path === `${base}/rate`) return 'rate'
  if (path === `${base}/transactions`) return 'list'
  return path.startsWith(`${base}/transactions/`) ? 'get' : 'other'
}

function replyTo(serving: Serving, received: Received, fault: Fault): Reply {
  const { form, keys, holdings } = serving
  const url = new URL(received.path, 'http://provider')
  const refused = (status: number, message: string): Reply => ({ status, body: form.error(status, message) })
  if (received.operation === 'other') return refused(404, 'No such path')
  if (received.operation === 'currencies') return { status: 200, body: paged(form, form.currencies, url, 50) }
  if (received.operation === 'rate') return { status: 200, body: form.rate(url.searchParams, digits(fault.quotes ?? '0.5')) }
  const key = form.keyOf(received.headers)
  if (key === undefined || !keys.includes(key)) return refused(401, 'Invalid API key')
  if (received.operation === 'create') return create(serving, received, key, fault)
  if (received.operation === 'list') return { status: 200, body: list(serving, key, url) }
  const found = holdings.find(key, decodeURIComponent(url.pathname.slice(`${base}/transactions/`.length)))
  return found ? { status: 200, body: form.got(swapped(found, fault)) } : refused(404, 'Transaction not found')
}

function create({ form, holdings, journal }: Serving, { request, body }: Received, key: string, fault: Fault): Reply {
  const order = readOrder(form, body)
  if (typeof order === 'string') return { status: 400, body: form.error(400, order) }
  const swap = holdings.create(key, order, fault.repeat)
  append(journal, { what: 'applied', request, key, swap })
  return { status: form.createdStatus, body: form.created(swapped(swap, fault)) }
}

function list({ form, holdings }: Serving, key: string, url: URL): object {
  const oldestFirst = holdings.list(key)
  const inOrder = form.newestFirst ? oldestFirst.toReversed() : oldestFirst
  const from = Date.parse(url.searchParams.get('dateFrom') ?? '1970-01-01')
  const to = Date.parse(url.searchParams.get('dateTo') ?? '9999-12-31')
  const between = inOrder.filter(({ createdAt }) => Date.parse(createdAt) >= from && Date.parse(createdAt) <= to)
  return paged(form, between.map(form.listed), url, 20)
}

function paged(form: ProviderForm, rows: readonly object[], { searchParams }: URL, defaultSize: number): object {
  const page = Number(searchParams.get('page') ?? 1)
  const size = Number(searchParams.get('size') ?? defaultSize)
  return form.page(rows.slice((page - 1) * size, page * size), { page, size, total: rows.length })
}

function end(response: ServerResponse, ending: InjectedReply, body: object): void {
  const { socket } = response
  if (ending === 'hang') return
  if (ending === 'reset') return void socket?.resetAndDestroy()
  if (ending === 'fin') return void socket?.end()
  const text = ending === 'garbage' ? '<html>It works!</html>' : JSON.stringify(body)
  const status = typeof ending === 'number' ? ending : 200
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  if (ending === 'half') response.write(text.slice(0, text.length / 2), () => socket?.destroySoon())
  else response.end(text)
}
