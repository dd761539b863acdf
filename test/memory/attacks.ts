/** What strangers, accounts, providers, name servers and operators' clients do to the gateway of the run. */
import { spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { type Agent, type RequestOptions, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import * as fc from 'fast-check'
import { fuzzedBodies, fuzzedHeads, fuzzedKey, fuzzedTargets } from '../fuzz/request-texts.ts'
import { coinCount } from './providers.ts'

export interface Target {
  readonly port: number
  readonly adminPort: number
  /** Of an account that is not the healthy client's. */
  readonly key: string
  readonly operatorToken: string
}

/** One attack, until the signal. Counts what came of each of its requests. */
interface Assault {
  readonly target: Target
  readonly signal: AbortSignal
  readonly agent: Agent
  readonly count: (outcome: string) => void
}

type Attack = (assault: Assault) => Promise<void>

/** Milliseconds. */
const timeout = 15_000
const alphabet = 'abcdefghijklmnopqrstuvwxyz'

/** As many workers do it over and over. */
async function repeatedly(workers: number, { signal, count }: Assault, work: () => Promise<string>): Promise<void> {
  const run = async (): Promise<void> => {
    while (!signal.aborted) count(await work().catch(({ code }) => String(code)))
  }
  await Promise.all(Array.from({ length: workers }, run))
}

/** The status, and the reason of an error. */
function send({ target: { port }, agent }: Assault, options: RequestOptions, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent, port, host: '127.0.0.1', timeout, ...options }, (response) => {
      response
        .resume()
        .on('end', () => resolve(`${response.statusCode} ${response.headers['x-swap-reason'] ?? ''}`.trim()))
        .on('error', reject)
    })
    sent.on('error', reject).on('timeout', () => sent.destroy())
    sent.end(body)
  })
}

const address = (): string =>
  `2001:db8:${randomBytes(4)
    .toString('hex')
    .replace(/(.{4})/, '$1:')}::1`

const withKey = ({ target: { key } }: Assault, more: Readonly<Record<string, string>> = {}) => ({
  ...{ authorization: `Bearer ${key}`, 'x-forwarded-for': address(), ...more },
})

const quotePath = (): string =>
  `/a/api/v2/rate?coinFrom=C${randomInt(coinCount)}X&coinTo=C${randomInt(coinCount)}X&amount=${randomInt(1, 1e6) / 1e4}`

/** What comes back does not matter: the connection ends after a moment. */
async function exchange({ target: { port } }: Assault, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const closed = new Promise((resolve) => socket.on('close', resolve))
  let [status = ''] = ['']
  socket
    .on('error', () => {})
    .on('data', (chunk) => {
      status ||= chunk.toString('latin1', 9, 12)
    })
  socket.write(Buffer.from(bytes, 'latin1'))
  const timer = setTimeout(() => socket.destroy(), 300)
  await closed
  clearTimeout(timer)
  return status || 'none'
}

/** As many connections at any time, each as `use` has it; whoever is let go comes again. */
async function connections(
  number: number,
  assault: Assault,
  use: (socket: Socket) => void,
  port = assault.target.port,
): Promise<void> {
  const open = new Set<Socket>()
  const stop = (): void => {
    for (const socket of open) socket.destroy()
  }
  assault.signal.addEventListener('abort', stop, { once: true })
  await repeatedly(number, assault, async () => {
    const socket = connect(port, '127.0.0.1')
    open.add(socket)
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.on('error', () => {}).on('connect', () => use(socket))
    await closed
    open.delete(socket)
    await wait(randomInt(20, 500))
    return 'closed'
  })
}

/** Writes now and then, until the connection ends. */
function drip(socket: Socket, text: () => string, ms: number): void {
  const timer = setInterval(() => socket.write(text()), ms)
  socket.on('close', () => clearInterval(timer))
}

const fuzz: Attack = async (assault) => {
  const texts = fc.oneof(fuzzedHeads, fuzzedBodies, fuzzedTargets)
  await repeatedly(2, assault, async () => {
    const own = fc.sample(texts, 24).map((text) => text.replaceAll(fuzzedKey, assault.target.key).replaceAll('alpha', 'healthy'))
    const [last = '', ...statuses] = await Promise.all(own.map((text) => exchange(assault, text)))
    for (const status of statuses) assault.count(status)
    return last
  })
}

const searches: Attack = (assault) =>
  repeatedly(6, assault, () => {
    const start = randomInt(alphabet.length)
    const search = alphabet.slice(start, start + randomInt(1, alphabet.length))
    const path = `/${'ab'[randomInt(2)]}/api/v2/currencies?search=${search}&page=${randomInt(1, 10)}&size=${randomInt(80, 101)}`
    return send(assault, { path, headers: { 'x-forwarded-for': '192.0.2.66' } })
  })

const hostileLists: Attack = (assault) =>
  repeatedly(6, assault, () => {
    const provider = randomInt(2) === 0 ? 'hostile' : 'lists'
    const path = [`/a/api/v2/currencies?search=x&page=${randomInt(1, 100)}`, quotePath()][randomInt(2)]
    return send(assault, { path, headers: withKey(assault, { 'x-swap-provider': provider }) })
  })

const lyingQuotes: Attack = (assault) =>
  repeatedly(8, assault, () => send(assault, { path: quotePath(), headers: withKey(assault, { 'x-swap-provider': 'hostile' }) }))

const forwardedAddresses: Attack = (assault) =>
  repeatedly(12, assault, () => {
    const text = randomInt(2) === 0 ? address() : randomBytes(randomInt(1, 5_000)).toString('hex')
    return send(assault, {
      path: randomInt(4) === 0 ? quotePath() : '/a/api/v2/rate?coinFrom=C1X',
      headers: { 'x-forwarded-for': text },
    })
  })

