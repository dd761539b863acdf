/** node:http: the sandbox's server. A framework cannot truncate responses on purpose. */

import { mkdirSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server as NodeServer, type ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Fault } from '../domain/fault.ts'
import { DamagedResponse, type Listen } from '../sandbox/server.ts'
import type { Store, Swap } from '../sandbox/store.ts'
import { type Http, type HttpRequest, type HttpResponse, reasonPhrase } from '../wire/http.ts'

const loopback = '127.0.0.1'
const maxBytes = 16_384
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Adds further listeners to the server. */
type Preparing = (server: NodeServer, handle: Http) => void

/** Listens on loopback. Rejects if the port is in use. Closing the server aborts open connections. */
export async function listenOnLoopback(handle: Http, port: number, prepare: Preparing = () => {}): ReturnType<Listen> {
  const server = createServer({ requireHostHeader: false }, (request, response) => void respond(handle, request, response))
  prepare(server, handle)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, loopback, resolve))
  return { port: portOf(server), close: () => close(server) }
}

async function respond(handle: Http, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    send(await handle(toHttpRequest(request)), response)
  } catch {
    response.destroy()
  }
}

function toHttpRequest(request: IncomingMessage): HttpRequest {
  const { method = '', url = '', headers, socket, httpVersionMinor } = request
  const at = url.indexOf('?')
  return {
    method,
    path: at < 0 ? url : url.slice(0, at),
    query: at < 0 ? '' : url.slice(at + 1),
    headers: headers as HttpRequest['headers'],
    address: socket.remoteAddress ?? '',
    body: () => readText(request),
    ...(httpVersionMinor > 0 && headers.host === undefined && { protocolError: noHost() }),
  }
}

function noHost(): Fault {
  return new Fault('invalid', 'Invalid Host: it must be sent once.')
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const received: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false })
  for await (const chunk of received) {
    size += chunk.length
    if (size > maxBytes) throw new Fault('tooLarge', `The body must have at most ${maxBytes} bytes.`)
    chunks.push(chunk)
  }
  try {
    return utf8.decode(Buffer.concat(chunks))
  } catch (cause) {
    throw new Fault('invalid', 'The body must be UTF-8.', { reason: 'body_invalid', cause })
  }
}

function send(httpResponse: HttpResponse, response: ServerResponse): void {
  const { status, headers, body } = httpResponse
  const damage = httpResponse instanceof DamagedResponse ? httpResponse.damage : undefined
  if (damage === 'silence') return
  if (damage === 'reset') return void response.socket?.resetAndDestroy()
  response.writeHead(status, reasonPhrase(status), {
    ...headers,
    'x-swap-sandbox': 'true',
    ...(status !== 204 && { 'content-length': Buffer.byteLength(body) }),
  })
  if (damage === 'truncation') response.write(body.slice(0, body.length / 2), () => response.destroy())
  else response.end(body)
}

function portOf(server: NodeServer): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function close(server: NodeServer): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  await closed
}

// node:sqlite: the sandbox's swaps in one file.

const tables = `
  CREATE TABLE IF NOT EXISTS swaps (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    deposit_address TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    facts TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS swaps_of_owner ON swaps (owner, created_at, sequence);
  CREATE TABLE IF NOT EXISTS quotes (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    valid_until INTEGER NOT NULL,
    facts TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS quotes_by_time ON quotes (valid_until);
`
const selected = 'FROM swaps WHERE owner = ? AND created_at BETWEEN ? AND ?'

/** Opens the file, or creates it and its directory; `:memory:` is not stored. */
export function sandboxStore(file: string): Store {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true })
  const database = new DatabaseSync(file, { timeout: 5_000 })
  database.exec('PRAGMA journal_mode = WAL')
  database.exec(tables)
  const insert = database.prepare('INSERT INTO swaps (id, owner, deposit_address, created_at, facts) VALUES (?, ?, ?, ?, ?)')
  const update = database.prepare('UPDATE swaps SET facts = ? WHERE id = ?')
  const byId = database.prepare('SELECT facts FROM swaps WHERE id = ?')
  const byAddress = database.prepare('SELECT facts FROM swaps WHERE deposit_address = ?')
  const list = database.prepare(`SELECT facts ${selected} ORDER BY created_at DESC, sequence DESC LIMIT ? OFFSET ?`)
  const count = database.prepare(`SELECT count(*) AS total ${selected}`)
  const keepQuote = database.prepare('INSERT INTO quotes (id, owner, valid_until, facts) VALUES (?, ?, ?, ?)')
  const dropQuotes = database.prepare('DELETE FROM quotes WHERE valid_until < ?')
  const takeQuote = database.prepare('DELETE FROM quotes WHERE id = ? AND owner = ? RETURNING facts')
  return {
    insert: (swap) => void insert.run(swap.id, swap.owner, swap.depositAddress, swap.createdAt, JSON.stringify(swap)),
    update: (swap) => void update.run(JSON.stringify(swap), swap.id),
    find: (id) => toSwap(byId.get(id)),
    findByDepositAddress: (address) => toSwap(byAddress.get(address)),
    list: ({ owner, from, to }, { page, size }) =>
      list
        .all(owner, from, to, size, BigInt(page - 1) * BigInt(size))
        .map(toSwap)
        .filter((swap) => swap !== undefined),
    count: ({ owner, from, to }) => Number(count.get(owner, from, to)?.total),
    keepQuote(quote, now) {
      dropQuotes.run(now)
      keepQuote.run(quote.id, quote.owner, quote.validUntil, JSON.stringify(quote))
    },
    takeQuote(id, owner) {
      const row = takeQuote.get(id, owner)
      return row && JSON.parse(String(row.facts))
    },
    close: () => database.close(),
  }
}

type Row = ReturnType<ReturnType<DatabaseSync['prepare']>['get']>

/** Trusts the JSON: only `insert` and `update` write it. */
function toSwap(row: Row): Swap | undefined {
  return row && JSON.parse(String(row.facts))
}
