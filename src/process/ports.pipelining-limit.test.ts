import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { limitPipelining } from './ports.ts'

const most = 10
/** Large: of what came in one piece all is taken in. */
const request = `GET / HTTP/1.1\r\nHost: x\r\nX-Filler: ${'x'.repeat(8_000)}\r\n\r\n`

let server: Server
let waiting: ServerResponse[]
let requestCount: number
let unclosed: number
let socket: Socket

beforeEach(async () => {
  waiting = []
  requestCount = 0
  unclosed = 0
  const listener = limitPipelining((_, response) => {
    requestCount++
    waiting.push(response)
  }, most)
  server = createServer(listener).listen(0, '127.0.0.1')
  server.on('request', (_, response) => {
    unclosed++
    response.on('close', () => unclosed--)
  })
  await once(server, 'listening')
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
})
afterEach(() => {
  socket.destroy()
  server.close()
})

it('a connection with too many pending responses is closed, and what came beyond them does not run', async () => {
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.resume().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500))
  await closed
  expect(requestCount).toBe(most)
  await expect.poll(() => unclosed).toBe(0)
})

it('the maximum of pending responses is allowed again and again', async () => {
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  for (let round = 1; round <= 5; round++) {
    socket.write(request.repeat(most))
    await expect.poll(() => requestCount).toBe(round * most)
    for (const response of waiting.splice(0)) response.end('body')
    await expect.poll(() => received.split('HTTP/1.1 200').length - 1).toBe(round * most)
  }
})
