import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { Http } from '../../wire/http.ts'
import { expressApp, messagesOf } from './express.ts'
import { type ListeningServer, listen } from './server.ts'

let running: ListeningServer
let release: () => void

/** What was written into `/stream`, and what became of the last write. */
const written = { bytes: 0, isOpen: true }

/** Responds to `/slow` when it is released; to everything else, and to protocol errors, at once. */
const handle: Http = async ({ path, protocolError }) => {
  if (path === '/stream') return { status: 200, headers: {}, body: '', stream: { run: writeWithoutEnd, close: () => {} } }
  if (path === '/slow' && !protocolError) {
    await new Promise<void>((resolve) => {
      release = resolve
    })
  }
  return { status: protocolError ? 400 : 200, headers: { 'content-type': 'application/json' }, body: `{"path":"${path}"}` }
}

async function writeWithoutEnd(write: (text: string) => Promise<boolean>): Promise<void> {
  const text = 'x'.repeat(100_000)
  Object.assign(written, { bytes: 0, isOpen: true })
  while (written.isOpen) {
    written.bytes += text.length
    written.isOpen = await write(text)
  }
}

beforeEach(async () => {
  const app = expressApp(handle, { trustProxy: 0, maxBodyBytes: 1_000, cors: [] })
  running = await listen(app, handle, { host: '127.0.0.1', port: 0, messages: messagesOf(app) })
})
afterEach(() => {
  running.server.close()
  running.server.closeAllConnections()
})

async function open(text: string): Promise<Socket> {
  const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

async function read(socket: Socket): Promise<string> {
  let text = ''
  for await (const chunk of socket) text += chunk
  return text
}

test('a CONNECT that is reset does not end the process', async () => {
  for (let n = 0; n < 20; n++) {
    const socket = await open('CONNECT evil:443 HTTP/1.1\r\nHost: evil\r\n\r\n')
    socket.on('error', () => {})
    socket.resetAndDestroy()
  }
  expect((await fetch(`${running.url}/after`)).status).toBe(200)
})

test('garbage after a complete request is rejected after the response to that request', async () => {
  const socket = await open('GET /slow HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE\r\n\r\n')
  const received = read(socket)
  while (release === undefined) await new Promise(setImmediate)
  release()
  const text = await received
  expect(text).toContain('HTTP/1.1 200')
  expect(text).toContain('"path":"/slow"')
  expect(text.indexOf('HTTP/1.1 400')).toBeGreaterThan(text.indexOf('"path":"/slow"'))
})

test('a target that is not a path is rejected by the same handler', async () => {
  const text = await read(await open('GET http://a[b/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'))
  expect(text).toContain('HTTP/1.1 400')
  expect(text).toContain('application/json')
})

test('a stream whose client reads again goes on, however long it was full before', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const socket = await open('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n')
  for (let times = 0; times < 3; times++) {
    const { bytes } = written
    socket.resume()
    while (written.bytes < bytes + 5_000_000) await nextTurn()
    socket.pause()
    let before = -1
    while (before < written.bytes) {
      before = written.bytes
      for (let turns = 0; turns < 1_000; turns++) await nextTurn()
    }
    vi.advanceTimersByTime(40_000)
  }
  expect(written.isOpen).toBe(true)
  socket.destroy()
  while (written.isOpen) await nextTurn()
})