const madeUpKeys: Attack = (assault) =>
  repeatedly(12, assault, () => {
    const key = randomInt(2) === 0 ? `sg_live_${randomBytes(24).toString('hex')}` : randomBytes(randomInt(8, 2_000)).toString('hex')
    const path = ['/a/api/v2/transactions/healthy~tx-1', '/a/api/v2/transactions', quotePath(), '/native/hostile/trickle'][
      randomInt(4)
    ]
    return send(assault, { path, headers: { authorization: `Bearer ${key}`, 'x-forwarded-for': address() } })
  })

const post = 'POST /a/api/v2/transactions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'

const halfSent: Attack = async (assault) => {
  const { port, key } = assault.target
  const texts = [
    `GET /nowhere HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(15_800)}`,
    `${post}Authorization: Bearer ${key}\r\nContent-Length: 15801\r\n\r\n${'a'.repeat(15_800)}`,
  ]
  const program = join(import.meta.dirname, '../process/half-sender.ts')
  const senders = texts.map((text, at) =>
    spawn(process.execPath, [program, String(port), '2500', `127.0.0.${2 + at}`, text], { stdio: ['pipe', 'ignore', 'ignore'] }),
  )
  const stop = (): void => {
    for (const sender of senders) sender.kill('SIGKILL')
  }
  assault.signal.addEventListener('abort', stop, { once: true })
  await Promise.all(senders.map((sender) => new Promise((resolve) => sender.once('exit', resolve))))
  assault.count('senders ended')
}

const chunkTrickles: Attack = (assault) =>
  connections(300, assault, (socket) => {
    socket.resume()
    socket.write(`${post}Authorization: Bearer ${assault.target.key}\r\nTransfer-Encoding: chunked\r\n\r\n`)
    drip(socket, () => '1\r\na\r\n', 20)
  })

const slowReaders: Attack = (assault) =>
  connections(60, assault, (socket) => {
    socket.pause()
    const path = `/a/api/v2/currencies?size=100&page=${randomInt(1, 10)}`
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address()}\r\n\r\n`.repeat(20))
    const timer = setInterval(() => socket.read(65_536), 500)
    socket.on('close', () => clearInterval(timer))
  })

/** Half of them with a token; none reads. */
const eventStreams: Attack = async (assault) => {
  const { adminPort, operatorToken } = assault.target
  const headers = { authorization: `Bearer ${operatorToken}` }
  const paths = [
    '/api/unresolved',
    '/api/transactions?search=C1X',
    '/api/audit',
    '/api/providers',
    '/metrics',
    '/api/unresolved?size=1000',
  ]
  const streams = connections(
    200,
    assault,
    (socket) => {
      socket.pause()
      const token = randomInt(2) === 0 ? operatorToken : randomBytes(20).toString('hex')
      socket.write(`GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`)
      setTimeout(() => socket.destroy(), randomInt(1_000, 20_000))
    },
    adminPort,
  )
  const reads = repeatedly(2, assault, () => send(assault, { port: adminPort, path: paths[randomInt(paths.length)], headers }))
  await Promise.all([streams, reads])
}

const nativeTrickles: Attack = (assault) =>
  connections(200, assault, (socket) => {
    const head = `Host: x\r\nAuthorization: Bearer ${assault.target.key}\r\n`
    if (randomInt(3) === 0) {
      socket.write(`POST /native/hostile/echo HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n`)
      drip(socket, () => '1\r\na\r\n', 20)
    } else {
      socket.write(`GET /native/hostile/${randomInt(2) === 0 ? 'trickle' : 'dump'} HTTP/1.1\r\n${head}\r\n`)
      socket.pause()
      const timer = setInterval(() => socket.read(16_384), 200)
      socket.on('close', () => clearInterval(timer))
    }
  })

const order = (): string =>
  JSON.stringify({
    ...{ coinFrom: `C${randomInt(coinCount)}X`, coinTo: 'C2X', amount: randomInt(1, 1e6) / 1e4, rateType: 'float' },
    ...{ withdrawalAddress: `w-${randomBytes(10).toString('hex')}`, refundAddress: 'r-1' },
  })

const createAt = (assault: Assault, provider: string): Promise<string> => {
  const headers = withKey(assault, {
    ...{ 'content-type': 'application/json', 'x-swap-provider': provider, 'idempotency-key': randomBytes(20).toString('hex') },
  })
  return send(assault, { method: 'POST', path: '/a/api/v2/transactions', headers }, order())
}

const lostCreates: Attack = (assault) => repeatedly(4, assault, () => createAt(assault, 'losing'))

const noise: Attack = (assault) =>
  repeatedly(8, assault, () => {
    if (randomInt(2) === 0) return createAt(assault, 'healthy')
    const form = randomInt(2) === 0 ? 'a' : 'b'
    const path = `/${form}/api/v2/transactions?page=${randomInt(1, 50)}&size=${randomInt(1, 101)}`
    return send(assault, { path, headers: form === 'a' ? withKey(assault) : { 'x-api-key': assault.target.key } })
  })

/** Beyond the threads that may wait for an answer. */
export const silentNames = Array.from({ length: 40 }, (_, at) => `p${at}`)

const silentLookups: Attack = (assault) =>
  repeatedly(60, assault, async () => {
    await wait(50)
    return send(assault, { path: `/native/${silentNames[randomInt(silentNames.length)]}/small`, headers: withKey(assault) })
  })

export const attacks: Readonly<Record<string, Attack>> = {
  ...{ fuzz, searches, hostileLists, lyingQuotes, forwardedAddresses, madeUpKeys, halfSent, chunkTrickles, slowReaders },
  ...{ eventStreams, nativeTrickles, lostCreates, noise, silentLookups },
}
