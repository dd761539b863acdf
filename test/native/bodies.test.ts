/** docs/contract.md §11: request bodies are bounded in size and time, framed as they came, and never sent twice. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { sendRaw } from '../support/raw.ts'
import { errorFacts, type NativeRig, refusal, startRig } from './rig.ts'

const mebibyte = 1_048_576

let rig: NativeRig
beforeAll(async () => {
  rig = await startRig()
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.provider.reset())

const chunked = { 'transfer-encoding': 'chunked' }
const bytesOf = (length: number): Buffer => Buffer.alloc(length, 'abcdefghijklmnopqrstuvwxyz0123456789')

type Act = (text: () => string, socket: Socket) => Promise<unknown>

/** Sends each part once what is before it has come about, and returns all that was received until the end. */
async function talk(...parts: readonly (string | Buffer | Act)[]): Promise<string> {
  const socket = connect(rig.gateway.port, '127.0.0.1').on('error', () => {})
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  const closed = once(socket, 'close')
  for (const part of parts) {
    if (typeof part === 'function') await part(() => text, socket)
    else if (!socket.destroyed) socket.write(part)
  }
  await closed
  return text
}

/** The provider has so many bytes of a body. */
const arrived = (bytes: number) => async (): Promise<void> => {
  const { hasBytes } = rig.provider.arrived[0] ?? (await rig.provider.next())
  await hasBytes(bytes)
}

/** What goes up before the rest of the body has come: of up to 64 KiB, which are read first, nothing does. */
const read = 'r'.repeat(65_537)

/** The client waits for an answer, for as long as that takes at the gateway. */
const silence = async (text: () => string): Promise<void> => {
  while (text() === '') {
    vi.advanceTimersByTime(1_000)
    await setImmediate()
  }
}

/** After that so much time passes at the gateway. Before the first byte nothing goes up, so that it passes in steps: it connects meanwhile. */
const pause = (bytes: number, ms: number) => async (): Promise<void> => {
  const stepMs = bytes === 0 ? 10 : ms
  await (bytes === 0 ? rig.provider.connected() : arrived(bytes)())
  for (let passed = 0; passed < ms; passed += stepMs) {
    vi.advanceTimersByTime(stepMs)
    await setImmediate()
  }
}

