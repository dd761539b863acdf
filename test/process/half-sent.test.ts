/** Requests that do not arrive whole, and bodies in the smallest of pieces, in a process of 512 MB. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { ownLoad } from '../support/own-load.ts'
import { heldProvider } from './provider.ts'
import { residentMemory } from './slow-clients.ts'
import { ConfigDirectory, Swapgate } from './swapgate.ts'

const isSoak = process.env.SWAPGATE_SOAK !== undefined
const timeout = 180_000
const thousands = isSoak ? 9_000 : 5_500
const constrained = 'data:text/javascript,process.constrainedMemory=()=>536870912'
const env = { NODE_OPTIONS: `${ownLoad} --import=${constrained} --max-old-space-size=256` }

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

interface Client {
  readonly socket: Socket
  received: string
}

function send(url: string, text: string, localAddress = '127.0.0.1'): Client {
  const { port, hostname } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, localAddress }).on('error', () => {})
  const client = { socket, received: '' }
  sockets.push(socket)
  socket.on('data', (chunk) => {
    client.received += chunk
  })
  socket.write(text)
  return client
}

interface Started {
  readonly url: string
  readonly admin: string
  readonly pid: number
  /** A new key, where keys are issued. */
  readonly issueKey: () => Promise<string>
  /** Closed connections of the public port. */
  readonly closed: (reason: string) => Promise<number>
}

async function start(server: string, provider = 'http://127.0.0.1:9/api/v2', more = ''): Promise<Started> {
  const directory = new ConfigDirectory()
  const file = directory.write(`
server: { port: 0, shutdownDelay: 0${server} }
admin: { port: 0 }
ledger: { url: "sqlite:${directory.path}/ledger.db" }
providers: { alpha: { form: A, url: "${provider}", key: own-key } }
routing: { providers: [alpha] }
${more}`)
  const gateway = new Swapgate(['start', '--config', file], { env })
  onTestFinished(async () => {
    await gateway[Symbol.asyncDispose]()
    directory[Symbol.dispose]()
  })
  const urls = await gateway.urls()
  const [url = '', admin = ''] = [urls.get('gateway'), urls.get('admin')]
  const closed = async (reason: string): Promise<number> => {
    const text = await (await fetch(`${admin}/metrics`)).text()
    return Number(new RegExp(`connections_closed_total\\{port="public",reason="${reason}"\\} (\\d+)`).exec(text)?.[1])
  }
  const issueKey = async (): Promise<string> => {
    const { out } = await new Swapgate(['keys', 'create', '--name', 'acme', '--json', '--config', file]).ended
    return JSON.parse(out).key
  }
  return { url, admin, pid: gateway.child.pid as number, issueKey, closed }
}

