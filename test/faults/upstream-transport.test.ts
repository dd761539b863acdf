// Takes long: it waits for time-outs of providers.
/** How a response arrives. */
import type { Socket } from 'node:net'
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { transactionA } from '../support/form-a.ts'
import { rawResponse, startRawProvider } from '../support/raw.ts'
import { expectFailure, get, rig, whole } from '../support/raw-rig.ts'
import { swap } from '../support/swaps.ts'

describe('U3', () => {
  const slow: readonly (readonly [string, (socket: Socket) => void])[] = [
    ['headers that never come', () => undefined],
    ['half a status line', (socket) => socket.write('HTTP/1.')],
    ['a body that stalls', (socket) => socket.write(rawResponse(whole).slice(0, -20))],
    ['a chunked body that stalls', (socket) => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"id"')],
    ['one byte at a time for ever', trickle],
    ['headers one at a time for ever', trickleHeaders],
  ]
  test.each(slow)('U3: %s is 504 at the total deadline, and the connection is given up', async (_, response) => {
    const sockets: Socket[] = []
    const record = (socket: Socket): void => {
      sockets.push(socket)
      response(socket)
    }
    await expectFailure(record, 504)
    await expect.poll(() => sockets.every((socket) => socket.destroyed), { interval: 10 }).toBe(true)
  })
})

function every(socket: Socket, milliseconds: number, bytes: () => string): void {
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(bytes())), milliseconds)
  socket.on('close', () => clearInterval(timer))
}

function trickle(socket: Socket): void {
  const bytes = rawResponse(whole)
  let at = 0
  every(socket, 20, () => bytes[at++] ?? ' ')
}

function trickleHeaders(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\n')
  every(socket, 20, () => 'x-more: y\r\n')
}

describe('U4', () => {
  const cut: readonly (readonly [string, (socket: Socket) => void])[] = [
    ['closed at once', (socket) => socket.end()],
    ['cut in the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-ty')],
    ['cut before the body', (socket) => socket.end(rawResponse(whole).slice(0, -whole.length))],
    ['cut in the body', (socket) => socket.end(rawResponse(whole).slice(0, -1))],
    ['reset in the body', (socket) => socket.write(rawResponse(whole).slice(0, -9), () => socket.resetAndDestroy())],
    ['of a Content-Length too long', (socket) => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n${whole}`)],
    ['of a Content-Length too short', (socket) => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n${whole}`)],
    ['of two Content-Lengths', (socket) => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 9\r\n\r\n${whole}`)],
    [
      'without the last chunk',
      (socket) => socket.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${whole.length.toString(16)}\r\n${whole}\r\n`),
    ],
    [
      'of a broken chunk size',
      (socket) => socket.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n${whole}\r\n0\r\n\r\n`),
    ],
    ['not HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n')],
  ]
  test.each(cut)('U4: a response %s is 502 and never a cut 200', (_, response) => expectFailure(response, 502))
})

describe('U5', () => {
  test.each([2.1, 5])('U5: a response of %d MB is 502', async (megabytes) => {
    const body = JSON.stringify({ ...transactionA(swap()), padding: 'x'.repeat(megabytes * 1_048_576) })
    await expectFailure((socket) => socket.write(rawResponse(body)), 502)
  })

  test('U5: a response just under 2 MiB is read', async () => {
    const body = JSON.stringify({ ...transactionA(swap()), padding: 'x'.repeat(2_000_000) })
    expect((await get(await rig((socket) => socket.write(rawResponse(body))))).status).toBe(200)
  })

  test('U5: an endless response is 502 long before it fills the memory', async () => {
    const sent = { bytes: 0 }
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    await expectFailure((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      const more = (): void => {
        while (!socket.destroyed && socket.write(chunk)) sent.bytes += chunk.length
      }
      socket.on('drain', more)
      more()
    }, 502)
    expect(sent.bytes).toBeLessThan(64_000_000)
  })
})

describe('U6', () => {
  const bomb = Buffer.alloc(20_000_000, 0x20)
  const gzipped = gzipSync(bomb)
  const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
  const bodies: readonly (readonly [string, Buffer])[] = [
    ['gzip', gzipped],
    ['zstd', Buffer.from(whole)],
    ['br', brotliCompressSync(bomb, quickly)],
    ['gzip, gzip, gzip', gzipSync(gzipSync(gzipped))],
    ['gzip', Buffer.from('not gzip at all')],
    ['gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(whole)))],
    ['deflate', Buffer.from([0, 1, 2, 3])],
  ]
  test.each(bodies)('U6: a response in the encoding %s, which was not requested, is 502', (encoding, body) =>
    expectFailure((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n\r\n`)
      socket.write(body)
    }, 502),
  )
})

test.each<[string, Buffer]>([
  ['gzip', gzipSync(whole)],
  ['x-gzip', gzipSync(whole)],
  ['deflate', deflateSync(whole)],
  ['deflate', deflateRawSync(whole)],
  ['br', brotliCompressSync(whole)],
  ['gzip, br', brotliCompressSync(gzipSync(whole))],
  ['GZIP', gzipSync(`\ufeff${whole}`)],
])('U6: a response in the encoding %s, which was not requested, is decoded', async (encoding, body) => {
  const compressed = await rig((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n\r\n`)
    socket.write(body)
  })
  expect((await get(compressed)).status).toBe(200)
})

describe('U14', () => {
  test.each([301, 302, 303, 307, 308])('U14: a %i to another host is not followed, and no key goes there', async (status) => {
    const elsewhere = await startRawProvider((socket) => socket.write(rawResponse(whole)))
    await expectFailure(
      (socket) => socket.write(rawResponse('', `${status} Moved`, [`location: ${elsewhere.url}/transactions`])),
      502,
    )
    await elsewhere.close()
    expect(elsewhere.requests).toEqual([])
  })

  test.each(['http://169.254.169.254/latest/meta-data', '//evil.test/x', '/service/api/v2/currencies', 'file:///etc/passwd'])(
    'U14: a redirect to %s is 502',
    (location) => expectFailure((socket) => socket.write(rawResponse('', '302 Found', [`location: ${location}`])), 502),
  )
})
