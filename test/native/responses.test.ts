// Takes long: it waits for stalled connections.
/** docs/contract.md §11: which responses a provider may send, and what happens if a side stalls, breaks off, redirects or upgrades. */
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createServer } from 'node:tls'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { certify } from '../support/certificate.ts'
import { type RawProvider, startRawProvider } from '../support/raw.ts'
import { errorFacts, type NativeResponse, type NativeRig, providerKey, refusal, startRig } from './rig.ts'

let raw: RawProvider
let rig: NativeRig
let respond: (socket: Socket, request: string) => unknown
beforeEach(async () => {
  respond = (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello')
  raw = await startRawProvider((socket, request) => respond(socket, request))
  rig = await startRig({ facts: { url: raw.url, timeout: 0.6, nativeIdle: 0.4 } })
})
afterEach(async () => {
  await rig[Symbol.asyncDispose]()
  await raw.close()
})

const get = (): Promise<NativeResponse> => rig.send('/exchange/range')
const sending =
  (bytes: string, then: 'end' | 'reset' | 'wait' = 'end'): typeof respond =>
  (socket) => {
    socket.write(Buffer.from(bytes, 'latin1'), () => {
      if (then === 'end') socket.end()
      if (then === 'reset') socket.resetAndDestroy()
    })
  }
const outcomesOf = ({ gateway }: NativeRig): readonly unknown[] =>
  gateway.observations.flatMap((observation) => (observation.what === 'call' ? [observation.outcome] : []))
const outcomes = (): readonly unknown[] => outcomesOf(rig)

describe('N9: a response passes as it is:', () => {
  test.each([
    200, 201, 202, 203, 206, 207, 226, 299, 400, 402, 403, 404, 405, 406, 409, 410, 412, 416, 418, 422, 428, 429, 451, 499, 500,
    501, 502, 503, 504, 511, 599,
  ])('status %i', async (status) => {
    const body = '{"secret":"of alpha at 127.0.0.1", "message": 1e999}'
    respond = sending(`HTTP/1.1 ${status} Evil\r\ncontent-type: text/x\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    const { status: got, reason, headers, body: bytes } = await get()
    expect([got, String(bytes), headers['content-type']]).toEqual([status, body, 'text/x'])
    expect([headers['x-swap-reason'], headers['x-swap-form']]).toEqual([undefined, undefined])
    expect(reason).not.toBe('Evil')
  })

  test('status 204, and a length that it may not have', async () => {
    respond = sending('HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n')
    const { status, headers, body } = await get()
    expect([status, headers['content-length'], body.length]).toEqual([204, undefined, 0])
  })

  test('compressed bytes, also where they are cut off inside', async () => {
    const whole = gzipSync(Buffer.alloc(100_000, 'abc'))
    for (const bytes of [whole, whole.subarray(0, whole.length - 10)]) {
      respond = sending(
        `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bytes.length}\r\n\r\n${bytes.toString('latin1')}`,
      )
      const { headers, body, isCut } = await get()
      expect([headers['content-encoding'], body.equals(bytes), isCut]).toEqual(['gzip', true, false])
    }
  })

  test.each([
    ['whole', 'identity', [`{"key":"${providerKey}"}`]],
    ['in two chunks', 'identity', [`{"key":"${providerKey.slice(0, 7)}`, `${providerKey.slice(7)}"}`]],
    ['in other case', 'identity', [`{"key":"${providerKey.toUpperCase()}"}`]],
    ['compressed by gzip', 'gzip', [gzipSync(`{"key":"${providerKey}"}`)]],
    ['compressed by br', 'br', [brotliCompressSync(`{"key":"${providerKey}"}`)]],
    ['compressed by deflate', 'deflate', [deflateSync(`{"key":"${providerKey}"}`)]],
    ['compressed by deflate without its header', 'deflate', [deflateRawSync(`{"key":"${providerKey}"}`)]],
    ['compressed by zstd', 'zstd', [zstdCompressSync(`{"key":"${providerKey}"}`)]],
    ['compressed twice', 'gzip, br', [brotliCompressSync(gzipSync(`{"key":"${providerKey}"}`))]],
    ['with escapes of JSON', 'identity', [`{"key":"${providerKey.replaceAll('-', String.raw`\u002D`)}"}`]],
    ['with escapes of a URL', 'identity', [`{"next":"/coins?api_key=${providerKey.replaceAll('-', '%2d')}"}`]],
    ['in a coding that nobody knows', 'constructor', [`{"key":"${providerKey}"}`]],
    ['in a coding that is not its own', 'gzip', [`{"key":"${providerKey}"}`]],
    ['in a coding that is not its own, compressed', 'br', [gzipSync(`{"key":"${providerKey}"}`)]],
    ['behind what is compressed', 'gzip', [Buffer.concat([gzipSync('{}'), Buffer.from(`{"key":"${providerKey}"}`)])]],
    ['behind what is compressed, in another chunk', 'gzip', [gzipSync('{}'), `{"key":"${providerKey}"}`]],
    ['behind what is compressed by br', 'br', [brotliCompressSync('{}'), gzipSync(`{"key":"${providerKey}"}`)]],
    ['in a second member of gzip', 'gzip', [Buffer.concat([gzipSync('{}'), gzipSync(`{"key":"${providerKey}"}`)])]],
    ['in UTF-16', 'identity', [Buffer.from(`{"key":"${providerKey}"}`, 'utf16le')]],
    ['in UTF-16, big end first', 'identity', [Buffer.from(`{"key":"${providerKey}"}`, 'utf16le').swap16()]],
    ['in entities of HTML', 'identity', [`<b>${providerKey.replaceAll('-', '&#45;')}</b>`]],
    ['in entities of HTML by name', 'identity', [`<b>${providerKey.replaceAll('-', '&hyphen;')}</b>`]],
    ['in base64', 'identity', [Buffer.from(`alpha:${providerKey}`).toString('base64')]],
    ['in base64, one byte later', 'identity', [Buffer.from(`alpha1:${providerKey}!`).toString('base64')]],
    ['in base64url, two bytes later', 'identity', [Buffer.from(`alpha12:${providerKey}!!`).toString('base64url')]],
  ])('a key of the configuration %s never reaches the client: 502, or cut off, and 502 in the log', async (_, coding, chunks) => {
    const parts = chunks.map((chunk) => {
      const bytes = Buffer.from(chunk)
      return `${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n`
    })
    respond = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\ntransfer-encoding: chunked\r\n\r\n`)
      for (const part of parts) socket.write(Buffer.from(part, 'latin1'))
      socket.end('0\r\n\r\n')
    }
    const { status, body, isCut } = await get()
    expect(status === 502 || isCut).toBe(true)
    expect(body.toString('latin1')).not.toMatch(/"key":"prov|api_key=prov/)
    const logged = (): unknown => rig.gateway.observations.findLast(({ what }) => what === 'request')
    await expect.poll(logged).toMatchObject({ status: 502, errorType: 'provider_failed' })
  })

  test('what breaks off in its coding is cut off', async () => {
    respond = sending(
      `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n${gzipSync('{}'.repeat(900)).subarray(0, -9).toString('latin1')}`,
    )
    const { status, isCut } = await get()
    expect(status === 502 || isCut).toBe(true)
  })

  test.each(['gzip', 'constructor', 'gzip, br'])('a response in the coding %s without a body passes', async (coding) => {
    respond = sending(`HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\ncontent-length: 0\r\n\r\n`)
    expect(await get()).toMatchObject({ status: 200, isCut: false })
  })

  test('bytes of every value, in chunks with extensions and trailers', async () => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, at) => at)).toString('latin1')
    respond = sending(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n100;a=b\r\n${all}\r\n0\r\nx-leak: a\r\n\r\n`)
    const { body, trailers } = await get()
    expect([body.toString('latin1'), trailers]).toEqual([all, {}])
  })

  test('over two mebibytes', async () => {
    const body = 'x'.repeat(3_000_000)
    respond = sending(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    expect((await get()).body).toHaveLength(body.length)
  })

  test('that ends with its connection, and one of HTTP/1.0', async () => {
    for (const head of ['HTTP/1.1 200 OK\r\n\r\n', 'HTTP/1.0 200 OK\r\n\r\n']) {
      respond = sending(`${head}hello`)
      const { status, body, isCut } = await get()
      expect([status, String(body), isCut]).toEqual([200, 'hello', false])
    }
  })

  test('what follows reaches no one', async () => {
    const evil = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil'
    for (const surplus of [evil, 'surplus']) {
      respond = sending(`HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 5\r\n\r\nhello${surplus}`, 'wait')
      for (let at = 0; at < 4; at++) expect(String((await get()).body)).toBe('hello')
    }
    expect(raw.requests.every((request) => /\r\nconnection: close\r\n/i.test(request))).toBe(true)
  })
})

describe('N10: is 502 in the form, with nothing of the provider’s:', () => {
  const evil = 'x-leak: a\r\nlocation: https://evil.test/\r\nset-cookie: a=b\r\ncontent-length: 4\r\n\r\nevil'
  test.each<readonly [string, string]>([
    ...[300, 301, 302, 303, 304, 307, 308, 399].map(
      (status) => [`a redirect (${status})`, `HTTP/1.1 ${status} Evil\r\n${evil}`] as const,
    ),
    ['a change of protocol', `HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nevil`],
    ['a change of protocol without a word', 'HTTP/1.1 101 Switching\r\n\r\n'],
    ['a status below all', `HTTP/1.1 099 Evil\r\n${evil}`],
    ['a status above all', `HTTP/1.1 600 Evil\r\n${evil}`],
    ['999', `HTTP/1.1 999 Evil\r\n${evil}`],
    ['no HTTP', 'evil\r\n\r\n'],
    ['HTTP/0.9', '<html>evil</html>'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['half a head', 'HTTP/1.1 200 OK\r\ncontent-le'],
    ['nothing', ''],
    ['only an interim response', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['two lengths', `HTTP/1.1 200 OK\r\ncontent-length: 3\r\n${evil}`],
    ['a length and chunks', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n${evil}`],
    ['another coding', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n'],
    ['a head of 20 KB', `HTTP/1.1 200 OK\r\nx-large: ${'x'.repeat(20_000)}\r\n${evil}`],
    ['a header that is none', `HTTP/1.1 200 OK\r\nx leak: a\r\n${evil}`],
    ['a NUL in a header', `HTTP/1.1 200 OK\r\netag: "a\u0000b"\r\n${evil}`],
    ['a refusal of the gateway’s own key', `HTTP/1.1 401 Evil\r\nwww-authenticate: Bearer\r\n${evil}`],
  ])('%s', async (_, bytes) => {
    for (const then of ['end', 'reset'] as const) {
      respond = sending(bytes, then)
      const failed = await get()
      expect(errorFacts(failed)).toEqual(refusal(502, 'provider_failed'))
      expect(JSON.stringify([failed.headers, String(failed.body)])).not.toMatch(/evil|leak|127\.0\.0\.1/i)
    }
    expect(raw.requests).toHaveLength(2)
  })

  test.each([
    ['a redirect whose body does not come', 'HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 100\r\n\r\nabc'],
    ['a redirect that goes on for ever', `HTTP/1.1 302 Found\r\nlocation: /x\r\n\r\n${'x'.repeat(1_000_000)}`],
    ['a change of protocol that stays open', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
  ])('%s, and lets go of the provider', async (_, bytes) => {
    const closed: Promise<unknown>[] = []
    respond = (socket, request) => {
      closed.push(new Promise((resolve) => socket.once('close', resolve)))
      sending(bytes, 'wait')(socket, request)
    }
    expect(errorFacts(await get())).toEqual(refusal(502, 'provider_failed'))
    await Promise.all(closed)
    expect(closed).toHaveLength(1)
  })

  test.each([
    ['refuses connections', 'http://127.0.0.1:9/x'],
    ['has an unknown name', 'https://nowhere.invalid/x'],
  ])('a provider that %s', async (_, url) => {
    await using lost = await startRig({ facts: { url } })
    expect(errorFacts(await lost.send('/exchange/range'))).toEqual(refusal(502, 'provider_failed'))
    const post = { method: 'POST', body: 'abc', form: 'B' } as const
    expect(errorFacts(await lost.send('/estimates', post))).toEqual(refusal(502, 'provider_failed', 'B'))
    expect(outcomesOf(lost)).toEqual(['unreachable', 'unreachable'])
  })

  test('a provider with an untrusted certificate, which gets no byte of the request', async () => {
    const { cert, key } = certify({ name: 'localhost' })
    const received: Buffer[] = []
    const provider = createServer({ cert, key }, (socket) => socket.on('data', (chunk: Buffer) => received.push(chunk)))
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    const { port } = provider.address() as AddressInfo
    await using untrusted = await startRig({ facts: { url: `https://localhost:${port}/x` } })
    expect(errorFacts(await untrusted.send('/exchange/range'))).toEqual(refusal(502, 'provider_failed'))
    expect([outcomesOf(untrusted), received]).toEqual([['unreachable'], []])
    provider.close()
  })

  test('a provider that does not respond to a TLS handshake, after 2 s', async () => {
    const url = raw.url.replace('http:', 'https:')
    await using silent = await startRig({ facts: { url } })
    const before = performance.now()
    expect(errorFacts(await silent.send('/exchange/range'))).toEqual(refusal(502, 'provider_failed'))
    expect(performance.now() - before).toBeGreaterThan(1_900)
    expect(performance.now() - before).toBeLessThan(4_000)
    expect(outcomesOf(silent)).toEqual(['unreachable'])
  })

  test('a reset before the head, and the request is not sent again', async () => {
    respond = (socket) => socket.resetAndDestroy()
    expect(errorFacts(await get())).toEqual(refusal(502, 'provider_failed'))
    expect(errorFacts(await rig.send('/estimates', { method: 'POST', body: 'abc' }))).toEqual(refusal(502, 'provider_failed'))
    expect(raw.requests).toHaveLength(2)
    expect(outcomes()).toEqual(['failed', 'failed'])
  })
})

