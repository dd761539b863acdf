import { expect, it } from 'vitest'
import { withoutContinue } from './interim-responses.ts'

const final = 'HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\nHTTP/1.1 100 x'
const continued = 'HTTP/1.1 100 Continue\r\nX-A: b\r\n\r\n'
const hints = 'HTTP/1.1 103 Early Hints\r\n\r\n'

function connection(waiting: Buffer[]) {
  return withoutContinue({ read: (): Buffer | null => waiting.shift() ?? null, write: (_: string | Buffer) => true })
}

/** What a client reads after a request, if the bytes come in these pieces. */
function readAfterRequest(...pieces: readonly string[]): string {
  const waiting = pieces.map((piece) => Buffer.from(piece, 'latin1'))
  const socket = connection(waiting)
  socket.write('POST / HTTP/1.1\r\n\r\n')
  socket.write(Buffer.from('{}'))
  let text = ''
  for (let bytes = socket.read(); bytes !== null; bytes = socket.read()) text += bytes.toString('latin1')
  return text
}

it.each([
  ['none', final, final],
  ['one', continued + final, final],
  ['several', continued.repeat(8) + final, final],
  ['a ninth, which is passed on', continued.repeat(9) + final, continued + final],
  ['one between others', hints + continued + hints + final, hints + hints + final],
  ['one of HTTP/1.0', continued.replace('1.1', '1.0') + final, final],
  ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\n\r\nabc', 'HTTP/1.1 101 Switching Protocols\r\n\r\nabc'],
  ['bytes that are no response', 'HTTP/2 100\r\n\r\n', 'HTTP/2 100\r\n\r\n'],
])('%s before the final response, wherever the bytes are divided', (_, sent, read) => {
  expect(readAfterRequest(sent)).toBe(read)
  expect(readAfterRequest(...sent)).toBe(read)
  for (let at = 1; at < Math.min(sent.length, 120); at++)
    expect(readAfterRequest(sent.slice(0, at), sent.slice(at)), `${at}`).toBe(read)
})

it('a head without an end is passed on, and not kept', () => {
  const endless = `HTTP/1.1 100 Continue\r\nX: ${'x'.repeat(20_000)}`
  expect(readAfterRequest(endless)).toBe(endless)
})

it('each request has its own', () => {
  const waiting: Buffer[] = []
  const socket = connection(waiting)
  for (let request = 0; request < 3; request++) {
    socket.write('GET / HTTP/1.1\r\n\r\n')
    waiting.push(Buffer.from(continued.repeat(8) + final))
    expect(socket.read()?.toString()).toBe(final)
  }
})