describe('N6: a body', () => {
  test.each([
    ['POST', '/estimates', {}],
    ['POST', '/estimates', chunked],
    ['PUT', '/alerts/a', {}],
    ['PATCH', '/alerts/a', chunked],
    ['DELETE', '/alerts/a', {}],
    ['DELETE', '/alerts/a', chunked],
  ])('of 1 MiB goes up with %s %s, byte for byte (%j)', async (method, path, headers) => {
    const body = bytesOf(mebibyte)
    body[0] = 0 // no text: where the path may name a swap, a long one is refused
    const response = await rig.send(path, { method, headers, body })
    expect([response.status, response.body.equals(body)]).toEqual([200, true])
    expect(rig.provider.arrived[0]?.headers).toMatchObject(
      'transfer-encoding' in headers ? headers : { 'content-length': `${mebibyte}` },
    )
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('that is empty goes up with %s as one of no bytes', async (method) => {
    const path = method === 'POST' ? '/estimates' : '/alerts/a'
    const { status, text } = await sendRaw(rig.gateway.port, rig.head(`${method} /native/alpha${path}`, 'connection: close'))
    expect([status, text.includes('hello')]).toEqual([200, true])
    expect(rig.provider.arrived[0]?.headers['content-length']).toBe('0')
    expect(rig.provider.arrived[0]?.headers['transfer-encoding']).toBeUndefined()
  })

  test('of one byte more is 413, and nothing is sent', async () => {
    for (const form of ['A', 'B'] as const)
      expect(errorFacts(await rig.send('/estimates', { method: 'POST', body: bytesOf(mebibyte + 1), form }))).toEqual(
        refusal(413, 'too_large', form),
      )
    expect(rig.provider.arrived).toEqual([])
  })

  test('of one byte more in chunks is 413, and the provider never has a whole one', async () => {
    for (const size of [mebibyte + 1, 20 * mebibyte])
      expect(errorFacts(await rig.send('/estimates', { method: 'POST', headers: chunked, body: bytesOf(size) }))).toEqual(
        refusal(413, 'too_large'),
      )
    for (const { body } of rig.provider.arrived) expect(await body).toBeUndefined()
  })

  test('is measured by nativeMaxBytes of the provider', async () => {
    await using small = await startRig({ provider: rig.provider, facts: { nativeMaxBytes: 10 } })
    const send = (body: string, headers = {}): Promise<unknown> =>
      small.send('/estimates', { method: 'POST', body, headers }).then(({ status }) => status)
    expect(await send('0123456789')).toBe(200)
    expect(await send('0123456789', chunked)).toBe(200)
    expect(await send('0123456789a')).toBe(413)
    expect(await send('0123456789a', chunked)).toBe(413)
    await using none = await startRig({ provider: rig.provider, facts: { nativeMaxBytes: 0 } })
    expect((await none.send('/estimates', { method: 'POST', body: '' })).status).toBe(200)
    expect((await none.send('/estimates', { method: 'POST', body: 'a' })).status).toBe(413)
  })

  test.each(['GET', 'HEAD'])('is refused with %s: some servers would take it for another request', async (method) => {
    const smuggled = 'GET /service/api/v2/transactions HTTP/1.1\r\nhost: x\r\n\r\n'
    const lengthed = rig.head(`${method} /native/alpha/exchange/range`, `content-length: ${smuggled.length}`, 'connection: close')
    const inChunks = rig.head(`${method} /native/alpha/exchange/range`, 'transfer-encoding: chunked', 'connection: close')
    for (const bytes of [lengthed + smuggled, `${inChunks}${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`]) {
      const { status, text } = await sendRaw(rig.gateway.port, bytes)
      expect([status, /x-swap-reason: (.*)\r/.exec(text)?.[1]]).toEqual([400, 'body_invalid'])
    }
    expect(
      (
        await sendRaw(
          rig.gateway.port,
          rig.head(`${method} /native/alpha/exchange/range`, 'content-length: 0', 'connection: close'),
        )
      ).status,
    ).toBe(200)
    expect(rig.provider.arrived).toHaveLength(1)
  })
})

describe('N7: a client', () => {
  const idleMs = 30_000
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())
  const post = (...headers: readonly string[]): string => rig.head('POST /native/alpha/estimates', ...headers)

  test.each([
    ['that stops in the middle of a body', 'content-length: 10', 'abc'],
    ['that stops in the middle of a chunk', 'transfer-encoding: chunked', '5\r\nabc'],
    ['that stops between chunks', 'transfer-encoding: chunked', '3\r\nabc\r\n'],
    ['that sends no byte of a body', 'content-length: 10', ''],
    ['that sends no chunk', 'transfer-encoding: chunked', ''],
  ])('%s gets 408, and nothing is sent', async (_, header, part) => {
    const text = await talk(post(header) + part, silence)
    expect(text).toMatch(/^HTTP\/1\.1 408 /)
    expect(text).toContain('x-swap-reason: too_slow')
    expect(rig.provider.arrived).toEqual([])
  })

  test('that sends a body by the byte gets 408 when the time for all is over', async () => {
    const text = await talk(post('content-length: 60000'), async (answer, socket) => {
      while (answer() === '') {
        socket.write('a')
        vi.advanceTimersByTime(1_000)
        await setImmediate()
      }
    })
    expect(text).toMatch(/^HTTP\/1\.1 408 /)
    expect(rig.provider.arrived).toEqual([])
  })

  test.each([
    ['that stops in the middle of a body', `content-length: ${read.length + 10}`, read],
    ['that stops in the middle of a chunk', 'transfer-encoding: chunked', `fffff\r\n${read}`],
    ['that stops between chunks', 'transfer-encoding: chunked', `${read.length.toString(16)}\r\n${read}\r\n`],
  ])('%s that is streamed gets 408, and the provider’s request ends', async (_, header, part) => {
    const text = await talk(post(header) + part, pause(read.length, idleMs))
    expect(text).toMatch(/^HTTP\/1\.1 408 /)
    expect(text).toContain('x-swap-reason: too_slow')
    for (const { body, closed } of rig.provider.arrived) {
      expect(await body).toBeUndefined()
      await closed
    }
  })

  test('that goes on sending now and then is waited for', async () => {
    const paused = (bytes: number) => pause(bytes, idleMs - 10)
    const { length } = read
    const head = post(`content-length: ${length + 3}`, 'connection: close')
    const text = await talk(head + read, paused(length), 'b', paused(length + 1), 'c', paused(length + 2), 'd')
    expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*rbcd/)
  })

  test('that is slower than the provider’s time-out gets its response all the same', async () => {
    await using slow = await startRig({ provider: rig.provider, facts: { timeout: 5 } })
    const socket = connect(slow.gateway.port, '127.0.0.1')
    const { length } = read
    socket.write(`${slow.head('POST /native/alpha/estimates', `content-length: ${length + 1}`, 'connection: close')}${read}`)
    await pause(length, idleMs - 10)()
    socket.write('b')
    const [text] = await once(socket, 'data')
    expect(String(text)).toMatch(/^HTTP\/1\.1 200 /)
    socket.destroy()
  })

  test('that hangs up in the middle of a body ends the provider’s request', async () => {
    const socket = connect(rig.gateway.port, '127.0.0.1').on('error', () => {})
    socket.write(`${post(`content-length: ${read.length + 10}`)}${read}`)
    const { body, closed } = await rig.provider.next()
    socket.destroy()
    expect(await body).toBeUndefined()
    await closed
    expect((await rig.send('/estimates', { method: 'POST', body: 'again' })).body.toString()).toBe('again')
    expect(rig.provider.arrived).toHaveLength(2)
  })

  test('that closes its half of the connection has hung up', async () => {
    rig.provider.respond = () => {}
    const socket = connect({ port: rig.gateway.port, host: '127.0.0.1', allowHalfOpen: true })
    socket.end(rig.head('GET /native/alpha/exchange/range'))
    const { closed } = await rig.provider.next()
    await closed
    socket.destroy()
  })

  test('that hangs up with several requests ends all of the provider’s requests', async () => {
    rig.provider.respond = () => {}
    const socket = connect(rig.gateway.port, '127.0.0.1').on('error', () => {})
    socket.write(rig.head('GET /native/alpha/exchange/range?n=1') + rig.head('GET /native/alpha/exchange/range?n=2'))
    await vi.waitFor(() => expect(rig.provider.arrived).toHaveLength(2), eventTimeoutMs)
    socket.destroy()
    for (const { closed } of rig.provider.arrived) await closed
  })

  test('that waits for 100 Continue gets it, once, from the gateway', async () => {
    rig.provider.respond = async (response, { body }) => response.end(await body)
    const continued = (text: () => string) => vi.waitUntil(() => text().includes('100 Continue'), eventTimeoutMs)
    const text = await talk(post('content-length: 3', 'expect: 100-continue', 'connection: close'), continued, 'abc')
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 [\s\S]*abc/)
    expect(rig.provider.arrived[0]?.headers.expect).toBeUndefined()
  })

  test('with several requests at once gets the responses in order', async () => {
    const last = Promise.withResolvers<void>()
    rig.provider.respond = async (response, { url }) => {
      if (url.includes('n=1')) await last.promise
      response.end(url)
      if (url.includes('n=3')) last.resolve()
    }
    const get = (n: number, ...headers: string[]): string => rig.head(`GET /native/alpha/exchange/range?n=${n}`, ...headers)
    const text = await talk(get(1) + get(2) + get(3, 'connection: close'))
    expect([...text.matchAll(/range\?n=(\d)/g)].map(([, n]) => n)).toEqual(['1', '2', '3'])
    expect(rig.provider.arrived).toHaveLength(3)
  })
})