describe('N11: a provider that stalls', () => {
  test.each([
    ['before its head', ''],
    ['in its head', 'HTTP/1.1 200 OK\r\ncontent-le'],
    ['after an interim response', 'HTTP/1.1 103 Early\r\n\r\n'],
  ])('%s: 504 after its time-out, and its connection ends', async (_, bytes) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    respond = (socket, request) => {
      socket.once('close', () => resolve())
      sending(bytes, 'wait')(socket, request)
    }
    const before = performance.now()
    expect(errorFacts(await get())).toEqual(refusal(504, 'timeout'))
    expect(performance.now() - before).toBeGreaterThan(550)
    await promise
    expect(outcomes()).toEqual(['timedOut'])
  })

  test('with interim responses without an end: 504 after its time-out', async () => {
    respond = (socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 50)
      socket.once('close', () => clearInterval(timer))
    }
    expect(errorFacts(await get())).toEqual(refusal(504, 'timeout'))
  })

  test.each([
    ['after its head', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n', ''],
    ['in its body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', 'abc'],
    ['in a body in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n', 'abc'],
    ['in a body that ends with its connection', 'HTTP/1.1 200 OK\r\n\r\nabc', 'abc'],
  ])('%s: the client gets what came, at once, and is cut off after nativeIdle', async (_, bytes, came) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    respond = (socket, request) => {
      socket.once('close', () => resolve())
      sending(bytes, 'wait')(socket, request)
    }
    const { status, body, isCut } = await get()
    expect([status, String(body), isCut]).toEqual([200, came, true])
    await promise
    expect(outcomes()).toEqual(['timedOut'])
  })

  test('for less than nativeIdle again and again is waited for, longer than its time-out', async () => {
    respond = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n')
      let left = 8
      const timer = setInterval(() => {
        socket.write('x')
        if (--left === 0) clearInterval(timer)
      }, 150)
    }
    const { body, isCut } = await get()
    expect([String(body), isCut]).toEqual(['xxxxxxxx', false])
  })
})

