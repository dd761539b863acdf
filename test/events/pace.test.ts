// Takes long: it waits for comments and for streams that are ended.
/** docs/contract.md §18.2: comments while nothing changes, readers that are slow, and many rows that were missed. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { expressApp, messagesOf } from '../../src/adapters/http/express.ts'
import { listen } from '../../src/adapters/http/server.ts'
import { type EventSource, openEvents } from '../support/event-source.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'

let managed: Managed | undefined
afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await managed?.close()
  managed = undefined
})

async function start(): Promise<{
  readonly key: string
  readonly id: string
  readonly open: (path: string, lastEventId?: string) => Promise<EventSource>
  readonly change: (status: string) => Promise<void>
}> {
  const limits = { quotes: 100_000, create: 100_000, read: 100_000, unverified: 100_000 }
  const rig = await startManaged({
    sections: { auth: { mode: 'managed' }, routing: { providers: ['alpha'] }, ledger: { refreshAfter: 0 }, limits },
  })
  managed = rig
  const key = await rig.issue()
  const client = rig.client('A')
  const { id } = (await client.post('/transactions', orderIn('A'), { key })).json as { id: string }
  return {
    key,
    id,
    open: (path, lastEventId) =>
      openEvents(`${rig.gateway.url}/a/api/v2${path}`, {
        authorization: `Bearer ${key}`,
        ...(lastEventId && { 'last-event-id': lastEventId }),
      }),
    async change(status) {
      rig.alpha.holdings.swaps = rig.alpha.holdings.swaps.map((held) => ({ ...held, status }))
      await client.get(`/transactions/${id}`, { key })
    },
  }
}

test('a comment comes at once and every 15 s, in both kinds of stream', async () => {
  const { id, open } = await start()
  const streams: EventSource[] = []
  // `expect.poll` would let the time pass.
  const arrived = async (count: number): Promise<void> => {
    for (let look = 0; look < 200 && !streams.every(({ comments }) => comments.length >= count); look++) await delay(10)
    expect(streams.map(({ comments }) => comments.length)).toEqual([count, count])
  }
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  for (const path of [`/transactions/${id}/events`, '/events']) streams.push(await open(path))
  // NGINX holds the head back until something follows it.
  await arrived(1)
  for (const count of [2, 3, 4]) {
    vi.advanceTimersByTime(14_999)
    await delay(50)
    await arrived(count - 1)
    vi.advanceTimersByTime(1)
    await arrived(count)
  }
  expect(streams.map(({ comments }) => comments[0])).toEqual([': still here', ': still here'])
})

test('a thousand missed rows come in order, once, also to one that stops reading for a while; others are not delayed', {
  timeout: 120_000,
}, async () => {
  const { id, open, change } = await start()
  const statuses = Array.from({ length: 1_000 }, (_, at) => (at % 2 === 0 ? 'confirmation' : 'exchanging'))
  for (const status of statuses) await change(status)
  const paths = [`/transactions/${id}/events`, '/events']
  const slow = await Promise.all(paths.map((path) => open(path, '1')))
  for (const stream of slow) stream.pause()
  const streams = await Promise.all(paths.map((path) => open(path, '1')))
  const present = await open('/events')
  const changedAt = performance.now()
  await change('overdue')
  await present.received(1)
  expect((present.arrivals[0] ?? 0) - changedAt).toBeLessThan(1_000)
  for (const stream of slow) stream.resume()
  for (const stream of [...streams, ...slow]) {
    await stream.received(1_001)
    expect(stream.events.map((event) => Number(event.id))).toEqual(Array.from({ length: 1_001 }, (_, at) => at + 2))
    expect(stream.events.map(({ data }) => (data as { status: string }).status)).toEqual([...statuses, 'overdue'])
  }
})

test('who reads nothing gets no more than the connection takes, is cut off after a minute of that, and delays nobody', {
  timeout: 30_000,
}, async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const text = 'x'.repeat(65_536)
  let written = 0
  let isOver = false
  const endless = {
    close: () => {},
    async run(write: (text: string) => Promise<boolean>) {
      while (await write(text)) written += text.length
      isOver = true
    },
  }
  const app = expressApp(
    async ({ path }) => ({ status: 200, headers: {}, body: 'here', ...(path === '/endless' && { stream: endless }) }),
    { trustProxy: 0, maxBodyBytes: 1_000, cors: [] },
  )
  const { server, url } = await listen(app, async () => ({ status: 400, headers: {}, body: '' }), {
    host: '127.0.0.1',
    port: 0,
    messages: messagesOf(app),
  })
  onTestFinished(() => void server.close())
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  socket.pause()
  socket.write('GET /endless HTTP/1.1\r\nHost: gateway\r\n\r\n')
  await delay(500)
  const full = written
  expect(full).toBeGreaterThan(0)
  // What the buffers of the system take.
  expect(full).toBeLessThan(32_000_000)
  const began = performance.now()
  expect(await (await fetch(url)).text()).toBe('here')
  expect(performance.now() - began).toBeLessThan(500)
  vi.advanceTimersByTime(59_000)
  await delay(100)
  expect(isOver).toBe(false)
  vi.advanceTimersByTime(1_000)
  await expect.poll(() => isOver).toBe(true)
  expect(written).toBe(full)
  const connections = await new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
  expect(connections).toBeLessThanOrEqual(1)
  socket.destroy()
})
