/** The providers of the run in one process: one that is well, and three that do harm. Prints their ports as JSON. */

import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { trickle } from '../support/trickle.ts'

export interface ProviderPorts {
  readonly healthy: number
  /** Form A: lies, trickles, resets, is silent, and has a native lane without end. */
  readonly hostile: number
  /** Form A: is well but for its creates, of which it loses the answers. */
  readonly losing: number
  /** Form letsexchange: its lists are as long as may be. */
  readonly lists: number
}

/** Coins of the asset table of the run. */
export const coinCount = 900
const icon = `data:image/svg+xml;base64,${'A'.repeat(15_000)}`
const alphabet = 'abcdefghijklmnopqrstuvwxyz'
const rows = Array.from({ length: coinCount }, (_, at) => ({
  ...{ code: `C${at}X`, name: `Coin number ${at} ${alphabet}`, icon: `${icon}${at}`, network: `N${at}` },
}))
const [hostileRows, keptTransactions] = [200_000, 20_000]
const transactions = new Map<string, object>()
let created = 0

type Respond = (request: IncomingMessage, response: ServerResponse, url: URL) => unknown

function end(response: ServerResponse, value: unknown, status = 200): void {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  response.writeHead(status, { 'content-type': 'application/json' }).end(text)
}

function cut({ searchParams }: URL, total: number, row: (at: number) => unknown): object {
  const page = Number(searchParams.get('page') ?? 1)
  const size = Number(searchParams.get('size') ?? 50)
  const first = (page - 1) * size
  const data = Array.from({ length: Math.max(0, Math.min(size, total - first)) }, (_, at) => row(first + at))
  return { data, pagination: { page, size, total } }
}

function rate({ searchParams }: URL): object {
  const [coinFrom, coinTo, rateType = 'float'] = ['coinFrom', 'coinTo', 'rateType'].map(
    (name) => searchParams.get(name) ?? undefined,
  )
  const amount = Number(searchParams.get('amount'))
  return { coinFrom, coinTo, amount, amountTo: amount * 2, rate: 2, minAmount: 0.001, maxAmount: 1000, fee: 0, rateType }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

async function create(request: IncomingMessage): Promise<object> {
  const order = JSON.parse(await bodyOf(request)) as Record<string, unknown>
  const now = new Date().toISOString()
  const id = `tx-${process.pid}-${++created}`
  const { coinFrom, coinTo, amount, withdrawalAddress, refundAddress = null, rateType = 'float' } = order
  const transaction = {
    ...{ id, status: 'wait', coinFrom, coinTo, amount, amountTo: Number(amount) * 2, depositAddress: `deposit-${id}` },
    ...{ withdrawalAddress, refundAddress, createdAt: now, updatedAt: now, rate: 2, rateType },
  }
  transactions.set(id, transaction)
  for (const oldest of transactions.keys()) {
    if (transactions.size <= keptTransactions) break
    transactions.delete(oldest)
  }
  return transaction
}

const healthy: Respond = async (request, response, url) => {
  const path = url.pathname.replace('/api/v2', '')
  if (path === '/currencies')
    return end(
      response,
      cut(url, rows.length, (at) => rows[at]),
    )
  if (path === '/rate') return end(response, rate(url))
  if (request.method === 'POST') return end(response, await create(request), 201)
  if (path === '/transactions')
    return end(
      response,
      cut(url, transactions.size, (at) => [...transactions.values()].at(-1 - at)),
    )
  const found = transactions.get(decodeURIComponent(path.slice('/transactions/'.length)))
  end(response, found ?? { error: 'Not Found', message: 'Transaction not found', code: 404 }, found ? 200 : 404)
}

const losing: Respond = async (request, response, url) => {
  if (request.method !== 'POST') return healthy(request, response, url)
  await bodyOf(request)
  // A provider whose every answer is lost gets no creates after the first few.
  if (++created % 3 > 0) return end(response, { error: 'Internal Server Error', message: 'lost', code: 500 }, 500)
  request.socket.destroy()
}

const lies: readonly ((url: URL) => unknown)[] = [
  (url) => rate(url),
  (url) => ({ ...rate(url), amountTo: 1e40 }),
  (url) => ({ ...rate(url), note: randomBytes(700_000).toString('hex') }),
  () => `{"a":"${'\\u0041'.repeat(300_000)}"}`,
  () => '['.repeat(100_000),
  () => '{"id":7,"status":"paid"}',
  () => ({ error: 'x'.repeat(1_000_000), message: randomBytes(20_000).toString('hex'), code: 500 }),
]

const unwell: readonly ((response: ServerResponse) => void)[] = [
  (response) => trickle(response),
  (response) => response.socket?.resetAndDestroy(),
  (response) => response.writeHead(503, { 'retry-after': '999999999' }).end('x'.repeat(1_000_000)),
  () => undefined,
]

/** Another name at each time, so that nothing of it is known. */
const hostileRow = (at: number) => {
  const name = randomBytes(at % 50 === 0 ? 20_000 : 200).toString('hex')
  return { code: `H${randomInt(1e9)}`, name, icon: `https://a/${name}`, network: `N${at}`, depositMin: 0.001, depositMax: 1000 }
}

const hostile: Respond = async (request, response, url) => {
  if (url.pathname.endsWith('/trickle')) return trickle(response)
  if (url.pathname.endsWith('/dump')) return dump(response)
  await bodyOf(request).catch(() => '')
  if (randomInt(10) === 0) return unwell[randomInt(unwell.length)]?.(response)
  if (url.pathname.endsWith('/currencies')) return end(response, cut(url, hostileRows, hostileRow))
  end(
    response,
    randomInt(3) === 0 ? lies[randomInt(lies.length)]?.(url) : { ...rate(url), note: randomBytes(100_000).toString('hex') },
  )
}

/** As much as its reader takes. */
async function dump(response: ServerResponse): Promise<void> {
  const chunk = randomBytes(65_536)
  const closed = once(response, 'close')
  while (!response.closed) if (!response.write(chunk)) await Promise.race([once(response, 'drain'), closed])
}

const longLists: readonly (() => unknown)[] = [
  () => [{ code: 'BTC', networks: Array.from({ length: hostileRows / 3 }, (_, at) => ({ code: at.toString(36) })) }],
  () =>
    Array.from({ length: 9_000 }, (_, at) => ({
      ...{
        code: `C${at}X`,
        name: `${randomInt(1e9)}${'x'.repeat(600)}`,
        icon: 'y\\'.repeat(60),
        networks: [{ code: `N${at}`, name: 'z' }],
      },
    })),
  () => [{ code: 'BTC', name: '\\'.repeat(1_900), icon: '\\'.repeat(2_000_000), networks: [{ code: 'BTC' }] }],
  () => Array.from({ length: hostileRows }, (_, at) => ({ code: at.toString(36), networks: [] })),
]

const lists: Respond = (_, response) => end(response, longLists[randomInt(longLists.length)]?.())

async function listen(respond: Respond): Promise<number> {
  const server = createServer(async (request, response) => {
    try {
      await respond(request, response, new URL(request.url ?? '', 'http://provider'))
    } catch {
      response.destroy()
    }
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

if (import.meta.main) {
  const ports: ProviderPorts = {
    healthy: await listen(healthy),
    hostile: await listen(hostile),
    losing: await listen(losing),
    lists: await listen(lists),
  }
  console.log(JSON.stringify(ports))
}
