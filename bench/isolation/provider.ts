/**
 * Three providers in one process: a healthy one and one with faults, both of Form A, and one of the form of LetsExchange whose list of
 * coins may be hostile. `GET /state/<state>` at the port of the second one sets the faults.
 */
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { depositAddressOn } from '../../test/support/deposit-addresses.ts'

const states = ['well', 'slow', 'resets', 'lies', 'lists'] as const

/** A swap of this amount has ended. */
export const finalAmount = 0.5
const slownessMs = 5_000

const currencies = [
  { code: 'BTC', name: 'Bitcoin', icon: 'https://icons.example/btc.svg', network: 'BTC' },
  { code: 'ETH', name: 'Ethereum', icon: 'https://icons.example/eth.svg', network: 'ETH' },
]
const coins = currencies.map(({ code, name }) => ({ code, name, networks: [{ code }] }))
const price = 15

let state: (typeof states)[number] = 'well'
const swaps = new Map<string, object>()

function create(body: string): object {
  const { amount, ...order } = JSON.parse(body)
  const id = `swap-${swaps.size}-${process.pid}`
  const now = new Date().toISOString()
  const swap = {
    ...order,
    id,
    status: 'wait',
    amount,
    amountTo: amount * price,
    depositAddress: depositAddressOn(['ETH'], id),
    createdAt: now,
    updatedAt: now,
    rate: price,
    rateType: 'float',
  }
  swaps.set(id, { ...swap, status: amount === finalAmount ? 'success' : 'exchanging' })
  return swap
}

function rate(query: URLSearchParams): object {
  const amount = Number(query.get('amount'))
  return {
    coinFrom: query.get('coinFrom'),
    coinTo: query.get('coinTo'),
    amount,
    amountTo: amount * price,
    rate: price,
    minAmount: 0.001,
    maxAmount: 1_000,
    fee: 0,
    rateType: 'float',
  }
}

function responseOf(path: string, query: URLSearchParams): object | undefined {
  if (path === '/api/v2/currencies') {
    return { data: currencies, pagination: { page: 1, size: Number(query.get('size') ?? 50), total: currencies.length } }
  }
  return path === '/api/v2/rate' ? rate(query) : swaps.get(path.replace('/api/v2/transactions/', ''))
}

function end(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const healthy: RequestListener = async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  if (request.method === 'POST') return end(response, 201, create(await text(request)))
  const found = responseOf(pathname, searchParams)
  end(response, found ? 200 : 404, found ?? { error: 'Not Found', message: 'no such path', code: 404 })
}

/** Its creates and its list are always well. */
const other: RequestListener = (request, response) => {
  const { method, url = '' } = request
  const newState = states.find((name) => url === `/state/${name}`)
  if (newState !== undefined) {
    state = newState
    response.end()
  } else if (method === 'POST' || url.includes('/currencies')) healthy(request, response)
  else if (state === 'resets') response.socket?.resetAndDestroy()
  else if (state === 'lies') end(response, 200, { id: 7, status: 'paid' })
  else if (state === 'slow') setTimeout(healthy, slownessMs, request, response)
  else healthy(request, response)
}

function many<Item>(count: number, item: (word: string) => Item): readonly Item[] {
  return Array.from({ length: count }, (_, at) => item(at.toString(36)))
}

/** Each of nearly 8 MiB, as many as LetsExchange may send, but for some rows. The last one has more rows than a list may have. */
const hostileLists = [
  many(8_500, (code) => ({ code, name: 'x'.repeat(600), icon: '\\'.repeat(120), networks: [{ code: 'N' }] })),
  [{ code: 'BTC', networks: many(500_000, (code) => ({ code })) }],
  [{ code: 'BTC', name: '\\'.repeat(4_000_000), networks: [{ code: 'BTC' }] }],
  many(130, (code) => ({ code, name: '\\'.repeat(31_000), networks: [{ code: 'N' }] })),
  many(180_000, (code) => ({ code, networks: [{ code: 'N' }] })),
].map((list) => Buffer.from(JSON.stringify([...coins, ...list])))
let lists = 0

const lister: RequestListener = (_, response) => {
  const list = state === 'lists' ? hostileLists[lists++ % hostileLists.length] : JSON.stringify(coins)
  response.writeHead(200, { 'content-type': 'application/json' }).end(list)
}

if (import.meta.main) {
  const ports = process.argv.slice(2).map(Number)
  const servers = [healthy, other, lister].map((listener) => createServer({ keepAliveTimeout: 60_000 }, listener))
  for (const [at, server] of servers.entries()) await new Promise<void>((done) => server.listen(ports[at], '127.0.0.1', done))
  console.log('listening')
}
