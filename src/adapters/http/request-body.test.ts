import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { mergeChunks, readBody } from './request-body.ts'

const head = (framing: string): string => `POST / HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n`
const chunked = head('Transfer-Encoding: chunked')
const oneByteChunks = (count: number): string => '1\r\na\r\n'.repeat(count)

let server: Server
let socket: Socket
beforeEach(async () => {
  server = createServer().prependListener('request', mergeChunks).listen(0, '127.0.0.1')
  await once(server, 'listening')
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
})
afterEach(() => {
  socket.destroy()
  server.close()
})

async function send(text: string): Promise<IncomingMessage> {
  socket.write(text)
  const [request]: [IncomingMessage, ServerResponse] = await (once(server, 'request') as Promise<never>)
  return request
}

it('a body is read whole, whether it is read before or after it came', async () => {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => void request.on('end', () => response.end()))
  const early = await send(chunked)
  const text = readBody(early, 10_000)
  socket.write(`${oneByteChunks(5_000)}0\r\n\r\n`)
  expect(await text).toBe('a'.repeat(5_000))
  const late = await send(`${chunked}${oneByteChunks(5_000)}0\r\n\r\n`)
  await expect.poll(() => late.complete).toBe(true)
  expect(await readBody(late, 10_000)).toBe('a'.repeat(5_000))
})

it('chunks that nobody reads are kept in few pieces', async () => {
  const request = await send(chunked + oneByteChunks(5_000))
  socket.write(`${oneByteChunks(5_000)}0\r\n\r\n`)
  await expect.poll(() => request.complete).toBe(true)
  const pieces: number[] = []
  for await (const piece of request) pieces.push(piece.length)
  expect(pieces.reduce((sum, length) => sum + length, 0)).toBe(10_000)
  expect(pieces.length).toBeLessThan(5)
})

it('a connection whose body nobody reads is not read for long, and is read again with the body', async () => {
  const request = await send(chunked)
  const sent = 8 * 1_048_576
  socket.write(`${sent.toString(16)}\r\n`)
  socket.write(`${'a'.repeat(sent)}\r\n0\r\n\r\n`)
  await expect.poll(() => request.socket.bytesRead).toBeGreaterThan(16_384)
  for (let count = 0; count < 100; count++) await turn()
  expect(request.socket.bytesRead).toBeLessThan(1_048_576)
  let length = 0
  for await (const piece of request) length += piece.length
  expect(length).toBe(sent)
})

it.each([
  ['no body', head('X: y'), ''],
  ['an empty body', head('Content-Length: 0'), ''],
  ['a body of no chunk', `${chunked}0\r\n\r\n`, ''],
  ['a body in the packet of its head', `${head('Content-Length: 3')}abc`, 'abc'],
])('%s is read', async (_, text, body) => {
  expect(await readBody(await send(text), 100)).toBe(body)
})

it('the next request follows one whose body nobody read', async () => {
  server.on('request', (_, response: ServerResponse) => void response.end('next'))
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  socket.write(`${chunked}${oneByteChunks(100)}0\r\n\r\n${head('Content-Length: 2')}ab`)
  await expect.poll(() => received.match(/HTTP\/1.1 200/g)?.length).toBe(2)
})