/** Resolves when each of them has sent its part once. */
async function startSender(url: string, count: number, localAddress: string, text: string): Promise<void> {
  const program = join(import.meta.dirname, 'half-sender.ts')
  const { port } = new URL(url)
  const child = spawn(process.execPath, [program, port, String(count), localAddress, text], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
}

const unknown = '/nowhere HTTP/1.1\r\nHost: x\r\n'
const refusedQuote = '/a/api/v2/rate?coinFrom=BTC'
const create = 'POST /a/api/v2/transactions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\nContent-Type: application/json\r\n'

/** Of another address than the one that sends halves, once they have arrived: a slow machine sheds quotes while it reads thousands. */
async function expectServed({ url, pid }: Started): Promise<void> {
  const ask = async (): Promise<number> => (await fetch(url + refusedQuote, { headers: { connection: 'close' } })).status
  await expect.poll(ask, { timeout: eventTimeoutMs }).toBe(400)
  const statuses = new Set<number>()
  let most = 0
  for (let count = 0; count < 50; count++) {
    statuses.add(await ask())
    most = Math.max(most, residentMemory(pid))
  }
  expect([...statuses]).toEqual([400])
  expect(most, 'megabytes').toBeLessThan(0.85 * 512)
}

it.each([
  ['heads', `GET ${unknown}X-A: ${'a'.repeat(15_800)}`],
  ['heads behind whole requests', `GET ${unknown}\r\nGET ${unknown}X-A: ${'a'.repeat(15_800)}`],
])('X13: thousands of half-sent %s of one address shed no request of another', { timeout }, async (_, text) => {
  const started = await start(', connections: 9500')
  await startSender(started.url, thousands, '127.0.0.2', text)
  await expectServed(started)
})

it('X13: thousands of half-sent bodies of one account shed no request of another', { timeout }, async () => {
  const more = 'auth: { mode: managed }\nlimits: { create: 1000000 }'
  const started = await start(', connections: 9500', undefined, more)
  const head = create.replace('Bearer k', `Bearer ${await started.issueKey()}`)
  await startSender(started.url, thousands, '127.0.0.2', `${head}Content-Length: 15801\r\n\r\n${'a'.repeat(15_800)}`)
  await expectServed(started)
  expect((await started.closed('unfinished')) + (await started.closed('address'))).toBeGreaterThan(0)
})

it('X13: a full port ends the oldest unfinished request for a new client; single bytes make none younger', {
  timeout,
}, async () => {
  const { url, closed } = await start(', connections: 20, connectionsPerAddress: 100')
  const slow: Client[] = []
  for (let at = 0; at < 20; at++) {
    slow.push(send(url, `GET ${unknown}X-A: `))
    await once((slow.at(-1) as Client).socket, 'connect')
  }
  for (const { socket } of slow) socket.write('a')
  for (let at = 0; at < 5; at++) {
    for (const { socket } of slow.slice(0, 3)) socket.write('a')
    expect((await fetch(`${url}/nowhere`, { headers: { connection: 'close' } })).status).toBe(404)
  }
  await expect.poll(() => slow[0]?.received).toMatch(/^HTTP\/1.1 408 /)
  expect(await closed('unfinished')).toBeGreaterThan(0)
  expect(slow.slice(6).map(({ received }) => received)).toEqual(Array.from({ length: 14 }, () => ''))
})

it('X13: an address may take most places while nobody else wants them, and a quarter after that', { timeout }, async () => {
  const { url, closed } = await start(', connections: 40')
  const greedy = Array.from({ length: 30 }, () => send(url, `GET ${unknown}\r\n`, '127.0.0.2'))
  const isHeld = ({ received }: Client): boolean => received.startsWith('HTTP/1.1 404')
  await expect.poll(() => greedy.filter(isHeld).length).toBe(21)
  const others = ['127.0.0.3', '127.0.0.4'].flatMap((address) =>
    Array.from({ length: 12 }, () => send(url, `GET ${unknown}\r\n`, address)),
  )
  await expect.poll(() => others.filter(isHeld).length).toBe(19)
  expect(await closed('address')).toBeGreaterThanOrEqual(9)
})

it('X15: behind a proxy no connection is closed for its address, and requests count by that of the client', {
  timeout,
}, async () => {
  await using provider = await heldProvider()
  const { url, closed } = await start(', trustProxy: 1, connections: 100, connectionsPerAddress: 5', provider.url)
  const from = (address: string): string => `X-Forwarded-For: ${address}\r\n`
  const halfHeads = Array.from({ length: 40 }, () => send(url, `GET ${unknown}`))
  const halfBodies = Array.from({ length: 9 }, () => send(url, `${create}${from('192.0.2.1')}Content-Length: 9\r\n\r\n{`))
  const answered = (): number => halfBodies.filter(({ received }) => received !== '').length
  await expect.poll(answered).toBe(4)
  const refused = halfBodies.find(({ received }) => received !== '')?.received
  expect(refused).toMatch(/^HTTP\/1.1 429 .*retry-after: 1\r\n/is)
  expect((await fetch(`${url}/nowhere`, { headers: { 'x-forwarded-for': '192.0.2.2' } })).status).toBe(404)
  expect((await fetch(`${url}/nowhere`, { headers: { 'x-forwarded-for': '192.0.2.1' } })).status).toBe(429)
  for (const { socket } of halfBodies) socket.destroy()
  const again = async (): Promise<number> => (await fetch(`${url}/nowhere`, { headers: { 'x-forwarded-for': '192.0.2.1' } })).status
  await expect.poll(again).toBe(404)
  expect(halfHeads.filter(({ socket }) => socket.destroyed)).toEqual([])
  expect([await closed('address'), await closed('full')]).toEqual([0, 0])
})

it('X14: bodies in chunks of one byte, which nobody reads, take no more memory than their bytes', { timeout }, async () => {
  await using provider = await heldProvider()
  const { url, pid } = await start('', provider.url)
  const before = residentMemory(pid)
  const head = 'GET /a/api/v2/rate?coinFrom=ETH&coinTo=BTC&amount=1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
  const body = '1\r\na\r\n'.repeat(65_536)
  for (let count = 0; count < 60; count++) send(url, head + body)
  await provider.requested
  expect((await fetch(`${url}/nowhere`)).status).toBe(404)
  expect(residentMemory(pid) - before).toBeLessThan(100)
})
