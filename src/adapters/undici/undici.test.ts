import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { upstream } from './index.ts'

const request = { method: 'POST', path: '/transactions', query: '', headers: {}, body: async () => '{}' }

test.each(['retire', 'close'] as const)('L51: a request after %s fails as not sent', async (end) => {
  const provider = upstream({ url: 'http://127.0.0.1:9', timeoutMs: 1_000 })
  await provider[end]()
  await expect(provider.http(request)).rejects.toMatchObject({ kind: 'unreachable', noEffect: true })
})

test('a request may allow a larger response than 2 MiB, and no larger one', async () => {
  const server = createServer((_, response) => void response.end('x'.repeat(3_000_000))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const provider = upstream({ url: `http://127.0.0.1:${port}`, timeoutMs: 5_000 })
  const get = (maxResponseBytes?: number) =>
    provider.http({
      ...{ method: 'GET', path: '/coins', query: '', headers: {} },
      ...(maxResponseBytes !== undefined && { maxResponseBytes }),
    })
  expect((await get(3_000_000)).body).toHaveLength(3_000_000)
  for (const tooSmall of [undefined, 2_999_999]) await expect(get(tooSmall)).rejects.toMatchObject({ kind: 'unreadable' })
  await provider.close()
  server.closeAllConnections()
  server.close()
})

test.each([
  ['that announces 5 s', 'timeout=5', [2.4, 2.4, 2.6], 2],
  ['that announces a minute', 'timeout=60', [5, 29, 31], 2],
  ['that announces one second', 'timeout=1', [0.4, 0.6], 2],
  ['that announces none', undefined, [3.9, 4.1], 2],
])('U11: at a provider %s no request is sent on a connection that was idle for half of it', async (_, announced, pauses, count) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const sockets = new Set<unknown>()
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, response) => {
    sockets.add(incoming.socket)
    response.setHeader('connection', 'keep-alive')
    if (announced !== undefined) response.setHeader('keep-alive', announced)
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const provider = upstream({ url: `http://127.0.0.1:${port}`, timeoutMs: 600_000 })
  const sendAndFree = async (): Promise<void> => {
    await provider.http(request)
    await new Promise(setImmediate) // then its connection is idle
  }
  await sendAndFree() // shows how long the provider keeps connections
  sockets.clear()
  await sendAndFree()
  for (const pause of pauses) {
    await vi.advanceTimersByTimeAsync(pause * 1_000)
    await sendAndFree()
  }
  expect(sockets.size).toBe(count)
  await provider.close()
  server.closeAllConnections()
  server.close()
})
