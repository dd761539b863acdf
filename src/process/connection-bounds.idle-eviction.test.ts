import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { evictIdlest } from './connection-bounds.ts'
import { UnfinishedRequests } from './unfinished-requests.ts'

/** More than the buffers of a connection hold. */
const longBytes = 32_000_000

let server: Server
let held: ServerResponse[]
let sockets: Socket[]
let closings: string[]
beforeEach(async () => {
  held = []
  sockets = []
  server = createServer(({ url }, response) => {
    if (url === '/hold') held.push(response)
    else response.end(url === '/long' ? Buffer.alloc(longBytes) : 'body')
  }).listen(0, '127.0.0.1')
  closings = []
  const unfinished = new UnfinishedRequests(server, { bufferBytes: 1_000_000, maxBodyBytes: 1_000, onEnded: () => {} })
  evictIdlest(server, {
    max: 3,
    endOldest: (newest) => unfinished.endOldest(newest),
    onClosed: (reason) => void closings.push(reason),
  })
  await once(server, 'listening')
})
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
})

interface Client {
  readonly socket: Socket
  /** What the server has sent. */
  received: string
  isClosed: boolean
}

async function open(): Promise<Client> {
  const accepted = once(server, 'connection')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  sockets.push(socket)
  const client = { socket, received: '', isClosed: false }
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    client.received += chunk
  })
  socket.on('close', () => {
    client.isClosed = true
  })
  await Promise.all([accepted, once(socket, 'connect')])
  return client
}

async function get(client: Client, path = '/'): Promise<void> {
  client.received = ''
  client.socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
  if (path !== '/hold') await expect.poll(() => client.received).toContain('body')
}

it('of a full port the connection whose last request is the longest ago is closed for a new one', async () => {
  const [first, second, third] = [await open(), await open(), await open()]
  for (const client of [second, first, third]) await get(client)
  const fresh = await open()
  await get(fresh)
  await expect.poll(() => second.isClosed).toBe(true)
  expect(closings).toEqual(['idle'])
  expect([first, third, fresh].map(({ isClosed }) => isClosed)).toEqual([false, false, false])
})

it('a connection without any request is the idlest', async () => {
  const [silent, second, third] = [await open(), await open(), await open()]
  for (const client of [second, third]) await get(client)
  await get(await open())
  await expect.poll(() => silent.isClosed).toBe(true)
})

it('a connection with a response pending is never closed for another; of busy ones the new one is closed', async () => {
  const busy = [await open(), await open(), await open()]
  for (const client of busy) await get(client, '/hold')
  await expect.poll(() => held.length).toBe(3)
  const fresh = await open()
  await expect.poll(() => fresh.isClosed).toBe(true)
  for (const response of held) response.end('body')
  for (const client of busy) await expect.poll(() => client.received).toContain('body')
  await get(await open())
})

it('where each connection has a response pending, the oldest whose request is not whole is closed', async () => {
  const [first, second, third] = [await open(), await open(), await open()]
  for (const client of [first, third]) await get(client, '/hold')
  second.socket.write('POST /hold HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na')
  await expect.poll(() => held.length).toBe(3)
  await get(await open())
  await expect.poll(() => second.isClosed).toBe(true)
  expect([first, third].map(({ isClosed }) => isClosed)).toEqual([false, false])
  expect(closings).toEqual([])
  for (const response of held) response.end('body')
})

it('where each connection has a response pending, and all requests are whole, the oldest whose client does not read is closed', async () => {
  const busy = await open()
  await get(busy, '/hold')
  const unread = [await open(), await open()] as const
  for (const { socket } of unread) {
    socket.pause()
    const asked = once(server, 'request')
    socket.write('GET /long HTTP/1.1\r\nHost: x\r\n\r\n')
    await asked
  }
  const fresh = await open()
  await get(fresh)
  for (const { socket } of unread) socket.resume()
  await expect.poll(() => unread[1].received.length).toBeGreaterThan(longBytes)
  expect(closings).toEqual(['unread'])
  expect([busy, ...unread, fresh].map(({ isClosed }) => isClosed)).toEqual([false, true, false, false])
  for (const response of held) response.end('body')
})
