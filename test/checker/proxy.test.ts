// Takes long: a network that is slow, on a real clock.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { FaultProxy } from './proxy.ts'
import { bandwidth, latency, limitData, resetPeer, slicer, slowClose, timeout } from './toxics.ts'

/** Sends back what it is sent, and ends when its client ends. */
let echo: Server
/** All that came to it. */
let arrived: string
let proxy: FaultProxy
const open = new Set<Socket>()

beforeEach(async () => {
  arrived = ''
  echo = createServer({ allowHalfOpen: true }, (socket) => {
    socket
      .on('error', () => socket.destroy())
      .on('data', (chunk) => {
        arrived += chunk
      })
    socket.pipe(socket)
  })
  echo.listen(0, '127.0.0.1')
  await once(echo, 'listening')
  proxy = await FaultProxy.start(`http://127.0.0.1:${(echo.address() as AddressInfo).port}/api/v2`)
})
afterEach(async () => {
  for (const socket of open) socket.destroy()
  open.clear()
  await proxy[Symbol.asyncDispose]()
  echo.close()
})

async function client(): Promise<Socket> {
  const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1')
  open.add(socket)
  await once(socket, 'connect')
  return socket
}

/** What comes back, and after how long. */
async function exchange(socket: Socket, text: string): Promise<{ back: string; milliseconds: number }> {
  const began = performance.now()
  socket.write(text)
  let back = ''
  while (back.length < text.length) back += String((await once(socket, 'data'))[0])
  return { back, milliseconds: performance.now() - began }
}

async function failure(socket: Socket): Promise<string> {
  const [reason] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
  return reason.code ?? ''
}

describe('a proxy without toxics', () => {
  it('keeps the path of its target', () => {
    expect(proxy.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v2$/)
  })

  it('passes bytes and the end of each direction', async () => {
    const socket = await client()
    const sent = Buffer.alloc(1_000_000, 'swap')
    socket.end(sent)
    expect((await buffer(socket)).equals(sent)).toBe(true)
    await vi.waitFor(() => expect(proxy.connections.size).toBe(0), eventTimeoutMs)
  })

  it('passes a reset', async () => {
    const [[accepted], socket] = await Promise.all([once(echo, 'connection') as Promise<[Socket]>, client()])
    accepted.resetAndDestroy()
    expect(await failure(socket)).toBe('ECONNRESET')
  })
})

describe.each(['upstream', 'downstream'] as const)('%s', (direction) => {
  it('latency delays, give or take the jitter', async () => {
    const socket = await client()
    const random = vi.fn(() => 0.25)
    const lift = proxy.add(latency(60, 40, random), direction)
    expect((await exchange(socket, 'a')).milliseconds).toBeGreaterThan(38)
    lift()
    await exchange(socket, 'a')
    expect(random).toHaveBeenCalledOnce()
  })

  it('bandwidth lets so many bytes a second through', async () => {
    proxy.add(bandwidth(10_000), direction)
    const { back, milliseconds } = await exchange(await client(), 'x'.repeat(1_500))
    expect(back).toHaveLength(1_500)
    expect(milliseconds).toBeGreaterThan(140)
  })

  it('slow_close holds the end back', async () => {
    proxy.add(slowClose(80), direction)
    const socket = await client()
    const began = performance.now()
    socket.end('bye')
    expect(String(await buffer(socket))).toBe('bye')
    expect(performance.now() - began).toBeGreaterThan(78)
  })

  it('timeout lets nothing through and ends the connection', async () => {
    proxy.add(timeout(30), direction)
    const socket = await client()
    socket.write('lost')
    expect(String(await buffer(socket))).toBe('')
  })

  it('timeout 0 holds until it is lifted', async () => {
    const lift = proxy.add(timeout(0), direction)
    const socket = await client()
    const exchanged = exchange(socket, 'held')
    const isHeld = Promise.race([exchanged.then(() => false), new Promise((resolve) => setTimeout(resolve, 60, true))])
    expect(await isHeld).toBe(true)
    lift()
    expect((await exchanged).back).toBe('held')
  })

  it('reset_peer resets once bytes come', async () => {
    const socket = await client()
    expect((await exchange(socket, 'fine')).back).toBe('fine')
    proxy.add(resetPeer(), direction)
    const failed = failure(socket)
    socket.write('more')
    expect(await failed).toBe('ECONNRESET')
  })

  it('slicer cuts into small pieces', async () => {
    proxy.add(slicer(3, 5), direction)
    const { back, milliseconds } = await exchange(await client(), '0123456789'.repeat(3))
    expect(back).toBe('0123456789'.repeat(3))
    expect(milliseconds).toBeGreaterThan(36)
  })

  it('limit_data ends the connection after so many bytes', async () => {
    proxy.add(limitData(6), direction)
    const socket = await client()
    expect((await exchange(socket, '1234')).back).toBe('1234')
    socket.write('5678')
    const rest = String(await buffer(socket))
    if (direction === 'downstream') expect(rest).toBe('56')
    else await vi.waitFor(() => expect(arrived).toBe('123456'), eventTimeoutMs)
  })
})

describe('if a toxic acts', () => {
  it('down refuses connections and resets open ones, until it is up again', async () => {
    const socket = await client()
    const failed = failure(socket)
    await proxy.down()
    expect(await failed).toBe('ECONNRESET')
    await expect(client()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await proxy.up()
    expect((await exchange(await client(), 'again')).back).toBe('again')
  })

  it('on the next connections only', async () => {
    const before = await client()
    proxy.add(resetPeer(), 'downstream', { next: 1 })
    const struck = await client()
    const after = await client()
    expect((await exchange(before, 'before')).back).toBe('before')
    expect((await exchange(after, 'after')).back).toBe('after')
    const failed = failure(struck)
    struck.write('struck')
    expect(await failed).toBe('ECONNRESET')
  })

  it('on the connections that are named', async () => {
    const first = await client()
    const second = await client()
    const [named] = [...proxy.connections]
    if (named) proxy.add(resetPeer(), 'upstream', { of: [named] })
    expect((await exchange(second, 'second')).back).toBe('second')
    const failed = failure(first)
    first.write('first')
    expect(await failed).toBe('ECONNRESET')
  })

  it('several after each other', async () => {
    proxy.add(slicer(1), 'downstream')
    proxy.add(limitData(2), 'downstream')
    const socket = await client()
    socket.write('abc')
    expect(String(await buffer(socket))).toBe('ab')
  })

  it('cut resets what is open', async () => {
    const socket = await client()
    const failed = failure(socket)
    proxy.cut()
    expect(await failed).toBe('ECONNRESET')
  })
})
