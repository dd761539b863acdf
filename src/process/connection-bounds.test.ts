import { EventEmitter } from 'node:events'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type AddressBound, BoundedConnections } from './connection-bounds.ts'

class Client extends EventEmitter {
  readonly remoteAddress: string
  isClosed = false
  isPaused = false

  constructor(remoteAddress: string) {
    super()
    this.remoteAddress = remoteAddress
  }

  pause(): void {
    this.isPaused = true
  }

  destroy(): void {
    this.isClosed = true
    this.emit('close')
  }
}

let server: EventEmitter
let closings: string[]
/** The oldest last. */
let unfinished: Client[]
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
  server = new EventEmitter()
  closings = []
  unfinished = []
})
afterEach(() => {
  server.emit('close')
  vi.useRealTimers()
})

function bound(max: number, ofAddress?: AddressBound): BoundedConnections {
  const connections: BoundedConnections = new BoundedConnections(server as Server, {
    max,
    ofAddress,
    endOldest() {
      const oldest = unfinished.pop() as unknown as Socket | undefined
      if (oldest) connections.onEnded(oldest)
      return oldest
    },
    onClosed: (reason) => void closings.push(reason),
    onParked: () => {},
  })
  return connections
}

const open = (address: string, count = 1): readonly Client[] =>
  Array.from({ length: count }, () => {
    const client = new Client(address)
    server.emit('connection', client)
    return client
  })
/** How many of them are open and read. */
async function held(clients: readonly Client[]): Promise<number> {
  await new Promise((resolve) => process.nextTick(resolve))
  return clients.filter(({ isClosed, isPaused }) => !isClosed && !isPaused).length
}

it('a connection of a full port is closed at once', async () => {
  bound(3)
  const clients = open('192.0.2.1', 5)
  expect(clients.map(({ isClosed }) => isClosed)).toEqual([false, false, false, true, true])
  expect(closings).toEqual(['full', 'full'])
  clients[0]?.destroy()
  expect(await held(open('192.0.2.1', 2))).toBe(1)
})

it('a full port ends the oldest request that is not whole for a new connection', async () => {
  bound(3)
  unfinished = open('192.0.2.1', 3).toReversed()
  expect(await held(open('192.0.2.2', 4))).toBe(3)
  expect(closings).toEqual(['full'])
})

it('an address has its share while more than half of all connections are in use', async () => {
  bound(20, { max: 5, from: 11 })
  expect(await held(open('192.0.2.1', 15))).toBe(11)
  expect(await held(open('192.0.2.2', 7))).toBe(5)
  expect(await held(open('192.0.2.3', 7))).toBe(4)
  expect(new Set(closings)).toEqual(new Set(['address', 'full']))
})

it('an IPv6 /64 is one address', async () => {
  bound(20, { max: 2, from: 0 })
  expect(await held([...open('2001:db8::1'), ...open('2001:db8::2:1'), ...open('2001:db8::3')])).toBe(2)
  expect(await held(open('2001:db8:0:1::1'))).toBe(1)
  expect(await held([...open('::ffff:192.0.2.1', 2), ...open('192.0.2.1')])).toBe(2)
})

it('connections above the bound of an address are not read, and closed few at a time', async () => {
  bound(10_000, { max: 5, from: 0 })
  const clients = open('192.0.2.1', 105)
  const closed = (): number => clients.filter(({ isClosed }) => isClosed).length
  const counts = [closed()]
  for (let interval = 0; interval < 3; interval++) {
    vi.advanceTimersByTime(100)
    counts.push(closed())
  }
  expect([counts, await held(clients)]).toEqual([[0, 40, 80, 100], 5])
})

it('a connection that waits to be closed takes the place of no other', async () => {
  bound(10, { max: 5, from: 0 })
  const waiting = open('192.0.2.1', 20).slice(5)
  expect(waiting.filter(({ isClosed }) => !isClosed)).toHaveLength(5)
  expect(await held(open('192.0.2.2', 5))).toBe(5)
  expect(waiting.every(({ isClosed }) => isClosed)).toBe(true)
})

it('an ended request counts for its address as long as it could have taken, and for no other', async () => {
  const connections = bound(10, { max: 5, from: 6 })
  const first = open('192.0.2.1', 6)
  for (const client of first) {
    connections.onEnded(client as unknown as Socket)
    client.destroy()
  }
  expect(await held(open('192.0.2.1'))).toBe(0)
  expect(await held(open('192.0.2.2', 5))).toBe(5)
  vi.advanceTimersByTime(10_000)
  expect(await held(open('192.0.2.1', 5))).toBe(5)
})
