import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { drainOf } from './connection-bounds.ts'

async function started(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((_, response) => response.end('done')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => server.closeAllConnections())
  return { server, port: (server.address() as AddressInfo).port }
}

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

test('a request is answered whose connection was accepted just before the port closes', async () => {
  const { server, port } = await started()
  const drain = drainOf(server)
  drain.begin()
  const accepted = once(server, 'connection')
  const socket = connect(port, '127.0.0.1')
  await Promise.all([accepted, once(socket, 'connect')])
  const finished = drain.finish(5_000)
  await expect.poll(() => server.listening, { interval: 1 }).toBe(false)
  socket.write(get)
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 [\s\S]*done/)
  await finished
})

test('a request is answered whose connection is made, and not accepted yet', async () => {
  const { server, port } = await started()
  const drain = drainOf(server)
  drain.begin()
  const socket = connect(port, '127.0.0.1')
  socket.write(get)
  // The system has connected it, and no turn of the event loop has passed.
  await new Promise<void>((resolve) => void process.nextTick(resolve))
  const finished = drain.finish(5_000)
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 [\s\S]*done/)
  await finished
})

test('connections that stay silent hold up the end no longer than that', async () => {
  const { server, port } = await started()
  const drain = drainOf(server)
  const accepted = once(server, 'connection')
  const socket = connect(port, '127.0.0.1')
  await accepted
  const closed = once(socket.resume(), 'close')
  await drain.finish(60_000)
  expect(server.listening).toBe(false)
  await closed
})