describe('N12: a provider that breaks off after its head', () => {
  test.each([
    ['a length', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'],
    ['chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'],
    ['a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nabc'],
    ['a chunk that is none', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n'],
  ])('of %s: the client is cut off, and nothing is put in the place of what lacks', async (_, bytes) => {
    for (const then of ['end', 'reset'] as const) {
      respond = (socket) => {
        const [head = '', body = ''] = bytes.split(/(?<=\r\n\r\n)/)
        socket.write(head)
        setTimeout(() => sending(body, then)(socket, ''), 30)
      }
      const { status, body, isCut } = await get()
      expect([status, isCut]).toEqual([200, true])
      expect('abc').toContain(String(body))
    }
    expect(outcomes()).toEqual(['unreadable', 'unreadable'])
    respond = sending('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello')
    expect(String((await get()).body)).toBe('hello')
  })

  test('a client of HTTP/1.0, for which the end of the connection is the end of the response, gets a reset', async () => {
    respond = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n')
      setTimeout(() => socket.destroy(), 100)
    }
    const socket = connect(rig.gateway.port, '127.0.0.1').resume()
    socket.write(rig.head('GET /native/alpha/exchange/range').replace('HTTP/1.1', 'HTTP/1.0'))
    const [error] = await once(socket, 'error')
    expect(error).toMatchObject({ code: 'ECONNRESET' })
  })
})

describe('N13: a client', () => {
  test.each([
    ['before the head', ''],
    ['in the middle of the response', 'HTTP/1.1 200 OK\r\n\r\nabc'],
  ])('that hangs up %s ends the provider’s request', async (_, bytes) => {
    const closed = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    respond = (socket, request) => {
      socket.once('close', () => closed.resolve())
      if (bytes !== '') sending(bytes, 'wait')(socket, request)
      arrived.resolve()
    }
    const socket = connect(rig.gateway.port, '127.0.0.1').on('error', () => {})
    socket.write(rig.head('GET /native/alpha/exchange/range'))
    await arrived.promise
    if (bytes !== '') await once(socket, 'data')
    const before = performance.now()
    socket.destroy()
    await closed.promise
    expect(performance.now() - before).toBeLessThan(300)
    expect(outcomes()).toEqual(['abandoned'])
  })

  test('that takes nothing of a long response is cut off, and the provider is let go of', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    respond = (socket) => {
      socket.once('close', () => resolve())
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const chunk = Buffer.alloc(1_000_000)
      const more = (): void => void socket.write(chunk, () => !socket.destroyed && more())
      more()
    }
    const socket = connect(rig.gateway.port, '127.0.0.1').on('error', () => {})
    socket.pause().write(rig.head('GET /native/alpha/exchange/range'))
    await promise
    socket.destroy()
    expect(outcomes()).toEqual(['abandoned'])
  })
})