describe('N8: a request of two meanings is refused whole, and nothing of it goes up:', () => {
  const smuggled = 'GET /native/alpha/exchange/range?smuggled HTTP/1.1\r\nhost: gateway\r\n\r\n'
  test.each([
    ['a length and chunks', ['content-length: 3', 'transfer-encoding: chunked'], `0\r\n\r\n${smuggled}`],
    ['chunks and a length', ['transfer-encoding: chunked', 'content-length: 3'], `0\r\n\r\n${smuggled}`],
    ['two lengths', ['content-length: 0', `content-length: ${smuggled.length}`], smuggled],
    ['two equal lengths', ['content-length: 3', 'content-length: 3'], 'abc'],
    ['a list of lengths', ['content-length: 3, 3'], 'abc'],
    ['a length with a sign', ['content-length: +3'], 'abc'],
    ['a length in hex', ['content-length: 0x3'], 'abc'],
    ['a length of nothing', ['content-length: '], ''],
    ['two codings', ['transfer-encoding: gzip, chunked'], `0\r\n\r\n${smuggled}`],
    ['another coding', ['transfer-encoding: identity'], smuggled],
    ['chunked twice', ['transfer-encoding: chunked, chunked'], `0\r\n\r\n${smuggled}`],
    ['chunked in two lines', ['transfer-encoding: chunked', 'transfer-encoding: chunked'], `0\r\n\r\n${smuggled}`],
    ['a coding with a tab', ['transfer-encoding: \u000bchunked'], `0\r\n\r\n${smuggled}`],
    ['a name with a space', ['transfer-encoding : chunked'], `0\r\n\r\n${smuggled}`],
    ['a folded line', ['x-a: b', ' content-length: 3'], 'abc'],
    ['a bare CR in a header', ['x-a: b\rcontent-length: 3'], 'abc'],
    ['a bare LF in a header', ['x-a: b\ncontent-length: 3'], 'abc'],
    ['a NUL in a header', ['x-a: b\u0000c'], ''],
    ['a size of a chunk that is none', ['transfer-encoding: chunked'], 'zz\r\nabc\r\n0\r\n\r\n'],
    ['a size of a chunk too large', ['transfer-encoding: chunked'], 'ffffffffffffffffff\r\nabc\r\n0\r\n\r\n'],
    ['a chunk that is longer than its size', ['transfer-encoding: chunked'], '1\r\nabc\r\n0\r\n\r\n'],
    ['two hosts', ['host: other'], ''],
  ])('%s', async (_, headers, rest) => {
    const text = await talk(Buffer.from(rig.head('POST /native/alpha/estimates', ...headers, 'connection: close') + rest, 'latin1'))
    const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status))
    expect(rig.provider.arrived.filter(({ url }) => url.includes('smuggled'))).toEqual([])
    for (const { body } of rig.provider.arrived) expect(await body).toBeUndefined()
    expect(statuses).toEqual([400])
    expect(text).toContain('x-swap-reason: ')
  })

  test.each([
    ['A', 'authorization: Bearer'],
    ['B', 'x-api-key:'],
  ])('a chunk that is none, while the first go up, in the form of the client (%s)', async (form, credential) => {
    const head = [
      'POST /native/alpha/estimates HTTP/1.1',
      'host: gateway',
      'transfer-encoding: chunked',
      `${credential} ${rig.key}`,
    ]
    const text = await talk(
      `${head.join('\r\n')}\r\n\r\n${read.length.toString(16)}\r\n${read}\r\n`,
      arrived(read.length),
      'zz\r\n',
    )
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect(text).toContain(`x-swap-form: ${form}\r\n`)
    for (const { body } of rig.provider.arrived) expect(await body).toBeUndefined()
  })
})
