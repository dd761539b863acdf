/** All kinds of clients that hold connections open, and the time limit of each. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

export interface Slowness {
  /** Sent at once by the holder of the key. */
  readonly opening: (key: string) => string
  /** What follows now and then: only silence is easy to notice. */
  readonly drip: string
  /** After so many seconds it is let go. */
  readonly limit: number
  /** Or so many times that. */
  readonly most?: number
  /** The response before that. */
  readonly received: RegExp
}

const head = (method: string): string => `${method} /a/api/v2/transactions HTTP/1.1\r\nHost: gateway\r\n`

export const slownesses: Readonly<Record<string, Slowness>> = {
  'that never ends its headers': { opening: () => `${head('GET')}X-Slow: `, drip: 'x', limit: 10, received: /^HTTP\/1.1 408 / },
  'that never ends its body': {
    opening: (key) =>
      `${head('POST')}Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{`,
    drip: 'x',
    limit: 30,
    received: /^HTTP\/1.1 408 /,
  },
  'that sends nothing': { opening: () => '', drip: '', limit: 10, received: /^HTTP\/1.1 408 / },
  'that keeps its connection and sends no more requests': {
    opening: () => 'GET /nowhere HTTP/1.1\r\nHost: gateway\r\n\r\n',
    drip: '',
    limit: 66,
    received: /^HTTP\/1.1 404 /,
  },
  'that sends empty lines in place of further requests': {
    opening: () => 'GET /nowhere HTTP/1.1\r\nHost: gateway\r\n\r\n',
    drip: '\r\n',
    limit: 75,
    most: 2,
    received: /^HTTP\/1.1 404 /,
  },
}

export interface LetGo {
  /** Seconds. */
  readonly after: number
  readonly received: string
}

/** One such client, until the gateway ends its connection. `interval`: seconds until more follows. */
export async function holdOpen(port: number, key: string, { opening, drip }: Slowness, interval: number): Promise<LetGo> {
  const socket = await opened(port, opening(key))
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  const dripping = drip ? setInterval(() => socket.write(drip), 1000 * interval) : undefined
  const after = await untilClosed(socket)
  clearInterval(dripping)
  return { after, received }
}

/**
 * Sends requests over and over without waiting, and reads nothing. Checks at each interval (seconds) whether it is closed;
 * resolves with the time.
 */
export async function neverReads(port: number, requestText: string, times: number, interval: number): Promise<number> {
  const socket = await opened(port, '')
  socket.pause()
  socket.write(requestText.repeat(times))
  // A client that does not read notices the end only by a write.
  const writing = setInterval(() => socket.write('\r\n'), 1000 * interval)
  const after = await untilClosed(socket)
  clearInterval(writing)
  return after
}

/** Sends `times` requests at once, and reads 64 kB at each interval (seconds). Resolves with the time at which it is closed. */
export async function readsLittle(port: number, requestText: string, times: number, interval: number): Promise<number> {
  const gulp = { buffer: Buffer.alloc(65_536), callback: () => false }
  const socket = connect({ port, host: '127.0.0.1', onread: gulp }).on('error', () => {})
  await once(socket, 'connect')
  socket.write(requestText.repeat(times))
  const reading = setInterval(() => {
    socket.resume()
    socket.write('\r\n')
  }, 1000 * interval)
  const after = await untilClosed(socket)
  clearInterval(reading)
  return after
}

async function untilClosed(socket: Socket): Promise<number> {
  const began = performance.now()
  await new Promise((resolve) => socket.once('close', resolve))
  return (performance.now() - began) / 1000
}

async function opened(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  if (bytes !== '') socket.write(bytes)
  return socket
}

/** Megabytes. */
export function residentMemory(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}
