import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { UnreadResponses } from './unfinished-requests.ts'

/** More than the buffers of the system hold. */
const megabytes = 16
const text = 'a'.repeat(megabytes * 2 ** 20)

let server: Server
let closed: number
let sockets: Socket[]
beforeEach(async () => {
  closed = 0
  sockets = []
  const unread = new UnreadResponses({ timeoutMs: () => 60_000, maxBytes: 3.5 * text.length, onClosed: () => closed++ })
  server = createServer((request, response: ServerResponse) => {
    response.end(text, 'latin1')
    unread.add(response, String(request.headers.address))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  server.closeAllConnections()
  server.close()
})

/** Requests so many, and reads nothing. The response to the last has been written then. */
async function request(address: string, count = 1): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  sockets.push(socket.pause())
  let left = count
  const { promise, resolve } = Promise.withResolvers<void>()
  const written = (): void => {
    if (--left > 0) return
    server.off('request', written)
    resolve()
  }
  server.on('request', written)
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\nAddress: ${address}\r\n\r\n`.repeat(count))
  await promise
  return socket
}

/** Of which it is known only once they are read. */
async function isOpen(socket: Socket): Promise<boolean> {
  let received = 0
  socket.on('data', ({ length }) => {
    received += length
    if (received > text.length) socket.destroy()
  })
  socket.resume()
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
  return received > text.length
}

it('X6: of more bytes than there is room for, those of the client that has most go first, and of these the oldest', async () => {
  const [first, other, second] = [await request('192.0.2.1'), await request('192.0.2.2'), await request('192.0.2.1')]
  expect(closed).toBe(0)
  const third = await request('192.0.2.3')
  expect(closed).toBe(1)
  expect(await Promise.all([first, other, second, third].map(isOpen))).toEqual([false, true, true, true])
})

it('X6: a connection with several unread responses counts for all of them, and is closed once', async () => {
  const [other, greedy] = [await request('192.0.2.2'), await request('192.0.2.1', 6)]
  expect(closed).toBe(1)
  expect(await Promise.all([greedy, other].map(isOpen))).toEqual([false, true])
})

it('X6: addresses of one IPv6 network are one client', async () => {
  const other = await request('192.0.2.1')
  const greedy: Socket[] = []
  for (const address of ['2001:db8::1', '2001:db8::2', '2001:db8::3']) greedy.push(await request(address))
  expect(closed).toBe(1)
  expect(await Promise.all([...greedy, other].map(isOpen))).toEqual([false, true, true, true])
})

it('X6: responses that were read count no more', async () => {
  for (let count = 0; count < 6; count++) expect(await isOpen(await request('192.0.2.1'))).toBe(true)
  expect(closed).toBe(0)
})
