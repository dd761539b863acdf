/** Rows U of the reliability matrix: what a provider can do to an answer. */
import type { Socket } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { Answered } from '../support/client.ts'
import { expectAlive, expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { createdB, detailedB } from '../support/form-b.ts'
import { type RunningGateway, startGateway } from '../support/gateway.ts'
import { type Client, client, type FormName, formNames, pairWords, startPair } from '../support/pair.ts'
import { type RawProvider, rawResponse, startRawProvider } from '../support/raw.ts'
import { assets, swap } from '../support/swaps.ts'

interface Rig {
  readonly client: Client
  readonly provider: RawProvider
  readonly gateway: RunningGateway
}

const running: Rig[] = []
const currencies = rawResponse('{"data":[],"pagination":{"page":1,"size":100,"total":0},"count":0}')

/** A provider of form A or B that answers everything but currencies so. */
async function rig(answer: (socket: Socket, request: string) => void, form: FormName = 'A'): Promise<Rig> {
  const provider = await startRawProvider((socket, request) =>
    request.includes('/currencies') ? void socket.write(currencies) : answer(socket, request),
  )
  const gateway = await startGateway({ provider: { form, url: provider.url, timeout: 0.4 } })
  const made = { client: client('A', gateway.url), provider, gateway }
  running.push(made)
  return made
}

afterEach(async () => {
  for (const { client: asking, gateway, provider } of running.splice(0)) {
    await expectAlive(asking)
    await gateway.close()
    await provider.close()
  }
})

const get = ({ client: asking }: Rig): Promise<Answered> => asking.get('/transactions/alpha~tx-1')
const create = ({ client: asking }: Rig): Promise<Answered> =>
  asking.post('/transactions', { ...pairWords('A', assets.btc, assets.usdtTrx), amount: 1, withdrawalAddress: 'w' })
const whole = JSON.stringify(transactionA(swap()))

/** A read fails with `status`; the outcome of a create is unknown, and it is sent once (contract §10, where a row says 502). */
async function expectFailure(answer: (socket: Socket, request: string) => void, status: 502 | 504): Promise<void> {
  const made = await rig(answer)
  const before = performance.now()
  expectRefusal(await get(made), 'A', status)
  expect(expectRefusal(await create(made), 'A', 504)).toMatch(/outcome is unknown/i)
  expect(performance.now() - before).toBeLessThan(1_500)
  expect(made.provider.requests.filter((request) => request.startsWith('POST'))).toHaveLength(1)
}

describe('U3', () => {
  const slow: readonly (readonly [string, (socket: Socket) => void])[] = [
    ['headers that never come', () => undefined],
    ['half a status line', (socket) => socket.write('HTTP/1.')],
    ['a body that stalls', (socket) => socket.write(rawResponse(whole).slice(0, -20))],
    ['a chunked body that stalls', (socket) => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"id"')],
    ['one byte at a time for ever', trickle],
    ['headers one at a time for ever', trickleHeaders],
  ]
  test.each(slow)('U3: %s is 504 at the total deadline, and the connection is given up', async (_, answer) => {
    const sockets: Socket[] = []
    const record = (socket: Socket): void => {
      sockets.push(socket)
      answer(socket)
    }
    await expectFailure(record, 504)
    await expect.poll(() => sockets.every((socket) => socket.destroyed), { timeout: 1_000, interval: 10 }).toBe(true)
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
  test.each(cut)('U4: an answer %s is 502 and never a cut 200', (_, answer) => expectFailure(answer, 502))
})

describe('U5', () => {
  test.each([2.1, 5])('U5: an answer of %d MB is 502', async (megabytes) => {
    const body = JSON.stringify({ ...transactionA(swap()), padding: 'x'.repeat(megabytes * 1_048_576) })
    await expectFailure((socket) => socket.write(rawResponse(body)), 502)
  })

  test('U5: an answer just under 2 MiB is read', async () => {
    const body = JSON.stringify({ ...transactionA(swap()), padding: 'x'.repeat(2_000_000) })
    expect((await get(await rig((socket) => socket.write(rawResponse(body))))).status).toBe(200)
  })

  test('U5: an endless answer is 502 long before it fills the memory', async () => {
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
  const bodies: readonly (readonly [string, Buffer])[] = [
    ['gzip', gzipSync(bomb)],
    ['gzip', gzipSync(whole)],
    ['br', brotliCompressSync(bomb)],
    ['gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(bomb)))],
    ['gzip', Buffer.from('not gzip at all')],
    ['deflate', Buffer.from([0, 1, 2, 3])],
  ]
  test.each(bodies)('U6: an answer in the encoding %s, which nobody asked for, is 502', (encoding, body) =>
    expectFailure((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n\r\n`)
      socket.write(body)
    }, 502),
  )
})

describe('U7', () => {
  const spoiled = (from: string, to: string): string => whole.replace(from, to)
  const bodies: readonly (readonly [string, string | Uint8Array])[] = [
    ['HTML', '<html><body>It works</body></html>'],
    ['nothing', ''],
    ['null', 'null'],
    ['an array', '[]'],
    ['an array around it', `[${whole}]`],
    ['a text', '"ok"'],
    ['a number', '1'],
    ['an empty object', '{}'],
    ['an error', '{"error":"x","message":"y","code":500}'],
    ['NaN', spoiled('"amount":0.10', '"amount":NaN')],
    ['a duplicate key', spoiled('{', '{"depositAddress":"thief",')],
    ['a duplicate key in disguise', spoiled('{', '{"deposit\\u0041ddress":"thief",')],
    ['trailing text', `${whole} ok`],
    ['two documents', whole + whole],
    ['a comment', `/* */${whole}`],
    ['a byte order mark', `\ufeff${whole}`],
    ['invalid UTF-8 in an address', Buffer.from(spoiled('bc1q-deposit-1', 'bc1q-\u00ffdeposit'), 'latin1')],
    ['a lone surrogate', spoiled('bc1q-deposit-1', '\\ud800')],
    ['an id with a control character', spoiled('"tx-1"', '"tx\\u00001"')],
    ['an empty id', spoiled('"tx-1"', '""')],
    ['an id of 257 characters', spoiled('"tx-1"', `"${'x'.repeat(257)}"`)],
    ['a number as address', spoiled('"bc1q-deposit-1"', '7')],
    ['no deposit address', spoiled('"bc1q-deposit-1"', 'null')],
    ['10,000 levels', spoiled('{', `{"deep":${'['.repeat(10_000)}${']'.repeat(10_000)},`)],
  ]
  test.each(bodies)('U7: 200 with %s is 502', (_, body) => {
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`
    return expectFailure((socket) => void socket.write(Buffer.concat([Buffer.from(head), Buffer.from(body)])), 502)
  })

  const anything = fc.jsonValue({ maxDepth: 2 })
  test.each(formNames)('U7: whatever a provider of form %s says in a field, the answer is of the form or 502', async (form) => {
    const pair = await startPair('A', form)
    const facts: Record<string, unknown> = form === 'A' ? transactionA(swap()) : { ...createdB(swap()), ...detailedB(swap()) }
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.keys(facts)), anything, fc.boolean(), async (name, value, isGone) => {
        const { [name]: _, ...rest } = facts
        const json = isGone ? rest : { ...rest, [name]: value }
        for (const operation of ['get', 'create'] as const) pair.provider.reply(operation, { json })
        pair.provider.reply('list', { json: { data: [json], count: 1, pagination: { page: 1, size: 20, total: 1 } } })
        const key = await pair.gateway.freshKey()
        const order = { ...pairWords('A', assets.btc, assets.usdtTrx), amount: 1, withdrawalAddress: 'TWithdraw1' }
        expect([200, 502]).toContain((await pair.client.get('/transactions/alpha~tx-1', { key })).status)
        expect([200, 502]).toContain((await pair.client.get('/transactions', { key })).status)
        expect([201, 504]).toContain((await pair.client.post('/transactions', order, { key })).status)
      }),
      { numRuns: 150 },
    )
    await expectAlive(pair.client)
    await pair.close()
  })

  test('U7: whatever stands in a list of currencies, its good rows are answered or it is 502', async () => {
    const pair = await startPair('B', 'A')
    await fc.assert(
      fc.asyncProperty(fc.array(anything, { maxLength: 5 }), anything, async (rows, total) => {
        const json = { data: rows, pagination: { page: 1, size: 100, total } }
        pair.provider.reply('currencies', { json })
        expect([200, 502]).toContain((await pair.client.get('/currencies')).status)
      }),
      { numRuns: 150 },
    )
    await pair.close()
  })

  test('U7: fields that the form does not know are dropped', async () => {
    const body = JSON.stringify({ ...transactionA(swap()), isVip: true, nested: { a: [1] } })
    const answer = await get(await rig((socket) => socket.write(rawResponse(body))))
    expect(answer.status).toBe(200)
    expect(answer.text).not.toMatch(/isVip|nested/)
  })
})

describe('U8', () => {
  const bad: readonly (readonly [string, string])[] = [
    ['a header of 100 kB', `x-big: ${'x'.repeat(100_000)}`],
    ['5,000 headers', Array.from({ length: 5_000 }, (_, at) => `x-${at}: y`).join('\r\n')],
    ['a header without a colon', 'nonsense'],
    ['a header with a NUL', 'x-bad: a\u0000b'],
    ['a space before the colon', 'x-bad : a'],
  ]
  test.each(bad)('U8: an answer with %s is 502', (_, line) =>
    expectFailure((socket) => socket.write(rawResponse(whole, '200 OK', [line])), 502),
  )

  test('U8: of the headers of a provider none comes back', async () => {
    const canaries = [
      'Set-Cookie: a=canary',
      'Server: canary',
      'Keep-Alive: canary',
      'RateLimit: "canary"',
      'X-Frame: canary\u00ff',
    ]
    const hops = [
      'Connection: keep-alive, X-Frame',
      'Trailer: canary',
      'Upgrade: canary',
      'Location: http://canary.test/',
      'Link: <canary>',
    ]
    const answer = await get(await rig((socket) => socket.write(rawResponse(whole, '200 OK', [...canaries, ...hops]))))
    expect(answer.status).toBe(200)
    expect(JSON.stringify(answer.headers)).not.toContain('canary')
  })

  test.each(['17\u0000', '9'.repeat(50), '<script>', 'Fri, 31 Dec 1999 23:59:59 GMT'])(
    'U8: a Retry-After of %j is not passed on as it is',
    async (value) => {
      const made = await rig((socket) =>
        socket.write(rawResponse('{"message":"slow down","code":429}', '429 Slow', [`retry-after: ${value}`])),
      )
      const answer = await get(made)
      expect([429, 502]).toContain(answer.status)
      if (answer.status === 429) expect(answer.headers['retry-after']).toMatch(/^[1-9]\d{0,8}$/)
    },
  )
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
